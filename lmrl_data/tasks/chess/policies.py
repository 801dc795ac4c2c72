"""The scripted policies of chess: a move is a pure function of the position and the episode's seed."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import chess

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import mix, stream_of
from lmrl_data.stockfish.levels import LEVELS, STRONGEST, Level, random_move
from lmrl_data.stockfish.pool import shared_pool
from lmrl_data.text import Message

_PLAYER = stream_of("chess/policy")


def board_of(policy: str, conversation: Sequence[Message]) -> chess.Board:
    """The position that the environment showed last.

    Raises:
        LmrlError: its last message is no FEN.
    """
    text = conversation[-1]["content"]
    try:
        return chess.Board(text if text[1:2] != " " else text[::2])
    except ValueError:
        raise LmrlError(f"policy {policy!r} cannot read the observation {text[:80]!r}; it plays chess") from None


class RandomPolicy:
    """Any legal move."""

    name = "random"

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = [mix(seed, _PLAYER) for seed in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """A move per conversation."""
        return [
            self._move(board_of(self.name, conversation), seed) if conversation else ""
            for conversation, seed in zip(conversations, self._seeds, strict=True)
        ]

    def _move(self, board: chess.Board, seed: int) -> str:
        return board.san(random_move(board, mix(seed, board.ply())))


class EnginePolicy:
    """Stockfish at a level of strength (see `lmrl_data.stockfish.levels`)."""

    def __init__(self, level: Level, name: str) -> None:
        self.level = level
        self.name = name
        self._pool = shared_pool()

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = [mix(seed, _PLAYER) for seed in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """A move per conversation; the searches run side by side."""
        replies = [""] * len(conversations)
        rows = [row for row, conversation in enumerate(conversations) if conversation]
        boards = [board_of(self.name, conversations[row]) for row in rows]
        moves = self.level.moves(boards, [self._seeds[row] for row in rows], self._pool)
        for row, board, move in zip(rows, boards, moves, strict=True):
            replies[row] = board.san(move)
        return replies


def _make(name: str, opponent: str = "", notation: str = "", spaced: bool = False) -> Any:
    return RandomPolicy() if name == "random" else EnginePolicy(PLAYERS[name], name)


# Levels, and the strongest one with a share of random moves: strong plans with holes in them, as people's are.
PLAYERS = {
    **LEVELS,
    **{f"blunder-{percent}": STRONGEST.with_random(percent / 100) for percent in (10, 20, 40)},
}


# One per name of `PLAYERS`, and the random one: what the registry finds.
(
    random,
    level_1,
    level_2,
    level_3,
    level_4,
    level_5,
    level_6,
    level_7,
    level_8,
    level_9,
    level_10,
    blunder_10,
    blunder_20,
    blunder_40,
) = (partial(_make, name) for name in ("random", *PLAYERS))
