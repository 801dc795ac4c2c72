"""Yes/no questions that compare: with a number, with another place, or with a date of history."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from lmrl_data.tasks.guess_my_city.clocks import compare_clocks, compare_games
from lmrl_data.tasks.guess_my_city.dimensions import DIMENSIONS, THIS_YEAR
from lmrl_data.tasks.guess_my_city.facts import Fact, Names, where
from lmrl_data.tasks.guess_my_city.likeness import liken
from lmrl_data.tasks.guess_my_city.quantities import Quantity, quantities
from lmrl_data.tasks.guess_my_city.world import Place

# Words that mostly count nothing.
_NO_NUMBERS = ("one", "once", "single", "millions", "thousands", "hundreds", "couple", "dozens")
# How far a number may be off where it is asked for as it is: a share of it, and at least so much.
_ABOUT, _ABOUT_DEGREES, _ABOUT_YEARS, _ABOUT_LONGITUDE = 0.2, 3.0, 15, 5.0


class _Scale(NamedTuple):
    """A number that is compared: its comparatives and its units."""

    name: str
    more: re.Pattern[str]
    less: re.Pattern[str]
    unit: re.Pattern[str]


class _Words(NamedTuple):
    """The words of ``comparisons.toml``."""

    scales: tuple[_Scale, ...]
    numbers: Mapping[str, re.Pattern[str]]
    seasons: Mapping[str, re.Pattern[str]]
    events: Mapping[int, re.Pattern[str]]


def _pattern(alternatives: Sequence[str]) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{'|'.join(alternatives) or '(?!)'})\b")


@cache
def _words() -> _Words:
    tables = tomllib.loads(files(__package__).joinpath("comparisons.toml").read_text("utf-8"))
    scales = [
        _Scale(row["name"], _pattern(row["more"]), _pattern(row["less"]), _pattern(row["unit"]))
        for row in tables["scale"]
    ]
    numbers, seasons, events = (
        {name: _pattern(words) for name, words in tables[table].items()} for table in ("numbers", "seasons", "events")
    )
    return _Words(tuple(scales), numbers, seasons, {int(year): pattern for year, pattern in events.items()})


def compare(row: Sequence[str], places: Sequence[Place]) -> Fact | None:
    """The cities of which a comparison in a yes/no question holds; None where there is no comparison to be read.

    Args:
        row: the words of the question.
        places: the other places that it names.
    """
    text = " ".join(row)
    place = next((place for place in places if place.numbers), None)
    other = next(iter(places), None)
    for special in (compare_clocks(row, text, place), compare_games(row, text), liken(text, other)):
        if special is not None:
            return special
    if signed := _SIGN.search(text):
        name, sign = signed["name"], 1 if signed["sign"] == "positive" else -1
        return Fact(name, where(lambda city: sign * DIMENSIONS[name].of(city) > 0))
    if place is not None and _AWAY.search(text):
        return None  # a distance compares no sizes
    months = _of_months(row, text) if place is None else None
    if months is not None:
        return Fact("temperature", months)
    for scale in _words().scales:
        if scale.name == "elevation" and _BUILT.search(text):
            continue
        relation = 1 if scale.more.search(text) else -1 if scale.less.search(text) else 0
        found: Names | None = None
        if relation and place is not None and not _names_year(row):
            found = _with_place(scale.name, relation, text, place)
        if found is None and (relation or scale.unit.search(text)):
            found = _with_event(relation, text) if scale.name == "age" else None
            found = found if found is not None else _with_number(scale.name, relation, row, text)
        if found is not None:
            return Fact("temperature" if scale.name == "temperature" else DIMENSIONS[scale.name].facet, found)
    return None


def _of_months(row: Sequence[str], text: str) -> Names | None:
    """How July and January differ: "Is July the warmest month?", "a spread of over 20 degrees"."""
    july, january = (_words().seasons[month].search(text) for month in ("july", "january"))
    numbers = [found.value for found in quantities(row)]
    if _SPREAD.search(text):
        over = -1 if _words().numbers["under"].search(text) else 1
        limit = numbers[0] if numbers else _LARGE_SPREAD
        return where(lambda city: over * (abs(city.july_c - city.january_c) - limit) > 0)
    relation = 1 if _HOTTEST.search(text) else -1 if _COLDEST.search(text) else 0
    if not relation or not (july or january):
        return None
    first = july if january is None or (july is not None and july.start() < january.start()) else january
    if (july is None or january is None) and not _SUPERLATIVE.search(text):
        return None
    sign = relation if first is july else -relation
    least = numbers[0] if numbers else 0.0
    return where(lambda city: sign * (city.july_c - city.january_c) > least)


_AWAY = re.compile(r"\b(?:km|kilomet\w+|miles?)\b(?: \w+)? (?:from|of|to)\b")
# What has a height of its own, whatever that of the land is.
_BUILT = re.compile(
    r"\b(?:towers?|skyscrapers?|buildings?|walls?|statues?|bridges?|peaks?|mountains?|hills?|volcano\w*)\b"
)
_SIGN = re.compile(r"\b(?P<name>latitude|longitude)\b.* (?P<sign>positive|negative)\b")
_SPREAD = re.compile(
    r"\b(?:spread|difference|range|gap|contrast|swing|amplitude)\b.*\b(?:january|summers?|winters?|seasons?|months?|"
    r"year)\b"
)
# What people call a large difference between January and July, in degrees.
_LARGE_SPREAD = 15.0
_HOTTEST = re.compile(r"\b(?:hott\w+|warm(?:er|est)|highest|higher|summer)\b")
_COLDEST = re.compile(r"\b(?:cold(?:er|est)|cool(?:er|est)|chill\w+|lowest|lower|winter)\b")
_SUPERLATIVE = re.compile(r"\b\w+est\b|\b(?:in|during) (?:the )?(?:summer|winter)\b|\b(?:summer|winter) month\b")
# Words that speak of the hottest or the coldest that it gets.
_EXTREME = re.compile(r"\b(?:ever|never|drops?|falls?|gets?|go|goes|reach\w*|exceed\w*|hits?|climbs?|rises?|sinks?)\b")


def _dimension(name: str, text: str) -> str:
    """The dimension that a scale compares: of temperatures, that of the season which is named."""
    if name != "temperature":
        return name
    season = next((season for season, pattern in _words().seasons.items() if pattern.search(text)), None)
    if season is None and _EXTREME.search(text):
        season = "winter" if _words().numbers["under"].search(text) else "summer"
    return season or "mean"


def _with_place(name: str, relation: int, text: str, place: Place) -> Names | None:
    dimension = _dimension(name, text)
    if dimension == "age":
        dimension, relation = "founded", -relation
    if dimension not in place.numbers:
        return None
    value, other = DIMENSIONS[dimension].of, place.numbers[dimension]
    return where(lambda city: relation * (value(city) - other) > 0) - place.cities


def _names_year(row: Sequence[str]) -> bool:
    return any(1000 <= found.value <= THIS_YEAR and found.end - found.start == 1 for found in quantities(row))


def _with_event(relation: int, text: str) -> Names | None:
    """Older or younger than an event, or of a century."""
    words = _words()
    if found := re.search(r"\b(?:(\d{1,2})(?:st|nd|rd|th)?|(\w+)th) (?:century|centuries)( bc)?", text):
        numbers = [float(found[1])] if found[1] else [q.value for q in quantities([_cardinal(found[2])])]
        if numbers:
            start = -100 * numbers[0] if found[3] else 100 * (numbers[0] - 1) + 1
            if words.numbers["before"].search(text):
                return where(lambda city: city.founded < start)
            if words.numbers["after"].search(text):
                return where(lambda city: city.founded >= start + 100)
            return where(lambda city: start <= city.founded < start + 100)
    if not relation or not words.numbers["founding"].search(text):
        return None
    year = next((year for year, pattern in words.events.items() if pattern.search(text)), None)
    return None if year is None else where(lambda city: relation * (year - city.founded) > 0)


def _cardinal(root: str) -> str:
    """The number word of an ordinal that has lost its "th"."""
    return {"eigh": "eight", "nin": "nine", "twelf": "twelve", "twentie": "twenty", "fif": "five"}.get(root, root)


def _with_number(name: str, relation: int, row: Sequence[str], text: str) -> Names | None:
    numbers = [found for found in quantities(row) if row[found.start] not in _NO_NUMBERS or found.value >= 1e6]
    if name == "temperature" and (found := re.search(r"\b(below|under|sub|above) ?(?:freezing|zero)", text)):
        numbers, relation = [Quantity(0.0, 0, 0)], 1 if found[1] == "above" else -1
    if not numbers:
        return None
    if name == "age":
        return _with_year(relation, numbers, text)
    dimension = _dimension(name, text)
    amounts = [_converted(found.value, dimension, text) for found in numbers]
    limits = sorted(amount for amount in amounts if amount is not None)
    if len(limits) < len(amounts):
        return None
    value, limit = DIMENSIONS[dimension].of, limits[0]
    if re.search(r"\bbetween\b", text) and len(limits) > 1:
        return where(lambda city: limit <= value(city) <= limits[1])
    if dimension == "longitude":
        limit = -limit if re.search(r"\bwest", text) else limit
        return where(lambda city: abs(value(city) - limit) <= _ABOUT_LONGITUDE)
    words = _words().numbers
    sign = -1 if words["under"].search(text) else 1 if words["over"].search(text) else relation
    if sign:
        return where(lambda city: sign * (value(city) - limit) > 0)
    margin = max(abs(limit) * _ABOUT, _ABOUT_DEGREES if name == "temperature" else 0.0)
    return where(lambda city: abs(value(city) - limit) <= margin)


def _converted(amount: float, dimension: str, text: str) -> float | None:
    """An amount in the unit of its dimension; None where it cannot be one."""
    if dimension == "population":
        if amount >= 1000:
            return amount / 1e6
        return amount if re.search(r"\bmillions?\b", text) else None
    if dimension == "elevation":
        if re.search(r"\bkilomet\w+|\bkm\b", text):
            return amount * 1000
        return amount * 0.3048 if re.search(r"\b(?:feet|foot|ft)\b", text) else amount
    if dimension == "rain":
        if re.search(r"\binch\w*\b", text):
            return amount * 25.4
        return amount * 1000 if amount < 20 and re.search(r"\bmet(?:er|re)s?\b", text) else amount
    if DIMENSIONS[dimension].facet == "temperature":
        if re.search(r"\b(?:fahrenheit|f)\b", text):
            return (amount - 32) / 1.8
        return -amount if re.search(r"\bminus\b", text) else amount
    return amount


def _with_year(relation: int, numbers: Sequence[Quantity], text: str) -> Names | None:
    """Founded before, in or after a year, or so many years old."""
    words, amount = _words().numbers, numbers[0].value
    age = re.search(r"\byears?\b|\bcentur\w+|\bmillenni\w+", text) and not re.search(r"\bin (?:the )?year\b", text)
    if amount < 100 or (amount > THIS_YEAR and not age):
        return None
    if re.search(r"\bbetween\b", text) and len(numbers) > 1:
        return where(lambda city: amount <= city.founded <= numbers[1].value)
    if age:
        older = not words["under"].search(text)
        return where(lambda city: (city.founded < THIS_YEAR - amount) == older)
    year = -amount if re.search(r"\bbce?\b|\bb c\b|\d because\b", text) else amount
    if re.search(r"\b(?:after|since|younger|later|newer)\b", text):
        return where(lambda city: city.founded > year)
    if relation > 0 or words["before"].search(text):
        return where(lambda city: city.founded < year)
    return where(lambda city: abs(city.founded - year) <= _ABOUT_YEARS)
