"""Sums of money in a line of talk: figures and number words, told apart from years, mileages, seats and the like."""

import re
from typing import NamedTuple


class Amount(NamedTuple):
    """A number that may be money.

    Attributes:
        value: dollars; for a share (``percent``) in per cent.
        start: where it begins in the text.
        end: where it ends, currency and scale included.
        percent: whether it is a share, not a sum.
        bare: whether nothing but its size says that it is money ("31", "18 500"); such a number below 1,000 counts
            thousands.
    """

    value: float
    start: int
    end: int
    percent: bool
    bare: bool


_DIGITS = "one two three four five six seven eight nine".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_VALUES = {
    **{word: value for value, word in enumerate(_DIGITS, 1)},
    **{word: value for value, word in enumerate(_TEENS, 10)},
    **{word: value for word, value in zip(_TENS, range(20, 100, 10), strict=True)},
}
_AMONG_SCALES = {**_VALUES, "couple": 2, "half": 0.5}
_SCALES = {"hundred": 100, "thousand": 1000, "grand": 1000, "thou": 1000, "k": 1000, "million": 10**6, "billion": 10**9}

_WORD = "(?:" + "|".join([*sorted(_VALUES, key=len, reverse=True), *_SCALES]) + r")(?![a-z])"
_SCALE = "(?:" + "|".join(_SCALES) + r")(?![a-z])"
_SCALED = re.compile(_SCALE)
_AND = r"(?:[ -]|,[ ]|[ ]and[ ])"
_FRACTIONS = {" and a half": 0.5, " and half": 0.5, " and a quarter": 0.25, " and three quarters": 0.75}
_FRACTION = "(?:" + "|".join(fraction.replace(" ", "[ ]") for fraction in _FRACTIONS) + ")(?![a-z])"
_CURRENCY = r"[ ]?(?:us[ ])?(?:\$|dollars?|bucks|usd)(?![a-z])"
# Before the number nothing that makes it a part of something else: a letter, a digit, a point ("v6", "x5", "2.5").
_AMOUNT = re.compile(
    rf"""(?<![a-z0-9.,'])
    (?P<sign> us\$ | \$[ ]? | usd[ ]? )?
    (?: (?P<figure>
            [0-9]{{1,3}} (?:[,.'][0-9]{{3}})+ (?:\.[0-9]{{1,2}})?
          | [0-9]{{1,3}} [ ] [0-9]{{3}} (?={_CURRENCY})
          | [0-9]+ (?:[.,][0-9]+)? )
        (?P<rest> (?:{_FRACTION})? (?:[ ]?{_SCALE} (?:{_AND}{_WORD})* )? )
      | (?P<words> (?: (?:half[ ])? a (?:[ ]couple(?:[ ]of)?)? [ ] (?={_SCALE}) )?
            {_WORD} (?:{_AND}{_WORD})* (?:{_FRACTION} (?:[ ]{_SCALE})? )? ) )
    (?P<currency> {_CURRENCY} )?""",
    re.VERBOSE,
)
# What a number counts where it is no money, right after it.
_UNITS = r"""
    miles? mi kms? kilomet\w+ mph kph mpg hp bhp horse\w* horses lit(?:er|re)s? l cc kw kwh v volts? lbs pounds kg
    seconds? secs? minutes? mins? hours? days? weeks? months? mos? years? yrs?
    doors? seats? seaters? rows? inch\w* inches airbags? speakers? speeds? gears? cylinders? cyl usb ports? cameras?
    passengers? people persons folks buyers? customers? owners? children kids
    stars? degrees? zones? cubic city highway way times cars? models? of points? th st nd rd apr
""".split()
_UNIT = re.compile(r"(?:[ -]?(?:" + "|".join(_UNITS) + r")(?![a-z])|[ -]?(?:/|x |by )[0-9]|s(?![a-z])|[a-z]|\")")
_PERCENT = re.compile(r" ?(?:%|percent|per cent|pct)(?![a-z])")
_YEARS = range(1950, 2050)
# More sums than this in one line are no offer that anyone could follow.
MOST = 12
# "One", "two" and the like mean no price.
LEAST_BARE = 10


