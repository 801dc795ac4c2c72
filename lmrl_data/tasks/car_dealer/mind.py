"""How a buyer makes up its mind: the negotiation model, in numbers only.

What the car is worth to the buyer, in per cent of the sticker price, begins at its temper's ``base`` and goes up and
down with what the seller says. That worth in dollars, but never more than the budget, is the **limit**: no price above
it is ever accepted. The buyer bargains towards it: its bids begin at ``opening`` and go a part of the way to the limit
each time the seller names a price. It accepts a price within its limit that is near its last bid (not so near where the
seller calls it final), or that is on the table when its **patience** or the time has run out; then it leaves if the
price is above the limit.
"""

from dataclasses import dataclass, field
from typing import Literal

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.car_dealer.cars import FEATURES, Buyer
from lmrl_data.tasks.car_dealer.language import Reading
from lmrl_data.tasks.car_dealer.prices import Table
from lmrl_data.tasks.car_dealer.tempers import TEMPERS

# How many points of a kind count, each an equal part of what the temper gives for the kind.
MOST = {"reasons": 3, "rapport": 3, "honesty": 1, "extras": 2, "concessions": 4}
RAPPORT = frozenset(["greeting", "thanks", "compliment", "empathy", "small_talk", "reassure"])
# What faults take away, in per cent of the sticker price.
LOSS = {
    "insulted": 5.0,
    "lied": 4.0,
    "raised": 3.0,
    "took_back": 3.0,
    "bluffed": 2.0,
    "jumped": 2.0,
    "injection": 2.0,
    "repeated": 1.0,
    "ignored": 1.0,
}
# How many lines of patience they cost, each line costing one in any case.
COST = {
    "insulted": 4.0,
    "injection": 2.0,
    "raised": 1.5,
    "absurd_high": 1.5,
    "took_back": 1.0,
    "bluffed": 1.0,
    "lied": 1.0,
    "repeated": 1.0,
    "pressed": 1.0,
    "too_long": 1.0,
    "ignored": 0.5,
    "unwanted": 0.5,
    "shocked": 0.5,
    "wrong_car": 0.5,
    "tiny": 0.5,
}
# Lines of patience that a good point gives back.
REFUND = 0.25
# What nobody asked for bores from this many features on.
TOLERATED = 2
# How near to the truth a sticker price must be, as a share.
NEARLY = 0.02
# Steps down, in per cent of the sticker price: below the first hardly noticed, up to the second good, above the third
# so large that they show how much air was in the price.
TINY_STEP, SMALL_STEP, JUMP = 0.2, 3.5, 7.0
# The buyer doesn't raise its bid by less than that, in per cent of the sticker price.
LEAST_RAISE = 0.5
# By so much more it goes beyond its bid for a price that the seller calls final, in per cent of the sticker price.
FINAL_REACH = 5.0
# Prices beyond these multiples of the sticker price are no offers; above the third they annoy.
ABSURDLY_LOW, ABSURDLY_HIGH, SHOCKING = 0.4, 4.0, 1.5
# What the car is worth to buyers of one personality differs by up to this much, in per cent, both ways.
SPREAD = 3.0
LONG_LINE = 40  # words

_BASE = stream_of("car-dealer/base")

Decision = Literal["", "accept", "leave"]


def base_worth(buyer: Buyer, seed: int) -> float:
    """What the car is worth to the buyer when it comes in, in per cent of the sticker price."""
    return TEMPERS[buyer.personality].base + SPREAD * (2 * (mix(seed, _BASE) >> 11) * 2.0**-53 - 1)


