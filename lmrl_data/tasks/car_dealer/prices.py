"""What the sums in a seller's line stand for: the price asked, the sticker price, a discount, or neither."""

import re
import unicodedata
from dataclasses import dataclass

from lmrl_data.tasks.car_dealer.money import MOST, Amount, amounts_in
from lmrl_data.tasks.car_dealer.roles import STICKER, role_of
from lmrl_data.text import normalise


@dataclass(frozen=True)
class Table:
    """What lies on the table when a line is said, in dollars: some lines mean a sum only by that.

    Attributes:
        msrp: the sticker price, where it is known.
        ask: the price that the seller asked last.
        bid: the price that the buyer offered last.
    """

    msrp: float | None = None
    ask: float | None = None
    bid: float | None = None


@dataclass(frozen=True)
class Prices:
    """The sums of a line.

    Attributes:
        offer: what the seller asks for the car now.
        msrp: what the seller says the sticker price is.
        accepts_bid: whether the seller takes the buyer's price.
        sums: how many sums of money are named.
        confusing: whether they are so many that nobody could follow.
    """

    offer: float | None = None
    msrp: float | None = None
    accepts_bid: bool = False
    sums: int = 0
    confusing: bool = False


# Nobody listens longer than that; it also bounds the work that a line can make.
MAX_CHARACTERS = 2000
# How far around a sum the words are looked at, in characters.
_BEFORE, _AFTER = 70, 45
_NEW_SENTENCE = re.compile(r"[!?;] |(?<![a-z]\.[a-z])\. ")
# What may stand before and after a small bare number that means thousands: "I can't go below 28", "29, final".
_BARE_BEFORE = re.compile(
    r"""(?:^ | [.!?:;,-][ ]? | \b(?:
        about|accept|and|around|ask|asking|at|below|between|but|call[ ]it|deal|do|does|even|fine|for|
        from|get|gimme|give|go|is|it|just|like|lowest|make[ ]it|maybe|me|meant|msrp|need|not|ok|okay|only|or|
        over|pay|price|said|say|sell|so|sticker|take|than|then|to|under|wants?|'re|'m|'s
    ))[ ]?$""",
    re.VERBOSE,
)
_BARE_AFTER = re.compile(
    r"""$ | [ ]?[.,!?;:)-] | [ ](?:
        2|all[ ]in|and|anyway|at[ ]most|between|but|cash|deal|even|final|firm|flat|for|i|if|instead|is|
        it[ ]is|last|max|n|new|not|now|obo|ok|on[ ]the|or|otd|out|please|plus|right|so|sounds?|take|that's|
        thats|then|to|today|too|tops|w/|was|we|with|would|you
    )(?![a-z])""",
    re.VERBOSE,
)
_LARGEST_BARE, _SMALLEST_BARE_DISCOUNT = 200, 50
# A smaller sum is no price of a car, unless the line says so.
LEAST_PRICE = 5000
_PRICED = re.compile(r"(?:for|price(?: is)?:?|ask(?:ing)?|pay|yours) ?$")
_NEGATIVE = re.compile(r"(?:^|[ :(])-$")
_ENDS = (". ", "! ", "? ", "; ")
_RANGE = frozenset(["to", "-", "–", "and", "or"])
_BUDGET = re.compile(
    r"budget|price range|price in mind|(?:hoping|looking|wanting) to (?:stay|spend|pay)|wan(?:t to|na) spend|afford"
)
_TOTAL = re.compile(r"(?:final price|(?<!in )total(?: price)?|out the door|all in|your price|cash price)[^.]{0,15}$")
_TOTAL_AFTER = re.compile(r",? (?:in total|total|all in|altogether|out the door)\b")
_AT_STICKER = re.compile(rf"(?<!off )(?:at|for) (?:the )?{STICKER}(?! of)\b")
_ASKS_STICKER = re.compile(
    rf"(?:that(?:'s| is)|{STICKER} is) (?:also )?"
    r"(?:(?:the|my|our) price|what (?:i(?:'m| am| do)? ask|i(?:'d| would)? need|i(?:'d| would)? want for|it costs))"
)
_STICKER = re.compile(STICKER)
_OF_LAST_SUM = re.compile(rf"^ ?(?:(?:on|is) the )?{STICKER}")
_MIDDLE = re.compile(
    r"split the difference|(?:split|meet)[a-z]* [^.]{0,25}(?:middle|half ?way)|(?:half ?way|in the middle)\?$"
)
_TAKES_BID = re.compile(
    r"""(?:accept|take(?:[ ]you[ ]up[ ]on)?)[ ](?:your|that|the)[ ](?:last[ ]|kind[ ]|generous[ ])?(?:counter-?)?
            (?:offer|price|number|bid)
      | \bi(?:'ll)?[ ]accept\b | you[ ]win\b | it's[ ]a[ ]deal(?![ ]?\?)
      | (?:got|have)[ ](?:yourself[ ])?a[ ]deal(?![ ](?:at|for|on)[ ][$0-9])(?![ ]?\?)
      | ^(?:(?:ok|okay|fine|alright|yes|yeah),?[ ])*deal(?![ ]?\?)\b
      | (?:have[ ]it[ ]for|at|to)[ ](?:what[ ]you[ ](?:said|offered)|your[ ](?:price|number|offer))""",
    re.VERBOSE,
)
_DENIAL = re.compile(
    r"\b(?:can't|cannot|can not|couldn't|won't|don't|unable|not able|isn't possible|(?<!more is )not possible|"
    r"impossible|no discount)\b"
)

