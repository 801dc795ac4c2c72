"""Measure what whole datasets cost: ``python -m benchmarks.generation [TASK ...]``.

Each task's full plan is made by one `lmrl generate`, from the first import to the card. Engine tasks are made in part,
and the whole is reckoned from that: their cost is the engine's, which is the same for every episode. Time of the
processors stands beside time by the clock, for another program on the machine changes the second only.
"""

import argparse
import json
import shutil
import sysconfig
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from rich.console import Console
from rich.table import Table

from benchmarks.commands import cost_of

LMRL = Path(sysconfig.get_path("scripts")) / "lmrl"
TASKS = ("wordle", "maze", "text-nav", "twenty-questions", "guess-my-city", "car-dealer", "endgames", "chess")
# Train episodes that are made of a plan that would take hours.
PARTS = {"endgames": 1_000, "chess": 100}


def generate(task: str, out: Path, *, workers: int, arguments: tuple[str, ...] = ("--size", "full")) -> dict[str, Any]:
    """Make a dataset in a folder that does not hold it yet, and say what it took and what is there."""
    command = (LMRL, "generate", "--task", task, *arguments, "--workers", str(workers), "--out", out, "--quiet")
    cost = cost_of(command)
    folder = out / task
    manifest = json.loads((folder / "generation.json").read_text("utf-8"))
    splits = [split for config in manifest["configs"].values() for split in config["splits"].values()]
    return {
        "task": task,
        "command": " ".join(("lmrl generate --task", task, *arguments)),
        "workers": workers,
        "episodes": sum(split["episodes"] for split in splits),
        "bytes": sum(shard["bytes"] for split in splits for shard in split["shards"]),
        **{name: round(value, 2) for name, value in asdict(cost).items()},
    }


def full_size(task: str, out: Path, workers: int) -> dict[str, Any]:
    """Make a task's full plan, or a part of it."""
    part = PARTS.get(task)
    size = ("--size", "full") if part is None else ("--episodes", str(part), "--validation", "0")
    return generate(task, out, workers=workers, arguments=size)


def show(rows: list[dict[str, Any]], console: Console) -> None:
    """Print a table with a row per dataset."""
    table = Table(
        "command", "workers", "episodes", "wall, s", "CPU, s", "CPU, s a 1,000", "peak memory, MB", "data, MB"
    )
    for column in table.columns[1:]:
        column.justify = "right"
    for row in rows:
        numbers = (row["wall"], row["cpu"], 1000 * row["cpu"] / row["episodes"], row["peak"] / 1e6, row["bytes"] / 1e6)
        cells = [f"{number:,.{0 if number >= 100 else 1 if number >= 10 else 2}f}" for number in numbers]
        table.add_row(row["command"], str(row["workers"]), f"{row['episodes']:,}", *cells)
    console.print(table)


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.generation", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="one of them; all if left out", default=TASKS)
    parser.add_argument("--workers", type=int, default=1, help="worker processes (1)")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the datasets there")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    arguments = parser.parse_args()
    for task in arguments.tasks:
        if task not in TASKS:
            parser.error(f"unknown task {task!r}; there are: {', '.join(TASKS)}")
    console, rows = Console(stderr=True), []
    with TemporaryDirectory(prefix=".benchmark-", dir=".") as temporary:
        for task in arguments.tasks:
            with console.status(task):
                rows.append(full_size(task, arguments.keep or Path(temporary), arguments.workers))
            if arguments.keep is None:
                shutil.rmtree(Path(temporary) / task)
            if arguments.json:
                arguments.json.write_text(json.dumps(rows, indent=2) + "\n", "utf-8")
    show(rows, Console(width=None if Console().is_terminal else 160))


if __name__ == "__main__":
    main()
