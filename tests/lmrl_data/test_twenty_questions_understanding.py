"""How Twenty Questions understands free questions: the development set, families of wordings, measures, names."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.twenty_questions.accuracy import judge, read_cases, summary
from lmrl_data.tasks.twenty_questions.game import guess_texts
from lmrl_data.tasks.twenty_questions.lexicon import lexicon
from lmrl_data.tasks.twenty_questions.phrase_tree import best
from lmrl_data.tasks.twenty_questions.table import NO, knowledge_table
from lmrl_data.tasks.twenty_questions.understand import ANSWER_NO, ANSWER_WIN, ANSWER_YES, understand

CASES = [Path(__file__).parent / "cases" / f"twenty_questions_free{part}.csv" for part in ("", "_2", "_3", "_4", "_5")]
TABLE = knowledge_table()


def answer(question: str, name: str) -> str:
    row = understand(question).row
    return "none" if row is None else ("no", "yes", "win")[row[TABLE.columns[name]]]


def objects(question: str) -> set[str]:
    """The objects for which the answer is yes."""
    row = understand(question).row
    assert row is not None, question
    return {TABLE.names[column] for column in np.flatnonzero(row == ANSWER_YES)}


def test_development_sets() -> None:
    judged = [judge(read_cases(cases)) for cases in CASES]
    assert list(map(len, judged)) == [700, 350, 350, 300, 300]
    together = [case.right for part in judged for case in part]
    assert np.mean(together) >= 0.95
    assert all(np.mean([case.right for case in part]) >= 0.92 for part in judged)
    assert summary(judged[0])[-1]["kind"] == "all"


def test_files_that_are_no_questions(tmp_path: Path) -> None:
    file = tmp_path / "cases.csv"
    with pytest.raises(LmrlError, match="cannot read"):
        read_cases(file)
    file.write_text("object,question\nCat,Is it alive?\n", encoding="utf-8")
    with pytest.raises(LmrlError, match="columns must be"):
        read_cases(file)


@pytest.mark.parametrize("name", TABLE.names)
def test_every_wording_of_a_guess_wins_for_its_object_only(name: str) -> None:
    column = TABLE.columns[name]
    for text in [*guess_texts(TABLE, column), *(f"Is it a {alias}?" for alias in TABLE.aliases[column])]:
        row = understand(text).row
        assert row is not None and np.flatnonzero(row == ANSWER_WIN).tolist() == [column], text


def test_fixed_wordings_of_an_attribute_mostly_read_as_it() -> None:
    """Asked without the table of fixed wordings, nine in ten of its questions still get the attribute's answers."""
    shares = []
    for attribute, values in zip(TABLE.attributes, TABLE.values, strict=True):
        for text in attribute.ask:
            row = understand(text).row
            shares.append(0.0 if row is None else float(np.mean((row > ANSWER_NO) == (values > NO))))
    assert np.mean(np.array(shares) > 0.95) > 0.8
    assert np.mean(shares) > 0.95


@pytest.mark.parametrize(
    "family",
    [
        ["Is it alive?", "is it alive", "so it's alive, right?", "It's alive, isn't it?", "isn't it alive?", "alive?"],
        ["Can you eat it?", "is it edible?", "do people eat it", "Could I eat it?", "can u eat it lol"],
        ["Is it made of metal?", "Is it metallic?", "is it made from metal", "metal?"],
        ["Does it have wheels?", "has it got wheels", "Are there wheels on it?", "does it have whels"],
        ["Is it bigger than a breadbox?", "is it larger than a bread box", "bigger than a breadbox?"],
        ["Does its name start with S?", "does it begin with the letter s", "starts with an s?"],
        ["Is it found in the kitchen?", "Would I find it in a kitchen?", "kitchen?"],
        ["Does it weigh more than 5 kg?", "heavier than 5 kilograms?", "Does it weigh over five kilos?"],
    ],
)
def test_wordings_of_one_question_have_one_answer(family: list[str]) -> None:
    rows = [understand(text).row for text in family]
    assert all(row is not None and (row == rows[0]).all() for row in rows), family
    assert 0 < (rows[0] > 0).sum() < 158


