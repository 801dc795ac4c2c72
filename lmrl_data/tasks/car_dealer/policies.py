"""The car dealer's scripted policies: sellers, each a pure function of the seed and the conversation."""

from collections.abc import Callable, Sequence
from functools import partial

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.car_dealer.bound import Informed
from lmrl_data.tasks.car_dealer.notes import Notes
from lmrl_data.tasks.car_dealer.sellers import (
    CONCISE_SELLER,
    DISCOUNTS_SELLER,
    FEATURES_SELLER,
    Mixture,
    Random,
    Seller,
    Skilled,
)
from lmrl_data.tasks.car_dealer.speech import FEATURE_NAMES, Speech, dollars, listed
from lmrl_data.text import Message

_SELLER = stream_of("car-dealer/seller")


class SellerPolicy:
    """A scripted seller in text."""

    def __init__(self, name: str, seller_of: Callable[[int], Seller]) -> None:
        """Sell as the seller that there is for each seed."""
        self.name = name
        self._seller_of = seller_of

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._sellers = [self._seller_of(seed) for seed in seeds]
        self._notes = [Notes(mix(seed, _SELLER)) for seed in seeds]
        self._speech = [Speech(notes.seed, "seller") for notes in self._notes]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """The next line of each conversation."""
        return [self._line(row, conversation) for row, conversation in enumerate(conversations)]

    def _line(self, row: int, conversation: list[Message]) -> str:
        if not conversation:
            return ""
        notes = self._notes[row]
        notes.listen(conversation[-1]["content"])
        notes.said = " ".join([self._say(act, row) for act in self._sellers[row].acts(notes)])
        notes.turn += 1
        return notes.said

    def _say(self, what: str, row: int) -> str:
        seller, notes, speech = self._sellers[row], self._notes[row], self._speech[row]
        act, _, names = what.partition(":")
        for name in (act, *filter(None, names.split(","))):
            notes.done[name] = notes.done.get(name, 0) + 1
        if act in ("first_ask", "lower", "final"):
            notes.asks.append(seller.price(notes))
        slots = {"car": notes.car or "car"}
        if names:
            slots |= {"feature": FEATURE_NAMES.get(names, names), "features": listed(names.split(","))}
        for name, value in (("msrp", notes.msrp), ("ask", notes.asks[-1:]), ("bid", notes.bids[-1:])):
            if value:
                slots[name] = dollars(value[0] if isinstance(value, list) else value)
        short = f"short_{act}"
        return speech.say(short if seller.short and speech.knows(short) else act, notes.turn, **slots)


_SELLERS: dict[str, Callable[[int], Seller]] = {
    "random": lambda seed: Random(),
    "features": lambda seed: FEATURES_SELLER,
    "discounts": lambda seed: DISCOUNTS_SELLER,
    "concise": lambda seed: CONCISE_SELLER,
    "skilled": lambda seed: Skilled(),
    "mixture": lambda seed: Mixture((FEATURES_SELLER, DISCOUNTS_SELLER, Skilled())),
    "optimal": Informed,
}


def _make(name: str, buyer: str = "model", reward: str = "share") -> SellerPolicy:
    """A seller. It sells alike whoever the buyer is and however the sale is rewarded."""
    return SellerPolicy(name, _SELLERS[name])


random, features, discounts, concise, skilled, mixture, optimal = (partial(_make, name) for name in _SELLERS)
