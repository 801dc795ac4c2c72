"""The numbers of a city that questions compare."""

from collections.abc import Callable
from dataclasses import dataclass

from lmrl_data.tasks.guess_my_city.cities import City

# "Now", for the age of a city.
THIS_YEAR = 2025


@dataclass(frozen=True)
class Dimension:
    """A number of a city.

    Attributes:
        facet: the facet that tells it.
        of: the number.
    """

    facet: str
    of: Callable[[City], float]


def _letters(city: City) -> int:
    return sum(letter.isalpha() for letter in city.name)


DIMENSIONS = {
    "latitude": Dimension("latitude", lambda city: city.latitude),
    "distance_from_equator": Dimension("latitude", lambda city: abs(city.latitude)),
    "longitude": Dimension("longitude", lambda city: city.longitude),
    "elevation": Dimension("elevation", lambda city: city.elevation_m),
    "population": Dimension("population", lambda city: city.population_millions),
    "founded": Dimension("founded", lambda city: city.founded),
    "age": Dimension("founded", lambda city: THIS_YEAR - city.founded),
    "offset": Dimension("utc_offset", lambda city: city.utc_offset),
    "january": Dimension("temperature", lambda city: city.january_c),
    "july": Dimension("temperature", lambda city: city.july_c),
    "summer": Dimension("temperature", lambda city: max(city.january_c, city.july_c)),
    "winter": Dimension("temperature", lambda city: min(city.january_c, city.july_c)),
    "mean": Dimension("temperature", lambda city: (city.january_c + city.july_c) / 2),
    "seasons": Dimension("temperature", lambda city: abs(city.january_c - city.july_c)),
    "rain": Dimension("rain", lambda city: city.rain_mm),
    "neighbours": Dimension("neighbours", lambda city: len(city.neighbours)),
    "olympics": Dimension("olympics", lambda city: len(city.olympics)),
    "letters": Dimension("name", _letters),
    "words": Dimension("name", lambda city: len(city.name.split())),
}
