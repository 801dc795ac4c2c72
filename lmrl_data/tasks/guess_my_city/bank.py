"""The scripted askers' questions, and what each answer tells about the city."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.oracle import possible_replies
from lmrl_data.text import normalise

# Sets of cities are the bits of a number: bit i is the i-th city in alphabetical order.
Cities = int


@cache
def city_names() -> tuple[str, ...]:
    """The cities, by their bits."""
    return tuple(cities())


@cache
def every_city() -> Cities:
    """All of them."""
    return (1 << len(city_names())) - 1


def members(found: Cities) -> list[int]:
    """The numbers of the cities in a set."""
    return [place for place in range(found.bit_length()) if found >> place & 1]


class Bank(NamedTuple):
    """The questions.

    Attributes:
        open: wordings of an open question for each facet.
        tests: wordings of each question for yes or no.
        guess: wordings of a guess, with braces for the name.
    """

    open: Mapping[str, Sequence[str]]
    tests: Sequence[Sequence[str]]
    guess: Sequence[str]


@cache
def bank() -> Bank:
    """The questions of ``questions.toml``."""
    tables = tomllib.loads(files(__package__).joinpath("questions.toml").read_text("utf-8"))
    tests = [
        tuple(wording.replace("{}", thing) for wording in row["ask"])
        for row in tables["test"]
        for thing in row.get("of", [""])
    ]
    return Bank(MappingProxyType(tables["open"]), tuple(tests), tuple(tables["guess"]["ask"]))


@lru_cache(maxsize=10_000)
def meaning(question: str) -> Mapping[str, Cities]:
    """For each answer that the built-in oracle may give to a question, the cities that it fits."""
    found: dict[str, Cities] = {}
    for number, name in enumerate(city_names()):
        for text in possible_replies(normalise(question), cities()[name]):
            found[text] = found.get(text, 0) | 1 << number
    return found


def narrowed(known: Cities, question: str, answer: str) -> Cities:
    """The cities that a question and its answer leave; all of the known ones where the answer is strange."""
    return known & meaning(question).get(answer, known) or known


def split_of(wordings: Sequence[str]) -> tuple[Cities, ...]:
    """The sets into which the answers to a question divide the cities: those that share an answer stand together."""
    return tuple(sorted(set(meaning(wordings[0]).values())))
