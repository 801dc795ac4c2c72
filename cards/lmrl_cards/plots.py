"""Pictures of a split: how returns and episode lengths are spread, for each behaviour policy."""

import math
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmrl_cards.distribution import Distribution
from lmrl_cards.statistics import SplitStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 30
_TEXT, _GRID, _MEAN = "#24292f", "#d0d7de", "#bc4c00"
# Returns and lengths; told apart by more than the hue, for colour-blind readers.
_BARS = ("#0969da", "#6e7781")
# An opaque white ground with dark text reads well on light and on dark pages alike.
_STYLE = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same letters
    "font.size": 9,
    "text.color": _TEXT,
    "axes.labelcolor": _TEXT,
    "xtick.color": _TEXT,
    "ytick.color": _TEXT,
    "axes.edgecolor": _GRID,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
}


def distribution_plot(title: str, statistics: SplitStatistics) -> bytes:
    """A picture of the returns (left) and episode lengths (right) of a split, a row per behaviour policy.

    Args:
        title: what the episodes are.
        statistics: of a split with at least one episode.

    Returns:
        A PNG file; the same statistics give the same bytes.
    """
    from matplotlib.figure import Figure
    from matplotlib.style import context
    from matplotlib.ticker import MaxNLocator

    policies = statistics.policies
    columns = (
        ("return", statistics.overall.returns, [group.returns for group in policies.values()]),
        ("episode length (agent turns)", statistics.overall.length, [group.length for group in policies.values()]),
    )
    with context(["default", _STYLE]):
        figure = Figure(figsize=(8.4, 1.3 + 1.35 * len(policies)), dpi=150)
        figure.set_layout_engine("constrained", w_pad=0.1, h_pad=0.08)
        figure.suptitle(title, fontsize=11, parse_math=False)
        grid: NDArray[np.object_] = figure.subplots(len(policies), 2, squeeze=False, sharex="col", sharey="col")
        for column, (label, everything, parts) in enumerate(columns):
            edges = bin_edges(everything)
            for row, (part, name) in enumerate(zip(parts, policies, strict=True)):
                axes: Axes = grid[row, column]
                _draw(axes, part, edges, _BARS[column])
                if column == 0:
                    axes.set_title(_shortened(name), loc="left", fontsize=9, fontweight="bold", parse_math=False)
            grid[-1, column].set_xlabel(label)
            if everything.is_whole:
                grid[-1, column].xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        figure.supylabel("share of episodes (%)", fontsize=9)
        picture = BytesIO()
        # The version of matplotlib would be written into the file.
        figure.savefig(picture, format="png", metadata={"Software": None})
    return picture.getvalue()


def bin_edges(distribution: Distribution) -> NDArray[np.float64]:
    """Edges of histogram bins: around whole numbers where all values are whole, else of equal width.

    Args:
        distribution: of at least one value.

    Returns:
        Ascending edges that enclose every value, shape (bins + 1,); at most 30 bins.
    """
    low, high = distribution.minimum, distribution.maximum
    if distribution.is_whole:
        width = math.ceil((high - low + 1) / _BINS)
        bins = math.ceil((high - low + 1) / width)
        return np.linspace(low - 0.5, low - 0.5 + bins * width, bins + 1)
    if low == high:
        return np.array([low - 0.5, low + 0.5])
    return np.linspace(low, high, _BINS + 1)


def _draw(axes: "Axes", part: Distribution, edges: NDArray[np.float64], colour: str) -> None:
    counts, _ = np.histogram(part.values, edges, weights=part.counts)
    axes.bar((edges[:-1] + edges[1:]) / 2, 100 * counts / part.count, 0.9 * np.diff(edges), color=colour)
    axes.axvline(part.mean, color=_MEAN, linewidth=1.4, linestyle="--")
    axes.set_title(f"mean {part.mean:.2f}".replace("-", "−"), loc="right", fontsize=9, color=_MEAN)
    axes.grid(axis="y", color=_GRID, linewidth=0.6)
    axes.tick_params(length=0)


def _shortened(name: str) -> str:
    return name if len(name) <= 40 else f"{name[:39]}…"
