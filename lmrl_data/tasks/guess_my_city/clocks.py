"""Yes/no questions about the time of day and about the years of the Olympic Games."""

import re
from collections.abc import Callable, Sequence

from lmrl_data.tasks.guess_my_city.cities import City, cities
from lmrl_data.tasks.guess_my_city.facts import Fact, where
from lmrl_data.tasks.guess_my_city.quantities import quantities
from lmrl_data.tasks.guess_my_city.world import Place

_CLOCK = re.compile(
    r"\b(?:ahead|behind|gmt|utc|greenwich mean|time zone|timezone|same time|hours?|clocks?|time difference|daylight|"
    r"half hour|time)\b"
)
# Hours of another kind, and what else is behind or ahead.
_TRAVEL = re.compile(r"\b(?:curtain|tower|mountains?|flight|fly|drive|driving|away|ride|train|journey|bus|far|open)\b")
_SAME = re.compile(
    r"\b(?:equal to|identical (?:to|with)|on|in) (?:gmt|utc|greenwich)|"
    r"\bsame (?:time|clock|timezone|hour)|\btime .*\bsame\b|\bshare .*time"
)
_GREENWICH = re.compile(r"\b(?:gmt|utc|greenwich)\b")
_HALF = re.compile(r"\bhalf (?:an )?hours?\b|\b30 minutes\b")
_AHEAD, _BEHIND = re.compile(r"\b(?:ahead|later|plus|in front)\b"), re.compile(r"\b(?:behind|earlier|minus|slower)\b")
_MORE, _LESS = re.compile(r"\b(?:more|over|at least)\b"), re.compile(r"\b(?:less|under|within|at most|fewer)\b")


def compare_clocks(row: Sequence[str], text: str, place: Place | None) -> Fact | None:
    """The cities of which a question about the time of day holds; None where it is about something else.

    Args:
        row: the words of the question.
        text: the same as a text.
        place: another place that it names; Greenwich where there is none.
    """
    if not _CLOCK.search(text) or _TRAVEL.search(text):
        return None
    other = _offset_of(place)
    if _SAME.search(text):
        if other is None or (place is None and not _GREENWICH.search(text)):
            return None
        return _fact(lambda city: city.utc_offset == other)
    if _HALF.search(text) and place is None:
        return _fact(lambda city: city.utc_offset % 1 != 0)
    direction = -1 if _BEHIND.search(text) else 1 if _AHEAD.search(text) else 0
    numbers = [found.value for found in quantities(row)] or ([1.0] if re.search(r"\ban? hour\b", text) else [])
    if other is None or not (direction or numbers):
        return None
    if not numbers:
        return _fact(lambda city: direction * (city.utc_offset - other) > 0)
    hours = numbers[0]
    if _MORE.search(text):
        return _fact(lambda city: (direction or 1) * (city.utc_offset - other) > hours)
    if _LESS.search(text):
        return _fact(lambda city: abs(city.utc_offset - other) < hours)
    if not direction:
        return _fact(lambda city: abs(city.utc_offset - other) == hours)
    return _fact(lambda city: direction * (city.utc_offset - other) == hours)


def _fact(holds: Callable[[City], bool]) -> Fact:
    return Fact("utc_offset", where(holds))


def _offset_of(place: Place | None) -> float | None:
    """The clock of a place; None for a country with several."""
    if place is None:
        return 0.0
    if "offset" in place.numbers:
        return place.numbers["offset"]
    offsets = {cities()[name].utc_offset for name in place.cities}
    return offsets.pop() if len(offsets) == 1 else None


def compare_games(row: Sequence[str], text: str) -> Fact | None:
    """The cities that held the Olympic Games of a year which a question names."""
    years = [found.value for found in quantities(row) if 1890 < found.value < 2100]
    if not years or not re.search(r"\bolympi\w+|\bgames\b", text):
        return None
    return Fact("olympics", where(lambda city: years[0] in city.olympics))
