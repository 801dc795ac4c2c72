"""Numbers in questions: "ten million", "2,000", "half a million", "5m"."""

from collections.abc import Sequence
from typing import NamedTuple

_UNITS = "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen"
_WORDS = {word: float(value) for value, word in enumerate((_UNITS + " seventeen eighteen nineteen").split())}
_WORDS |= {
    word: 10.0 * value
    for value, word in enumerate("twenty thirty forty fifty sixty seventy eighty ninety".split(), start=2)
}
_WORDS |= {"dozen": 12.0, "couple": 2.0, "once": 1.0, "twice": 2.0, "thrice": 3.0, "single": 1.0}
_SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "k": 1e3,
    "million": 1e6,
    "mil": 1e6,
    "mio": 1e6,
    "mln": 1e6,
    "m": 1e6,
    "billion": 1e9,
    "bn": 1e9,
    "century": 1e2,
    "millennium": 1e3,
}
_SCALES |= {f"{name}s": value for name, value in _SCALES.items() if len(name) > 2}
_SCALES |= {"centuries": 1e2, "millennia": 1e3}
# Letters that are scales only where they follow a figure.
# "m" after so much stands for metres, not for a million.
_METRES = 100
_SHORT = ("k", "m", "mil", "mio", "mln", "bn")


class Quantity(NamedTuple):
    """A number in a row of words.

    Attributes:
        value: the number.
        start: its first word.
        end: the word after its last.
    """

    value: float
    start: int
    end: int


def quantities(row: Sequence[str]) -> list[Quantity]:
    """The numbers in a row of words."""
    found, place = [], 0
    while place < len(row):
        quantity = _read(row, place)
        if quantity is None:
            place += 1
        else:
            found.append(quantity)
            place = quantity.end
    return found


def _figure(word: str) -> float | None:
    """The number that a word is."""
    if word in _WORDS:
        return _WORDS[word]
    body = word[:-1] if word.endswith("m") or word.endswith("k") else word
    if not body.replace(".", "", 1).isdecimal():
        return None
    return float(body) * (_SCALES[word[-1]] if body != word else 1.0)


def _read(row: Sequence[str], start: int) -> Quantity | None:
    """The number that begins at a place."""
    word = row[start]
    if word == "half" and row[start + 1 : start + 2] and row[start + 1] == "a" and _scale(row, start + 2):
        return Quantity(0.5 * _SCALES[row[start + 2]], start, start + 3)
    total, end = _figure(word), start + 1
    if word in ("a", "an", "one") and _scale(row, start + 1):
        total, end = _SCALES[row[start + 1]], start + 2
    if total is None:
        alone = word in _SCALES and word not in _SHORT and not word.startswith("centur")
        return Quantity(_SCALES[word], start, start + 1) if alone else None
    while end < len(row):
        more = _more(row, end, total)
        if more is None:
            break
        total, end = more
    return Quantity(total, start, end)


def _more(row: Sequence[str], place: int, total: float) -> tuple[float, int] | None:
    """The number with what goes on with it at a place, and the place after that."""
    word, value = row[place], _figure(row[place])
    if word in _SCALES and (word != "m" or total < _METRES):
        return total * _SCALES[word], place + 1
    if value is not None and not word.isdecimal() and (value < 100 <= total or (value < 10 and 20 <= total < 100)):
        return total + value, place + 1
    if list(row[place : place + 3]) == ["and", "a", "half"]:
        return total + 0.5, place + 3
    return None


def _scale(row: Sequence[str], place: int) -> bool:
    return place < len(row) and row[place] in _SCALES and row[place] not in ("k", "m")
