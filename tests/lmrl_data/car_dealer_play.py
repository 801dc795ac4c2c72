"""What the car dealer's tests share: playing lines against one buyer, and finding out how far the buyer goes."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from lmrl_data.tasks.car_dealer.cars import Buyer
from lmrl_data.tasks.car_dealer.env import CarDealerEnv

SEED = 4
# Ways to stay at a price, so that no line is said twice.
HOLDS = [
    "I'm staying at {ask}.",
    "The price is still {ask}.",
    "It has to be {ask}.",
    "As I said, {ask}.",
    "{ask} is the price.",
    "My price is {ask}.",
    "I do need {ask} for it.",
    "I'd like to keep it at {ask}.",
    "{ask} it remains.",
    "For this car it has to be {ask}.",
    "I have to stay with {ask}.",
    "It's worth {ask}, you know.",
    "I'd still say {ask}.",
    "I can only repeat {ask}.",
    "So {ask}.",
    "Well, {ask}.",
    "Okay, {ask}.",
    "{ask}, then.",
    "{ask} and that's all I can say.",
    "Again, {ask}.",
    "It stays {ask}.",
    "Once more, {ask}.",
    "You know my price, {ask}.",
    "The price remains {ask}.",
    "{ask}.",
]


def a_buyer(personality: str = "practical", **fields: Any) -> Buyer:
    """A buyer whose budget is far above the sticker price, so that it is the car's worth that limits it."""
    wanted = {"brand": "Nissan", "type": "hatchback", "features": ("leather seats", "navigation"), "budget": 50_000}
    return Buyer(personality, **{**wanted, **fields})


def begin(buyer: Buyer, seed: int = SEED) -> CarDealerEnv:
    """An environment in which the buyer has just come in."""
    env = CarDealerEnv()
    env.reset(seed=seed, options={"buyer": buyer.options})
    return env


def say(env: CarDealerEnv, lines: Sequence[str]) -> list[tuple[str, float, bool, bool, dict[str, Any]]]:
    """Say lines until they or the conversation are at an end."""
    steps = []
    for line in lines:
        steps.append(env.step(line))
        if steps[-1][2]:
            break
    return steps


def sells(buyer: Buyer, lines: Sequence[str], price: float) -> bool:
    """Whether the buyer pays a price in the end, after these lines."""
    steps = say(
        begin(buyer),
        ["What car are you looking for?", *lines, *(hold.format(ask=f"${price:,.0f}") for hold in HOLDS)],
    )
    assert steps[-1][2]
    return bool(steps[-1][4]["success"])


def highest_price(buyer: Buyer, lines: Sequence[str]) -> int:
    """The highest price that the buyer pays after these lines, by bisection to 8 dollars."""
    return _highest_price(buyer, tuple(lines))


@cache
def _highest_price(buyer: Buyer, lines: tuple[str, ...]) -> int:
    low, high = buyer.msrp * 3 // 4, buyer.msrp * 3 // 2
    while high - low > 8:
        middle = (low + high) // 2
        if sells(buyer, lines, middle):
            low = middle
        else:
            high = middle
    return low
