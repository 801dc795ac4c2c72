"""The yes/no facts: what a question may mention, and the cities of which it is true, from ``facts/*.toml``.

A table of such a file is named by its facet. ``say`` is what a question may say: phrases (see
`lmrl_data.tasks.guess_my_city.patterns`) with slashes between them. ``of`` are the cities of which it is true: names of
cities or countries with commas between them, ``all``, ``none``, ``@NAME`` for a group of the table ``groups`` of the
file, a term of `TERMS` such as ``coastal``, or a comparison of a number such as ``winter < 3`` or
``population > 1.4 & population < 6``. A minus takes away: ``all, -Rome``.
"""

import operator
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.dimensions import DIMENSIONS
from lmrl_data.tasks.guess_my_city.patterns import split_phrases

Names = frozenset[str]

TERMS: dict[str, Callable[[City], bool]] = {
    "all": lambda city: True,
    "none": lambda city: False,
    "coastal": lambda city: city.coastal,
    "national": lambda city: city.capital == "country",
    "provincial": lambda city: city.capital == "province",
    "snow_often": lambda city: city.snow == "often",
    "snow_rarely": lambda city: city.snow == "rarely",
    "drives_left": lambda city: city.drives_on == "left",
    "hosted": lambda city: bool(city.olympics),
    "nicknamed": lambda city: city.nickname != "none",
}
_COMPARISON = re.compile(r"(\w+) ([<>]) (-?[\d.]+)")


class Fact(NamedTuple):
    """Something that is true of some cities.

    Attributes:
        facet: what it is about.
        cities: of which it is true.
    """

    facet: str
    cities: Names


@cache
def all_cities() -> Names:
    """The names of the cities."""
    return frozenset(cities())


def where(holds: Callable[[City], bool]) -> Names:
    """The names of the cities of which something holds."""
    return frozenset(name for name, city in cities().items() if holds(city))


@cache
def in_country(country: str) -> Names:
    """The names of the cities in a country."""
    return where(lambda city: city.country == country)


def facts() -> Iterator[tuple[str, Fact]]:
    """Every phrase of the tables with the fact that it stands for.

    Raises:
        ValueError: a table is wrong; the message says where.
    """
    for file in sorted(files(__package__).joinpath("facts").iterdir(), key=lambda file: file.name):
        tables = tomllib.loads(file.read_text("utf-8"))
        groups = tables.pop("groups", {})
        seen: set[tuple[str, str]] = set()
        for facet, rows in tables.items():
            for row in rows:
                phrases = split_phrases(row["say"])
                fact = Fact(facet, _cities_of(row["of"], groups, f"{file.name}: {phrases[0]}"))
                for phrase in phrases:
                    if (facet, phrase) in seen:
                        raise ValueError(f"{file.name}: {phrase!r} is there twice")
                    seen.add((facet, phrase))
                    yield phrase, fact


def _cities_of(terms: str, groups: Mapping[str, str], place: str) -> Names:
    found: Names = frozenset()
    for term in (" ".join(term.split()) for term in terms.split(",")):
        name = term.removeprefix("-")
        if name.startswith("@"):
            if name[1:] not in groups:
                raise ValueError(f"{place}: there is no group {name!r}")
            meant = _cities_of(groups[name[1:]], groups, place)
        else:
            meant = _term(name, place)
        found = found - meant if term.startswith("-") else found | meant
    return found


def _term(term: str, place: str) -> Names:
    if term in TERMS:
        return where(TERMS[term])
    if term in cities():
        return frozenset([term])
    if " < " in term or " > " in term:
        return frozenset.intersection(*(_compared(part, place) for part in term.split(" & ")))
    if found := in_country(term):
        return found
    raise ValueError(f"{place}: {term!r} is no city, country or term")


def _compared(text: str, place: str) -> Names:
    parts = _COMPARISON.fullmatch(text)
    if parts is None or parts[1] not in DIMENSIONS:
        raise ValueError(f"{place}: cannot read {text!r}")
    value, compare = DIMENSIONS[parts[1]].of, operator.lt if parts[2] == "<" else operator.gt
    limit = float(parts[3])
    return where(lambda city: compare(value(city), limit))
