"""Measure lmrl-gym beside its peers on one core: ``python -m benchmarks.speed``."""

import argparse
import contextlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from benchmarks.timing import QUIET, Measurement, Work, duration, pin, rate

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from benchmarks.rows import Row

OURS = "lmrl-gym"
PACKAGES = (OURS, "numpy", "pyarrow", "gymnasium", "textarena", "textworld", "gem-llm", "verifiers", "nltk")
# What stands in a cell: the runs, or why there are none.
Cell = Measurement | str
Cells = dict[str, dict[str, Cell]]

NOTES = (
    "Per second of processor time (time by the clock is in the JSON file): median of the runs ± "
    "half their range. Ratio: ours to the best peer.",
    "Everyone plays the same words (the 400 answers of our default config) and the same six different guesses per "
    "episode, drawn blindly beforehand, so nearly all games go the whole way; each in the form that the environment "
    "asks for (`s t a r e`, `[stare]`, `\\boxed{stare}`). Resets with a seed are included, making the environment and "
    "the choice of actions are not.",
    "A step of ours: read the text, colour the guess, return text, reward, flags and info. Of textarena: step and "
    "get_observation of Wordle-v0-raw, its form without wrappers; it has no batched environment, so its single step "
    "stands in both rows. Of gem-llm: step of game:Wordle-v0-hard with max_turns=6; batched: make_vec of 64, which "
    "resets its rows by itself. Ours: make_vec of 4,096.",
    "Maze: random walks of up to 100 moves. textarena has no maze; its nearest game is FrozenLake-v0-raw, here without "
    "holes and walked to and fro for 100 moves. gem-llm has none.",
    "Text-nav: random admissible commands from the bedroom, 15 or to the end; the same house and commands in "
    "textworld, which is asked for its text and the admissible commands, and has no batched environment either.",
    "Both Wordle peers download word lists when they start; here they read the words from a local NLTK folder instead.",
    "verifiers plays its Wordle with textarena's engine (Wordle-v0 with its wrappers) and reaches the model through a "
    "server. Timed is what its TextArenaEnv does between two answers of the model; making the game, which it does in "
    "every episode (a second), is not.",
)


