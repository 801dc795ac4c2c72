"""Pictures of a split: how returns and episode lengths are spread, for each behaviour policy."""

import math
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lmrl_cards.distribution import Distribution
from lmrl_cards.figures import GroupStatistics, SplitStatistics

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_BINS = 30
_TEXT, _FAINT, _MEAN = "#1f2328", "#59636e", "#bc4c00"
_LINE = "#d1d9e0"
# Returns and lengths; told apart by more than the hue, for colour-blind readers.
_BARS = ("#0969da", "#8c959f")
# Inches: a row is low, so that eight policies still fit a screen.
_WIDTH, _ROW, _AROUND = 8.4, 0.72, 1.35
_HEADROOM = 1.6  # height of a panel over that of its highest bar
# An opaque white ground with dark text reads well on light and on dark pages alike.
_STYLE = {
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "font.family": "DejaVu Sans",  # comes with matplotlib, so that every machine draws the same letters
    "font.size": 8.5,
    "text.color": _TEXT,
    "axes.labelcolor": _FAINT,
    "xtick.color": _FAINT,
    "axes.edgecolor": _LINE,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.spines.left": False,
    "axes.axisbelow": True,
}


def distribution_plot(title: str, statistics: SplitStatistics) -> bytes:
    """A picture of the returns and episode lengths of a split: a row per behaviour policy, the best one first.

    The bars are shares of the policy's episodes, to a scale of their own in each panel; the share of the highest is
    written on it.

    Args:
        title: what the episodes are.
        statistics: of a split with at least one episode.

    Returns:
        A PNG file; the same statistics give the same bytes.
    """
    from matplotlib.figure import Figure
    from matplotlib.style import context
    from matplotlib.ticker import MaxNLocator

    policies = statistics.ranked
    columns = (
        ("return", statistics.overall.returns, [group.returns for group in policies.values()]),
        ("episode length (agent turns)", statistics.overall.length, [group.length for group in policies.values()]),
    )
    with context(["default", _STYLE]):
        figure = Figure(figsize=(_WIDTH, _AROUND + _ROW * max(2, len(policies))), dpi=150)
        figure.set_layout_engine("constrained", w_pad=0.08, h_pad=0.05)
        figure.suptitle(title, x=0.01, ha="left", fontsize=11, fontweight="bold", parse_math=False)
        grid: NDArray[np.object_] = figure.subplots(
            len(policies), 3, squeeze=False, sharex="col", gridspec_kw={"width_ratios": (1.3, 3, 3)}
        )
        for row, (name, group) in enumerate(policies.items()):
            _describe(grid[row, 0], name, group, group.episodes / statistics.overall.episodes)
        for column, (label, everything, parts) in enumerate(columns):
            edges = bin_edges(everything)
            for row, part in enumerate(parts):
                _draw(grid[row, column + 1], part, edges, _BARS[column])
            last: Axes = grid[-1, column + 1]
            last.set_xlabel(label)
            if everything.is_whole:
                last.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
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


def _describe(axes: "Axes", name: str, group: GroupStatistics, share: float) -> None:
    """Name a row: the policy, its share of the episodes, its success."""
    axes.set_axis_off()
    told = f"{share:.0%} of episodes\n{group.success_rate:.0%} success".replace("%", " %")
    for text, points, style in (
        (_shortened(name), 11, {"fontweight": "bold"}),
        (told, -1, {"color": _FAINT, "fontsize": 7.5, "linespacing": 1.4}),
    ):
        axes.annotate(
            text, (0, 0.5), (0, points), "axes fraction", "offset points", va="top", parse_math=False, **style
        )


def _draw(axes: "Axes", part: Distribution, edges: NDArray[np.float64], colour: str) -> None:
    counts, _ = np.histogram(part.values, edges, weights=part.counts)
    shares, centres = 100 * counts / part.count, (edges[:-1] + edges[1:]) / 2
    axes.bar(centres, shares, 0.88 * np.diff(edges), color=colour)
    highest = int(shares.argmax())
    axes.set_ylim(0, _HEADROOM * shares[highest])
    axes.text(
        centres[highest], 1.04 * shares[highest], f"{shares[highest]:.0f} %", ha="center", va="bottom", fontsize=7.5
    )
    axes.axvline(part.mean, color=_MEAN, linewidth=1.3, linestyle=(0, (3, 2)), ymax=1 / _HEADROOM)
    # On the side of the panel that the mean is not on: there bars are lower as a rule.
    left, right = edges[0], edges[-1]
    side = ("right", 0.995) if part.mean < (left + right) / 2 else ("left", 0.005)
    label = f"mean {part.mean:.2f}".replace("-", "−")
    axes.text(side[1], 0.98, label, transform=axes.transAxes, ha=side[0], va="top", color=_MEAN, fontsize=8)
    axes.set_yticks([])
    axes.tick_params(length=0)


def _shortened(name: str) -> str:
    return name if len(name) <= 18 else f"{name[:17]}…"