def amounts_in(text: str) -> list[Amount]:
    """The amounts in a normalised line, in order; the first ones where there are more than `MOST`.

    Args:
        text: trimmed, case-folded, with single blanks (`lmrl_data.text.normalise`).
    """
    found = []
    for match in _AMOUNT.finditer(text):
        amount = _amount(text, match)
        if amount is not None:
            found.append(amount)
            if len(found) > MOST:
                break
    return found


def _amount(text: str, match: re.Match[str]) -> Amount | None:
    start, end = match.span()
    words = match["words"]
    value = _from_words(words) if words else _from_figure(match["figure"], match["rest"])
    if value is None:
        return None
    percent = _PERCENT.match(text, end)
    if percent:
        return Amount(value, start, percent.end(), True, False)
    marked = bool(match["sign"] or match["currency"])
    scaled = bool(_SCALED.search(words or match["rest"]))
    if not marked and (_UNIT.match(text, end) or (not words and not scaled and _is_year(match["figure"]))):
        return None
    if marked and _UNIT.match(text, end) and text[end : end + 1] == "s":
        return None  # "the $30,000s" are a range, not a price
    bare = not marked and not scaled and value < 1000
    if bare and value < LEAST_BARE and value.is_integer():
        return None
    return Amount(value, start, end, False, bare)


def _is_year(figure: str) -> bool:
    return figure.isdigit() and int(figure) in _YEARS


def _from_figure(figure: str, rest: str) -> float:
    """A number in digits with what follows it: ``27.5`` + `` k``, ``84`` + `` and a half thousand``."""
    # Three digits after a point are a group, "34.500", but not before a scale: "6.125k".
    grouped = re.fullmatch(r"([0-9]{1,3}(?:[,.' ][0-9]{3})+)(\.[0-9]{1,2})?", figure)
    if "." in figure and _SCALED.search(rest):
        grouped = None
    value = float(re.sub("[,.' ]", "", grouped[1]) + (grouped[2] or "")) if grouped else float(figure.replace(",", "."))
    return _go_on(value, rest)


def _from_words(words: str) -> float | None:
    """A number in words: ``twenty-seven thousand five hundred``, ``a grand``, or as dealers say it (see there)."""
    if _SCALED.search(words):
        return _go_on(0.0, words)
    for fraction, share in _FRACTIONS.items():
        if words.endswith(fraction):
            said = _as_dealers_say(words.removesuffix(fraction))
            return None if said is None else said + share
    return _as_dealers_say(words)


def _go_on(value: float, words: str) -> float:
    """A number and the words after it: fractions, scales and what follows those."""
    for fraction, share in _FRACTIONS.items():
        words = words.replace(fraction, f" {share}")
    total = 0.0
    for token in re.findall(r"[a-z]+|0\.[0-9]+", words):
        if token in _SCALES:
            value = (value or 1.0) * _SCALES[token]
            if _SCALES[token] >= 1000:
                total, value = total + value, 0.0
        else:
            value += float(token) if token[0] == "0" else _AMONG_SCALES.get(token, 0)
    return total + value


def _as_dealers_say(words: str) -> float | None:
    """Thousands and what is over, without saying so: ``nineteen eight`` is 19,800, ``twenty-six two fifty`` 26,250."""
    numbers = [_VALUES[token] for token in re.findall("[a-z]+", words) if token in _VALUES]
    first = numbers.pop(0)
    if first >= 20 and numbers and numbers[0] < 10:
        first += numbers.pop(0)
    match numbers:
        case []:
            return float(first)
        case [hundreds] if hundreds < 10 <= first:
            return 1000.0 * first + 100 * hundreds
        case [hundreds, rest, *more] if hundreds < 10 <= rest and first >= 10 and sum(more) < 10:
            return 1000.0 * first + 100 * hundreds + rest + sum(more)
    return None