@dataclass
class Mind:
    """The state of a buyer.

    Attributes:
        buyer: who it is.
        seed: of the episode; what the car is worth to buyers of one kind differs with it.
        points: how many good points of each kind (`MOST`) it has taken in.
        included: wanted features that the seller has promised.
        lost: what faults have taken away, in per cent of the sticker price.
        patience: how many lines it goes on listening to.
        heard: how many lines it has heard.
        ask: the seller's price on the table.
        previous_ask: the one before.
        bid: its own last bid.
        told_car: whether it has said what it came for.
        told: wanted features that it has spoken of.
        question: what it has asked last and waits to hear: ``"price"``, ``"reason"``, a feature, or nothing (``""``).
        topics: what the points were made with, such as ``"economy"``; none counts twice.
        events: what happened with the last line, such as ``"pressed"``, ``"like_reasons"`` or ``"bid"``.
    """

    buyer: Buyer
    seed: int
    points: dict[str, int] = field(default_factory=lambda: dict.fromkeys(MOST, 0))
    included: set[str] = field(default_factory=set)
    lost: float = 0
    patience: float = 0
    heard: int = 0
    ask: float | None = None
    previous_ask: float | None = None
    bid: float | None = None
    told_car: bool = False
    told: list[str] = field(default_factory=list)
    question: str = ""
    events: list[str] = field(default_factory=list)
    topics: set[str] = field(default_factory=set)
    _said: set[str] = field(default_factory=set)
    _surplus: set[str] = field(default_factory=set)
    _denied: set[str] = field(default_factory=set)
    _final: bool = False
    _excused: bool = False

    def __post_init__(self) -> None:
        self.temper = TEMPERS[self.buyer.personality]
        self.patience = self.temper.patience
        self.base = base_worth(self.buyer, self.seed)

    @property
    def worth(self) -> float:
        """What the car is worth to the buyer now, in per cent of the sticker price."""
        gained = self.temper.features * len(self.included) / len(self.buyer.features)
        for kind, count in self.points.items():
            gained += getattr(self.temper, kind) * count / MOST[kind]
        return self.base + gained - self.lost

    @property
    def limit(self) -> int:
        """The highest price that the buyer accepts now, in whole dollars."""
        return min(self.buyer.budget, int(self.worth * self.buyer.msrp / 100))

    @property
    def likes_a_nudge(self) -> bool:
        """Whether pressing it would help: once, where it cannot decide by itself."""
        return self.buyer.personality == "indecisive" and "nudged" not in self.topics

    @property
    def table(self) -> Table:
        """The sums that lie on the table."""
        return Table(self.buyer.msrp, self.ask, self.bid)

    def hear(self, reading: Reading, line: str, *, last: bool) -> Decision:
        """Take in a line of the seller, and decide.

        Args:
            reading: what was read in it.
            line: the line itself, normalised.
            last: whether there is no time for another one.
        """
        self.heard += 1
        self.patience -= 1
        self.events = []
        self._notice_faults(reading, line)
        if "wrong_car" not in self.events and "injection" not in self.events:
            self._notice_features(reading)
            self._notice_points(reading)
            self._notice_price(reading)
        self.question = ""
        return self._decide(reading, last)

    def _note(self, event: str) -> None:
        self.events.append(event)
        self.lost += LOSS.get(event, 0)
        self.patience -= COST.get(event, 0)

    def _notice_faults(self, reading: Reading, line: str) -> None:
        """What is wrong with a line, prices apart."""
        buyer = self.buyer
        if "rude" in reading.acts:
            self._note("insulted")
        if "injection" in reading.acts:
            self._note("injection")
        if line in self._said:
            self._note("repeated")
        self._said.add(line)
        if self.question and not self._answered(reading):
            self._note("ignored")
        if (reading.brands and buyer.brand not in reading.brands) or (
            reading.types and buyer.type not in reading.types
        ):
            self._note("wrong_car" if self.told_car else "guessed_wrong")
        if "pressure" in reading.acts:
            self.lost += -self.temper.pressure if self.likes_a_nudge else self.temper.pressure
            self._note("nudged" if self.likes_a_nudge else "pressed")
            self.topics.add("nudged")
        if buyer.personality == "busy" and reading.words > LONG_LINE:
            self._note("too_long")
        stated = reading.prices.msrp
        if stated is not None and abs(stated - buyer.msrp) > NEARLY * buyer.msrp:
            self._note("lied" if self.told_car else "corrected")

    def _answered(self, reading: Reading) -> bool:
        """Whether a line answers the buyer's question."""
        acts, prices = reading.acts, reading.prices
        if self.question == "price":
            return prices.sums > 0 or not acts.isdisjoint(("price_talk", "manager", "lower", "ask_budget", "ask_bid"))
        if self.question == "reason":
            return bool(reading.reasons or reading.features or reading.extras or prices.offer is not None)
        return bool(reading.features or reading.missing or acts & {"yes", "refusal", "manager"})

    def _notice_features(self, reading: Reading) -> None:
        """What the seller says of features: those that it wants please it, a heap of others does not."""
        promised = set(reading.features)
        if "yes" in reading.acts and self.question in FEATURES:
            promised.add(self.question)
        if "promises_all" in reading.acts:
            promised |= set(self.told)
        for feature in self.buyer.features:
            if feature in reading.missing:
                if feature in self.included:
                    self._note("took_back")
                self._note(f"missing:{feature}")
                self.included.discard(feature)
                self._denied.add(feature)
            elif feature in promised and feature in self._denied:
                self._note("took_back")
            elif feature in promised and feature not in self.included and self._attends():
                self.included.add(feature)
                self._please(f"like_feature:{feature}")
        surplus = promised - set(self.buyer.features) - self._surplus
        too_many = min(len(surplus), len(self._surplus) + len(surplus) - TOLERATED)
        self._surplus |= surplus
        if too_many > 0 and self.temper.unwanted:
            self.lost += self.temper.unwanted * too_many
            self._note("unwanted")

    def _notice_points(self, reading: Reading) -> None:
        """What else speaks for the car and for the seller."""
        stated = reading.prices.msrp
        honest = stated is not None and abs(stated - self.buyer.msrp) <= NEARLY * self.buyer.msrp
        topics = [("honesty", "sticker")] if honest else []
        topics += [("reasons", reason) for reason in sorted(reading.reasons)]
        topics += [("extras", extra) for extra in sorted(reading.extras)]
        topics += [("rapport", act) for act in sorted(reading.acts & RAPPORT)]
        for kind, topic in topics:
            if topic not in self.topics and self.points[kind] < MOST[kind] and self._attends():
                self.topics.add(topic)
                self.points[kind] += 1
                self._please(f"like_{kind}")

    def _attends(self) -> bool:
        """Whether it takes in another good point of this line."""
        return sum(event.startswith("like_") for event in self.events) < self.temper.attention

    def _please(self, event: str) -> None:
        self._note(event)
        self.patience += REFUND

    def _notice_price(self, reading: Reading) -> None:
        """The seller's price: what the step from the last one says, and the buyer's own next bid."""
        offer, sticker = reading.prices.offer, self.buyer.msrp
        if offer is None:
            return
        if not ABSURDLY_LOW * sticker <= offer <= ABSURDLY_HIGH * sticker:
            self._note("absurd_low" if offer < sticker else "absurd_high")
            return
        step = 0.0 if self.ask is None else 100 * (self.ask - offer) / sticker
        pleased = any(event.startswith("like_") for event in self.events)
        if self._final and step:
            self._note("bluffed")
        if offer > SHOCKING * sticker:
            self._note("shocked")
        if step < -TINY_STEP and not pleased:
            excused = "apology" in reading.acts and not self._excused
            self._excused |= excused
            self._note("corrected_price" if excused else "raised")
        elif 0 < step < TINY_STEP:
            self._note("tiny")
        elif TINY_STEP <= step <= SMALL_STEP and self.points["concessions"] < MOST["concessions"]:
            self.points["concessions"] += 1
            self._note("cheapened" if self.temper.concessions < 0 else "like_concessions")
        elif step > JUMP:
            self._note("jumped")
        self.previous_ask, self.ask = self.ask, offer
        self._final |= "final" in reading.acts
        self.raise_bid(self.temper.yielding if pleased or step >= TINY_STEP else self.temper.holding)

    def raise_bid(self, part: float) -> None:
        """Bid: the first time low, then a part of the way from the last bid to the limit."""
        step = 100 if self.buyer.msrp > 15_000 else 50
        if self.bid is None:
            wished = min(self.temper.opening * self.buyer.msrp / 100, 0.97 * self.limit)
        else:
            wished = self.bid + part * (self.limit - self.bid)
        bid = wished // step * step
        if self.bid is None or bid >= self.bid + LEAST_RAISE * self.buyer.msrp / 100:
            self.bid = bid
            self._note("bid")

    def _decide(self, reading: Reading, last: bool) -> Decision:
        """Whether to take the price on the table, to leave, or to go on."""
        if self.ask is not None and self.ask <= self.limit and self.told_car:
            reach = self.temper.haste
            if "final" in reading.acts:
                reach += FINAL_REACH
            elif "firm" in reading.acts:
                reach *= 2
            if reading.prices.accepts_bid or self.ask <= (self.bid or 0) + reach * self.buyer.msrp / 100:
                return "accept"
        return self.conclude() if last or self.patience <= 0 else ""

    def conclude(self) -> Decision:
        """What it does when the conversation cannot go on."""
        if self.ask is None or self.ask > self.limit:
            return "leave"
        self.events.append("accept_last")
        return "accept"
