"""Everyday English: words, stems, spelling, numbers, and direct guesses."""

import csv
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data.language.affixes import denied, origins, parts
from lmrl_data.language.guesses import Names
from lmrl_data.language.numerals import NUMERAL, read_numeral
from lmrl_data.language.spelling import Speller, distance
from lmrl_data.language.stems import english, is_participle, singular, stem
from lmrl_data.language.words import clauses, words

KNOWN = frozenset("leaf ripe lock dangerous shelf book flex drum metallic port side".split())

CASES = list(csv.DictReader((Path(__file__).parent / "cases" / "guesses.csv").open(encoding="utf-8")))
# What people call the things of the cases besides the names given there.
SYNONYMS = {
    "Couch": ["sofa"],
    "Refrigerator": ["fridge"],
    "Mumbai": ["Bombay"],
    "Kyiv": ["Kiev"],
    "Saint Petersburg": ["St. Petersburg"],
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Isn't it a cat's toy?", "is not it a cat 's toy"),
        ("its a dog, isnt it", "it is a dog is not it"),
        ("u play it w/ ur mouth", "you play it with your mouth"),
        ("Can't, won't, shan't, cannot", "can not will not shall not can not"),
        ("does it cost more than $1,000.50", "does it cost more than 1000.50 dollars"),
        ("São Paulo, Zürich; Ærø", "sao paulo zurich aero"),
        ("man-made and ＦＵＬＬ wide", "man made and full wide"),
        ("does it contain the letter u", "does it contain the letter u"),
        ("a U.S.A. thing, e.g. this", "a usa thing eg this"),
        ("It's 6'2\" tall", "it is 6 feet 2 inches tall"),
        ("dose it come in a tube", "does it come in a tube"),
        ("its name", "its name"),
        ("the thing's not here", "the thing is not here"),
    ],
)
def test_words(text: str, expected: str) -> None:
    assert " ".join(words(text)) == expected


def test_clauses_end_where_punctuation_says_so() -> None:
    assert clauses("Hmm, is it big? No… 2.5 kg") == [["hmm"], ["is", "it", "big"], ["no"], ["2.5", "kg"]]
    assert clauses("Is it St. Petersburg?") == [["is", "it", "st", "petersburg"]]
    assert clauses("?!…") == clauses("") == []


@given(st.text(max_size=200))
def test_any_text_has_words_in_plain_letters(text: str) -> None:
    for word in words(text):
        assert word and word == word.casefold() and not any(map(unicodedata.combining, word)) and " " not in word


@pytest.mark.parametrize(
    ("forms", "expected"),
    [
        ("wheel wheels", "wheel"),
        ("bite bites biting bitten", "bite"),
        ("wear wears wearing wore worn", "wear"),
        ("hop hops hopping hopped", "hop"),
        ("hope hopes hoping hoped", "hope"),
        ("box boxes", "box"),
        ("colour colours coloured color", None),
        ("carry carries carried carrying", "carry"),
        ("child children", "child"),
        ("leaf leaves", "leaf"),
        ("organise organised organizes", "organize"),
    ],
)
def test_stem_of_inflected_forms(forms: str, expected: str | None) -> None:
    stems = {stem(form) for form in forms.split()}
    if expected is None:
        assert stem("colour") == stem("colours") == stem("color") and stem("coloured") == stem("colored")
    else:
        assert stems == {expected}


@pytest.mark.parametrize(
    "word", ["red", "bed", "evening", "painting", "this", "bus", "ring", "thing", "cactus", "need"]
)
def test_stem_leaves_what_is_no_form(word: str) -> None:
    assert stem(word) == word


def test_singular_does_not_touch_verbs() -> None:
    assert [singular(word) for word in ("cats", "batteries", "knives", "glasses", "painting", "paris", "buses")] == [
        *("cat", "battery", "knife", "glass", "painting", "paris", "bus")
    ]


def test_participles() -> None:
    assert all(map(is_participle, ("eaten", "climbed", "used", "worn")))
    assert not any(map(is_participle, ("red", "eat", "bed", "need", "wheel")))


def test_distance_counts_slips() -> None:
    assert distance("fork", "frok", 2) == 1
    assert distance("guitar", "gitar", 2) == 1
    assert distance("kitten", "sitting", 2) > 2
    assert distance("elephant", "elefant", 2) == 2


@pytest.mark.parametrize(
    ("slip", "meant"),
    [
        ("frok", "fork"),
        ("insturment", "instrument"),
        ("kichen", "kitchen"),
        ("woudl", "would"),
        ("toothbursh", "toothbrush"),
    ],
)
def test_slips_are_mended(slip: str, meant: str) -> None:
    assert Speller(frozenset({"fork", "elephant", "instrument", "kitchen", "toothbrush"})).correct(slip) == meant


@pytest.mark.parametrize(
    ("slip", "meant"),
    [("sizzors", "scissors"), ("metl", "metal"), ("anml", "animal"), ("sleves", "sleeves"), ("muzik", "music")],
)
def test_words_written_as_they_sound_or_without_vowels_are_those_of_the_task(slip: str, meant: str) -> None:
    """Before other English words that are as near: melt, anal, slaves."""
    words = frozenset({"scissors", "metal", "melt", "animal", "sleeves", "slaves", "music"})
    assert Speller(words).correct(slip) == meant


def test_long_words_may_have_two_slips() -> None:
    assert Speller(frozenset({"elephant"}), common=0).correct("elefant") == "elephant"


