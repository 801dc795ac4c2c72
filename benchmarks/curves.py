"""Draw the learning curves of the results: ``python -m benchmarks.curves`` writes ``benchmarks/results/curves.png``.

A row per task's config. Left, what value-based methods learn offline: the error of Q, in squared units of the reward as
trained. Right, the mean return of what online methods play, with the random policy and the best known one. A line per
training seed.
"""

import json
from typing import Any

import matplotlib

matplotlib.use("Agg")

from matplotlib import pyplot
from matplotlib.axes import Axes

from benchmarks.results import FOLDER, cells
from lmrl_data.registry import get_task, list_tasks

FILE = FOLDER / "curves.png"
COLOURS = {"mc": "#0072b2", "ilql": "#d55e00", "ppo": "#009e73", "online-bc": "#cc79a7"}
OFFLINE, ONLINE = ("mc", "ilql"), ("ppo", "online-bc")


def draw() -> None:
    """Draw all curves that were kept."""
    measured = cells()
    rows = [
        (task, config)
        for task in list_tasks()
        for config in get_task(task).configs
        if any((cell["task"], cell["config"]) == (task, config) for cell in measured)
    ]
    figure, grid = pyplot.subplots(len(rows), 2, figsize=(10, 2.4 * len(rows)), squeeze=False, layout="constrained")
    for (task, config), (left, right) in zip(rows, grid, strict=True):
        own = [cell for cell in measured if (cell["task"], cell["config"]) == (task, config)]
        for cell in own:
            if cell["method"] in OFFLINE:
                _line(left, cell, "step", "loss_q")
            if cell["method"] in ONLINE:
                _line(right, cell, "round", "return")
        for cell in own:
            if cell["method"] in ("random", "best"):
                right.axhline(cell["mean_return"], color="#888888", linewidth=0.8, linestyle=":")
                right.annotate(cell["method"], (1, cell["mean_return"]), xycoords=("axes fraction", "data"), fontsize=7)
        left.set_title(f"{task}, {config}: error of Q", fontsize=9, loc="left")
        left.set_yscale("log")
        right.set_title(f"{task}, {config}: return in play", fontsize=9, loc="left")
        for axes, across in ((left, "optimiser step"), (right, "round")):
            axes.set_xlabel(across, fontsize=8)
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
            if axes.get_legend_handles_labels()[0]:
                axes.legend(fontsize=7, frameon=False)
    figure.savefig(FILE, dpi=110)


def _line(axes: Axes, cell: dict[str, Any], across: str, up: str) -> None:
    name = "-".join(str(cell[part]) for part in ("task", "config", "method", "seed"))
    curve = [entry for entry in json.loads((FOLDER / f"{name}.curve.json").read_text("utf-8")) if up in entry]
    axes.plot(
        [entry[across] for entry in curve],
        [entry[up] for entry in curve],
        color=COLOURS[cell["method"]],
        linewidth=1,
        alpha=0.8,
        label=cell["method"] if cell["seed"] == 0 else None,
    )


if __name__ == "__main__":
    draw()
