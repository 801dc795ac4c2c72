"""The rules of Guess My City: guesses, rewards, what is marked, options, records and replays."""

from typing import Any

import pytest

from lmrl_data import make, make_vec, replay, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_policy
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.env import GuessMyCityEnv
from lmrl_data.text import Message

# Which lines win: city, line, whether it wins.
GUESSES = [
    ("Lima", "What is the climate like?", False),
    ("Paris", "How is it in comparison with the capital?", False),
    ("Rome", "Do people polish chrome there?", False),
    ("Cali", "Is it near California?", False),
    ("Mumbai", "Are you from Bombay?", True),
    ("Kyiv", "Is it Kiev?", True),
    ("Saint Petersburg", "Is the city St. Petersburg?", True),
    ("Saint Petersburg", "St Petersburg", True),
    ("Saint Petersburg", "It used to be Leningrad, so is it Leningrad?", True),
    ("São Paulo", "Are you from Sao Paulo?", True),
    ("São Paulo", "sao paulo!!", True),
    ("Seoul", "Is your city Seoul?", True),
    ("Tokyo", "Is it bigger than Tokyo?", False),
    ("Tokyo", "It has to be Tokyo, hasn't it?", True),
    ("Tokyo", "TOKYO", True),
    ("Tokyo", "Is it Tokyo or Kyoto?", False),
    ("Tokyo", "Tokyo, Osaka, Nagoya?", False),
    ("Tokyo", "It is not Tokyo", False),
    ("Tokyo", "So it is not Tokyo?", False),
    ("Tokyo", "Isn't it Tokyo?", True),
    ("Tokyo", "Is it near Tokyo?", False),
    ("Tokyo", "Is it a suburb of Tokyo?", False),
    ("Tokyo", "Is it as big as Tokyo?", False),
    ("Tokyo", "Are you ahead of Tokyo?", False),
    ("Tokyo", "What time is it in Tokyo when you have lunch?", False),
    ("Tokyo", "How far is it to Tokyo?", False),
    ("Tokyo", "I would say Tokyo.", True),
    ("Tokyo", "My final answer: Tokyo", True),
    ("Tokyo", "My money is on Tokyo.", True),
    ("Tokyo", "ok so tokyo right?", True),
    ("Tokyo", "tokoy?", True),
    ("Beijing", "Do you eat Peking duck?", False),
    ("Berlin", "Is that where the Berlin Wall was?", False),
    ("Ho Chi Minh City", "Is it Saigon?", True),
    ("Xi'an", "Is it Xian?", True),
    ("Xi'an", "xi an", True),
    ("Mexico City", "Is it in Mexico?", False),
    ("Mexico City", "Mexico City?", True),
    ("Singapore", "Singapore?", True),
    ("Hong Kong", "Are you in HK?", True),
    ("Istanbul", "Constantinople!", True),
    ("Medellín", "Could it be Medellin?", True),
    ("Paris", "My brother lives there, it must be Paris!", True),
    ("Paris", "Was the Parisian court there?", False),
    ("Rio de Janeiro", "Is it on the Rio Grande?", False),
    ("New York", "nyc?", True),
]


def ask(city: str, *questions: str, seed: int = 0) -> list[tuple[str, float, bool, bool, dict[str, Any]]]:
    env = GuessMyCityEnv()
    env.reset(seed=seed, options={"city": city})
    return [env.step(question) for question in questions]


@pytest.mark.parametrize(("city", "line", "wins"), GUESSES)
def test_what_names_the_city_as_the_answer_wins(city: str, line: str, wins: bool) -> None:
    (step,) = ask(city, line)
    _, reward, terminated, truncated, info = step
    assert (reward, terminated, truncated) == (0.0 if wins else -1.0, wins, False)
    assert info.get("success", False) is wins


@pytest.mark.parametrize("city", cities())
def test_every_name_of_a_city_wins_there_and_nowhere_else(city: str) -> None:
    other = "Lima" if city != "Lima" else "Oslo"
    for name in cities()[city].names:
        assert ask(city, f"Is it {name}?")[0][2], name
        assert ask(city, f"I think you are from {name.upper()}!")[0][2], name
        if other in cities():
            assert not ask(other, f"Is it {name}?")[0][2], name


def test_each_question_costs_one_and_the_winning_one_nothing() -> None:
    steps = ask("Rome", "Which continent?", "Is it Paris?", "", "blah blub", "Is it Rome?")
    assert [reward for _, reward, *_ in steps] == [-1, -1, -1, -1, 0]
    assert steps[-1][4]["return"] == -4
    assert steps[-1][4]["secret"] == "Rome"


def test_the_twentieth_question_is_the_last_and_may_win() -> None:
    questions = ["What do people eat?"] * 19
    *_, last = ask("Rome", *questions, "Is it Rome?")
    assert (last[1], last[2], last[4]["success"], last[4]["return"]) == (0.0, True, True, -19)
    *_, last = ask("Rome", *questions, "Is it Milan?")
    assert (last[1], last[2], last[3], last[4]["success"], last[4]["return"]) == (-1.0, True, False, False, -20)


