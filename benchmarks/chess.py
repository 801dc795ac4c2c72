"""Measure chess against its opponents: ``python -m benchmarks.chess``.

The same random moves are played against each opponent, one environment, one episode after another. *In the engine* is
the time between sending a request to Stockfish's process and its answer; everything else is ours: reading the move,
rules, FEN, choosing among the lines, the way to the process's thread and back.
"""

import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager

import chess
from rich.console import Console
from rich.table import Table

from lmrl_data import make
from lmrl_data.seeding import mix
from lmrl_data.stockfish.levels import DEFAULT, LEVELS, random_move
from lmrl_data.stockfish.search import Search

RUNS = 5
STEPS = 300
PAPER_STEPS = 30


@contextmanager
def engine_clock() -> Iterator[list[float]]:
    """Adds up the seconds that searches take, seen from the connection to the engine."""
    spent = [0.0]
    start, line_received = Search.start, Search.line_received

    def timed_start(search: Search) -> None:
        search.began = time.perf_counter()  # type: ignore[attr-defined]
        start(search)

    def timed_line(search: Search, line: str) -> None:
        if line.startswith("bestmove"):
            spent[0] += time.perf_counter() - search.began  # type: ignore[attr-defined]
        line_received(search, line)

    Search.start, Search.line_received = timed_start, timed_line  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Search.start, Search.line_received = start, line_received  # type: ignore[method-assign]


def play(opponent: str, steps: int) -> tuple[float, float]:
    """Steps per second, and the share of the time that is spent outside the engine."""
    env = make("chess", opponent=opponent)
    env.reset(seed=0)
    env.step("e4")  # the engine's process is started by the first search
    with engine_clock() as spent:
        seed, ended, seconds = 0, True, 0.0
        for _ in range(steps):
            if ended:
                seed += 1
                fen, _ = env.reset(seed=seed)
            board = chess.Board(fen)
            action = board.san(random_move(board, mix(seed, board.ply())))
            started = time.perf_counter()
            fen, _, terminated, truncated, _ = env.step(action)
            seconds += time.perf_counter() - started
            ended = terminated or truncated
        env.close()
        return steps / seconds, 1 - spent[0] / seconds


def main() -> None:
    """Print the table."""
    table = Table("opponent", "steps/s", "ms a step", "outside the engine", title=f"chess, median of {RUNS} runs")
    for name in [*LEVELS, "random", "paper"]:
        runs = [play(name, PAPER_STEPS if name == "paper" else STEPS) for _ in range(1 if name == "paper" else RUNS)]
        rate, outside = (statistics.median(column) for column in zip(*runs, strict=True))
        label = f"{name} (default)" if name == DEFAULT else name
        table.add_row(label, f"{rate:,.0f}", f"{1000 / rate:.2f}", "" if name == "random" else f"{outside:.0%}")
    Console().print(table)


if __name__ == "__main__":
    main()
