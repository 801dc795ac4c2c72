"""Questions of measure: sizes, weights, prices and speeds, against numbers with units, other things, and boxes.

Everything here reads stems (`lmrl_data.language.stems`), so that "weighs", "weigh" and "weighing" are one word.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

import numpy as np

from lmrl_data.tasks.twenty_questions.amounts import Amounts, either
from lmrl_data.tasks.twenty_questions.comparatives import ADJECTIVES, COMPARATIVES
from lmrl_data.tasks.twenty_questions.lifting import SEVERAL_LIFT, SOMEBODY_LIFTS, Lifting
from lmrl_data.tasks.twenty_questions.table import YES
from lmrl_data.tasks.twenty_questions.yardsticks import (
    ABOUT,
    DIFFERENT,
    LESS,
    MORE,
    NEAR,
    Found,
    Yardsticks,
    compared,
    found,
    measure_data,
    yardsticks,
)

_KEY_OF_WORD = {
    "size": "volume_l",
    "weight": "weight_g",
    "price": "price_usd",
    "cost": "price_usd",
    "weigh": "weight_g",
}
_PUT = (
    "fit|squeeze|hide|hidden|conceal|cram|tuck|stuff|slip|slide|shove|stick|pop|drop|put|carry|hold|go|get|pack|store|lie"
    "|close"
)
# How high parts of the body are, in centimetres.
_BODY = {"ankle": 9.0, "knee": 50.0, "hip": 95.0, "waist": 105.0, "chest": 130.0, "shoulder": 145.0, "head": 170.0}


class Measures:
    """The questions that compare. Make it with `measures`."""

    def __init__(self, sticks: Yardsticks, units: Iterable[tuple[str, dict[str, float]]]) -> None:
        self._sticks = sticks
        self._numbers = sticks.numbers
        self._patterns = self._compile(Amounts(sticks, units))

    def find(self, stems: Sequence[str]) -> list[Found]:
        """The parts of a question that compare, none over another; `stems` as `stem` gives them."""
        text = " ".join(stems)
        starts, place = {0: 0}, 0
        for number, word in enumerate(stems, 1):
            place += len(word) + 1
            starts[place] = number
        parts: list[Found] = []
        for pattern, read in self._patterns:
            for match in pattern.finditer(text):
                first = starts[match.start()]
                if any(first < other.end and starts.get(match.end() + 1, len(stems)) > other.start for other in parts):
                    continue
                part = read(match, stems, first, starts.get(match.end() + 1, len(stems)), text)
                if part is not None:
                    parts.append(part)
        return parts

    def _compile(self, amounts: Amounts) -> list[tuple[re.Pattern[str], Callable[..., Found | None]]]:
        """The patterns and what reads what they find, the surest first."""
        compare, positive = either(COMPARATIVES), either(ADJECTIVES)
        measured = "(?P<{}>size|weight|height|length|price)"
        far = "(?:(?:much|far|a lot|slightly|a bit) )?"
        small = r"(?:small|tiny|little|compact|short|thin) enough (?:for|to (?:\w+ )*?(?:in|through|inside))"
        big = r"too (?:big|large|long|wide|bulky|tall|fat|huge) (?:for|to (?:\w+ )*?(?:in|through|inside|under|on))"
        within = "(?:in|into|inside|through|under|within)"
        lifting = Lifting(self._numbers)
        read_by: list[tuple[str, Callable[..., Found | None]]] = [
            *amounts.patterns(),
            (
                rf"(?P<compare>{compare})(?: in (?:size|length|weight|height|price))? (?:than|compare to|tan|then)",
                self._comparison,
            ),
            (
                rf"(?P<which>weigh|cost|measure|move|run|go|drive) (?:money )?{far}"
                "(?P<compare>more|less|lesser|fast|faster|quicker|slower) than",
                self._than,
            ),
            (rf"(?:(?P<how>as|so|equally|equal) )?(?P<positive>{positive}) (?:as|like)", self._equal),
            (
                rf"(?:(?P<verb>weigh|cost) as (?:much|little) as|the (?:same )?{measured.format('a')} (?:of|as)"
                rf"|same {measured.format('b')} as|(?:similar|equal) in {measured.format('c')} to)",
                self._same,
            ),
            (big, self._too_big),
            (rf"(?:{small}|(?:{_PUT})(?: \w+){{0,3}}? {within})", self._fits),
            (r"(?P<word>or|and) (?P<compare>bigger|smaller|larger|heavier|lighter)", self._or_bigger),
            (SEVERAL_LIFT, lifting.by_several),
            (SOMEBODY_LIFTS, lifting.by_somebody),
            ("(?:size|sized)", self._sized),
            (
                rf"(?P<body>{either(_BODY)}) (?:high|height|level|deep)(?: or (?:(?P<less>lower|less|shorter|below)"
                r"|(?P<more>higher|more|taller|above)))?",
                self._up_to,
            ),
        ]
        return [(re.compile(rf"\b{pattern}\b"), read) for pattern, read in read_by]

    def _comparison(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        key, which = COMPARATIVES[match["compare"]]
        if start > 1 and stems[start - 1] == "or" and stems[start - 2] in COMPARATIVES:
            which = DIFFERENT  # "bigger or smaller than a car"
        return self._against(key, which, stems, start, end, 1.0)

    def _than(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        key = {"weigh": "weight_g", "cost": "price_usd", "measure": "length_cm"}.get(match["which"], "speed")
        which = LESS if match["compare"] in ("less", "lesser", "slower") else MORE
        return self._against(key, which, stems, start, end, 1.0)

    def _equal(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        if "feather" in stems[end : end + 2]:  # no measure: "light as a feather"
            return None
        key, which = ADJECTIVES[match["positive"]]
        if match["how"] in ("equal", "equally"):
            return self._against(key, ABOUT, stems, start, end, 1.0)
        return self._against(key, which, stems, start, end, 1 / 1.5 if which == MORE else 1.5)

    def _same(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        word = match["verb"] or match["a"] or match["b"] or match["c"]
        return self._against(_KEY_OF_WORD.get(word, "length_cm"), ABOUT, stems, start, end, 1.0)

    def _too_big(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        inside = self._sticks.inside(stems, end)
        return inside and found(start, inside.end, inside.row != YES, f"not {inside.name}")

    def _fits(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        inside = self._sticks.inside(stems, end)
        weak = not re.match(r"fit|squeeze|hid|conceal|cram|tuck|stuff|slip|\w+ enough", match[0])
        if inside is None or (weak and inside.name.removeprefix("in ") in self._sticks.places):
            return None
        return inside._replace(start=start)

    def _or_bigger(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        before = self._sticks.thing_before(stems, start)
        if before is None:
            return None
        key, which = COMPARATIVES[match["compare"]]
        return found(before[0], end, self._sticks.compared_with(before[1], key, which), f"{key} {which}")

    def _sized(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        before = self._sticks.thing_before(stems, start)
        if before is None:
            return None
        name = " ".join(stems[before[0] : start])
        attribute = self._sticks.boxes_of_attributes.get(name)
        if attribute is not None:
            row = self._sticks.holds(attribute)
        else:
            row = self._sticks.compared_with(before[1], "volume_l", ABOUT)
        return found(before[0], end, row, f"size of {name}")

    def _up_to(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        """A height along the body: "waist high or lower"."""
        height, numbers = _BODY[match["body"]], self._numbers["height_cm"]
        row = compared(numbers, height, ABOUT, NEAR)
        if match["less"] or match["more"]:
            row |= compared(numbers, height, LESS if match["less"] else MORE, NEAR)
        return found(start, end, row, f"{match['body']} high")

    def _against(self, key: str, which: str, stems: Sequence[str], start: int, end: int, slack: float) -> Found | None:
        after = self._sticks.thing(stems, end)
        if after is None:
            return None
        if np.isnan(after[1].measure(key)):
            return None
        row = self._sticks.compared_with(after[1], key, which, slack)
        return found(start, after[0], row, f"{key} {which} {' '.join(stems[end : after[0]])}")


@cache
def measures() -> Measures:
    """The measures of the task."""
    return Measures(yardsticks(), measure_data()["units"].items())
