"""What a line says: who greets, asks, praises, presses, names features and prices. Sellers and buyers read with it.

A line is cut into words, and the phrases of ``intents.toml`` are looked up in it. What a sentence is (a question to the
other, a denial) decides what the phrases in it mean: "Do you need leather seats?" offers none.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import product
from typing import Any

from lmrl_data.tasks.car_dealer.prices import Prices, Table, clean, read_prices

# A line of no known meaning is still talk, not noise, where this share of its words is common English.
COMMON_SHARE = 0.4


@dataclass(frozen=True)
class Reading:
    """What was read in a line.

    Attributes:
        acts: names of ``[acts]`` in ``intents.toml``, such as ``"greeting"``, ``"pressure"`` or ``"ask_budget"``.
        reasons: what is said for the car, by topic.
        extras: what is given on top, by kind.
        features: features that are said to be there.
        missing: features that are said not to be there.
        asked: features that the line asks about.
        brands: brands that are named, other than in a question.
        types: types, likewise.
        prices: the sums.
        words: how many words and numbers.
        clear: whether the line makes sense at all.
    """

    acts: frozenset[str]
    reasons: frozenset[str]
    extras: frozenset[str]
    features: frozenset[str]
    missing: frozenset[str]
    asked: frozenset[str]
    brands: frozenset[str]
    types: frozenset[str]
    prices: Prices
    words: int
    clear: bool


_SPEAKER = re.compile(r"^\W{0,3}(?:seller|salesperson|salesman|dealer|me|assistant) ?: ?")
_OTHER = re.compile(r"\b(?:buyer|customer|user) ?:")
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)?|[0-9]+(?:[.,'][0-9]+)*|[.!?;,:]")
_ENDINGS = {"re": "are", "s": "is", "m": "am", "ll": "will", "ve": "have", "d": "would"}
_STOPS = frozenset(".!?;")
_MARKS = frozenset(".!?;,:")
_DENIALS = frozenset(["no", "not", "without", "lacks", "missing", "don't", "doesn't", "isn't", "hasn't", "haven't"])
_ASKING = frozenset(["you", "your", "prefer", "rather", "about", "important"])
_INVERTED = frozenset(["do", "did", "would", "will", "can", "could", "are", "have"])
_CHOICE = frozenset(["or", "example"])
_TELLING = frozenset(["has", "comes", "includes", "included", "including", "equipped", "know", "with"])
_DENIAL_REACH = 5
_CAR = frozenset(["brands", "types"])
_COMPARING = frozenset(["than", "compared", "unlike", "similar", "versus", "vs", "other", "comparable"])
# What is looked up; what of it a question to the other does not say; what a line says besides.
_KINDS = ("acts", "reasons", "extras", "features", "gadgets", "brands", "types", "missing", "asked")
_ASKED_ABOUT = {"features": "asked", "gadgets": "gadgets"}
_TOLD = frozenset(["reasons", "extras", "features", "gadgets", "brands", "types"])


def read(text: str, table: Table | None = None) -> Reading:
    """Read a line.

    Args:
        text: any text. Not heard is what comes after the first `lmrl_data.tasks.car_dealer.prices.MAX_CHARACTERS`,
            and what the line says in the other's name.
        table: what lies on the table, for sums that are said by reference to it.
    """
    line = _own_words(clean(text))
    found: dict[str, set[str]] = {kind: set() for kind in _KINDS}
    words = known = 0
    for sentence in _sentences(line):
        words += sum(token not in _MARKS for token in sentence)
        known += sum(_is_common(token) for token in sentence)
        _read_sentence(sentence, found)
    # An extended warranty is one thing given on top, not two things nor a reason as well.
    if len(found["extras"]) > 1:
        found["extras"].discard("gift")
    if "cover" in found["extras"]:
        found["reasons"].discard("warranty")
    prices = read_prices(line, table)
    clear = any(found.values()) or prices != Prices() or 0 < COMMON_SHARE * words <= known
    del found["gadgets"]
    return Reading(
        **{kind: frozenset(labels) for kind, labels in found.items()}, prices=prices, words=words, clear=clear
    )


def _own_words(line: str) -> str:
    """The line without the speaker's name before it, and up to where it begins to speak for the other."""
    return _OTHER.split(_SPEAKER.sub("", line, 1), 1)[0]


