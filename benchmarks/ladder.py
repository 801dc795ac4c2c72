"""Measure how strong the levels of chess are: ``python -m benchmarks.ladder``.

Neighbours on the ladder play each other, and the default level plays the paper's opponent. All results together give
one rating each (Bradley and Terry, 1952; a draw is half a win), relative to the paper's opponent, with 95 % bootstrap
intervals over pairs of games. A pair is one opening of random moves played with both colours. Finished pairs are kept
in ladder.jsonl beside this file: the command goes on where it stopped, and prints the table again if nothing is left to
do.
"""

import argparse
import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import chess
import numpy as np
from rich.progress import track

from lmrl_data.cores import available_cores
from lmrl_data.seeding import mix, stream_of
from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.stockfish.levels import DEFAULT, LEVELS, random_move
from lmrl_data.stockfish.pool import EnginePool
from lmrl_data.tasks.chess.opponents import LevelOpponent, Opponent, PaperOpponent
from lmrl_data.tasks.chess.rules import ending

FILE = Path(__file__).parent / "ladder.jsonl"
PAPER = "paper"
OPENING = (
    4  # random moves before the players take over: without them, levels without chance play one game over and over
)
LONGEST = 400  # moves; then a draw
RESAMPLES = 1000
_OPENING = stream_of("benchmarks/ladder/opening")


def pairings(against_paper: int, neighbours: int) -> Iterator[tuple[str, str, int]]:
    """Who plays whom, and how many pairs of games."""
    names = list(LEVELS)
    yield DEFAULT, PAPER, against_paper
    for number, name in enumerate(names):
        for other in names[number + 1 : number + 3]:
            yield name, other, neighbours


def player(name: str, pool: EnginePool) -> Opponent:
    return PaperOpponent(pool) if name == PAPER else LevelOpponent(LEVELS[name], pool)


def play_pair(names: tuple[str, str], seed: int, pools: "SimpleQueue[tuple[EnginePool, EnginePool]]") -> dict[str, Any]:
    """Both games of a pair: the score of the first player in each."""
    engines = pools.get()  # an engine for each: the paper's opponent keeps its hash table between moves
    try:
        first, second = (player(name, pool) for name, pool in zip(names, engines, strict=True))
        scores = [play(first, second, seed), 1 - play(second, first, seed)]
    finally:
        pools.put(engines)
    return {"players": names, "seed": seed, "scores": scores, "engine": engines[0].build}


def play(white: Opponent, black: Opponent, seed: int) -> float:
    """A game: White's score."""
    board = chess.Board()
    for turn in range(OPENING):
        board.push(random_move(board, mix(mix(seed, _OPENING), turn)))
    while True:
        ended = ending(board)
        if ended or board.fullmove_number > LONGEST:
            return {"1-0": 1.0, "0-1": 0.0}.get(ended.result if ended else "", 0.5)
        mover = white if board.turn == chess.WHITE else black
        board.push(mover.reply(board, mix(seed, board.turn)))


def ratings(games: list[dict[str, Any]]) -> dict[str, tuple[float, float, float]]:
    """Elo of each player relative to the paper's opponent, with the ends of its interval."""
    names = sorted({name for game in games for name in game["players"]})
    number = {name: index for index, name in enumerate(names)}
    sides = np.array([[number[name] for name in game["players"]] for game in games])
    scores = np.array([np.mean(game["scores"]) for game in games])
    groups: dict[tuple[int, int], list[int]] = {}
    for row, pair in enumerate(sides.tolist()):
        groups.setdefault((pair[0], pair[1]), []).append(row)
    bits = np.random.Generator(np.random.PCG64(0))
    drawn = [fit(sides, scores, len(names))]
    for _ in range(RESAMPLES):
        rows = np.concatenate([bits.choice(rows, len(rows)) for rows in groups.values()])
        drawn.append(fit(sides[rows], scores[rows], len(names)))
    elo = np.array(drawn) * 400 / np.log(10)
    elo -= elo[:, [number[PAPER]]]
    low, high = np.quantile(elo[1:], [0.025, 0.975], axis=0)
    return {name: (elo[0, index], low[index], high[index]) for name, index in number.items()}


def fit(sides: np.ndarray, scores: np.ndarray, players: int) -> np.ndarray:
    """The strengths under which the scores are most likely, by Newton's method; they add up to 0."""
    # Half a win and half a loss between the two: a player who lost everything has a rating all the same.
    strengths = np.zeros(players)
    games = np.zeros((players, players))
    wins = np.zeros((players, players))
    np.add.at(games, (sides[:, 0], sides[:, 1]), 1)
    np.add.at(wins, (sides[:, 0], sides[:, 1]), scores)
    played = games > 0
    games[played] += 0.5
    wins[played] += 0.25
    for _ in range(50):
        expected = 1 / (1 + np.exp(strengths[None, :] - strengths[:, None]))
        surplus = np.where(played, wins - games * expected, 0)
        gradient = surplus.sum(axis=1) - surplus.sum(axis=0)
        weights = np.where(played, games * expected * (1 - expected), 0)
        weights = weights + weights.T
        curvature = np.diag(weights.sum(axis=1)) - weights + np.ones((players, players)) * 1e-3
        step = np.linalg.solve(curvature, gradient)
        strengths = strengths + np.clip(step, -1, 1)
        if np.abs(step).max() < 1e-9:
            break
    return strengths - strengths.mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--neighbours", type=int, default=60, help="pairs of games between neighbours")
    parser.add_argument("--workers", type=int, default=available_cores(), help="pairs played at a time")
    parser.add_argument("--paper", type=int, default=80, help="pairs of games with the paper's opponent")
    arguments = parser.parse_args()
    played = [json.loads(line) for line in FILE.read_text().splitlines()] if FILE.exists() else []
    done = {(*game["players"], game["seed"]) for game in played}
    todo = [
        ((first, second), seed)
        for first, second, pairs in pairings(arguments.paper, arguments.neighbours)
        for seed in range(pairs)
        if (first, second, seed) not in done
    ]
    workers = arguments.workers
    pools: SimpleQueue[tuple[EnginePool, EnginePool]] = SimpleQueue()
    for _ in range(workers):
        pools.put((EnginePool(find_stockfish(), 1), EnginePool(find_stockfish(), 1)))
    with ThreadPoolExecutor(workers) as threads, FILE.open("a") as file:
        outcomes = threads.map(lambda job: play_pair(*job, pools), todo)
        for outcome in track(outcomes, "pairs of games", total=len(todo), disable=not todo):
            played.append(outcome)
            file.write(json.dumps(outcome) + "\n")
            file.flush()
    for name, (elo, low, high) in sorted(ratings(played).items(), key=lambda item: item[1][0]):
        games = sum(2 for game in played if name in game["players"])
        print(f"{name:9} {elo:6.0f} [{low:.0f}, {high:.0f}]  {games} games")


if __name__ == "__main__":
    main()
