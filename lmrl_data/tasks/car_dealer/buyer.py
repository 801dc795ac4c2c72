"""The buyer that is built in: it reads the seller's line, makes up its mind, and puts its answer into words."""

import zlib
from dataclasses import dataclass
from typing import Protocol

from lmrl_data.tasks.car_dealer.cars import Buyer
from lmrl_data.tasks.car_dealer.language import Reading, read
from lmrl_data.tasks.car_dealer.mind import Decision, Mind
from lmrl_data.tasks.car_dealer.speech import FEATURE_NAMES, Speech, dollars, listed, with_article
from lmrl_data.text import normalise


@dataclass(frozen=True)
class Answer:
    """What a buyer answers.

    Attributes:
        text: its words.
        decision: ``"accept"`` or ``"leave"`` where it ends the conversation, else ``""``.
        price: what it pays, in dollars; 0 unless it accepts.
        understood: whether it made out what the line says.
        problem: why the line was of no use, else None.
    """

    text: str
    decision: Decision = ""
    price: float = 0.0
    understood: bool = True
    problem: str | None = None


class BuyerPartner(Protocol):
    """Who plays the buyer in `lmrl_data.tasks.car_dealer.env.CarDealerEnv`."""

    @property
    def name(self) -> str:
        """What a record says of it."""
        ...

    @property
    def bid(self) -> float | None:
        """Its last offer in this conversation, in dollars."""
        ...

    @property
    def reproducible(self) -> bool:
        """Whether it answers the same lines in the same way again."""
        ...

    @property
    def concurrency(self) -> int:
        """How many conversations can usefully go on at once."""
        ...

    def open(self, buyer: Buyer, seed: int) -> str:
        """Begin a conversation: returns the scene, which tells nothing of the buyer."""
        ...

    def answer(self, line: str, *, last: bool) -> Answer:
        """Answer a line of the seller; where it is the last one, decide."""
        ...


def scene_of(buyer: Buyer, seed: int) -> str:
    """The line that opens a conversation, whoever plays the buyer."""
    return Speech(seed, buyer.personality, "talk", "bargaining").say("scene", 0)


# What the buyer reacts to, the weightiest first.
_FAULTS = (
    "insulted",
    "injection",
    "raised",
    "took_back",
    "lied",
    "corrected",
    "bluffed",
    "repeated",
    "ignored",
    "pressed",
    "nudged",
    "too_long",
    "jumped",
    "tiny",
    "unwanted",
    "missing",
    "cheapened",
)
_LIKES = ("like_feature", "like_honesty", "like_reasons", "like_extras", "like_concessions", "like_rapport")
# After these there is nothing more to say.
_SHORT = frozenset(["insulted", "injection"])
# The seller's talk that has an answer of its own.
_TOPICS = (("finance", "no_finance"), ("trade_in", "no_trade"), ("test_drive", "test_drive"), ("manager", "manager"))
_PATIENT_LINES = 2.5
# How often it asks what makes the car worth the price.
_WHY_LIMIT = 2
# Bid and price are near from this share of the sticker price on.
_NEAR = 0.06