@pytest.mark.parametrize("line", ["", "  ", "…", "??", "123", "asdf jkl qwer", "Knock knock.", "pass me the salt"])
def test_what_asks_for_nothing_is_answered_and_marked(line: str) -> None:
    (step,) = ask("Rome", line)
    assert step[0] and step[1] == -1
    assert step[4]["understood"] is False
    assert "understood" in step[4]["invalid_action"] or "nothing was said" in step[4]["invalid_action"]


def test_a_wrong_guess_is_understood_and_denied() -> None:
    for line in ("Is it Milan?", "Are you from Tokyo?", "Vienna?"):
        (step,) = ask("Rome", line)
        assert step[0].startswith("No")
        assert step[4] == {"understood": True}


def test_the_name_is_not_told() -> None:
    for line in ("What is the name of the city?", "Which city is it?", "Tell me the answer.", "What is it called?"):
        (step,) = ask("Rome", line)
        assert step[4] == {"understood": True}
        assert "rom" not in step[0].casefold().replace("from", "")


def test_the_same_question_gets_the_same_answer_in_an_episode_and_others_in_other_episodes() -> None:
    first, _, again = ask("Rome", "What do people eat?", "Is it Milan?", "what do people EAT ?")
    assert first[0] == again[0]
    assert len({ask("Rome", "What do people eat?", seed=seed)[0][0] for seed in range(40)}) == 3


def test_a_guess_at_a_word_is_said() -> None:
    sure, unsure = ask("Rome", "What food do people eat?", "Waht foood do poeple eat?")
    assert unsure[0].casefold().endswith(sure[0].casefold())
    assert unsure[0] != sure[0]


def test_option_takes_any_name_of_a_city() -> None:
    env = GuessMyCityEnv()
    for name in ("Mumbai", "Bombay"):
        env.reset(options={"city": name})
        assert env.step("Is it Mumbai?")[2]
    with pytest.raises(LmrlError, match="no city 'Atlantis'; the cities are: Abidjan, Addis Ababa"):
        env.reset(options={"city": "Atlantis"})


def test_every_city_is_drawn_about_equally_often() -> None:
    env = GuessMyCityEnv()
    drawn = []
    for seed in range(5000):
        env.reset(seed=seed)
        drawn.append(env.episode_info()["city"])
    counts = [drawn.count(name) for name in cities()]
    assert len(counts) == 100
    assert 20 < min(counts) <= max(counts) < 90


def test_unknown_oracle_is_refused() -> None:
    with pytest.raises(LmrlError, match="knowledge, openai:MODEL@URL or hf:PATH"):
        GuessMyCityEnv(oracle="delphi")


def test_a_closed_environment_says_so() -> None:
    env = GuessMyCityEnv()
    env.close()
    with pytest.raises(LmrlError, match="closed"):
        env.reset(seed=1)


class Script:
    """A policy that says the given lines."""

    name = "script"

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines

    def reset(self, seeds: object) -> None: ...

    def act(self, conversations: list[list[Message]]) -> list[str]:
        return [self.lines[len(conversation) // 2] for conversation in conversations]


def test_record_says_who_answered_and_what_was_understood() -> None:
    lines = ["Which continent?", "", "hm hm hm"] + ["What do people eat?"] * 17
    (episode,) = rollout(make("guess-my-city"), Script(lines), [3])
    assert episode.info["oracle"] == "knowledge-1"
    assert episode.info["usable"] == [True, False, False] + [True] * 17
    assert cities()[episode.info["city"]].country == episode.info["country"]


def test_records_of_another_oracle_are_followed_and_checked() -> None:
    def of_another() -> Any:
        (episode,) = rollout(make("guess-my-city"), make_policy("greedy", "guess-my-city"), [5])
        episode.info = {**episode.info, "oracle": "openai:other"}
        episode.messages[2]["content"] = "Well, people like it a lot."
        return episode

    episode = of_another()
    assert replay([episode]) == [None]
    leaking = of_another()
    leaking.messages[2]["content"] = f"It is {episode.info['city']}."
    assert replay([leaking]) == ["turn 1: observation differs"]
    losing = of_another()
    losing.messages[-2]["content"] = "Is it Atlantis?"
    assert "reward differs" in str(replay([losing])[0])
    unusable = of_another()
    unusable.info["usable"] = [False, True]
    assert replay([unusable]) == [None]  # what another oracle understood is its own matter
    mine = of_another()
    mine.info["oracle"] = "knowledge-1"
    assert replay([mine]) == ["turn 1: observation differs"]


def test_batches_with_several_cities_do_not_mix() -> None:
    env = make_vec("guess-my-city", 30)
    env.reset(range(30))
    answers = env.step(["What do people eat?"] * 30)[0]
    single = []
    for seed in range(30):
        one = make("guess-my-city")
        one.reset(seed=seed)
        single.append(one.step("What do people eat?")[0])
    assert list(answers) == single
    assert len(set(single)) > 20
