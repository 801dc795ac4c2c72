"""Yes/no questions that liken the city to another place: "as old as Rome", "the same money as in Paris"."""

import re

from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.dimensions import DIMENSIONS
from lmrl_data.tasks.guess_my_city.facts import Fact, Names, facts, in_country, where
from lmrl_data.tasks.guess_my_city.world import Place

_AS = re.compile(r"\bas (\w+)(?: \w+){0,3}? as\b")
# What an adjective measures, and in which direction.
_MEASURES = {
    "big large populous crowded huge great": ("population", 1),
    "small tiny little": ("population", -1),
    "old ancient": ("founded", -1),
    "young new modern": ("founded", 1),
    "hot warm": ("mean", 1),
    "cold cool chilly": ("mean", -1),
    "high elevated": ("elevation", 1),
    "rainy wet": ("rain", 1),
    "dry": ("rain", -1),
}
_MEASURE = {word: measure for words, measure in _MEASURES.items() for word in words.split()}
# How far a number may fall short: a tenth, but of degrees and years so many.
_SHARE, _SHORT = 0.1, {"mean": 1.5, "founded": 100.0}

_SHARED = (
    (re.compile(r"\b(?:languages?|tongues?)\b"), "language"),
    (re.compile(r"\b(?:money|currency|coins?|notes|banknotes)\b"), "currency"),
    (re.compile(r"\b(?:religion|faith|gods?|beliefs?)\b"), "religion"),
    (re.compile(r"\b(?:alphabet|script|letters|characters|writing)\b"), "script"),
    (re.compile(r"\bside\b"), "drives_on"),
)
_SAME = re.compile(r"\bsame\b.* (?:as|with|like)\b|\bshares?\b.* with\b")
# Countries that pay with the money of another one.
_US_DOLLAR = frozenset(["United States", "Ecuador"])


def liken(text: str, place: Place | None) -> Fact | None:
    """The cities that are as another place is; None where a question does not ask for that.

    Args:
        text: the words of the question.
        place: the other place.
    """
    if place is None:
        return None
    found = _AS.search(text)
    if found is not None and found[1] in _MEASURE and _MEASURE[found[1]][0] in place.numbers:
        name, sign = _MEASURE[found[1]]
        return Fact(DIMENSIONS[name].facet, _as_much(name, sign, place))
    if place.cities and _SAME.search(text):
        facet = next((facet for words, facet in _SHARED if words.search(text)), None)
        if facet is not None:
            return Fact(facet, _sharing(facet, cities()[min(place.cities)]) - (place.cities if place.city else set()))
    return None


def _as_much(name: str, sign: int, place: Place) -> Names:
    value, other = DIMENSIONS[name].of, place.numbers[name]
    short = _SHORT.get(name, _SHARE * abs(other))
    return where(lambda city: sign * (value(city) - other) >= -short) - (place.cities if place.city else set())


def _sharing(facet: str, home: City) -> Names:
    """The cities that have the same of something as a city, or one of the same things where it has several."""
    if facet == "drives_on":
        return where(lambda city: city.drives_on == home.drives_on)
    if facet == "currency":
        return where(lambda city: _pays_alike(city, home))
    if facet == "language":
        return _speaking(home)
    ours = _proper_names(getattr(home, facet))
    return where(lambda city: city.country == home.country or bool(ours & _proper_names(getattr(city, facet))))


def _speaking(home: City) -> Names:
    """The cities where the language of a city is spoken: the narrowest fact about it that is true of the country."""
    sets = [fact.cities for _, fact in facts() if fact.facet == "language" and home.name in fact.cities]
    country = in_country(home.country)
    return min((names for names in sets if names >= country), key=len, default=country)


def _proper_names(text: str) -> frozenset[str]:
    """The languages, scripts or religions that a text of the table names."""
    return frozenset(word for word in re.findall(r"[^\W\d_]+", text) if word[0].isupper() or word in _UNNAMED)


# Scripts without a name of their own, by a word of their descriptions.
_UNNAMED = frozenset(["characters"])


def _pays_alike(city: City, home: City) -> bool:
    if city.country == home.country:
        return True
    return ("euro" in city.currency and "euro" in home.currency) or {city.country, home.country} <= _US_DOLLAR
