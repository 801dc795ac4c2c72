"""The facts of a city's table in words: numbers as people say them."""

from collections.abc import Callable, Sequence

from lmrl_data.tasks.guess_my_city.cities import NO_WATER, City
from lmrl_data.tasks.guess_my_city.dimensions import DIMENSIONS, THIS_YEAR
from lmrl_data.tasks.guess_my_city.letters import VOWELS, letters_of

_ONES = "no one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = ("first", "second", "third", "fourth", "fifth")
_UNSURE_BEFORE = 1000


def value(facet: str, city: City) -> str:
    """What the phrases of a facet say of a city."""
    made = _MADE.get(facet)
    return made(city) if made else str(getattr(city, facet))


def listed(items: Sequence[str]) -> str:
    """Items as a list in a sentence."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def counted(number: int, noun: str) -> str:
    """A number of things: "one letter", "15 letters"."""
    word = _ONES[number] if number < len(_ONES) else str(number)
    return f"{word} {noun}{'' if number == 1 else 's'}"


def _latitude(city: City) -> str:
    degrees = round(abs(city.latitude))
    side = "north" if city.latitude > 0 else "south"
    if degrees <= 1:
        return f"almost on the equator, a touch {side} of it"
    if degrees < 10:
        return f"a little {side} of the equator, at about {degrees} degrees"
    if degrees < 23.44:
        return f"within the tropics, about {degrees} degrees {side} of the equator"
    if degrees < 50:
        return f"about {degrees} degrees {side} of the equator"
    return f"far up in the {side}, about {degrees} degrees from the equator"


def _longitude(city: City) -> str:
    degrees = round(abs(city.longitude))
    if degrees < 1:
        return "almost exactly on the meridian of Greenwich"
    return f"about {degrees} degrees {'east' if city.longitude > 0 else 'west'} of Greenwich"


def _elevation(city: City) -> str:
    metres = city.elevation_m
    if metres < 15:
        return "only a few metres above the sea"
    if metres < 100:
        return f"about {round(metres, -1)} metres above the sea"
    high = "high up, " if metres > 1500 else ""
    return f"{high}about {round(metres, -1):,} metres above the sea"


def people(millions: float) -> str:
    """A population: "about nine million people"."""
    if millions < 0.95:
        return f"about {round(millions * 1000, -2):,.0f},000 people".replace(",000,000", "00,000")
    if millions < 9.5:
        half = round(millions * 2) / 2
        number = f"{_ONES[int(half)]} and a half" if half % 1 else _ONES[int(half)]
        return f"about {number} million people"
    return f"about {round(millions)} million people"


def _size(city: City) -> str:
    for limit, words in (
        (1.5, "not very large for a city of note"),
        (3, "a big city, though no giant"),
        (6, "a large city"),
        (10, "a very large city"),
        (20, "one of the giants of the world"),
    ):
        if city.population_millions < limit:
            return f"{words}, with {people(city.population_millions)}"
    return f"one of the largest cities on earth, with {people(city.population_millions)}"


def _founded(city: City) -> str:
    year = city.founded
    if year < 0:
        return f"around {round(-year, -1) if year < -99 else -year} BC, {_age(year)}"
    about = "around" if year < _UNSURE_BEFORE else "in"
    return f"{about} {year if year >= 100 else f'AD {year}'}, {_age(year)}"


def _age(year: int) -> str:
    years = THIS_YEAR - year
    if years >= 1000:
        return f"about {round(years, -2):,} years ago"
    return f"about {round(years, -1)} years ago"


def hours(offset: float) -> str:
    """A difference of clocks without its direction: "five and a half hours"."""
    whole, rest = divmod(abs(offset), 1)
    if not whole:
        return "half an hour"
    return f"{_ONES[int(whole)]}{' and a half' if rest else ''} hour{'' if whole == 1 and not rest else 's'}"


def _utc_offset(city: City) -> str:
    if city.utc_offset == 0:
        return "the same as Greenwich time"
    return f"{hours(city.utc_offset)} {'ahead of' if city.utc_offset > 0 else 'behind'} Greenwich in winter"


def _capital(city: City) -> str:
    return {
        "country": "the capital of its country",
        "province": "not the national capital, but the seat of a state, a region or a province",
        "none": "no capital of anything",
    }[city.capital]


def _coastal(city: City) -> str:
    return "by the sea" if city.coastal else "inland, away from the sea"


def _water(city: City) -> str:
    return city.water


def _degrees(celsius: float) -> str:
    return f"{_feeling(celsius)}, about {round(celsius)} °C"


def _feeling(celsius: float) -> str:
    words = (
        (-8, "bitterly cold"),
        (2, "cold"),
        (9, "chilly"),
        (15, "mild"),
        (21, "pleasantly warm"),
        (26, "warm"),
    )
    return next((word for limit, word in words if celsius < limit), "hot")


def _temperature(city: City) -> str:
    return f"January is {_degrees(city.january_c)}, and July {_degrees(city.july_c)}"


def _snow(city: City) -> str:
    return {
        "often": "it snows in most winters",
        "rarely": "snow falls now and then, but seldom lies for long",
        "never": "it practically never snows",
    }[city.snow]


def _rain(city: City) -> str:
    rain = city.rain_mm
    if rain < 450:
        return f"only about {round(rain, -1) or rain} mm"
    return f"about {round(rain, -1):,} mm" if rain < 1000 else f"as much as {round(rain, -1):,} mm"


def _wetness(city: City) -> str:
    rain = city.rain_mm
    if rain < 250:
        return "it hardly ever rains here"
    return "it rains little" if rain < 600 else "it rains a fair amount" if rain < 1200 else "it rains a lot"


def _olympics(city: City) -> str:
    return f"in {listed([str(year) for year in city.olympics])}"


def _region(city: City) -> str:
    return f"{city.region}, which is in {city.continent}" if city.continent not in city.region else city.region


_MADE: dict[str, Callable[[City], str]] = {
    "latitude": _latitude,
    "longitude": _longitude,
    "elevation": _elevation,
    "population": lambda city: people(city.population_millions),
    "size": _size,
    "founded": _founded,
    "utc_offset": _utc_offset,
    "capital": _capital,
    "coastal": _coastal,
    "temperature": _temperature,
    "january": lambda city: _degrees(city.january_c),
    "july": lambda city: _degrees(city.july_c),
    "warmth": lambda city: f"{_feeling(city.january_c)} and July {_feeling(city.july_c)}",
    "wetness": _wetness,
    "hemisphere": lambda city: "north of" if city.latitude > 0 else "south of",
    "snow": _snow,
    "rain": _rain,
    "region": _region,
    "olympics": _olympics,
    "neighbours": lambda city: listed(city.neighbours),
    "near": lambda city: listed(city.near),
}


def spelling(aspect: str, city: City) -> tuple[str, str]:
    """What is told of the name's letters: the phrases' facet, and the fact.

    Args:
        aspect: as in `lmrl_data.tasks.guess_my_city.letters.Spelling`.
        city: the city.
    """
    letters = letters_of(city.name)
    if aspect.startswith("letter "):
        number = int(aspect.split()[1])
        if number >= len(letters):
            return "name_letter", "its common name is too short for that"
        order = "last" if number < 0 else _ORDINALS[number]
        return "name_letter", f"the {order} letter of its common name is {letters[number].upper()}"
    if aspect == "words":
        return "name_count", counted(int(DIMENSIONS["words"].of(city)), "word")
    if aspect == "vowels":
        return "name_count", counted(sum(letter in VOWELS for letter in letters), "vowel")
    return "name_count", counted(len(letters), "letter")


def has_none(facet: str, city: City) -> bool:
    """Whether there is nothing to tell of a facet, and so the phrases of ``no_FACET`` are said."""
    if facet == "water":
        return city.water.startswith(NO_WATER)
    if facet == "nickname":
        return city.nickname == "none"
    return facet in ("neighbours", "olympics") and not getattr(city, facet)
