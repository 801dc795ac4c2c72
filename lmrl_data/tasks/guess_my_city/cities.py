"""The hundred cities and what is known of them: readable tables that a person can correct, in ``cities/*.toml``."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from functools import cache, cached_property
from importlib.resources import files
from types import MappingProxyType
from typing import Any, get_type_hints

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.guess_my_city.leaks import Leaks

Number = int | float

# The values that stand for nothing to tell.
NO_NICKNAME = "none"
NO_WATER = "no big water"

_CHOICES = {
    "snow": ("often", "rarely", "never"),
    "capital": ("country", "province", "none"),
    "drives_on": ("left", "right"),
}
# What is about the city's name, and so is not a text of the oracle.
_NAMES = ("name", "aliases", "country", "country_names", "demonyms")


@dataclass(frozen=True)
class City:
    """A city and what the oracle knows of it; the texts are noun phrases or clauses that answers are made from.

    Attributes:
        name: the usual English name.
        aliases: other names and spellings that win.
        country: its usual English name.
        country_names: all names of the country that answers must not contain.
        demonyms: the words for its people, language and the like, which answers must not contain either.
        capital: what the city is the capital of: ``"country"``, ``"province"`` (or state, region) or ``"none"``.
        founded: a year, negative before Christ; the best estimate.
        utc_offset: standard time, in hours.
        water: the water it lies on, or a text that starts with `NO_WATER`.
        january_c: mean temperature in °C; july_c likewise.
        rain_mm: per year.
        nickname: or `NO_NICKNAME`.
        neighbours: of the country; where a name would give the country away, a description stands for it.
        near: other cities that are near.
        olympics: the years in which the Games were held there.
    """

    name: str
    aliases: tuple[str, ...]
    country: str
    country_names: tuple[str, ...]
    demonyms: tuple[str, ...]
    continent: str
    region: str
    latitude: float
    longitude: float
    elevation_m: Number
    population_millions: float
    founded: int
    utc_offset: float
    capital: str
    coastal: bool
    water: str
    january_c: float
    july_c: float
    rain_mm: Number
    snow: str
    climate: str
    terrain: str
    language: str
    script: str
    currency: str
    religion: str
    government: str
    landmarks: str
    food: str
    drink: str
    industry: str
    sports: str
    music: str
    arts: str
    history: str
    transport: str
    university: str
    festival: str
    nature: str
    people: str
    nickname: str
    architecture: str
    shopping: str
    nightlife: str
    fun_fact: str
    neighbours: tuple[str, ...]
    flag: str
    near: tuple[str, ...]
    drives_on: str
    olympics: tuple[int, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """All names that win, the usual one first."""
        return (self.name, *self.aliases)

    @cached_property
    def leaks(self) -> Leaks:
        """Finds what would give the city away in a text."""
        return Leaks([*self.names, self.country, *self.country_names, *self.demonyms])

    def texts(self) -> Iterator[tuple[str, str]]:
        """Each text that answers are made from, with the name of its field."""
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _NAMES:
                continue
            for text in value if isinstance(value, tuple) else (value,):
                if isinstance(text, str):
                    yield field.name, text


@cache
def cities() -> Mapping[str, City]:
    """The cities by name, in alphabetical order.

    Raises:
        ValueError: a table is wrong; the message says which city, which field and why.
    """
    found: dict[str, City] = {}
    for file in sorted(files(__package__).joinpath("cities").iterdir(), key=lambda file: file.name):
        for name, row in tomllib.loads(file.read_text("utf-8")).items():
            if name in found:
                raise ValueError(f"{file.name}: {name} is there twice")
            found[name] = _read(name, row)
    _check_names(found.values())
    return MappingProxyType(dict(sorted(found.items())))


def find_city(name: object) -> City:
    """A city by its name or one of its aliases, as ``reset(options={"city": …})`` takes it.

    Raises:
        LmrlError: there is no such city; the message lists those there are.
    """
    if isinstance(name, str):
        for city in cities().values():
            if name in city.names:
                return city
    raise LmrlError(f"no city {str(name)[:60]!r}; the cities are: {', '.join(cities())}")


def _read(name: str, row: Mapping[str, Any]) -> City:
    types = get_type_hints(City)
    expected = [field.name for field in fields(City)][1:]
    if list(row) != expected:
        wrong = set(row) ^ set(expected) or "their order"
        raise ValueError(f"{name}: the keys are not those of a city ({wrong})")
    values: dict[str, Any] = {key: tuple(v) if isinstance(v, list) else v for key, v in row.items()}
    for key, value in values.items():
        if not _fits(value, types[key]):
            raise ValueError(f"{name}: {key} = {value!r} is no {types[key]}")
        if key in _CHOICES and value not in _CHOICES[key]:
            raise ValueError(f"{name}: {key} = {value!r} is none of {_CHOICES[key]}")
    city = City(name=name, **values)
    for key, text in city.texts():
        if leak := city.leaks.find(text):
            raise ValueError(f"{name}: {key} gives it away by {leak!r}")
        if text != text.strip() or text.endswith(".") or not text:
            raise ValueError(f"{name}: {key} is no clause: {text!r}")
    return city


def _fits(value: object, kind: Any) -> bool:
    if kind == tuple[str, ...]:
        return isinstance(value, tuple) and all(isinstance(item, str) for item in value)
    if kind == tuple[int, ...]:
        return isinstance(value, tuple) and all(type(item) is int for item in value)
    if kind in (float, Number):
        return type(value) in (int, float)
    return type(value) is kind


def _check_names(found: Iterable[City]) -> None:
    owner: dict[str, str] = {}
    for city in found:
        for name in city.names:
            other = owner.setdefault(name.casefold(), city.name)
            if other != city.name:
                raise ValueError(f"{name} stands for {other} and for {city.name}")
        if len(set(city.names)) != len(city.names):
            raise ValueError(f"{city.name}: a name is there twice")