Sums = list[tuple[str, Amount]]


def clean(text: str) -> str:
    """A line as it is read: normalised, in plain letters, digits and quotes, without marks of emphasis."""
    line = normalise(text)[:MAX_CHARACTERS]
    if not line.isascii():
        decomposed = unicodedata.normalize("NFKD", line.replace("’", "'"))
        line = "".join(character for character in decomposed if not unicodedata.combining(character))
    return line.replace("*", "")


def read_offer(text: str) -> float | None:
    """The price that a seller's line asks for the car, in dollars; None where it asks none.

    ``"MSRP is $30,000 but for you it's $27.5k"`` asks 27,500. Of a range the lower end counts, of several prices the
    last. Monthly rates, deposits, discounts, mileages and prices of other cars are no offers.
    """
    return read_prices(clean(text)).offer


def read_msrp(text: str) -> float | None:
    """The sticker price (MSRP, list price) that a seller's line names, in dollars; None where it names none."""
    return read_prices(clean(text)).msrp


def read_prices(line: str, table: Table | None = None) -> Prices:
    """All sums of a line.

    Args:
        line: as `clean` gives it.
        table: what lies on the table, which "another 500 off" and "let's meet in the middle" start from.
    """
    table = table or Table()
    amounts = amounts_in(line)
    if len(amounts) > MOST:
        return Prices(confusing=True)
    sums = _sums(line, amounts)
    msrp = next((amount.value for role, amount in sums if role == "msrp"), None)
    takes_bid = _takes_bid(line)
    offer = _said_outright(line, sums)
    if offer is None:
        offer = _derived(line, sums, msrp, table)
    if offer is None and takes_bid:
        offer = table.bid
    return Prices(offer, msrp, takes_bid, len(sums))


def _sums(line: str, amounts: list[Amount]) -> Sums:
    """The amounts that are money, with their roles."""
    sums: Sums = []
    previous = 0
    for number, amount in enumerate(amounts):
        following = amounts[number + 1].start if number + 1 < len(amounts) else len(line)
        between = line[max(previous, amount.start - _BEFORE) : amount.start]
        before = _NEW_SENTENCE.split(_OF_LAST_SUM.sub("", between) if number else between)[-1]
        after = line[amount.end : min(following, amount.end + _AFTER)]
        if sums and previous == sums[-1][1].end and before.strip(" $") in _RANGE:
            role = sums[-1][0]  # the other end of a range
        else:
            role = role_of(before, after, percent=amount.percent)
        small = amount.value < LEAST_PRICE and not amount.bare and not _PRICED.search(before)
        if role == "offer" and (small or _NEGATIVE.search(between)):
            role = "other"
        previous = amount.end
        if amount.bare and not (role == "discount" and amount.value >= _SMALLEST_BARE_DISCOUNT):
            if amount.value >= _LARGEST_BARE or not (_BARE_BEFORE.search(before) and _BARE_AFTER.match(after)):
                continue
            amount = amount._replace(value=1000 * amount.value)
        sums.append((role, amount))
    return sums


def _said_outright(line: str, sums: Sums) -> float | None:
    asked = [amount for role, amount in sums if role in ("offer", "bid")]
    if asked and _BUDGET.search(line):
        asked = [amount for amount in asked if not _BUDGET.search(_sentence_of(line, amount))]
    if not asked:
        return None
    totals = [amount for amount in asked if _is_total(line, amount)]
    if totals:
        return totals[-1].value
    if len(asked) > 1 and line[asked[-2].end : asked[-1].start].strip(" $") in _RANGE:
        return min(asked[-2].value, asked[-1].value)  # who hears a range thinks of its lower end
    return asked[-1].value


def _is_total(line: str, amount: Amount) -> bool:
    before = line[max(0, amount.start - _BEFORE) : amount.start]
    return bool(_TOTAL.search(before) or _TOTAL_AFTER.match(line, amount.end))


def _sentence_of(line: str, amount: Amount) -> str:
    first = max(line.rfind(mark, 0, amount.start) for mark in _ENDS) + 1
    ends = [end for mark in _ENDS if (end := line.find(mark, amount.end)) >= 0]
    return line[first : min(ends, default=len(line))]


def _derived(line: str, sums: Sums, msrp: float | None, table: Table) -> float | None:
    """A price that is said by reference to the sticker's or to the last ones on the table."""
    sticker = msrp if msrp is not None else table.msrp
    if _ASKS_STICKER.search(line) or _AT_STICKER.search(line):
        return sticker
    for role, amount in sums:
        if role == "markup":
            return next((amount.value + cost.value for _, cost in sums if cost.value > amount.value), None)
        if role in ("discount", "percent"):
            of_sticker = msrp is not None or _STICKER.search(line, amount.end)
            base = sticker if of_sticker else table.ask or sticker
            if base is None or _DENIAL.search(line):
                return None
            return base - amount.value if role == "discount" else base * (1 - amount.value / 100)
    if _MIDDLE.search(line) and table.ask is not None and table.bid is not None:
        return (table.ask + table.bid) / 2
    return None


def _takes_bid(line: str) -> bool:
    """Whether the seller takes the buyer's price."""
    found = _TAKES_BID.search(line)
    return found is not None and not _DENIAL.search(line, 0, found.start())
