"""What questions of measure compare with: the numbers of the objects, other things, and boxes to put things into."""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.language.guesses import Names
from lmrl_data.language.stems import stem
from lmrl_data.tasks.twenty_questions.lexicon import lexicon
from lmrl_data.tasks.twenty_questions.table import NO, YES, Table, Values, knowledge_table

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

MORE, LESS, ABOUT, DIFFERENT = "more", "less", "about", "different"
# How far off "about 10 cm" may be, as a factor.
NEAR = 1.4
# How far off a thing "about as big" may be, as a factor of its length.
_SIMILAR = 3.0
# Of two volumes that differ by less than this factor, the longer thing is the bigger one.
_ALIKE = 3.0
_ARTICLES = frozenset(
    """a an the my your his her our their typical average normal standard regular adult human full grown grown-up real
    ordinary single whole of that one common usual usually most say just any some good size sized
    load loaded empty full new speed move run park""".split()
)


class Found(NamedTuple):
    """A part of a question that compares: its words from `start` to `end`, and of which objects it holds."""

    start: int
    end: int
    row: Values
    name: str


class Thing(NamedTuple):
    """What something measures: its box in centimetres, grams, dollars and km/h; NaN where nobody can say."""

    sizes: tuple[float, ...]
    weight: float = np.nan
    price: float = np.nan
    speed: float = np.nan

    def measure(self, key: str) -> float:
        """How much of something the thing has, by a name of `Yardsticks.numbers`."""
        sizes = np.array(self.sizes)
        return {
            "volume_l": float(sizes.prod() / 1000),
            "length_cm": float(sizes.max()),
            "height_cm": float(sizes[2]),
            "width_cm": float(sizes[:2].max()),
            "thickness_cm": float(sizes.min()),
            "weight_g": self.weight,
            "price_usd": self.price,
            "speed": self.speed,
        }[key]


_UNKNOWN = Thing((np.nan,) * 3)