@pytest.mark.parametrize(
    ("question", "denied"),
    [
        ("Is it alive?", "It is not alive, right?"),
        ("Does it have wheels?", "So it doesn't have wheels?"),
        ("Is it a vehicle?", "Is it true that it isn't a vehicle?"),
        ("Does it have a handle?", "Is it without a handle?"),
        ("Is it man-made?", "Is it anything but man-made?"),
    ],
)
def test_negation_turns_the_answer_round(question: str, denied: str) -> None:
    assert objects(question) | objects(denied) == set(TABLE.names)
    assert not objects(question) & objects(denied)


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("Is it wingless?", "Hammer", "Airplane"),
        ("Is it non-metallic?", "Dress", "Saxophone"),
        ("Is it unpowered?", "Screwdriver", "Blender"),
        ("Is it free of wheels?", "Knife", "Car"),
        ("Does it lack legs?", "River", "Dog"),
        ("Does it have nothing to do with music?", "Onion", "Flute"),
        ("Is it a fruit that isn't a mango?", "Banana", "Mango"),
        ("Is it rather big than small?", "Ship", "Ring"),
        ("Is it more likely to be found in a kitchen than in a garden?", "Pan", "Rake"),
        ("Is it for the head instead of the feet?", "Hat", "Socks"),
    ],
)
def test_denials_in_other_words(question: str, yes: str, no: str) -> None:
    assert answer(question, yes) == "yes"
    assert answer(question, no) == "no"


def test_lists_of_things() -> None:
    assert objects("Is it a cat, a giraffe or a dog?") == {"Cat", "Dog"}
    assert objects("Is it a nightstand or a lamp?") == {"Nightstand"}
    assert not objects("Is it a car door?") and not objects("Is it a bicycle with pedals?")


def test_a_tag_without_not_asks_for_the_thing_itself() -> None:
    assert objects("It isn't alive, is it?") == objects("It's not alive, is it?") == objects("Is it alive?")


def test_or_and_and() -> None:
    assert objects("Is it a fruit or a vegetable?") == objects("Is it a fruit?") | objects("Is it a vegetable?")
    assert objects("Is it neither a fruit nor a vegetable?") == set(TABLE.names) - objects(
        "Is it a fruit or a vegetable?"
    )
    assert objects("Is it a red fruit?") == objects("Is it red?") & objects("Is it a fruit?")


def test_always_and_sometimes() -> None:
    assert answer("Is it made of wood?", "Boat") == "yes"
    assert answer("Is it usually made of wood?", "Boat") == "no"
    assert answer("Is it usually made of wood?", "Desk") == "yes"


def test_comparisons_are_monotone() -> None:
    for pattern in ("Does it weigh more than {} kg?", "Is it longer than {} cm?", "Does it cost more than {} dollars?"):
        sizes = [objects(pattern.format(number)) for number in (0.5, 2, 10, 50, 400, 9000)]
        assert all(larger < smaller for smaller, larger in pairwise(sizes))
    for smaller, larger in (("golf ball", "cat"), ("cat", "car"), ("car", "house")):
        assert objects(f"Is it bigger than a {larger}?") < objects(f"Is it bigger than a {smaller}?")
    assert not objects("Is it heavier than a car?") & objects("Is it lighter than a car?")


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("Is it longer than 10 inches?", "Guitar", "Key"),
        ("Does it weigh less than a pound?", "Pen", "Horse"),
        ("Does it cost over $1,000?", "Piano", "Spoon"),
        ("Is it between 20 and 40 cm long?", "Fork Knife Hammer", "Ring"),
        ("Is it about the size of a car?", "Elephant", "Cat"),
        ("Would it fit in a shoebox?", "Cup", "Bed"),
        ("Is it too big for a suitcase?", "Desk", "Apple"),
        ("Is it as heavy as a car?", "Elephant", "Chair"),
        ("Is it faster than a person?", "Horse", "Tree"),
        ("Breadbox or smaller?", "Cup", "Piano"),
        ("Is it too heavy for a child to lift?", "Refrigerator", "Pencil"),
        ("Does it have exactly two wheels?", "Motorcycle", "Car"),
        ("Can it carry more than ten people?", "Bus", "Motorcycle"),
        ("Does it have fewer than three wheels?", "Scooter", "Car"),
        ("Number of wheels: two?", "Motorcycle", "Car"),
        ("Is it teeny like a coin?", "Earring", "Golf ball"),
        ("Would it take two men to lift it?", "Piano", "Pen"),
        ("Does it cost over a million?", "Ship", "Television"),
        ("Is it costing more than one lakh rupees?", "Car", "Cup"),
        ("Waist high or lower?", "Chair", "Tree"),
        ("Can it hold two litres?", "Blender", "Pen"),
    ],
)
def test_measures(question: str, yes: str, no: str) -> None:
    last = yes.split()[-1] if yes[0].isupper() and " " in yes else yes
    assert answer(question, last) == "yes"
    assert answer(question, no) == "no"


