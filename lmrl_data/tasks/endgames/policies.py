"""The scripted policies of the endgames: by the exact distances to mate, with random moves in between, or by engine."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import mix, stream_of
from lmrl_data.stockfish.levels import LEVELS, random_move
from lmrl_data.tasks.chess.policies import EnginePolicy, RandomPolicy, board_of
from lmrl_data.tasks.endgames.tablebase import best_moves
from lmrl_data.text import Message

_PLAYER = stream_of("endgames/policy")
_SLIP = stream_of("endgames/policy/slip")
_WHICH = stream_of("endgames/policy/which")


class GreedyPolicy:
    """Plays a move of the shortest mate, but any legal move with some probability."""

    def __init__(self, name: str, random: float) -> None:
        self.name = name
        self.random = random

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._seeds = [mix(seed, _PLAYER) for seed in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """A move per conversation."""
        return [
            self._move(conversation, seed) if conversation else ""
            for conversation, seed in zip(conversations, self._seeds, strict=True)
        ]

    def _move(self, conversation: Sequence[Message], seed: int) -> str:
        board = board_of(self.name, conversation)
        hashed = mix(seed, board.ply())
        if (mix(hashed, _SLIP) >> 11) * 2.0**-53 < self.random:
            return board.san(random_move(board, hashed))
        best = best_moves(board)
        if not best:
            raise LmrlError(f"policy {self.name!r} knows no such endgame as {board.fen()!r}")
        return board.san(best[(mix(hashed, _WHICH) >> 32) * len(best) >> 32])


def _make(name: str, opponent: str = "", notation: str = "", spaced: bool = False, positions: str = "") -> Any:
    if name == "random":
        return RandomPolicy()
    return EnginePolicy(LEVELS[name], name) if name in LEVELS else GreedyPolicy(name, RANDOM_SHARES[name])


RANDOM_SHARES = {"optimal": 0.0, "greedy-20": 0.2, "greedy-40": 0.4, "greedy-60": 0.6, "greedy-80": 0.8}

# What the registry finds.
random, optimal, greedy_20, greedy_40, greedy_60, greedy_80, level_1, level_5, level_10 = (
    partial(_make, name) for name in ("random", *RANDOM_SHARES, "level-1", "level-5", "level-10")
)