class Yardsticks:
    """The numbers of the table, and the things and boxes of `measures.toml`. Names are rows of stems with blanks.

    Attributes:
        numbers: those of the table, the width, and the speed in km/h, by name; shape (objects,).
        places: boxes that are places too.
        boxes_of_attributes: the attribute that says what fits into a box, for some of them.
    """

    def __init__(self, table: Table, names: Names[int], data: Mapping[str, Any]) -> None:
        self.table = table
        self._names = names
        sizes = np.sort(table.sizes, axis=1)
        speed = np.array([data["speeds"].get(name, 0.0) for name in table.names])
        self.numbers: dict[str, Floats] = {**table.numbers, "width_cm": table.sizes[:, :2].max(axis=1), "speed": speed}
        # Soft things are pressed together.
        soft = (table.values[table.rows["flexible"]] == YES) & (table.numbers["weight_g"] < 1500)
        pressed = np.cbrt(table.numbers["volume_l"] * 1000)[:, None] * np.array([0.7, 0.9, 1.1])
        self._packed = np.where(soft[:, None], np.minimum(pressed, sizes), sizes)
        self._things = {_key(name): Thing(tuple(numbers[:3]), numbers[3]) for name, numbers in data["things"].items()}
        for kind, listed in (("price", data["prices"]), ("speed", data["other_speeds"])):
            for name, number in listed.items():
                known = self._things.get(_key(name), _UNKNOWN)
                self._things[_key(name)] = known._replace(**{kind: number})
        self._boxes = {_key(name): np.sort(np.array(box, float)) for name, box in data["boxes"].items()}
        self.boxes_of_attributes = {
            _key(name): attribute for attribute, boxes in data["held"].items() for name in boxes
        }
        self.places = {_key(name) for name in data["places"]["also"]}

    def compared_with(self, thing: Thing, key: str, which: str, slack: float = 1.0) -> Bools:
        """Which objects have more or less of something than a thing, its own measure being taken `slack` times."""
        limit = thing.measure(key)
        if key == "volume_l" and which in (MORE, LESS):
            own = self.numbers["volume_l"] * slack ** (-3)
            alike = (own < limit * _ALIKE) & (own > limit / _ALIKE)
            longer = compared(self.numbers["length_cm"], thing.measure("length_cm") * slack, which, 1)
            bigger: Bools = (alike & longer) | (~alike & compared(own, limit, which, 1))
            return bigger
        near = _SIMILAR**2 if key == "volume_l" else _SIMILAR / 1.5
        return compared(self.numbers[key], limit * slack, which, near)

    def holds(self, attribute: str) -> Bools:
        """Of which objects an attribute holds, at least sometimes."""
        row: Bools = self.table.values[self.table.rows[attribute]] > NO
        return row

    def thing(self, stems: Sequence[str], place: int) -> tuple[int, Thing] | None:
        """The thing that the words from a place on name, and the place after it."""
        first = place
        while place < len(stems) and stems[place] in _ARTICLES and not self._named(stems[place : place + 2]):
            place += 1
        for start in range(place, first - 1, -1):  # "a human" names one where "a human infant" does not
            for length in range(min(4, len(stems) - start), 0, -1):
                thing = self._named(stems[start : start + length])
                if thing is not None:
                    return start + length, thing
        return None

    def thing_before(self, stems: Sequence[str], end: int) -> tuple[int, Thing] | None:
        """The thing that the words up to a place name, and where they begin."""
        for start in range(max(0, end - 3), end):
            thing = self._named(stems[start:end])
            if thing is not None:
                return start, thing
        return None

    def _named(self, words: Sequence[str]) -> Thing | None:
        name = " ".join(words)
        if name in self._things:
            return self._things[name]
        column = self._names.find(words)
        if column is None:
            return None
        weight, price, speed = (float(self.numbers[key][column]) for key in ("weight_g", "price_usd", "speed"))
        return Thing(tuple(self.table.sizes[column]), weight, price, speed)

    def inside(self, stems: Sequence[str], place: int) -> Found | None:
        """What fits into the box that the words from a place on name."""
        while place < len(stems) and stems[place] in _ARTICLES | {"in", "inside", "into", "through"}:
            place += 1
        for length in range(min(4, len(stems) - place), 0, -1):
            name = " ".join(stems[place : place + length])
            if name in self.boxes_of_attributes:
                row = self.holds(self.boxes_of_attributes[name])
                return found(place, place + length, row, f"in {name}")
            if name in self._boxes:
                fits: Bools = np.all(self._packed <= self._boxes[name], axis=1)
                return found(place, place + length, fits, f"in {name}")
        return None


def _key(name: str) -> str:
    return " ".join(map(stem, name.split()))


def found(start: int, end: int, holds: Bools, name: str) -> Found:
    """A part of a question, from what it holds of."""
    return Found(start, end, np.where(holds, YES, 0).astype(np.uint8), name)


def compared(numbers: Floats, limit: float, which: str, near: float) -> Bools:
    """Whether numbers are above a limit, below it, or within a factor of it; never where either is unknown."""
    with np.errstate(invalid="ignore"):
        holds: Bools = {
            MORE: numbers > limit,
            LESS: numbers < limit,
            DIFFERENT: numbers != limit,
            ABOUT: (numbers <= limit * near) & (numbers >= limit / near),
        }[which]
    return holds


@cache
def names() -> Names[int]:
    """The names of the objects, by column of the table."""
    return Names(dict(enumerate(knowledge_table().aliases)), ordinary=lexicon().known)


@cache
def measure_data() -> dict[str, Any]:
    """What `measures.toml` says."""
    return tomllib.loads((files("lmrl_data.tasks.twenty_questions") / "phrases" / "measures.toml").read_text("utf-8"))


@cache
def yardsticks() -> Yardsticks:
    """The yardsticks of the task."""
    return Yardsticks(knowledge_table(), names(), measure_data())