def test_ordinary_words_are_never_changed() -> None:
    speller = Speller(frozenset({"car", "fork", "boat", "house"}))
    for word in [*list(english())[:5000], "goats", "mice", "colour", "cats"]:
        assert speller.correct(word) == word
    assert speller.correct("qwrtzpl") == "qwrtzpl"


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("two hundred", 200),
        ("half a", 0.5),
        ("one and a half", 1.5),
        ("2.5 million", 2.5e6),
        ("a couple of", 2),
        ("a", 1),
    ],
)
def test_numerals(text: str, number: float) -> None:
    import re

    assert re.fullmatch(NUMERAL, text)
    assert read_numeral(text) == number


@given(st.integers(0, 99_999))
def test_figures_are_read_as_they_are(number: int) -> None:
    assert read_numeral(str(number)) == number


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["question"])
def test_published_guesses(case: dict[str, str]) -> None:
    listed = case["secret"].split(";")
    names = Names({"secret": [*listed, *SYNONYMS.get(listed[0], [])]})
    assert (names.guess(case["question"]) == "secret") == (case["wins"] == "yes")


PETS = Names({"cat": ["cat", "kitty"], "dog": ["dog", "hound"], "tv": ["TV", "television"], "can": ["watering can"]})


@pytest.mark.parametrize(
    "text",
    [
        *("cat", "A cat?", "is it cats", "Could it be a kitty?", "Isnt it fun, is it a cat?", "So... a cat then?"),
        *("I think it's a cat", "My final answer is cat!", "Final answer: cat", "Is it a cat or not?"),
        *("Is it a plain old cat, dear?", "It's got to be a cat, right?", "It's a cat, isn't it?"),
        *("You're thinking of a cat", "hmm, is it a CAT??"),
        *("Is it a cat like those in the street?", "How about a cat?", "bro is it a cat lol"),
    ],
)  # fmt: skip
def test_guesses(text: str) -> None:
    assert PETS.guess(text) == "cat"


@pytest.mark.parametrize(
    "text",
    [
        *(
            "Is it not a cat?",
            "It isn't a cat",
            "I don't think it's a cat",
            "It's not a cat, is it?",
            "Isn't it a cat?",
        ),
        *("Is it bigger than a cat?", "Is it as big as a cat?", "Is it like a cat?", "Is it similar to a cat?"),
        *("a dog or a cat?", "Is it a cat, a dog, or a bird?", "dog, cat?", "Is it a cat or a dog?"),
        *("Is it a cat's toy?", "Is it cat food?", "catfish", "Is it a kind of cat?", "Is it a picture of a cat?"),
        *(
            "Is it found near a cat?",
            "Is it something a cat would chase?",
            "What is a cat?",
            "Is it a catalogue?",
            "",
            "?",
        ),
    ],
)
def test_no_guesses(text: str) -> None:
    assert PETS.guess(text) is None


def test_names_are_found_with_slips_in_one_word_or_two() -> None:
    assert PETS.guess("is it a televison") == "tv"
    assert PETS.guess("Is it a wateringcan?") == "can"
    assert PETS.guess("is it a car") is None
    with pytest.raises(ValueError, match="belongs to"):
        Names({1: ["cat"], 2: ["Cats"]})


def test_strict_names_take_the_plain_form_only() -> None:
    strict = Names({"cat": ["cat"]}, strict=True)
    assert strict.guess("Is it a cat?") == "cat"
    assert [strict.guess(text) for text in ("cat", "is it a catt", "Is it a cat for children?")] == [None] * 3


@pytest.mark.parametrize(
    ("word", "apart"),
    [
        ("leafless", ("without", "leaf")),
        ("unripe", ("not", "ripe")),
        ("unlock", ("lock",)),
        ("nonmetallic", ("not", "metallic")),
        ("inflexible", ("not", "flexible")),
        ("import", None),
        ("inside", None),
        ("unless", None),
        ("lossless", None),
    ],
)
def test_what_a_word_denies(word: str, apart: tuple[str, ...] | None) -> None:
    assert denied(word, KNOWN.__contains__) == apart


@pytest.mark.parametrize(
    ("word", "origin"),
    [("drummer", "drum"), ("curviness", "curvy"), ("foldable", "fold"), ("smoker", "smoke"), ("pianist", "piano")],
)
def test_what_a_word_comes_from(word: str, origin: str) -> None:
    assert origin in origins(word)


def test_words_written_together() -> None:
    assert parts("bookshelf", KNOWN.__contains__) == ("book", "shelf")
    assert parts("bookcase", KNOWN.__contains__) is None


@pytest.mark.parametrize(
    ("text", "guessed"),
    [
        ("Is it but a humble spoon?", "Spoon"),
        ("Is it one spoon only?", "Spoon"),
        ("Is a spoon what it is?", "Spoon"),
        ("Would a spoon be correct?", "Spoon"),
        ("Is it cutlery, namely a spoon?", "Spoon"),
        ("Estimate: spoon. Correct?", "Spoon"),
        ("Not a fork, not a knife: a spoon!", "Spoon"),
        ("Is the party in question a spoon?", "Spoon"),
        ("Spoon?? idk", "Spoon"),
        ("Is it a spoon rest?", None),
        ("Is it bigger than a spoon?", None),
    ],
)
def test_guesses_in_other_frames(text: str, guessed: str | None) -> None:
    assert Names({"Spoon": ["spoon"]}).guess(text) == guessed
