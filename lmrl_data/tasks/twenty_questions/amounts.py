"""Amounts with units: "more than 5 kg", "between 20 and 40 cm long", "under ten dollars"."""

import re
from collections.abc import Callable, Iterable, Sequence

from lmrl_data.language.numerals import NUMERAL, read_numeral
from lmrl_data.language.stems import stem
from lmrl_data.tasks.twenty_questions.comparatives import COMPARATIVES
from lmrl_data.tasks.twenty_questions.yardsticks import ABOUT, LESS, MORE, NEAR, Found, Yardsticks, compared, found

_AMOUNTS = {
    MORE: """more than, over, above, exceed, in excess of, upward of, great than, greater than, at least, no less than,
        not less than, north of, beyond, high than, higher than, minimum of, outweigh, superior to""",
    LESS: """less than, under, below, few than, fewer than, at most, no more than, not more than, not over, no over,
        up to, within, short of, low than, lower than, maximum of, beneath, inferior to""",
    ABOUT: "about, around, approximately, roughly, circa, near, nearly, close to, on the order of, order of, almost",
}
# What a length is measured along, by words of the question.
_MEANS = {
    **dict.fromkeys("tall high height deep depth".split(), "height_cm"),
    **dict.fromkeys("thick thickness".split(), "thickness_cm"),
    **dict.fromkeys("wide width across diameter".split(), "width_cm"),
}
_MEASURED = re.compile(r"\b(?:weigh|cost|measure|worth|price|weight|mass|length|tall|long|wide|exceed|size)\b")
_ABOUT_MONEY = re.compile(r"\b(?:cost|price|worth|value|buy|pay|sell|afford|cheap|expensive|spend)\b")
_POSSIBLY = re.compile(r"(?:so |then )?(?:could|can|might|may)\b")
_CAPACITY = re.compile(r"\b(?:hold|contain|capacity|take|fill)\b")
_PRICES_DIFFER = 4.0


class Amounts:
    """Reads amounts.

    Args:
        sticks: the numbers of the objects.
        units: for each number of the objects its units, as factors.
    """

    def __init__(self, sticks: Yardsticks, units: Iterable[tuple[str, dict[str, float]]]) -> None:
        self._sticks = sticks
        self._numbers = sticks.numbers
        self._units = {stem(unit): (key, factor) for key, listed in units for unit, factor in listed.items()}

    def patterns(self) -> list[tuple[str, Callable[..., Found | None]]]:
        """The patterns of amounts in stems, and what reads what they find, the surest first."""
        units, compare = either(self._units), either(COMPARATIVES)
        amounts = "|".join(either(_list(phrases)) for phrases in _AMOUNTS.values())
        number = rf"(?P<number>{NUMERAL})"
        after = r"(?P<after>(?: (?:long|wide|tall|high|thick|deep|across|in (?:length|height|width|diameter|depth)))*)"
        unit = rf"(?:(?:metric|us|full|whole|good) )?(?P<unit>{units})(?P<half> and a half)?"
        tail = r"(?P<tail> or (?:more|less|over|under|so|above|below)| plus| and up| tops| at most| at least| max)?"
        low = rf"(?:(?:between|within|in the range of) {number}(?: {units})? (?:and|to)|(?:from )?(?P<low>{NUMERAL})"
        low += rf"(?: {units})? to|(?P<figure>\d+(?:\.\d+)?))"
        return [
            (rf"{low} (?P<to>{NUMERAL}) {unit}{after}", self._range),
            (
                rf"(?:(?P<compare>{compare}) (?:than )?)?(?:(?P<amount>{amounts}) )?{number} {unit}\b{after}{tail}",
                self._amount,
            ),
            (
                rf"(?:cost|pay|worth|sell for|go for|spend) (?:(?P<compare>{compare}) than )?"
                rf"(?:(?P<amount>{amounts}) )?{number}\b(?P<tail> or (?:more|less)| at most| at least)?",
                self._price,
            ),
        ]

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
        # "in a yard", "with a stone", "is there 1 in your drawer"
        if not compares and (match["number"] in ("a", "an") or match["unit"] == "in"):
            return None
        key, factor = self._unit(match["unit"], match["after"], text)
        limit, numbers = (number + 0.5 * bool(match["half"])) * factor, self._numbers[key]
        which = self._which(match, text)
        if which is None and key == "weight_g" and match["unit"] == "ton":
            which, limit = MORE, 0.7 * limit
        if key == "price_usd" and _POSSIBLY.match(text):  # of most things there are cheaper and dearer ones
            limit *= {LESS: _PRICES_DIFFER, MORE: 1 / _PRICES_DIFFER}.get(which or ABOUT, 1.0)
        holds = compared(numbers, limit, which or ABOUT, NEAR)
        if key == "volume_l" and _CAPACITY.search(text):
            holds = compared(numbers, limit, which or MORE, NEAR) & self._sticks.holds("holds_liquid")
        return found(start, end, holds, f"{key} {which} {limit:g}")

    def _price(self, match: re.Match[str], stems: Sequence[str], start: int, end: int, text: str) -> Found | None:
        """A number that only a verb says to be dollars: "cost over a million"."""
        number = read_numeral(match["number"])
        if number is None or match["number"] in ("a", "an", "one"):
            return None
        which = self._which(match, text) or ABOUT
        return found(start, end, compared(self._numbers["price_usd"], number, which, NEAR), f"price {which} {number:g}")

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
            return COMPARATIVES[match["compare"]][1]
        return MORE if re.search(r"\b(?:exceed|in excess of)\b", text[: match.start()]) else None

    def _unit(self, unit: str, after: str, text: str) -> tuple[str, float]:
        key, factor = self._units[unit]
        if unit == "pound" and _ABOUT_MONEY.search(text):
            return "price_usd", 1.25
        if key == "length_cm":
            word = next((word for word in re.findall(r"\w+", f"{after} {text}") if word in _MEANS), "")
            return _MEANS.get(word, key), factor
        return key, factor


def _list(phrases: str) -> list[str]:
    return [" ".join(map(stem, phrase.split())) for phrase in phrases.split(",")]


def either(words: Iterable[str]) -> str:
    """A pattern for any of some words; the longest counts."""
    return "(?:" + "|".join(sorted((re.escape(word) for word in words), key=len, reverse=True)) + ")"