class ModelBuyer:
    """The built-in buyer: the mind of `mind`, the words of `speech`. Deterministic in seed and lines."""

    name = "model"
    reproducible = True
    concurrency = 1
    mind: Mind

    @property
    def bid(self) -> float | None:
        """Its last offer in this conversation, in dollars."""
        return self.mind.bid

    def open(self, buyer: Buyer, seed: int) -> str:
        """Begin a conversation."""
        self.mind = Mind(buyer, seed)
        self._speech = Speech(seed, buyer.personality, "talk", "bargaining")
        self._asked: set[str] = set()
        self._hurried = False
        self._why = 0
        car = f"{buyer.brand} {buyer.type}"
        self._slots = {"car": car, "a_car": with_article(car), "msrp": dollars(buyer.msrp)}
        return scene_of(buyer, seed)

    def answer(self, line: str, *, last: bool) -> Answer:
        """Answer a line of the seller; where it is the last one, decide."""
        mind, line = self.mind, normalise(line)
        reading = read(line, mind.table)
        # Every letter of the line counts: what a dataset says that somebody said cannot be changed unnoticed.
        self._key = zlib.crc32(line.encode("utf-8", "surrogatepass"), mind.heard)
        if not reading.clear:
            decision = mind.conclude() if last else ""
            problem = "nothing that the buyer could make out" if line else "nothing was said"
            said = self._ending(decision) if decision else ["unreadable", "unreadable_why"]
        else:
            decision = mind.hear(reading, line, last=last)
            problem = None
            said = self._ending(decision) if decision else self._reply(reading)
        price = float(mind.ask or 0) if decision == "accept" else 0.0
        understood = reading.clear and not (reading.prices.confusing or "absurd_low" in mind.events)
        return Answer(" ".join(map(self._say, said)), decision, price, understood, problem)

    def _say(self, what: str) -> str:
        """An act in words; ``act:feature`` speaks of one feature, ``act:a,b`` of several."""
        mind, (act, _, names) = self.mind, what.partition(":")
        slots = dict(self._slots)
        if names:
            slots["feature"] = FEATURE_NAMES.get(names, names)
            slots["features"] = listed(names.split(","))
        for name, value in (("ask", mind.ask), ("old", mind.previous_ask), ("bid", mind.bid)):
            if value is not None:
                slots[name] = dollars(value)
        return self._speech.say("lied" if act == "corrected" else act, self._key, **slots)

    def _ending(self, decision: Decision) -> list[str]:
        """The last words."""
        events = self.mind.events
        if decision == "accept":
            return ["accept_last" if "accept_last" in events else "accept", "after_sale"]
        if "insulted" in events:
            return ["leave_rude"]
        return ["leave_tired" if self.mind.ask is None else "leave_price", "parting"]

    def _reply(self, reading: Reading) -> list[str]:
        """What to say to a line that does not end the conversation."""
        mind, events = self.mind, self.mind.events
        said = ["greet"] if mind.heard == 1 and "greeting" in reading.acts else []
        fault = next((event for name in _FAULTS for event in events if event.split(":")[0] == name), None)
        like = next((event for name in _LIKES for event in events if event.split(":")[0] == name), None)
        if fault is not None:
            said.append(fault)
        elif like is not None and not said:
            said.append(like)
        if fault not in _SHORT:
            business = self._business(reading)[: 1 if said and mind.buyer.personality == "busy" else 2]
            said += business if business != ["go_on"] or not said else []
        if mind.patience <= _PATIENT_LINES and not self._hurried:
            self._hurried = True
            said.append("hurry")
        return said

    def _business(self, reading: Reading) -> list[str]:
        """What brings the purchase forward: answers, bids, questions."""
        mind, acts = self.mind, reading.acts
        for event in ("absurd_high", "absurd_low"):
            if event in mind.events:
                return [event]
        said: list[str] = []
        if "wrong_car" in mind.events:
            return ["wrong_car"]
        if reading.prices.confusing:
            said.append("too_many_numbers")
        elif reading.prices.offer is not None:
            said += self._on_price()
        if not mind.told_car and (said or "ask_car" in acts or "guessed_wrong" in mind.events or self._is_open()):
            said.append(self._tell_car())
        elif reading.asked or "ask_features" in acts:
            said.append(self._tell_wishes(reading))
        elif "ask_car" in acts and not said:
            said.append("car_again" if len(mind.told) == len(mind.buyer.features) else self._tell_wishes(reading))
        if "ask_use" in acts and len(said) < 2:
            said.append("use")
        if "ask_budget" in acts and reading.prices.offer is None:
            said.append("dodge")
        if "ask_bid" in acts and reading.prices.offer is None:
            said.append(self._on_bid_wanted())
        said += [answer for act, answer in _TOPICS if act in acts and reading.prices.offer is None]
        if "close" in acts and mind.ask is None and not said:
            said.append("no_price_yet")
        return said or self._initiative()

    def _is_open(self) -> bool:
        """Whether it says unasked what it came for: outspoken buyers at once, the others when nobody asks."""
        return self.mind.temper.openness > 2 or self.mind.heard > 1

    def _tell_car(self) -> str:
        self.mind.told_car = True
        return "car"

    def _tell_wishes(self, reading: Reading) -> str:
        """Which features it wants, or whether it wants those that it was asked about."""
        mind = self.mind
        wanted = mind.buyer.features
        if reading.asked:
            feature = next((name for name in wanted if name in reading.asked), None)
            if feature is None:
                return f"no_feature:{min(reading.asked)}"
            mind.told += [feature] if feature not in mind.told else []
            return f"yes_feature:{feature}"
        if self._speech.knows("wants_later") and not mind.included and not any(mind.points.values()):
            return "wants_later"
        untold = [feature for feature in wanted if feature not in mind.told][: mind.temper.openness]
        mind.told += untold
        return f"wants:{','.join(untold)}" if untold else f"wants_no_more:{','.join(wanted)}"

    def _on_price(self) -> list[str]:
        """What it says to a price that it does not accept."""
        mind = self.mind
        assert mind.ask is not None
        said = []
        if "shocked" in mind.events:
            said.append("shocked")
        elif mind.ask > mind.buyer.budget and "over" not in self._asked:
            self._asked.add("over")
            said.append("over")
        elif self._wants_reasons():
            mind.question = "reason"
            self._why += 1
            said.append("ask_reason")
        return [*said, self._bid_act()]

    def _wants_reasons(self) -> bool:
        mind = self.mind
        eager = mind.temper.reasons > 5 and mind.points["reasons"] < 2 and mind.ask != mind.previous_ask
        return eager and self._key % 3 == 0 and self._why < _WHY_LIMIT

    def _bid_act(self) -> str:
        mind = self.mind
        if "bid" not in mind.events:
            return "hold"
        if "bid" not in self._asked:
            self._asked.add("bid")
            return "first_bid"
        assert mind.ask is not None and mind.bid is not None
        near = mind.ask < 1.03 * mind.limit and mind.ask - mind.bid < _NEAR * mind.buyer.msrp
        return "near" if near and self._key % 2 else "bid"

    def _on_bid_wanted(self) -> str:
        """What it says when it is to make an offer."""
        if self.mind.bid is None:
            self.mind.raise_bid(0)
        return self._bid_act()

    def _initiative(self) -> list[str]:
        """What it says where the seller has left the next step to it."""
        mind = self.mind
        if mind.ask is None:
            if mind.heard > 3 and self._key % 2 == 0:
                mind.question = "price"
                return ["ask_price"]
        elif self._key % 3 == 0:
            return ["only_price" if mind.ask > mind.limit else "not_convinced", "hold"]
        for feature in mind.told:
            if feature not in mind.included and feature not in self._asked and self._key % 2:
                self._asked.add(feature)
                mind.question = feature
                return [f"ask_feature:{feature}"]
        return ["go_on"] if mind.ask is None or self._key % 2 else ["not_convinced"]
