"""Levels of play from beginner to engine: full-strength searches of few nodes, and a pick among their lines by hash.

Stockfish's own limit of strength draws from a generator seeded by the clock, and a limit of time depends on the
machine. A level searches a fixed number of nodes from an empty hash table and picks among the best lines with a hash of
the episode's seed: the same seed and engine build give the same move, whoever else uses the engine.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import chess

from lmrl_data.seeding import mix, stream_of
from lmrl_data.stockfish.pool import EnginePool
from lmrl_data.stockfish.search import Line, Request

LINES = 4

_ANY = stream_of("stockfish/any")
_WHICH = stream_of("stockfish/which")
# A mate seen is worth as much as this: no temperature overlooks it.
_MOST = 10_000


@dataclass(frozen=True)
class Level:
    """How strong a player is.

    Attributes:
        number: in the ladder, from 1.
        nodes: searched per move.
        temperature: of the pick among the `LINES` best, in centipawns: each line's chance is proportional to
            exp(score / temperature). 0 takes the best.
        random: share of moves that are any legal one.
    """

    number: int
    nodes: int
    temperature: float
    random: float

    @property
    def name(self) -> str:
        """As policies and opponents are called."""
        return f"level-{self.number}"

    def move(self, board: chess.Board, seed: int, pool: EnginePool) -> chess.Move:
        """The move to play; a pure function of the game so far, the seed and the engine's build.

        Raises:
            LmrlError: the engine failed.
        """
        (move,) = self.moves([board], [seed], pool)
        return move

    def moves(self, boards: Sequence[chess.Board], seeds: Sequence[int], pool: EnginePool) -> list[chess.Move]:
        """`move` for each board with its seed; the searches run side by side."""
        hashes = [mix(seed, board.ply()) for board, seed in zip(boards, seeds, strict=True)]
        thinks = [_uniform(mix(hashed, _ANY)) >= self.random for hashed in hashes]
        found = iter(
            pool.search_all([self._request(board) for board, think in zip(boards, thinks, strict=True) if think])
        )
        return [
            chess.Move.from_uci(self._pick(next(found).lines, hashed).move) if think else random_move(board, hashed)
            for board, hashed, think in zip(boards, hashes, thinks, strict=True)
        ]

    def with_random(self, share: float) -> "Level":
        """The same with another share of random moves."""
        return replace(self, random=share)

    def _request(self, board: chess.Board) -> Request:
        return Request(board, nodes=self.nodes, lines=LINES if self.temperature else 1)

    def _pick(self, lines: Sequence[Line], hashed: int) -> Line:
        """The line to play."""
        if not self.temperature:
            return lines[0]
        values = [max(-_MOST, min(_MOST, line.value)) for line in lines]
        weights = [math.exp((value - max(values)) / self.temperature) for value in values]
        left = _uniform(mix(hashed, _WHICH)) * sum(weights)
        for line, weight in zip(lines, weights, strict=True):
            left -= weight
            if left < 0:
                return line
        return lines[-1]


def random_move(board: chess.Board, hashed: int) -> chess.Move:
    """Any legal move, each as likely as the others."""
    moves = sorted(board.legal_moves, key=chess.Move.uci)
    return moves[(mix(hashed, _WHICH) >> 32) * len(moves) >> 32]


def _uniform(hashed: int) -> float:
    return (hashed >> 11) * 2.0**-53


LEVELS = {
    level.name: level
    for level in [
        Level(1, nodes=500, temperature=300, random=0.3),
        Level(2, nodes=500, temperature=300, random=0.1),
        Level(3, nodes=500, temperature=300, random=0),
        Level(4, nodes=500, temperature=150, random=0),
        Level(5, nodes=2000, temperature=145, random=0),
        Level(6, nodes=2000, temperature=95, random=0),
        Level(7, nodes=2000, temperature=65, random=0),
        Level(8, nodes=2000, temperature=40, random=0),
        Level(9, nodes=2000, temperature=15, random=0),
        Level(10, nodes=5000, temperature=0, random=0),
    ]
}
"""The ladder by name, from the weakest."""

DEFAULT = "level-5"
STRONGEST = LEVELS["level-10"]
