"""Dataset cards of lmrl-gym: statistics of a split, plots, and the card with its metadata.

``write_card("lmrl-gym/wordle", "wordle")`` writes everything that a dataset repository has beside its data.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lmrl_cards.card import write_card
    from lmrl_cards.distribution import Distribution
    from lmrl_cards.figures import GroupStatistics, SplitStatistics
    from lmrl_cards.plots import distribution_plot
    from lmrl_cards.statistics import split_statistics

__all__ = [
    "Distribution",
    "GroupStatistics",
    "SplitStatistics",
    "distribution_plot",
    "split_statistics",
    "write_card",
]

# Imported on first use: datasets and pyarrow would slow down every start of the command line.
_LAZY = {
    "Distribution": "distribution",
    "GroupStatistics": "figures",
    "SplitStatistics": "figures",
    "distribution_plot": "plots",
    "split_statistics": "statistics",
    "write_card": "card",
}


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return getattr(import_module(f"lmrl_cards.{_LAZY[name]}"), name)
    raise AttributeError(f"module 'lmrl_cards' has no attribute {name!r}")
