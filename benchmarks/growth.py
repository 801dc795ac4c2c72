"""Measure how cost grows with the size of a dataset: ``python -m benchmarks.growth``, then ``... --plot``.

Sizes from 1,000 to 1,000,000 episodes, each made by one `lmrl generate` from the first import to the card. What was
measured goes to ``growth.json`` beside this file, and the plot of it to ``growth.png``.
"""

import argparse
import json
import os
import shutil
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console

from benchmarks.generation import generate, show

FILE = Path(__file__).parent / "growth.json"
PLOT = FILE.with_suffix(".png")
# Task, config, workers, sizes.
SERIES = (
    ("wordle", "full", 1, (1_000, 10_000, 100_000, 1_000_000)),
    ("wordle", "full", 2, (100_000, 1_000_000)),
    ("text-nav", "fully_observed", 1, (1_000, 10_000, 100_000, 300_000)),
    ("twenty-questions", "default", 1, (1_000, 10_000)),
)


def measure(console: Console) -> list[dict[str, Any]]:
    """A row per series and size."""
    rows = []
    with TemporaryDirectory(prefix=".benchmark-", dir=".") as folder:
        for task, config, workers, sizes in SERIES:
            for episodes in sizes:
                with console.status(f"{task}, {episodes:,} episodes"):
                    size = ("--config", config, "--episodes", str(episodes), "--validation", "0")
                    rows.append(generate(task, Path(folder), workers=workers, arguments=size))
                    shutil.rmtree(Path(folder) / task)
    return rows


def draw(rows: list[dict[str, Any]]) -> None:
    """Processor time and memory over the number of episodes, a line per task and number of workers."""
    # After the measuring: a child counts the memory of the process that it comes from.
    from matplotlib.figure import Figure
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    figure = Figure(figsize=(9, 3.6), layout="constrained")
    left, right = figure.subplots(1, 2)
    for series in dict.fromkeys((row["task"], row["workers"]) for row in rows):
        line = [row for row in rows if (row["task"], row["workers"]) == series]
        episodes = [row["episodes"] for row in line]
        style = {"marker": "o", "markersize": 4, "linestyle": "-" if series[1] == 1 else "--"}
        label = f"{series[0]}, {series[1]} worker{'s' if series[1] > 1 else ''}"
        left.plot(episodes, [row["cpu"] for row in line], label=label, **style)
        right.plot(episodes, [row["peak"] / 1e6 for row in line], label=label, **style)
    left.set(xscale="log", yscale="log", xlabel="episodes", ylabel="processor time, s", ylim=(1, 100))
    left.yaxis.set_major_formatter(ScalarFormatter())
    left.yaxis.set_minor_formatter(NullFormatter())
    right.set(xscale="log", xlabel="episodes", ylabel="memory of the largest process, MB", ylim=(0, None))
    for axes in (left, right):
        axes.grid(alpha=0.3)
    left.legend(frameon=False)
    figure.savefig(PLOT, dpi=110)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("--plot", action="store_true", help="only draw what was measured before")
    arguments = parser.parse_args()
    if not arguments.plot:
        rows = measure(Console(stderr=True))
        FILE.write_text(json.dumps({"load": os.getloadavg(), "rows": rows}, indent=2) + "\n", "utf-8")
    rows = json.loads(FILE.read_text("utf-8"))["rows"]
    show(rows, Console(width=None if Console().is_terminal else 160))
    draw(rows)


if __name__ == "__main__":
    main()
