"""The car dealer: sell a car to a buyer with a temper, wishes and a budget of its own."""

from importlib import import_module
from typing import Any

from lmrl_data.registry import Bounds, Config, Task

__all__ = ["TASK", "read_decision", "read_msrp", "read_offer"]

# Imported on first use: their patterns would cost every `import lmrl_data` some of its time.
_LAZY = {"read_decision": "decisions", "read_msrp": "prices", "read_offer": "prices"}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


_BUYER = {"personality": "string", "brand": "string", "type": "string", "features": "list<string>", "budget": "int32"}

TASK = Task(
    name="car-dealer",
    title="Car dealer",
    summary=(
        "The agent sells a car to a buyer in at most 25 lines of free talk. The buyer has a personality, a preferred "
        "brand, type and features, and a budget, and tells none of it unless asked."
    ),
    challenge=(
        "The price comes at the end of a long conversation and depends on all of it: what the buyer is willing to pay "
        "goes up with features that it wants, honest reasons, kindness and small concessions, and down with pressure "
        "and contradictions, in other measure for each of ten personalities, which the agent must tell from the talk. "
        "No behaviour policy fits all of them."
    ),
    configs={
        "default": Config(
            env_id="lmrl/CarDealer-v0",
            kwargs={},
            bounds=Bounds(minimum=0, mean=0.5391, maximum=1.0780931374, maximum_from="optimal", exact=True),
            collection={
                "features": 0.4,
                "discounts": 0.16,
                "concise": 0.1,
                "mixture": 0.3,
                "skilled": 0.02,
                "random": 0.02,
            },
            sizes={"small": (1_900, 190), "full": (19_000, 1_900)},
            evaluation_episodes=1000,
        ),
    },
    env="lmrl_data.tasks.car_dealer.env:CarDealerEnv",
    starts="lmrl_data.tasks.car_dealer.env:evaluation_starts",
    partner="partner",
    policies={
        name: f"lmrl_data.tasks.car_dealer.policies:{name}"
        for name in ("random", "features", "discounts", "concise", "mixture", "skilled", "optimal")
    },
    info={
        **_BUYER,
        "msrp": "int32",
        "price": "float64",
        "last_bid": "float64",
        "partner": "string",
        "usable": "list<bool>",
    },
    options={"buyer": _BUYER},
    column_notes={
        "personality": "the buyer's, one of ten",
        "brand": "the brand that the buyer wants",
        "type": "the type that the buyer wants",
        "features": "the features that the buyer wants, 1 to 4 of 8",
        "budget": "what the buyer can pay, in dollars",
        "msrp": "the sticker price of the wanted car, in dollars",
        "price": "what the car was sold for, in dollars; 0 where it was not sold",
        "last_bid": "the buyer's last bid, said or about to be said, in dollars; 0 where it made none",
        "partner": "who played the buyer",
        "usable": "whether the buyer could make out each line",
    },
    paper={
        "episodes": 19_000,
        "mean_length": 16.5,
        "std_length": 3.61,
        "success_rate": 0.53,
        "mean_return": 0.562,
        "std_return": 0.422,
    },
    provenance=(
        "Scripted sellers against the built-in buyer. 40 % of the episodes are of `features`, which offers what the "
        "buyer wishes for, gives reasons and never comes down; 16 % of `discounts`, which offers nothing but comes "
        "down; 10 % of `concise`, which does neither, in few words; 30 % of `mixture`, which with each line is "
        "`features`, `discounts` or `skilled`; 2 % of `skilled`, which finds out what the buyer wants and will pay; "
        "and 2 % of `random`."
    ),
    batch_size=256,
    shard_size=2_000,
    tags=("dialogue", "negotiation"),
)
