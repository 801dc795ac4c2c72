"""The scripted sellers: what each kind does with its next line. What they do is put into words by `policies`."""

from dataclasses import dataclass
from typing import Protocol

from lmrl_data.tasks.car_dealer.cars import FEATURES
from lmrl_data.tasks.car_dealer.notes import Notes

REASONS = ("economy", "reliability", "safety", "warranty", "resale", "history", "performance", "space", "market")
EXTRAS = ("mats", "service", "tank", "tires", "cover")
WARMTH = ("compliment", "empathy", "thanks", "small_talk", "reassure")
QUESTIONS = ("ask_features", "ask_more", "ask_use")
# From this share of the own price on, the buyer's bid is good enough.
GOOD_BID = 0.985


class Seller(Protocol):
    """Decides what to do; a pure function of the notes."""

    @property
    def short(self) -> bool:
        """Whether it uses as few words as it can."""
        ...

    def acts(self, notes: Notes) -> list[str]:
        """What to do with the next line: acts of ``phrases/seller.toml``, features after a colon."""
        ...

    def price(self, notes: Notes) -> float:
        """The price to name next, in dollars."""
        ...


def rounded(price: float) -> float:
    """A price as sellers name it."""
    unit = 50 if price > 15_000 else 10
    return float(round(price / unit) * unit)


def kind_words(notes: Notes) -> list[str]:
    """Something kind that fits what the buyer has just said, and has not been said yet."""
    if notes.turn < 3 and not notes.wishes:
        fitting: tuple[str, ...] = ("compliment", "small_talk")
    elif notes.new_wishes:
        fitting = ("thanks", "compliment")
    elif notes.bids:
        fitting = ("empathy", "reassure")
    else:
        fitting = ("reassure",)
    return notes.fresh(fitting)


@dataclass(frozen=True)
class Style:
    """A seller who goes by the book: greets, asks, argues, names a price and then holds it or comes down.

    Attributes:
        questions: how many questions about the buyer's wishes it asks.
        features: whether it offers what the buyer wishes for, and argues for the car.
        arguments: how many reasons and extras it gives before it names a price.
        warmth: how often in ten lines it says something kind.
        markup: its first price as a share of the sticker price, from … to.
        step: how far it comes down with a line, in per cent of the sticker price, from … to; (0, 0): never.
        floor: where it stops, as a share of the sticker price, from … to.
        pressure: how often in ten lines it presses, once it has named a price.
        short: whether it uses as few words as it can.
    """

    questions: int
    features: bool
    arguments: int
    warmth: int
    markup: tuple[float, float]
    step: tuple[float, float]
    floor: tuple[float, float]
    pressure: int
    short: bool = False

    def acts(self, notes: Notes) -> list[str]:
        """What to do with the next line."""
        if notes.turn == 0:
            return ["greet", "ask_car"] if notes.draw("open", 2) and not self.short else ["greet"]
        said = self._kindness(notes)
        if not notes.car or notes.msrp is None:
            return [*said, "ask_car"]
        if notes.questioned and notes.questioned not in notes.done:
            said.append(f"yes_feature:{notes.questioned}")
        elif "ask_price" in notes.acts and not notes.asks and notes.draw("listen", 4):
            return [*said, "first_ask"]
        asked = sum(notes.done.get(question, 0) for question in QUESTIONS)
        if asked < self.questions and not notes.asks:
            return [*said, QUESTIONS[min(asked, 2)]]
        said += self._persuasion(notes)
        argued = sum(name in notes.done for name in REASONS + EXTRAS)
        if notes.asks or argued >= self.arguments or not said:
            said += self._price_talk(notes)
        return said

    def price(self, notes: Notes) -> float:
        """The first price, or a step down from the last one."""
        assert notes.msrp is not None
        if not notes.asks:
            return rounded(notes.msrp * notes.between("markup", *self.markup))
        step = notes.msrp * notes.between("step", *self.step, each_turn=True) / 100
        floor = notes.msrp * notes.between("floor", *self.floor)
        return max(rounded(notes.asks[-1] - step), min(rounded(floor), notes.asks[-1]))

    def _kindness(self, notes: Notes) -> list[str]:
        return kind_words(notes)[:1] if notes.draw("kindness", 10) < self.warmth else []

    def _persuasion(self, notes: Notes) -> list[str]:
        """A feature that is wished for, or else an argument."""
        if not self.features:
            return []
        unpromised = [name for name in notes.unpromised() if name != notes.questioned]
        if unpromised:
            return [f"feature:{','.join(unpromised[:2])}"]
        return notes.fresh(REASONS + EXTRAS)[:1]

    def _price_talk(self, notes: Notes) -> list[str]:
        """A price, and what goes with it."""
        if not notes.asks:
            return ["first_ask"]
        if notes.bids and notes.bids[-1] >= GOOD_BID * notes.asks[-1]:
            return ["take_bid"]
        said = ["pressure"] if notes.draw("press", 10) < self.pressure else []
        said.append("lower" if self.step[1] and self.price(notes) < notes.asks[-1] else "hold")
        return said if notes.draw("close", 3) else [*said, "close"]