def main() -> None:
    """Run the command line: 0 whatever the figures are, 1 when a row of ours could not be measured."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.speed", description=__doc__)
    parser.add_argument("--runs", type=int, default=7, help="runs of each row (7)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures to a file as well")
    arguments = parser.parse_args()
    if arguments.runs < 1:
        parser.error(f"--runs is {arguments.runs}; give a positive number")
    if arguments.json and not arguments.json.absolute().parent.is_dir():
        parser.error(f"the folder of {arguments.json} does not exist; make it first")
    machine = {**describe_machine(), "core": pin()}
    from rich.console import Console

    from lmrl_data.errors import LmrlError

    try:
        cells = measure_all(arguments.runs, Console(file=sys.stderr))
        # A table that goes into a file or a log must not be squeezed into the 80 columns that stand in for no terminal.
        show(cells, machine, Console(width=None if sys.stdout.isatty() else 160))
        if arguments.json:
            write_json(arguments.json, cells, machine)
    except (LmrlError, OSError) as error:
        parser.error(str(error))
    if any(isinstance(found[OURS], str) for found in cells.values()):
        sys.exit(1)


def describe_machine() -> dict[str, Any]:
    """The facts of the machine and the versions that figures depend on."""
    versions = {}
    for package in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            versions[package] = version(package)
    return {
        "commit": _commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "cpu": _cpu(),
        "cores": os.cpu_count(),
        "system": platform.platform(),
        "load": os.getloadavg()[0],
        "python": platform.python_version(),
        "versions": versions,
    }


def _commit() -> str | None:
    """The commit of the code, with a mark where files differ from it; None outside a repository."""
    command = ["git", "-C", str(Path(__file__).parent), "describe", "--always", "--dirty", "--abbrev=12"]
    with contextlib.suppress(OSError):
        told = subprocess.run(command, capture_output=True, text=True)
        return told.stdout.strip() if told.returncode == 0 else None
    return None


def _cpu() -> str:
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text("utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def measure_all(runs: int, progress: "Console") -> Cells:
    """Every row for us and, after that, for every peer: what the peers load must not slow us down.

    Returns:
        Cells by row key and package.
    """
    from benchmarks import ours, peers
    from benchmarks.rows import ROWS

    cells: Cells = {row.key: {} for row in ROWS}
    with progress.status("") as status, contextlib.ExitStack() as stack:
        # In the working directory, where `lmrl generate` writes too: a temporary folder may be memory.
        folder = Path(stack.enter_context(TemporaryDirectory(prefix=".benchmark-", dir=".")))
        works = ours.prepare(folder)
        for row in ROWS:
            status.update(f"{OURS}: {row.what}")
            cells[row.key][OURS] = _measure(row, works[row.key], runs)
        stack.enter_context(peers.quiet_and_offline())
        for peer in peers.PEERS:
            measured: dict[Callable[[], Work], Cell] = {}
            for row in ROWS:
                if row.key not in peer.works:
                    continue
                status.update(f"{peer.name}: {row.what}")
                prepare = peer.works[row.key]
                # One piece of work may stand in two rows.
                if prepare not in measured:
                    measured[prepare] = _measure(row, prepare, runs) if peer.installed else "not installed"
                cells[row.key][peer.name] = measured[prepare]
    return cells


def _measure(row: "Row", prepare: "Callable[[], Work]", runs: int) -> Cell:
    from benchmarks.rows import SECONDS

    try:
        return (duration if row.unit == SECONDS else rate)(prepare(), runs)
    except Exception as error:  # whatever is wrong with one row belongs in its cell, and must not cost us the others
        reason = next((line.strip() for line in str(error).splitlines() if line.strip("* \t")), "no reason given")
        return f"does not run ({type(error).__name__}: {reason})"


def show(cells: Cells, machine: dict[str, Any], console: "Console") -> None:
    """Print the table and its notes."""
    from rich.markup import escape
    from rich.table import Table

    from benchmarks.peers import PEERS
    from benchmarks.rows import ROWS

    names = [peer.name for peer in PEERS]
    table = Table("what", "unit", *(OURS, *names, "ratio", "target", "met"), title="Speed on one core")
    for column in table.columns[2:]:
        column.justify = "right"
    for row in ROWS:
        found = cells[row.key]
        values = [_text(found.get(name, "–"), row.unit) for name in (OURS, *names)]
        table.add_row(row.what, row.unit, *map(escape, values), *_verdict(row, found))
    console.print(table)
    versions = ", ".join(f"{name} {number}" for name, number in machine["versions"].items())
    core = "not pinned" if machine["core"] is None else f"pinned to core {machine['core']} of {machine['cores']}"
    console.print(f"{machine['date']}, {machine['cpu']}, {core}, Python {machine['python']}, {versions}", markup=False)
    for note in (*NOTES, *_reasons(cells), *_shared(cells)):
        console.print(f"- {note}", markup=False, highlight=False)


def _verdict(row: "Row", found: dict[str, Cell]) -> tuple[str, str, str]:
    """Ratio to the best peer, target, and whether it is met."""
    from benchmarks.rows import SECONDS

    less = row.unit == SECONDS
    ours = _median(found[OURS])
    peers = [median for name in found if name != OURS and (median := _median(found[name])) is not None]
    ratio = "–"
    if ours is not None and peers:
        ratio = f"{min(peers) / ours if less else ours / max(peers):.3g}x"
    if row.target is None:
        return ratio, "–", "–"
    return ratio, f"{'≤' if less else '≥'} {_short(row.target)}", "yes" if row.met(ours) else "no"


def _median(cell: Cell) -> float | None:
    return cell.median if isinstance(cell, Measurement) else None


def _text(cell: Cell, unit: str) -> str:
    return cell.partition(" (")[0] if isinstance(cell, str) else f"{_short(cell.median)} ± {cell.spread:.0%}"


def _short(value: float) -> str:
    for size, letter in ((1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:.3g}{letter}"
    return f"{value:.3g}"


def _reasons(cells: Cells) -> list[str]:
    """Why a row could not be measured; the table has no room for that."""
    return [
        f"{name}, {key}: {cell}"
        for key, found in cells.items()
        for name, cell in found.items()
        if isinstance(cell, str) and "(" in cell
    ]


def _shared(cells: Cells) -> list[str]:
    """A warning where other processes had the core for a part of the time."""
    measured = [cell for found in cells.values() for cell in found.values() if isinstance(cell, Measurement)]
    loud = [cell for cell in measured if not cell.quiet]
    if not loud:
        return []
    least = min(cell.busy for cell in loud)
    return [
        f"The core was shared: for {len(loud)} of {len(measured)} figures we had less than {QUIET:.0%} of it, for one "
        f"{least:.0%}. Processor time leaves the other programs out, but not what they do to the caches: a quiet "
        "machine is faster."
    ]


def write_json(path: Path, cells: Cells, machine: dict[str, Any]) -> None:
    """Write the figures for comparison over time."""
    from benchmarks.rows import ROWS
    from lmrl_data.files import write_bytes

    def plain(cell: Cell) -> dict[str, Any]:
        if isinstance(cell, str):
            return {"missing": cell}
        return {"median": cell.median, **asdict(cell)}

    rows = []
    for row in ROWS:
        found = cells[row.key]
        figures = {name: plain(cell) for name, cell in found.items()}
        rows.append({**vars(row), "met": row.met(_median(found[OURS])), "figures": figures})
    text = json.dumps({"format": 2, "machine": machine, "rows": rows}, indent=2) + "\n"

    write_bytes(path, text.encode())


if __name__ == "__main__":
    main()
