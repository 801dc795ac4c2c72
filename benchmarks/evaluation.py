"""Measure what an evaluation costs besides playing: ``python -m benchmarks.evaluation``.

The harness is everything that is neither the policy nor the simulator: conversations, the table of episodes, keeping
each batch on the disk, metrics with their intervals, and the two files of the result. Scripted policies of array games
play a turn in a microsecond or a few, so there it is most of the time, of which there is little; for policies that
think and partners that answer it is next to nothing. The smallest model that can be trained here stands for all models.
"""

import contextlib
import time
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

from rich.console import Console
from rich.table import Table

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_game
from lmrl_evaluation.evaluate import prepare

RUNS = 3
# Episodes of each row: enough for a second or so.
ROWS = (
    ("wordle", "optimal", 4000),
    ("maze", "optimal", 800),
    ("text-nav", "optimal", 800),
    ("twenty-questions", "person", 790),
    ("guess-my-city", "person", 400),
    ("car-dealer", "mixture", 300),
    ("endgames", "greedy-40", 129),
    ("chess", "level-5", 16),
)


def save_tiny_model(folder: Path) -> None:
    """An untrained model of 100,000 weights that reads the maze: its replies are as long as replies can be."""
    from lmrl_loaders.tiny import tiny_model
    from lmrl_loaders.tokenizer import build_tokenizer

    game = make_game("maze")
    assert game is not None
    tokenizer = build_tokenizer(dict.fromkeys([*game.observation_texts, *game.action_texts], 1))
    tiny_model(tokenizer, context=128, seed=0).save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def measure(task: str, policy: str, episodes: int) -> tuple[int, float, float]:
    """Turns, seconds in policy and simulator, and all other seconds of a whole evaluation."""
    prepared = prepare(task, policy, episodes=episodes)
    with TemporaryDirectory(prefix="lmrl-benchmark-") as folder:
        started = time.perf_counter()
        run = prepared.play(Path(folder)).run
        seconds = time.perf_counter() - started
    assert run is not None
    played = run.policy_seconds + run.simulator_seconds
    return run.turns, played, seconds - played


def main() -> None:
    """Run the command line."""
    table = Table("task", "policy", "turns", "played, µs a turn", "harness, µs a turn", "harness / played")
    for column in table.columns[2:]:
        column.justify = "right"
    with TemporaryDirectory(prefix="lmrl-benchmark-") as folder:
        rows = list(ROWS)
        if find_spec("torch"):
            save_tiny_model(Path(folder))
            rows.append(("maze", f"hf:{folder}", 40))
        for task, policy, episodes in rows:
            with contextlib.suppress(LmrlError):  # no Stockfish
                measured = [measure(task, policy, episodes) for _ in range(RUNS)]
                # The run that the rest of the machine disturbed least.
                turns, played, harness = min(measured, key=lambda run: run[2])
                name = "tiny model" if policy.startswith("hf:") else policy
                each = 1e6 / turns
                cells = [f"{turns:,}", f"{played * each:,.1f}", f"{harness * each:,.1f}", f"{harness / played:.1%}"]
                table.add_row(task, name, *cells)
    console = Console()
    console.width = console.width if console.is_terminal else 120
    console.print(table)


if __name__ == "__main__":
    main()
