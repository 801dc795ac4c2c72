"""What is for sale and who comes to buy: brands, types, features, the price list, and the buyers, numbered."""

from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import below, mix, mix_array, stream_of

PERSONALITIES = (
    "analytical",
    "friendly",
    "thrifty",
    "busy",
    "skeptical",
    "enthusiastic",
    "indecisive",
    "proud",
    "tough",
    "practical",
)
# All of these brands have built all of these types, and any of the features can be had in any car.
BRANDS = (
    "Audi",
    "BMW",
    "Chevrolet",
    "Ford",
    "Honda",
    "Lexus",
    "Mazda",
    "Mercedes",
    "Nissan",
    "Porsche",
    "Toyota",
    "Volkswagen",
    "Volvo",
)
TYPES = ("sedan", "SUV", "hatchback", "wagon", "coupe", "convertible")
FEATURES = (
    "leather seats",
    "heated seats",
    "navigation",
    "backup camera",
    "all-wheel drive",
    "premium sound",
    "adaptive cruise control",
    "blind-spot warning",
)
BUDGETS = (10_000, 30_000, 50_000, 70_000, 90_000)
MOST_FEATURES = 4
FEATURE_SETS = tuple(
    features for count in range(1, MOST_FEATURES + 1) for features in combinations(FEATURES, count)
)  # 162

# The dealer has every brand and type in five classes, from an old used car to a luxury model, one for each budget. The
# sticker price of a class is this share of the budget, times the factors of brand and type (in per cent).
_CLASS_SHARE = 0.85
_BRAND_PERCENT = dict(zip(BRANDS, (103, 104, 97, 97, 98, 102, 96, 105, 95, 107, 100, 98, 101), strict=True))
_TYPE_PERCENT = dict(zip(TYPES, (98, 103, 96, 99, 101, 104), strict=True))

BUYERS = len(PERSONALITIES) * len(BRANDS) * len(TYPES) * len(FEATURE_SETS) * len(BUDGETS)  # 631,800
STREAM = stream_of("car-dealer/buyer")


@dataclass(frozen=True)
class Buyer:
    """Who comes to buy, and what for.

    Attributes:
        personality: one of `PERSONALITIES`.
        brand: one of `BRANDS`.
        type: one of `TYPES`.
        features: the wanted ones, 1 to 4 of `FEATURES`, in their order there.
        budget: what the buyer can pay, in dollars; one of `BUDGETS`.
    """

    personality: str
    brand: str
    type: str
    features: tuple[str, ...]
    budget: int

    @property
    def msrp(self) -> int:
        """The sticker price of the car that the buyer comes for, in dollars."""
        percent = _BRAND_PERCENT[self.brand] * _TYPE_PERCENT[self.type] / 10_000
        return round(_CLASS_SHARE * self.budget * percent / 50) * 50

    @property
    def scale(self) -> float:
        """What a reward of 1 is in dollars: halfway between budget and sticker price (paper, appendix)."""
        return (self.budget + self.msrp) / 2

    @property
    def options(self) -> dict[str, Any]:
        """The value of ``reset(options={"buyer": …})`` that gives this buyer."""
        return {**asdict(self), "features": list(self.features)}

    @property
    def secret(self) -> str:
        """What the seller is not told."""
        features = ", ".join(self.features)
        return f"{self.personality}, wants {self.brand} {self.type} with {features}, budget ${self.budget:,}"


def buyer_numbers(seeds: NDArray[Any]) -> NDArray[np.int64]:
    """The number of each seed's buyer, from 0 to `BUYERS` - 1, each as likely as the others; shape (N,)."""
    return below(mix_array(seeds, STREAM), BUYERS)


def buyer_of_number(number: int) -> Buyer:
    """The buyer of a number."""
    number, budget = divmod(number, len(BUDGETS))
    number, features = divmod(number, len(FEATURE_SETS))
    number, kind = divmod(number, len(TYPES))
    personality, brand = divmod(number, len(BRANDS))
    return Buyer(PERSONALITIES[personality], BRANDS[brand], TYPES[kind], FEATURE_SETS[features], BUDGETS[budget])


def buyer_of(seed: int) -> Buyer:
    """The buyer of one seed."""
    return buyer_of_number((mix(seed, STREAM) >> 32) * BUYERS >> 32)


def buyers_of(seeds: NDArray[Any]) -> list[Buyer]:
    """The buyer of each seed."""
    return [buyer_of_number(number) for number in buyer_numbers(seeds).tolist()]


def buyer_of_options(value: object) -> Buyer:
    """The buyer that ``reset(options={"buyer": value})`` asks for.

    Raises:
        LmrlError: there can be no such buyer; the message lists what can be.
    """
    choices = {"personality": PERSONALITIES, "brand": BRANDS, "type": TYPES, "features": FEATURES, "budget": BUDGETS}
    if isinstance(value, dict) and value.keys() == choices.keys() and isinstance(value["features"], list | tuple):
        features = tuple(feature for feature in FEATURES if feature in value["features"])
        known = all(value[key] in choices[key] for key in choices if key != "features")
        if known and features in FEATURE_SETS and len(features) == len(value["features"]):
            return Buyer(value["personality"], value["brand"], value["type"], features, int(value["budget"]))
    listed = "; ".join(f"{key}: {', '.join(map(str, choices[key]))}" for key in choices)
    raise LmrlError(
        f"buyer is {value!r:.200}; it must be a dict with one of each of these, and 1 to {MOST_FEATURES} features in a "
        f"list. {listed}"
    )