@dataclass(frozen=True)
class Skilled:
    """A good seller, who knows no more than the buyer says.

    It finds out what the buyer wants, promises it, is kind and honest and gives reasons; only then it names a price,
    comes down in small steps, works out from the buyer's bids how far the buyer will go, and ends there.
    """

    short: bool = False

    def acts(self, notes: Notes) -> list[str]:
        """What to do with the next line."""
        if notes.turn == 0:
            return ["greet", "ask_car"]
        if not notes.car or notes.msrp is None:
            return ["ask_car"]
        said = kind_words(notes)[:1]
        if notes.questioned and notes.questioned not in notes.done:
            said.append(f"yes_feature:{notes.questioned}")
        unpromised = [name for name in notes.unpromised() if name != notes.questioned]
        promise = [f"feature:{','.join(unpromised[:2])}"] if unpromised else []
        if not notes.asks:
            if "ask_features" not in notes.done:
                return [*said, "ask_features"]
            if notes.new_wishes and notes.done.get("ask_more", 0) < 3:
                return [*said, *promise, "ask_more"]
            if "sticker" not in notes.done:
                return [*said, *promise, "sticker", *notes.fresh(REASONS)[:1]]
            if not notes.wishes and notes.done["ask_features"] < 2:
                return [*said, "ask_features"]
        said += promise
        given = sum(name in notes.done for name in REASONS)
        arguments = [*notes.fresh(REASONS)[: max(0, 3 - given)], *notes.fresh(EXTRAS)]
        said += arguments[:1] if len(said) < 2 else []
        if notes.asks or notes.turn > 5 or "ask_price" in notes.acts:
            said.append(self._price_act(notes))
        return said

    def _price_act(self, notes: Notes) -> str:
        if not notes.asks:
            return "first_ask"
        ask = notes.asks[-1]
        if notes.bids and notes.bids[-1] >= GOOD_BID * ask:
            return "take_bid"
        if "final" not in notes.done and notes.turn > LAST_LINES and ask <= estimated_limit(notes):
            return "final"
        return "lower"

    def price(self, notes: Notes) -> float:
        """High at first; then down in small steps, so large that the last lines come to what the buyer will pay."""
        assert notes.msrp is not None
        if not notes.asks:
            return rounded(1.25 * notes.msrp)
        ask = notes.asks[-1]
        lines = max(1, LAST_LINES - notes.turn)
        step = 100 * (ask - estimated_limit(notes)) / notes.msrp / lines
        return rounded(ask - max(1.0, min(step, 3.4)) * notes.msrp / 100)


# Buyers seldom stay for many lines more.
LAST_LINES = 13


def estimated_limit(notes: Notes) -> float:
    """How far the buyer will go, from its last three bids, in dollars.

    A buyer goes with each bid the same part of the way that is left, so the steps shrink by a constant factor, and
    three bids tell where they end (Aitken's extrapolation).
    """
    assert notes.msrp is not None
    usual = 1.08 * notes.msrp
    if len(notes.bids) < 3:
        return usual
    *_, first, second, third = notes.bids
    rest = (third - second) ** 2 / max(second - first - (third - second), 0.1 * (third - second))
    return min(third + rest, 1.2 * notes.msrp)


@dataclass(frozen=True)
class Random:
    """Says anything that a seller may say, at any time, at any price."""

    short: bool = False

    def acts(self, notes: Notes) -> list[str]:
        """One or two acts."""
        choices = [
            *REASONS,
            *EXTRAS,
            *WARMTH,
            *QUESTIONS,
            "greet",
            "ask_car",
            "ask_budget",
            "ask_bid",
            "feature",
            "close",
        ]
        choices += ["pressure", "manager", "finance", "test_drive"]
        choices += ["first_ask"] * 6 + (["sticker", "hold", "final", "lower"] if notes.asks and notes.msrp else [])
        said = []
        for number in range(1 + notes.draw("count", 2)):
            act = choices[notes.draw(f"act {number}", len(choices))]
            if act == "feature":
                act = f"feature:{FEATURES[notes.draw('which', len(FEATURES))]}"
            if act not in said:
                said.append(act)
        return said

    def price(self, notes: Notes) -> float:
        """Anything between a giveaway and a fortune."""
        return rounded((notes.msrp or 35_000) * notes.between("price", 0.6, 1.7, each_turn=True))


@dataclass(frozen=True)
class Mixture:
    """With every line another of several sellers."""

    sellers: tuple[Seller, ...]
    short: bool = False

    def acts(self, notes: Notes) -> list[str]:
        """What one of them does."""
        return self._whose_turn(notes).acts(notes)

    def price(self, notes: Notes) -> float:
        """The price of the same one."""
        return self._whose_turn(notes).price(notes)

    def _whose_turn(self, notes: Notes) -> Seller:
        return self.sellers[notes.draw("whose turn", len(self.sellers))]


# The three strategies of the paper (appendix): features and no discounts; discounts and no features; neither.
FEATURES_SELLER = Style(3, True, 3, 4, markup=(1.03, 1.25), step=(0, 0), floor=(1, 1), pressure=1)
DISCOUNTS_SELLER = Style(1, False, 0, 3, markup=(1.15, 1.38), step=(0.7, 2.7), floor=(0.98, 1.16), pressure=1)
CONCISE_SELLER = Style(1, False, 0, 0, markup=(0.98, 1.18), step=(0, 0), floor=(1, 1), pressure=0, short=True)
