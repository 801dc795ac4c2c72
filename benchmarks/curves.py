"""Draw the learning curves of the results: ``python -m benchmarks.curves`` writes ``benchmarks/results/curves.png``.

A row per task's config: the loss of imitation per token, in nats; the error of Q of value-based methods, in squared
units of the reward as trained; and the mean return of what online methods play, with the random policy and the best
known one. A line per training seed.
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
COLOURS = {
    "bc": "#56b4e9",
    "filtered-bc": "#000000",
    "mc": "#0072b2",
    "ilql": "#d55e00",
    "ppo": "#009e73",
    "online-bc": "#cc79a7",
}
# What is drawn of which methods: title, the quantity across, and that upwards.
PANELS = {
    ("bc", "filtered-bc"): ("loss of imitation", "step", "loss"),
    ("mc", "ilql"): ("error of Q", "step", "loss_q"),
    ("ppo", "online-bc"): ("return in play", "round", "return"),
}


def draw() -> None:
    """Draw all curves that were kept."""
    measured = cells()
    places = [(task, config) for task in list_tasks() for config in get_task(task).configs]
    rows = [
        [cell for cell in measured if (cell["task"], cell["config"]) == place and cell["method"] in COLOURS]
        for place in places
    ]
    rows = [row for row in rows if row]
    figure, grid = pyplot.subplots(len(rows), 3, figsize=(13, 2.3 * len(rows)), squeeze=False, layout="constrained")
    for row, panels in zip(rows, grid, strict=True):
        for axes, (methods, (title, across, up)) in zip(panels, PANELS.items(), strict=True):
            for cell in row:
                if cell["method"] in methods:
                    _line(axes, cell, across, up)
            if not axes.lines:
                axes.set_visible(False)
                continue
            axes.set_title(f"{row[0]['task']}, {row[0]['config']}: {title}", fontsize=9, loc="left")
            axes.set_xlabel("optimiser step" if across == "step" else across, fontsize=8)
            axes.tick_params(labelsize=7)
            axes.spines[["top", "right"]].set_visible(False)
            lines = {line.get_label(): line for line in axes.lines}
            axes.legend(lines.values(), lines.keys(), fontsize=7, frameon=False)
            if up == "return":
                _mark_scripted(axes, measured, row[0])
            if up == "loss_q":
                axes.set_yscale("log")
    figure.savefig(FILE, dpi=90)


def _mark_scripted(axes: Axes, measured: list[dict[str, Any]], place: dict[str, Any]) -> None:
    for cell in measured:
        if cell["method"] in ("random", "best") and all(cell[name] == place[name] for name in ("task", "config")):
            axes.axhline(cell["mean_return"], color="#888888", linewidth=0.8, linestyle=":")
            axes.annotate(cell["method"], (1, cell["mean_return"]), xycoords=("axes fraction", "data"), fontsize=7)


def _line(axes: Axes, cell: dict[str, Any], across: str, up: str) -> None:
    file = FOLDER / ("-".join(str(cell[part]) for part in ("task", "config", "method", "seed")) + ".curve.json")
    curve = [entry for entry in json.loads(file.read_text("utf-8")) if up in entry] if file.is_file() else []
    if not curve:
        return
    axes.plot(
        [entry[across] for entry in curve],
        [entry[up] for entry in curve],
        color=COLOURS[cell["method"]],
        linewidth=1,
        alpha=0.8,
        label=cell["method"],
    )


if __name__ == "__main__":
    draw()
