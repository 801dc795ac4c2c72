"""Levels of play: what they pick among an engine's lines, and that a game follows from its seed."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import chess
import numpy as np
import pytest
from engines import kill, needs_stockfish, processes_below
from scipy.stats import binomtest, chisquare

from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.stockfish.levels import DEFAULT, LEVELS, STRONGEST, Level, random_move
from lmrl_data.stockfish.pool import EnginePool
from lmrl_data.stockfish.search import Found, Line, Request

START = chess.Board()
SEEDS = range(20_000)


class FixedLines:
    """Stands in for a pool of engines that find the same lines in every position."""

    def __init__(self, *lines: tuple[str, int | None, int | None]) -> None:
        self.lines = tuple(Line(*line) for line in lines)
        self.requests: list[Request] = []

    def search_all(self, requests: Sequence[Request]) -> list[Found]:
        self.requests += requests
        return [Found(self.lines[0].move, self.lines[: request.lines]) for request in requests]


FOUR = FixedLines(("e2e4", 40, None), ("d2d4", 0, None), ("g1f3", -60, None), ("a2a3", -200, None))


def picks(level: Level, pool: Any, seeds: Sequence[int] = SEEDS) -> Counter[str]:
    return Counter(move.uci() for move in level.moves([START] * len(seeds), seeds, pool))


@pytest.mark.parametrize("temperature", [30, 100, 1000])
def test_a_line_is_picked_in_proportion_to_the_exponential_of_its_score(temperature: float) -> None:
    found = picks(Level(1, nodes=10, temperature=temperature, random=0), FOUR)
    chances = np.exp([line.value / temperature for line in FOUR.lines])
    expected = len(SEEDS) * chances / chances.sum()
    seen = expected >= 5
    observed = np.array([found[line.move] for line in FOUR.lines])
    assert abs(observed[~seen].sum() - expected[~seen].sum()) < 10
    counts = observed[seen] * expected[seen].sum() / observed[seen].sum()
    assert chisquare(counts, expected[seen]).pvalue > 0.001


def test_temperature_zero_plays_the_best_line_and_asks_for_no_other() -> None:
    pool = FixedLines(("d2d4", 10, None), ("e2e4", 10, None))
    assert picks(Level(1, nodes=77, temperature=0, random=0), pool, range(50)) == {"d2d4": 50}
    assert {(request.nodes, request.lines) for request in pool.requests} == {(77, 1)}


@pytest.mark.parametrize("value", [(None, 1), (None, 30), (9_000, None)])
def test_a_mate_that_is_seen_is_played(value: tuple[int | None, int | None]) -> None:
    pool = FixedLines(("e2e4", *value), ("d2d4", 900, None), ("a2a3", None, -2))
    assert picks(Level(1, nodes=10, temperature=300, random=0), pool, range(2000)) == {"e2e4": 2000}


def test_moves_that_are_mated_sooner_or_later_are_all_as_bad() -> None:
    pool = FixedLines(("e2e4", None, -9), ("d2d4", None, -1))
    found = picks(Level(1, nodes=10, temperature=300, random=0), pool)
    assert binomtest(found["e2e4"], len(SEEDS), 0.5).pvalue > 0.001


@pytest.mark.parametrize("share", [0.1, 0.6, 1.0])
def test_the_share_of_random_moves(share: float) -> None:
    """Of those any legal move is as likely as the others; the engine is not asked for them."""
    pool = FixedLines(("e2e4", 0, None))
    level = STRONGEST.with_random(share)
    found = picks(level, pool)
    assert binomtest(len(SEEDS) - len(pool.requests), len(SEEDS), share).pvalue > 0.001
    others = [found[move.uci()] for move in START.legal_moves if move.uci() != "e2e4"]
    assert chisquare(others).pvalue > 0.001
    assert binomtest(sum(others), len(SEEDS), share * 19 / 20).pvalue > 0.001


def test_the_choices_of_a_game_differ_from_move_to_move_and_from_seed_to_seed() -> None:
    level = Level(1, nodes=10, temperature=1000, random=0.5)
    boards = [chess.Board(f"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 {n}") for n in range(1, 101)]
    games = [[move.uci() for move in level.moves(boards, [seed] * 100, FOUR)] for seed in (1, 2)]
    assert all(len(set(game)) > 5 for game in games)
    assert sum(one == other for one, other in zip(*games, strict=True)) < 50


def test_random_move_is_a_function_of_the_legal_moves_and_the_number() -> None:
    moves = [random_move(START, number << 40) for number in range(3000)]
    assert moves == [random_move(chess.Board(), number << 40) for number in range(3000)]
    assert set(moves) == set(START.legal_moves)


def test_the_ladder_names_its_levels_from_the_weakest() -> None:
    assert list(LEVELS) == [level.name for level in LEVELS.values()] == [f"level-{n + 1}" for n in range(len(LEVELS))]
    assert len(LEVELS) >= 8 and DEFAULT in LEVELS and list(LEVELS.values())[-1] == STRONGEST


# With Stockfish: the level of these tests uses everything, whatever the ladder's numbers are.

MIXED = Level(99, nodes=150, temperature=150, random=0.2)


def game(pool: EnginePool, seed: int, plies: int = 24) -> list[str]:
    """A game of a level against itself."""
    board = chess.Board()
    while len(board.move_stack) < plies:
        board.push(MIXED.move(board, seed, pool))
    return [move.uci() for move in board.move_stack]


@pytest.fixture(scope="module")
def games() -> dict[int, list[str]]:
    pool = EnginePool(find_stockfish(), size=1)
    played = {seed: game(pool, seed) for seed in range(4)}
    pool.close()
    return played


@needs_stockfish
@pytest.mark.parametrize("size", [1, 3])
def test_games_do_not_depend_on_what_else_the_engines_do(games: dict[int, list[str]], size: int) -> None:
    assert len({str(moves) for moves in games.values()}) == len(games)
    pool = EnginePool(find_stockfish(), size=size)
    boards = {seed: chess.Board() for seed in reversed(games)}
    for ply in range(24):
        # Another order every time, and a search for somebody else in between.
        order = sorted(boards, key=lambda seed, ply=ply: (seed + ply) % 4)
        for seed, move in zip(order, MIXED.moves([boards[seed] for seed in order], order, pool), strict=True):
            boards[seed].push(move)
        pool.search(Request(boards[ply % 4], nodes=300, lines=2))
    assert {seed: [move.uci() for move in board.move_stack] for seed, board in boards.items()} == games
    pool.close()


@needs_stockfish
def test_games_go_on_the_same_after_the_engine_was_killed(games: dict[int, list[str]]) -> None:
    before = processes_below()
    pool = EnginePool(find_stockfish(), size=1)
    board = chess.Board()
    while len(board.move_stack) < 24:
        try:
            board.push(MIXED.move(board, 2, pool))
        except LmrlError as error:  # where the end of the engine has not been noticed yet
            assert "died" in str(error)
            continue
        if len(board.move_stack) in (5, 6, 17):
            kill(processes_below() - before)
    assert [move.uci() for move in board.move_stack] == games[2]
    pool.close()
