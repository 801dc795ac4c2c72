"""How the oracle of Guess My City understands questions: by facet, yes and no, and on questions of other people."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.guess_my_city.accuracy import COLUMNS, answer, is_right, main, measure, read_rows
from lmrl_data.tasks.guess_my_city.bank import bank
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.facts import all_cities
from lmrl_data.tasks.guess_my_city.oracle import KnowledgeOracle, Reply
from lmrl_data.tasks.guess_my_city.understand import understand
from lmrl_data.text import normalise

DEVELOPMENT = [
    Path(__file__).parent / "cases" / f"guess_my_city_free{part}.csv" for part in ("", "_2", "_3", "_4", "_5")
]


def reply(question: str, city: str, seed: int = 0) -> Reply:
    return KnowledgeOracle().reply(question, cities()[city], seed, [])


# City, question, and what the answer must say.
GOLDEN = [
    ("Paris", "Which continent are you on?", "Europe"),
    ("Lima", "What part of the continent is that?", "western South America"),
    ("Lima", "Which country is it in?", "South America"),
    ("Quezon City", "How far is the equator?", "15 degrees north"),
    ("Guayaquil", "What's your latitude?", "a little south of the equator"),
    ("Chicago", "How far west of Greenwich are you?", "88 degrees west"),
    ("Bogotá", "How high up is it?", "2,600 metres"),
    ("Dhaka", "What's the altitude?", "a few metres above the sea"),
    ("Berlin", "How many people live there?", "about three and a half million people"),
    ("Tokyo", "How many inhabitants?", "million people"),
    ("Sukabumi", "How many people live in your town?", "about 400,000 people"),
    ("Delhi", "How big is your city?", "one of the largest cities on earth"),
    ("Rome", "How old is your city?", "750 BC"),
    ("Brasília", "When was it founded?", "in 1960"),
    ("Delhi", "What time zone are you in?", "five and a half hours ahead of Greenwich"),
    ("Lima", "What's the time difference to London?", "five hours behind"),
    ("Sydney", "What is it the capital of?", "not the national capital, but the seat of a state"),
    ("Madrid", "Inland or on the coast?", "inland"),
    ("Cairo", "Which river flows there?", "the Nile"),
    ("Bengaluru", "What river do you have?", "no big water"),
    ("Moscow", "How cold is it in January?", "cold, about -6 °C"),
    ("Sydney", "What temperature is it in July?", "mild, about 13 °C"),
    ("Havana", "How often does it snow?", "never snows"),
    ("Bogor", "How much rain do you get?", "3,800 mm"),
    ("Medellín", "What's the weather like?", "spring-like all year"),
    ("Chongqing", "Describe the landscape.", "steep hills"),
    ("Kinshasa", "What language do they speak?", "Lingala"),
    ("Kyiv", "What alphabet do you use?", "Cyrillic"),
    ("Mumbai", "What would I pay with?", "the rupee"),
    ("Yangon", "What religion is common?", "Buddhism"),
    ("Casablanca", "What kind of government is there?", "monarchy"),
    ("Giza", "What are the main sights?", "pyramids"),
    ("Kolkata", "What do you eat?", "fish"),
    ("Buenos Aires", "What's a typical drink?", "mate"),
    ("Nagoya", "What do people work in?", "cars"),
    ("Hong Kong", "What sports are popular?", "horse racing"),
    ("Kinshasa", "What music do you listen to?", "rumba"),
    ("Saint Petersburg", "Which writers come to mind?", "Dostoevsky"),
    ("Nanjing", "What happened in the past?", "Ming"),
    ("Medellín", "How do you get around?", "metro"),
    ("Seoul", "Where do students go?", "SKY"),
    ("Rio de Janeiro", "What's the biggest party of the year?", "carnival"),
    ("Sydney", "What animals might I see?", "whales"),
    ("Alexandria", "Who are the famous people?", "Cleopatra"),
    ("Chengdu", "Any nickname?", "Brocade"),
    ("Santiago", "What nickname does it have?", "no nickname"),
    ("Berlin", "What do the buildings look like?", ""),
    ("Istanbul", "Where do I go shopping?", "bazaar"),
    ("Bangkok", "What is there to do at night?", ""),
    ("Addis Ababa", "Tell me a fun fact.", "thirteen months"),
    ("Lima", "Which countries border yours?", "Ecuador, Colombia, Brazil, Bolivia and Chile"),
    ("Tokyo", "What are your neighbouring countries?", "land border"),
    ("Ankara", "What does the flag look like?", "crescent"),
    ("Incheon", "What other city is close?", ""),
    ("Kolkata", "Which side do you drive on?", "left"),
    ("Rome", "When were the Olympics there?", "1960"),
    ("Lahore", "When did you host the Olympic Games?", "never"),
    ("Osaka", "What letter does it start with?", "letter of its common name is O"),
    ("Osaka", "What's the last letter?", "last letter of its common name is A"),
    ("Xi'an", "What is the third letter?", "third letter of its common name is A"),
    ("Ho Chi Minh City", "How many words does the name have?", "four words"),
    ("São Paulo", "How many letters?", "eight letters"),
]


@pytest.mark.parametrize(("city", "question", "told"), [row for row in GOLDEN if row[1]])
def test_open_questions_are_answered_with_the_fact(city: str, question: str, told: str) -> None:
    for seed in range(3):
        said = reply(question, city, seed)
        assert said.invalid is None
        assert told.casefold() in said.text.casefold()


# City, question, yes or no.
TRUTHS = [
    ("Tokyo", "Is it in Asia?", True),
    ("Tokyo", "Is it in Japan?", True),
    ("Tokyo", "Are you Japanese?", True),
    ("Tokyo", "Is it in China?", False),
    ("Tokyo", "Is it an island?", True),
    ("Istanbul", "Is it in Europe?", True),
    ("Istanbul", "Is it in Asia?", True),
    ("Mexico City", "Is it in South America?", False),
    ("Mexico City", "Is it in Latin America?", True),
    ("Cairo", "Is it in the Middle East?", True),
    ("London", "Is it in the EU?", False),
    ("Berlin", "Is it in the EU?", True),
    ("Houston", "Is it in Texas?", True),
    ("Houston", "Is it in California?", False),
    ("Seoul", "Does your country border China?", False),
    ("Kyiv", "Does your country border Poland?", True),
    ("Lahore", "Is it near India?", True),
    ("Yokohama", "Is it near Tokyo?", True),
    ("Lima", "Is it near Tokyo?", False),
    ("Sydney", "Is it far from London?", True),
    ("Sydney", "Is it in the southern hemisphere?", True),
    ("Singapore", "Are you close to the equator?", True),
    ("Moscow", "Is it in the tropics?", False),
    ("Cairo", "Is it north of the equator?", True),
    ("Lima", "Is it south of Bogotá?", True),
    ("Rome", "Is it further north than London?", False),
    ("Chicago", "Is it west of New York?", True),
    ("Lima", "Is it by the sea?", True),
    ("Madrid", "Is it not by the sea?", False),
    ("Madrid", "It is not by the sea, right?", True),
    ("Madrid", "It isn't by the sea, is it?", False),
    ("Madrid", "Isn't it by the sea?", False),
    ("Izmir", "Is it on the Aegean?", True),
    ("Izmir", "Is it on the Atlantic?", False),
    ("Budapest", "Is it on the Danube?", True),
    ("Ankara", "Is it the capital?", True),
    ("Istanbul", "Is it the capital?", False),
    ("Istanbul", "Was it ever a capital?", True),
    ("Delhi", "Do more than 20 million people live there?", True),
    ("Delhi", "Are there fewer than ten million people?", False),
    ("Izmir", "Is the population between 2 and 5 million?", True),
    ("Tokyo", "Is it bigger than Paris?", None),
    ("Rome", "Is it bigger than London?", False),
    ("Delhi", "Is it larger than Berlin?", True),
    ("Bogotá", "Is it higher than 2000 metres?", True),
    ("Bogotá", "Is it more than 10,000 feet up?", False),
    ("Lima", "Is it at sea level?", False),
    ("Rome", "Is it older than 2000 years?", True),
    ("Brasília", "Was it founded before 1900?", False),
    ("New York", "Was it founded in the 17th century?", True),
    ("Sydney", "Was it founded after 1700?", True),
    ("Moscow", "Is it colder than Rome?", True),
    ("Moscow", "Is it hotter than Dubai?", False),
    ("Moscow", "Is it below freezing in January?", True),
    ("Bangkok", "Is it hot all year?", True),
    ("Harbin", "Does it snow?", True),
    ("Havana", "Does it snow?", False),
    ("Havana", "It never snows, does it?", None),
    ("Havana", "Is there no snow at all?", True),
    ("Bogor", "Does it rain a lot?", True),
    ("Cairo", "Does it rain more than in London?", False),
    ("Delhi", "Are you ahead of London?", True),
    ("Lima", "Are you ahead of London?", False),
    ("Seoul", "Is it the same time as in Tokyo?", True),
    ("Delhi", "Is your clock more than five hours ahead of Greenwich?", True),
    ("Lima", "Do people speak Spanish?", True),
    ("Paris", "Do people speak Spanish?", False),
    ("Kyiv", "Do you use the Latin alphabet?", False),
    ("Rome", "Do you pay with euros?", True),
    ("Tokyo", "Do you pay with euros?", False),
    ("Jakarta", "Are most people Muslim?", True),
    ("Rome", "Are most people Muslim?", False),
    ("Bangkok", "Is there a king?", True),
    ("Paris", "Is there a king?", False),
    ("Paris", "Is there an iron tower?", True),
    ("Rome", "Is there an iron tower?", False),
    ("Tokyo", "Do people eat sushi?", True),
    ("Kanpur", "Do people eat sushi?", False),
    ("Karachi", "Do you drive on the left?", True),
    ("Berlin", "Do you drive on the left?", False),
    ("Berlin", "Did your city host the Olympics?", True),
    ("Berlin", "Did you host the Olympics in 1936?", True),
    ("Berlin", "Did you host the Olympics in 1972?", False),
    ("Bogotá", "Is there a metro?", False),
    ("Kolkata", "Are there trams?", True),
    ("Berlin", "Was there a wall?", None),
    ("Singapore", "Was it a British colony?", True),
    ("Bangkok", "Was it a British colony?", False),
    ("Lima", "Was it a Spanish colony?", True),
    ("Moscow", "Was it part of the Soviet Union?", True),
    ("Toronto", "Is there a leaf on the flag?", True),
    ("Tokyo", "Does the name start with T?", True),
    ("Tokyo", "Does the name end with a vowel?", True),
    ("Tokyo", "Does it have more than six letters?", False),
    ("Mexico City", "Is the name two words?", True),
    ("Lima", "Are you hot or not?", None),
    ("Casablanca", "Is it a capital or on the coast?", None),
    ("Mexico City", "Was it once called Constantinople?", False),
    ("Istanbul", "Was it once called Constantinople?", True),
    ("Yokohama", "Is it within 200 km of Tokyo?", True),
    ("Nagoya", "Is it within 200 km of Tokyo?", False),
    ("Lima", "Is it more than 500 miles from Beijing?", True),
    ("Tianjin", "Is it more than 500 miles from Beijing?", False),
    ("Cairo", "can't be in Asia, right", True),
    ("Delhi", "can't be in Asia, right", False),
    ("Madrid", "Is your city not on the coast, correct?", True),
    ("Lima", "Is your city not on the coast, correct?", False),
    ("Addis Ababa", "is it over 2000m", True),
    ("Bogor", "is it over 2000m", False),
    ("Sydney", "is it hot at christmas", True),
    ("Paris", "are there castles or palaces?", True),
    ("Mashhad", "do pilgrims flock to a shrine", True),
    ("Tokyo", "Was it behind the Iron Curtain?", False),
    ("Casablanca", "Is it in Africa and on the coast?", True),
    ("Giza", "Is it in Africa and on the coast?", False),
]


@pytest.mark.parametrize(("city", "question", "holds"), [row for row in TRUTHS if row[2] is not None])
def test_yes_no_questions_are_answered_truthfully(city: str, question: str, holds: bool) -> None:
    said = reply(question, city)
    assert said.answer == ("yes" if holds else "no")
    assert said.text.startswith("Yes" if holds else "No")


# Questions that must be about one and the same fact.
SAME = [
    [
        "What do people eat?",
        "whats the food like",
        "Tell me about the local cuisine.",
        "Which dish should I try?",
        "food?",
    ],
    ["What language is spoken?", "Which tongue do people speak?", "langauge?", "what do ppl talk there"],
    ["How many people live there?", "population?", "What is the number of inhabitants?", "how many ppl"],
    ["How do I get around?", "public transport?", "How do people travel in the city?"],
    ["What's the currency?", "What money do you use?", "what do i pay with", "currancy"],
    ["What is the weather like?", "climate?", "How's the weather there?", "Tell me about the climate."],
]


@pytest.mark.parametrize("questions", SAME, ids=lambda questions: questions[0])
def test_paraphrases_get_the_same_fact(questions: list[str]) -> None:
    assert len({understand(normalise(question)).facet for question in questions}) == 1


SAME_TRUTH = [
    ["Is it on the coast?", "Do you live by the sea?", "is it a coastal city", "near teh sea?", "on the coast, right?"],
    ["Is it the capital?", "Is your city the national capital?", "capital?", "captial city?"],
    ["Is it in Asia?", "Are you in Asia?", "asia?", "Is your city located in Asia?", "so it's in Asia?"],
    ["Is it bigger than 5 million people?", "more than five million inhabitants?", "over 5 million ppl?"],
    ["Do people drive on the left?", "do you drive on the left side", "Is it left-hand traffic?"],
]


@pytest.mark.parametrize("questions", SAME_TRUTH, ids=lambda questions: questions[0])
def test_paraphrases_hold_of_the_same_cities(questions: list[str]) -> None:
    assert len({understand(normalise(question)).cities for question in questions}) == 1


ABOUT_IT = [wordings[0] for wordings in bank().tests if wordings[0].startswith(("Is it ", "Are you "))]


@pytest.mark.parametrize("question", ABOUT_IT)
def test_a_denied_statement_holds_where_the_question_does_not(question: str) -> None:
    verb, subject, rest = question.split(" ", 2)
    statement = f"{subject} {verb.lower()} not {rest[:-1]}, right?"
    assert understand(normalise(statement)).cities == all_cities() - understand(normalise(question)).cities


@given(low=st.integers(1, 30), more=st.integers(1, 10))
@settings(deadline=None)
def test_comparisons_are_monotone(low: int, more: int) -> None:
    fewer, many = (
        understand(f"do more than {number} million people live there?").cities for number in (low, low + more)
    )
    assert many <= fewer
    assert understand(f"do fewer than {low} million people live there?").cities.isdisjoint(fewer)
    older, ancient = (understand(f"is it more than {100 * number} years old?").cities for number in (low, low + more))
    assert ancient <= older


@given(st.text(max_size=200))
@settings(deadline=None)
def test_any_text_is_answered(text: str) -> None:
    said = reply(text, "Rome")
    assert said.text and (said.answer == "none") == (said.invalid is not None)


def test_the_development_sets_are_understood() -> None:
    rows = [row for file in DEVELOPMENT for row in read_rows(file)]
    shares = {share.kind: share for share in measure(rows)}
    assert shares["all"].questions == 2000
    assert shares["all"].right >= 0.95 * 2000
    for kind in ("open", "yesno", "compare", "negation", "guess", "or"):
        assert shares[kind].right >= 0.95 * shares[kind].questions, kind
    # Nonsense that is not too like a question is marked.
    assert shares["nonsense"].right >= 0.8 * shares["nonsense"].questions


@pytest.mark.parametrize(
    ("wanted", "facet", "said", "right"),
    [
        ("open", "food|drink", ("open", "drink"), True),
        ("open", "food|drink", ("open", "music"), False),
        ("open", "food", ("none", "none"), False),
        ("yes", "food", ("yes", "food"), True),
        ("yes", "food", ("no", "food"), False),
        ("yes", "food", ("open", "food"), False),
        ("no", "region", ("lose", "guess"), True),
        ("win", "guess", ("lose", "guess"), False),
        ("lose", "guess", ("no", "region"), True),
        ("lose", "guess", ("win", "guess"), False),
        ("none", "none", ("open", "food"), False),
        ("either", "food", ("no", "food"), True),
    ],
)
def test_what_counts_as_right(wanted: str, facet: str, said: tuple[str, str], right: bool) -> None:
    assert is_right({"answer": wanted, "facet": facet}, Reply("", *said)) is right


def test_accuracy_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "questions.csv"
    file.write_text(
        f"{','.join(COLUMNS)}\nRome,What do you eat?,open,food,open\nRome,Is it Oslo?,win,guess,guess\n", "utf-8"
    )
    monkeypatch.setattr("sys.argv", ["accuracy", str(file), "-v"])
    assert main() == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith("Rome: Is it Oslo? [win guess] No")
    assert [line.split()[:3] for line in printed[2:]] == [
        ["open", "1", "100.0%"],
        ["guess", "1", "0.0%"],
        ["all", "2", "50.0%"],
    ]
    monkeypatch.setattr("sys.argv", ["accuracy", str(tmp_path / "missing.csv")])
    assert main() == 2
    assert "cannot read" in capsys.readouterr().err
    file.write_text("a,b\n1,2\n", "utf-8")
    with pytest.raises(LmrlError, match="has not the columns"):
        read_rows(file)
    assert answer({"question": "Is it Rome?", "city": "Rome"}).answer == "win"
