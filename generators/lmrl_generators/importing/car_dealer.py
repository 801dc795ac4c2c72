"""The layout of the car dealer: ``buyer_info``, ``lines`` with a role and a text, ``output``."""

from itertools import groupby
from typing import Any

from lmrl_data.tasks.car_dealer.env import MAX_TURNS
from lmrl_generators.importing.plays import (
    POLICY,
    Play,
    Reading,
    Unreadable,
    fields_of,
    flag_of,
    reading,
    text_of,
    whole_number_of,
)

FIELDS = ("buyer_info", "lines", "output")
_BUYER = ("personality", "preferred_brands", "preferred_type", "preferred_features", "budget")
_OUTPUT = ("car_bought", "msrp", "buy_price")
_SELLERS, _BUYERS = ("Seller", "Dealer"), ("Buyer",)
# What the published code puts before the seller's first line.
_OPENING = "Beginning of Conversation"
# No car is sold for less: a smaller price is one in thousands.
_LEAST_PRICE = 1000


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a record. The file has no rewards: the published code works them out, and so do the rules here."""
    buyer_info, lines = fields_of(value, FIELDS[:2])
    output = value.get("output")  # a talk that was broken off has none
    buyer = _buyer(buyer_info)
    observations, actions = _talk(lines)
    bought, msrp, price = _sale(output)
    scale = (buyer["budget"] + msrp) / 2
    share = price / scale if scale else 0.0
    play = Play(observations, actions, [*([0.0] * (len(actions) - 1)), share], output is not None)
    differences = []
    if output is not None and not bought and msrp not in (0, buyer["budget"]):
        differences.append("a rejection, worth 0; the published code gives (MSRP - budget) / MSRP")
    if bought and price == 0:
        play.faults.append("sold without a price: worth 0")
    elif 0 < price < _LEAST_PRICE or 0 < msrp < _LEAST_PRICE:
        play.faults.append("a price below $1,000: thousands read as dollars")
    if len(actions) > MAX_TURNS:
        play.faults.append(f"longer than {MAX_TURNS} turns")
    info = {**buyer, "msrp": msrp, "price": float(price), "last_bid": None, "partner": POLICY, "usable": None}
    return reading(
        play, success=bought, terminated=output is not None, info=info, env_id=env_id, differences=differences
    )


def _buyer(value: Any) -> dict[str, Any]:
    personality, brand, kind, features, budget = fields_of(value, _BUYER)
    listed = features if isinstance(features, list) else [features]
    return {
        "personality": text_of(personality, "the personality"),
        "brand": text_of(brand, "the brand").removeprefix("a ").removeprefix("an "),
        "type": text_of(kind, "the type"),
        "features": [text_of(feature, "a feature") for feature in listed],
        "budget": whole_number_of(budget, "the budget"),
    }


def _talk(lines: Any) -> tuple[list[str], list[str]]:
    """What buyer and seller say by turns, lines of one speaker joined; the buyer's texts are one more."""
    if not isinstance(lines, list):
        raise Unreadable("the lines are no list")
    said = []
    for line in lines:
        role, text = fields_of(line, ("role", "text"))
        if role not in (*_SELLERS, *_BUYERS):
            raise Unreadable(f"a line of {str(role)[:40]!r}, who is neither Seller nor Buyer")
        said.append((role in _SELLERS, text_of(text, "a line")))
    turns = [" ".join(text for _, text in group) for _, group in groupby(said, key=lambda line: line[0])]
    if not said or (len(turns) == 1 and not said[0][0]):
        raise Unreadable("the seller says nothing")
    if said[0][0]:
        turns.insert(0, _OPENING)
    if len(turns) % 2 == 0:
        turns.append("")  # the buyer's decision has no text
    return turns[0::2], turns[1::2]


def _sale(output: Any) -> tuple[bool, int, int]:
    """Whether the car was sold, its MSRP and its price in dollars; nothing where the talk was broken off."""
    if output is None:
        return False, 0, 0
    bought, msrp, price = fields_of(output, _OUTPUT)
    sold = flag_of(bought, "car_bought")
    paid = whole_number_of(price, "buy_price") if sold and price is not None else 0
    return sold, whole_number_of(msrp, "msrp"), paid
