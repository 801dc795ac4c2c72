"""Questions of measure: sizes, weights, prices and speeds, against numbers with units, other things, and boxes.

Everything here reads stems (`lmrl_data.language.stems`), so that "weighs", "weigh" and "weighing" are one word.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import cache

from lmrl_data.language.numerals import NUMERAL, read_numeral
from lmrl_data.language.stems import stem
from lmrl_data.tasks.twenty_questions.table import YES
from lmrl_data.tasks.twenty_questions.yardsticks import (
    ABOUT,
    DIFFERENT,
    LESS,
    MORE,
    Found,
    Yardsticks,
    compared,
    found,
    measure_data,
    yardsticks,
)

# How far off "about 10 cm" may be, as a factor.
_NEAR = 1.4

# By what is compared: adjectives that ask for more of it, and for less.
_ADJECTIVES = {
    "volume_l": ("big large great bulky huge", "small tiny little"),
    "length_cm": ("long", "short"),
    "height_cm": ("tall high deep", "low shallow"),
    "width_cm": ("wide broad", "narrow"),
    "thickness_cm": ("thick fat", "thin flat"),
    "weight_g": ("heavy", "light"),
    "price_usd": ("expensive pricey costly dear valuable", "cheap inexpensive"),
    "speed": ("fast quick", "slow"),
}
_IRREGULAR = {"big": "bigger", "heavy": "heavier", "tiny": "tinier", "pricey": "pricier", "costly": "costlier"}
_IRREGULAR |= {"bulky": "bulkier", "large": "larger", "huge": "huger", "little": "littler", "wide": "wider"}
_IRREGULAR |= {"thin": "thinner", "fat": "fatter", "flat": "flatter"}
_AMOUNTS = {
    MORE: """more than, over, above, exceed, in excess of, upward of, great than, greater than, at least, no less than,
        not less than, north of, beyond, high than, higher than, minimum of, outweigh""",
    LESS: """less than, under, below, few than, fewer than, at most, no more than, not more than, not over, no over,
        up to, within, short of, low than, lower than, maximum of, beneath""",
    ABOUT: "about, around, approximately, roughly, circa, near, nearly, close to, on the order of, order of, almost",
}
_OPPOSITE = {MORE: LESS, LESS: MORE}
# What a length is measured along, by words of the question.
_MEANS = {
    **dict.fromkeys("tall high height deep depth".split(), "height_cm"),
    **dict.fromkeys("thick thickness".split(), "thickness_cm"),
    **dict.fromkeys("wide width across diameter".split(), "width_cm"),
}
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
_MEASURED = re.compile(r"\b(?:weigh|cost|measure|worth|price|weight|mass|length|tall|long|wide|exceed|size)\b")
_ABOUT_MONEY = re.compile(r"\b(?:cost|price|worth|value|buy|pay|sell|afford|cheap|expensive|spend)\b")
# Who lifts, and how many grams; the first that a question speaks of counts.
_LIFTERS = (
    ("one finger|single finger|little finger|pinky", 1_000),
    ("baby|infant|newborn", 500),
    ("toddler", 3_000),
    ("child|kid|little boy|little girl|grandson|granddaughter|boy|girl|five year old", 8_000),
    ("two people|2 people|two men|two person|2 person|help|together|friend|couple of people", 70_000),
    ("one hand|single hand|under arm", 7_000),
    ("forklift|crane|machine|truck", 5_000_000),
    ("weightlifter|strong man|bodybuilder|strongman|strong person", 100_000),
)


class Measures:
    """The questions that compare. Make it with `measures`."""

    def __init__(self, sticks: Yardsticks, units: Iterable[tuple[str, dict[str, float]]]) -> None:
        self._sticks = sticks
        self._numbers = sticks.numbers
        self._units = {stem(unit): (key, factor) for key, listed in units for unit, factor in listed.items()}
        self._adjectives: dict[str, tuple[str, str]] = {}
        self._comparatives: dict[str, tuple[str, str]] = {}
        for key, both in _ADJECTIVES.items():
            for which, words in zip((MORE, LESS), both, strict=True):
                for word in words.split():
                    self._adjectives[word] = key, which
                    longer = _IRREGULAR.get(word, word + "er")
                    for form in (f"more {word}", longer, longer + "er"):
                        self._comparatives[form] = key, which
                    self._comparatives[f"less {word}"] = key, _OPPOSITE[which]
        self._patterns = self._compile()

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

    def _compile(self) -> list[tuple[re.Pattern[str], Callable[..., Found | None]]]:
        """The patterns and what reads what they find, the surest first."""
        units, compare, positive = _either(self._units), _either(self._comparatives), _either(self._adjectives)
        amounts = "|".join(_either(_list(phrases)) for phrases in _AMOUNTS.values())
        number = rf"(?P<number>{NUMERAL})"
        after = r"(?P<after>(?: (?:long|wide|tall|high|thick|deep|across|in (?:length|height|width|diameter|depth)))*)"
        unit = rf"(?:(?:metric|us|full|whole|good) )?(?P<unit>{units})(?P<half> and a half)?"
        tail = r"(?P<tail> or (?:more|less|over|under|so|above|below)| plus| and up| tops| at most| at least| max)?"
        low = rf"(?:(?:between|within|in the range of) {number}(?: {units})? (?:and|to)|(?:from )?(?P<low>{NUMERAL})"
        low += rf"(?: {units})? to|(?P<figure>\d+(?:\.\d+)?))"
        measured = "(?P<{}>size|weight|height|length|price)"
        far = "(?:(?:much|far|a lot|slightly|a bit) )?"
        small = r"(?:small|tiny|little|compact|short|thin) enough (?:for|to (?:\w+ )*?(?:in|through|inside))"
        big = r"too (?:big|large|long|wide|bulky|tall|fat|huge) (?:for|to (?:\w+ )*?(?:in|through|inside|under|on))"
        within = "(?:in|into|inside|through|under|within)"
        read_by = [
            (rf"{low} (?P<to>{NUMERAL}) {unit}{after}", self._range),
            (
                rf"(?:(?P<compare>{compare}) (?:than )?)?(?:(?P<amount>{amounts}) )?{number} {unit}\b{after}{tail}",
                self._amount,
            ),
            (
                rf"(?P<compare>{compare})(?: in (?:size|length|weight|height|price))? (?:than|compare to|tan|then)",
                self._comparison,
            ),
            (
                rf"(?P<which>weigh|cost|measure|move|run|go|drive) {far}"
                "(?P<compare>more|less|fast|faster|quicker|slower) than",
                self._than,
            ),
            (rf"(?:as|so|equally) (?P<positive>{positive}) as", self._equal),
            (
                rf"(?:(?P<verb>weigh|cost) as (?:much|little) as|the (?:same )?{measured.format('a')} (?:of|as)"
                rf"|same {measured.format('b')} as|(?:similar|equal) in {measured.format('c')} to)",
                self._same,
            ),
            (big, self._too_big),
            (rf"(?:{small}|(?:{_PUT})(?: \w+){{0,3}}? {within})", self._fits),
            (r"(?P<word>or|and) (?P<compare>bigger|smaller|larger|heavier|lighter)", self._or_bigger),
            (r"(?P<too>too heavy (?:for|to)|lift|carry|pick up|hold up|move|pick)", self._lifted),
            ("(?:size|sized)", self._sized),
        ]
        return [(re.compile(rf"\b{pattern}\b"), read) for pattern, read in read_by]

    def _range(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        low, high = read_numeral(match["number"] or match["low"] or match["figure"]), read_numeral(match["to"])
        if low is None or high is None:
            return None
        key, factor = self._unit(match["unit"], match["after"], text)
        numbers = self._numbers[key]
        return found(start, end, (numbers >= low * factor) & (numbers <= high * factor), f"{low}-{high} {key}")

    def _amount(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        number = read_numeral(match["number"])
        if number is None or (len(match["unit"]) < 3 and not match["number"][0].isdigit()):
            return None
        compares = any(match[name] for name in ("amount", "compare", "after", "tail")) or _MEASURED.search(text)
        if match["number"] in ("a", "an") and not compares:  # "in a yard", "with a stone"
            return None
        key, factor = self._unit(match["unit"], match["after"], text)
        limit, numbers = (number + 0.5 * bool(match["half"])) * factor, self._numbers[key]
        which = self._which(match, text)
        if which is None and key == "weight_g" and match["unit"] == "ton":
            which, limit = MORE, 0.7 * limit
        return found(start, end, compared(numbers, limit, which or ABOUT, _NEAR), f"{key} {which} {limit:g}")

    def _which(self, match: re.Match[str], text: str) -> str | None:
        if match["tail"]:
            return (
                LESS
                if any(word in match["tail"] for word in ("less", "under", "below", "most", "top", "max"))
                else MORE
            )
        for which, phrases in _AMOUNTS.items():
            if match["amount"] and match["amount"] in _list(phrases):
                return which
        if match["compare"]:
            return self._comparatives[match["compare"]][1]
        return MORE if re.search(r"\b(?:exceed|in excess of)\b", text[: match.start()]) else None

    def _unit(self, unit: str, after: str, text: str) -> tuple[str, float]:
        key, factor = self._units[unit]
        if unit == "pound" and _ABOUT_MONEY.search(text):
            return "price_usd", 1.25
        if key == "length_cm":
            word = next((word for word in re.findall(r"\w+", f"{after} {text}") if word in _MEANS), "")
            return _MEANS.get(word, key), factor
        return key, factor

    def _comparison(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        key, which = self._comparatives[match["compare"]]
        if start > 1 and stems[start - 1] == "or" and stems[start - 2] in self._comparatives:
            which = DIFFERENT  # "bigger or smaller than a car"
        return self._against(key, which, stems, start, end, 1.0)

    def _than(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        key = {"weigh": "weight_g", "cost": "price_usd", "measure": "length_cm"}.get(match["which"], "speed")
        which = LESS if match["compare"] in ("less", "slower") else MORE
        return self._against(key, which, stems, start, end, 1.0)

    def _equal(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        key, which = self._adjectives[match["positive"]]
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
        key, which = self._comparatives[match["compare"]]
        return found(before[0], end, self._sticks.compared_with(before[1], key, which), f"{key} {which}")

    def _sized(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        before = self._sticks.thing_before(stems, start)
        if before is None:
            return None
        name = " ".join(stems[before[0] : start])
        attribute = self._sticks.boxes_of_attributes.get(name)
        if attribute is not None:
            row = self._sticks.table.values[self._sticks.table.rows[attribute]] > 0
        else:
            row = self._sticks.compared_with(before[1], "volume_l", ABOUT)
        return found(before[0], end, row, f"size of {name}")

    def _lifted(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        limit = next((grams for words, grams in _LIFTERS if re.search(rf"\b(?:{words})\b", text)), None)
        too_heavy = match["too"].startswith("too heavy")
        if limit is None and not too_heavy:
            return None
        row = self._numbers["weight_g"] <= (limit or 26_000)
        if "one hand" in text or "under arm" in text:
            row = row & (self._numbers["volume_l"] < 60)
        if too_heavy:
            return found(start, len(stems), ~row, f"too heavy for {limit}")
        return found(start, end, row, f"lifted by {limit}")

    def _against(self, key: str, which: str, stems: Sequence[str], start: int, end: int, slack: float) -> Found | None:
        after = self._sticks.thing(stems, end)
        if after is None:
            return None
        row = self._sticks.compared_with(after[1], key, which, slack)
        return found(start, after[0], row, f"{key} {which} {' '.join(stems[end : after[0]])}")


def _list(phrases: str) -> list[str]:
    return [" ".join(map(stem, phrase.split())) for phrase in phrases.split(",")]


def _either(words: Iterable[str]) -> str:
    return "(?:" + "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True)) + ")"


@cache
def measures() -> Measures:
    """The measures of the task."""
    return Measures(yardsticks(), measure_data()["units"].items())