def _sentences(line: str) -> Iterator[list[str]]:
    """The line's tokens by sentence; a sentence keeps its stop."""
    sentence: list[str] = []
    for token in _tokens(line):
        sentence.append(token)
        if token in _STOPS:
            yield sentence
            sentence = []
    if sentence:
        yield sentence


def _tokens(line: str) -> list[str]:
    """Words, numbers (as ``#``) and marks."""
    tokens: list[str] = []
    spelling = _tables().spelling
    for token in _TOKEN.findall(line):
        if token[0].isdigit():
            tokens.append("#")
        elif token in spelling:
            tokens += spelling[token]
        else:
            tokens += _taken_apart(token)
    return tokens


def _taken_apart(word: str) -> list[str]:
    """A word, or the two of a contraction: ``it's`` is ``it is``; those with "not" stay as they are."""
    if "'" not in word or word.endswith("n't"):
        return [word]
    stem, _, ending = word.partition("'")
    return [stem, _ENDINGS[ending]] if ending in _ENDINGS else [stem]


def _is_common(token: str) -> bool:
    """Whether a token is common English, endings aside."""
    common = _tables().common
    return token in common or any(token.removesuffix(ending) in common for ending in ("s", "d", "ed", "ing"))


def _read_sentence(tokens: list[str], found: dict[str, set[str]]) -> None:
    asks_from = len(tokens)
    if _is_question(tokens) and _TELLING.isdisjoint(tokens):
        asks_from = next((place for place, token in enumerate(tokens) if token in _ASKING), len(tokens))
        asks_from = asks_from if _CHOICE.isdisjoint(tokens) else 0
    for place, kind, label in _phrases_in(tokens):
        if kind not in _TOLD:
            found[kind].add(label)
        elif kind in _CAR and not _COMPARING.isdisjoint(tokens):
            pass  # another car to compare with, not one that is offered
        elif asks_from < _clause_end(tokens, place):
            if kind in _ASKED_ABOUT:
                found[_ASKED_ABOUT[kind]].add(label)
        elif kind == "features" and not _DENIALS.isdisjoint(tokens[max(0, place - _DENIAL_REACH) : place]):
            found["missing"].add(label)
        else:
            found[kind].add(label)


def _is_question(tokens: list[str]) -> bool:
    """Whether a sentence asks, also where it is typed without its mark: "do you want leather"."""
    return tokens[-1] == "?" or (tokens[0] in _INVERTED and tokens[1:2] == ["you"])


def _clause_end(tokens: list[str], place: int) -> int:
    """Where the clause ends that a place is in: "I want an Audi, can you believe it?" asks nothing about the Audi."""
    return tokens.index(",", place) if "," in tokens[place:] else len(tokens)


def _phrases_in(tokens: list[str]) -> Iterator[tuple[int, str, str]]:
    """Every known phrase in a sentence: where it begins, its kind and its label."""
    root = _tables().root
    opened = root.get("^")
    for start in range(-1, len(tokens)):
        node = opened if start < 0 else root.get(tokens[start])
        place = start + 1
        while node:
            if "" in node:
                for kind, label in node[""]:
                    yield max(start, 0), kind, label
            if place == len(tokens):
                break
            node = node.get(tokens[place])
            place += 1


@dataclass(frozen=True)
class _Tables:
    """The phrases as a tree of words, in which ``""`` holds the (kind, label) of the phrases that end there."""

    root: dict[str, Any]
    common: frozenset[str]
    spelling: dict[str, list[str]]


@cache
def _tables() -> _Tables:
    content = tomllib.loads((files(__package__) / "intents.toml").read_text("utf-8"))
    spelling = {word: right.split() for word, right in content.pop("spelling").items()}
    common = frozenset(content.pop("words")["common"].split())
    root: dict[str, Any] = {}
    for kind, labels in content.items():
        for label, phrases in labels.items():
            for phrase in phrases:
                for words in _expand(phrase):
                    node = root
                    for word in words:
                        node = node.setdefault(word, {})
                    node.setdefault("", []).append((kind, label))
    return _Tables(root, common, spelling)


def _expand(phrase: str) -> Iterator[list[str]]:
    """Every row of words that a phrase of ``intents.toml`` stands for."""
    choices = []
    for part in phrase.split():
        optional = part.endswith("?") and len(part) > 1
        words = part.removesuffix("?").split("|") if optional else part.split("|")
        choices.append([*words, ""] if optional else words)
    for row in product(*choices):
        yield [token for word in row if word for token in _taken_apart(word)]
