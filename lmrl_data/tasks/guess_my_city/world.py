"""The rest of the world: countries and other cities that a question may name, and where they are."""

import csv
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.dimensions import DIMENSIONS
from lmrl_data.tasks.guess_my_city.facts import Names, in_country
from lmrl_data.tasks.guess_my_city.leaks import plain

Point = tuple[float, float]

_EARTH_KM = 6371.0
# How far two places may lie from each other, in km, that people call near.
NEAR_CITY_KM, NEAR_COUNTRY_KM = 300.0, 450.0
# Cities of old that people guess; nothing else of them is known here.
_LOST = ("Carthage", "Babylon", "Troy", "Pompeii", "Sparta", "Atlantis", "Angkor", "Ephesus", "Nineveh", "Persepolis")


@dataclass(frozen=True)
class Place:
    """A city or a country that a question names.

    Attributes:
        name: its usual name.
        city: whether it is a city.
        cities: the hidden cities that it is or that lie in it.
        points: latitude and longitude of the city, or of the large cities of the country.
        numbers: its numbers by dimension, as far as they are known.
    """

    name: str
    city: bool
    cities: Names
    points: tuple[Point, ...] = ()
    numbers: Mapping[str, float] = field(default_factory=dict)

    @property
    def neighbours(self) -> Names:
        """The hidden cities whose country borders on this one."""
        ours = {plain(name) for name in (self.name, *_other_names().get(self.name, ()))}
        return frozenset(
            name for name, city in cities().items() if any(plain(other) in ours for other in city.neighbours)
        )

    def near(self) -> Names:
        """The hidden cities that lie near it."""
        limit = NEAR_CITY_KM if self.city else NEAR_COUNTRY_KM
        return self.cities | self.within(limit)

    def within(self, limit_km: float) -> Names:
        """The hidden cities that lie no farther from it than so many kilometres."""
        return frozenset(
            name
            for name, city in cities().items()
            if any(distance_km((city.latitude, city.longitude), point) <= limit_km for point in self.points)
        )


def distance_km(one: Point, other: Point) -> float:
    """The distance of two points on the globe."""
    latitudes = math.radians(one[0]), math.radians(other[0])
    across = math.radians(other[1] - one[1])
    haversine = (
        math.sin((latitudes[1] - latitudes[0]) / 2) ** 2
        + math.cos(latitudes[0]) * math.cos(latitudes[1]) * math.sin(across / 2) ** 2
    )
    return 2 * _EARTH_KM * math.asin(math.sqrt(haversine))


def place_names() -> Iterator[tuple[str, Place]]:
    """Every name of a place, and the place. The hidden cities come first, then other cities, then countries."""
    rows = _rows("cities.csv")
    for name, city in cities().items():
        numbers = {key: dimension.of(city) for key, dimension in DIMENSIONS.items()}
        place = Place(name, True, frozenset([name]), ((city.latitude, city.longitude),), numbers)
        yield from ((known, place) for known in city.names)
    climates = {row["name"]: row for row in _rows("climates.csv")}
    for row in rows:
        other = row["other_name"]
        numbers = _numbers(row) | (_climate_of(row["name"]) or _climate_of(other))
        place = Place(row["name"], True, frozenset(), ((numbers["latitude"], numbers["longitude"]),), numbers)
        yield from ((known, place) for known in (row["name"], other) if known)
    yield from ((name, Place(name, True, frozenset())) for name in _LOST)
    yield from _countries(rows)
    known_places = {row["name"] for row in (*rows, *_rows("countries.csv"))} | {row["other_name"] for row in rows}
    for name in climates.keys() - known_places:
        yield name, Place(name, False, frozenset(), (), _climate_of(name))


def _numbers(row: Mapping[str, str]) -> dict[str, float]:
    latitude = float(row["latitude"])
    return {
        "latitude": latitude,
        "distance_from_equator": abs(latitude),
        "longitude": float(row["longitude"]),
        "population": float(row["population_millions"]),
        "offset": float(row["utc_offset"]),
    }


def _climate_of(name: str) -> dict[str, float]:
    """What ``climates.csv`` says of a city, a country or another part of the world; nothing where it is not in it."""
    for row in _rows("climates.csv"):
        if row["name"] == name:
            january, july = float(row["january_c"]), float(row["july_c"])
            return {
                "january": january,
                "july": july,
                "mean": (january + july) / 2,
                "summer": max(january, july),
                "winter": min(january, july),
                "rain": float(row["rain_mm"]),
                "elevation": float(row["elevation_m"]),
                "founded": float(row["founded"]),
            }
    return {}


def _countries(cities_of_the_world: Iterable[Mapping[str, str]]) -> Iterator[tuple[str, Place]]:
    points: dict[str, list[Point]] = {}
    for row in cities_of_the_world:
        points.setdefault(row["country"], []).append((float(row["latitude"]), float(row["longitude"])))
    for row in _rows("countries.csv"):
        names = [row["name"], *_split(row["other_names"])]
        ours = frozenset[str]().union(*map(in_country, names))
        here = [(cities()[name].latitude, cities()[name].longitude) for name in sorted(ours)]
        here += points.get(row["code"], [])
        numbers = {"population": float(row["population_millions"])}
        if here:
            numbers["latitude"] = sum(latitude for latitude, _ in here) / len(here)
            numbers["longitude"] = sum(longitude for _, longitude in here) / len(here)
        numbers |= _climate_of(row["name"])
        place = Place(row["name"], False, ours, tuple(here), numbers)
        adjectives = _split(row["adjectives"])
        plurals = [word + "s" for word in adjectives if word.endswith(("n", "i")) and word + "s" not in adjectives]
        yield from ((known, place) for known in (*names, *adjectives, *plurals))


@cache
def _other_names() -> dict[str, tuple[str, ...]]:
    """The further names of each country."""
    return {row["name"]: tuple(_split(row["other_names"])) for row in _rows("countries.csv")}


def _split(text: str) -> list[str]:
    return text.split("|") if text else []


@cache
def _rows(name: str) -> tuple[dict[str, str], ...]:
    text = files(__package__).joinpath("world").joinpath(name).read_text("utf-8")
    return tuple(csv.DictReader(text.splitlines()))