@pytest.mark.parametrize(
    ("question", "yes", "no"),
    [
        ("Does it start with the letter B?", "Banana", "Cat"),
        ("Does the name end in T?", "Cat", "Dog"),
        ("Is there an X in its name?", "Saxophone", "Flute"),
        ("Does it have exactly three letters?", "Cat", "Horse"),
        ("Has the word more than eight letters?", "Helicopter", "Car"),
        ("Is it two words?", "Watering can", "Cup"),
        ("Does it rhyme with hat?", "Cat", "Dog"),
        ("Does it begin with a vowel?", "Apple", "Banana"),
        ("Does the name have a double letter?", "Apple", "Cat"),
        ("Is the name one syllable?", "Cat", "Banana"),
        ("Is its name monosyllabic?", "Pen", "Banana"),
        ("Is the second letter a vowel?", "Cat", "Drum"),
        ("Does it begin and end with a vowel?", "Apple", "Onion"),
        ("Would it come after T in a dictionary?", "Wrench", "Cat"),
    ],
)
def test_names(question: str, yes: str, no: str) -> None:
    assert answer(question, yes) == "yes"
    assert answer(question, no) == "no"


@pytest.mark.parametrize(
    "text",
    [
        "What is it?",
        "How big is it?",
        "Why?",
        "Where do you find it?",
        "",
        "???",
        "Tell me more",
        "Its colour?",
        "It is how big?",
        "Can you write the answer on the blackboard, please?",
        "Would you state for the record its exact weight?",
        "Are you a robot?",
        "Is it raining where you live?",
        "Is it Tuesday?",
        "I'm so bad at this. Never mind.",
        "Objection, your honour!",
        "import pandas as pd",
        "BLAH BLAH BLAH!!!!",
        "Yeah nah.",
        "qwe rtz uio pas dfg",
        "Thank you, that was most helpful. Let me think a moment.",
        "As an AI language model, I cannot see the object.",
    ],
)
def test_what_is_no_question_is_not_understood(text: str) -> None:
    assert understand(text).row is None


def test_other_things_and_unheard_of_ones_are_no() -> None:
    for text in ("Is it a zebra?", "Is it an oboe?", "Does it have tentacles?"):
        row = understand(text).row
        assert row is not None and not row.any()


def test_colour_that_is_a_name_wins_and_is_a_colour() -> None:
    assert answer("Is it orange?", "Orange") == "win"
    assert answer("Is it orange?", "Carrot") == "yes"
    assert answer("Is it orange?", "Spinach") == "no"


def test_words_that_nobody_listed_are_read_by_what_they_come_from() -> None:
    words = lexicon()
    assert words.derived(["is", "it", "wingless"]) == ["is", "it", "without", "wing"]
    assert words.derived(["fat", "free"]) == ["without", "fat"]
    assert words.mended(["itman", "wearin", "whels"]) == ["it", "man", "wearing", "wheels"]


def test_what_it_is_said_to_be_must_hold_and_surroundings_count_by_what_they_tell() -> None:
    assert not objects("Is it an animal in a kitchen?") - objects("Is it an animal?")
    assert answer("Is it a toy with wheels and wings?", "Train") == "no"
    assert answer("Is it worn round the ankle?", "Necklace") == "no"
    assert answer("Is its flesh orange?", "Cantaloupe") == "yes"


@pytest.mark.parametrize(
    ("question", "name"),
    [
        ("Is it a piece of jewelry that goes around the wrist?", "Ring"),
        ("Is it a musical instrument made of wood?", "Trumpet"),
        ("Would a tourist wear it?", "Painting"),
        ("do you wear it in the bathtub?", "Pants"),
        ("Is it furniture with a mattress?", "Table"),
    ],
)
def test_what_it_is_or_is_worn_does_not_speak_for_the_rest(question: str, name: str) -> None:
    assert answer(question, name) == "no"


def test_a_class_of_things_stands_for_it() -> None:
    assert answer("Is the animal a carnivore?", "Elephant") == "no"
    assert answer("Does the vehicle fly?", "Helicopter") == "yes"
    assert answer("Is the vehicle a bus?", "Bus") == "win"


def test_name_that_is_a_class_of_other_objects() -> None:
    assert [answer("Is it a rock?", name) for name in ("Rock", "Meteorite", "Lake")] == ["win", "yes", "no"]


def test_what_it_can_do_is_no_guess() -> None:
    assert answer("Can it fly?", "Airplane") == "yes"
    assert answer("Could it be a fly?", "Airplane") == "no"


def test_best_matches_do_not_overlap() -> None:
    words = lexicon()
    plain, sources = words.plain("can you put it on your head to keep warm in the winter".split())
    chosen = best(words.attributes(plain))
    places = [place for match in chosen for place in match.places]
    assert places == sorted(set(places)) and len(sources) == len(plain)
