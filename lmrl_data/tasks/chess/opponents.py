"""Who plays Black."""

from typing import Protocol

import chess

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import mix
from lmrl_data.stockfish.levels import LEVELS, Level, random_move
from lmrl_data.stockfish.pool import EnginePool, shared_pool
from lmrl_data.stockfish.search import Request


class Opponent(Protocol):
    """Answers the agent's moves."""

    concurrency: int
    """How many episodes can usefully be answered at once."""
    reproducible: bool
    """Whether it plays the same game again."""

    @property
    def build(self) -> str:
        """What its moves depend on besides the game and the seed: the engine's build; empty where there is none."""
        ...

    def reply(self, board: chess.Board, seed: int) -> chess.Move:
        """Black's move."""
        ...

    def close(self) -> None:
        """Let go of the engines: their processes end when the last who holds them has let go."""
        ...


class RandomOpponent:
    """Plays any legal move, and needs no engine."""

    concurrency = 1
    reproducible = True
    build = ""

    def reply(self, board: chess.Board, seed: int) -> chess.Move:
        """Black's move: a pure function of the seed and the number of moves played."""
        return random_move(board, mix(seed, board.ply()))

    def close(self) -> None:
        """There is nothing to let go of."""


class EngineOpponent:
    """What the opponents with an engine share."""

    reproducible = True

    def __init__(self, pool: EnginePool) -> None:
        self._pool: EnginePool | None = pool
        self.concurrency = pool.size

    @property
    def pool(self) -> EnginePool:
        """The engines."""
        if self._pool is None:
            raise LmrlError("the environment has been closed; make another")
        return self._pool

    @property
    def build(self) -> str:
        """The engine's build."""
        return self.pool.build

    def close(self) -> None:
        """Let go of the engines."""
        self._pool = None


class LevelOpponent(EngineOpponent):
    """A level of the ladder: the same seed and engine build give the same game."""

    def __init__(self, level: Level, pool: EnginePool) -> None:
        super().__init__(pool)
        self.level = level

    def reply(self, board: chess.Board, seed: int) -> chess.Move:
        """Black's move: a pure function of the game so far, the seed and the engine's build."""
        return self.level.move(board, seed, self.pool)


class PaperOpponent(EngineOpponent):
    """The opponent that the paper's code gets: Stockfish limited to its weakest, 100 ms a move. Not reproducible.

    It asks for Elo 1200, which no Stockfish has; those of its time drop the value in silence and play their floor.
    """

    ELO = 1350
    MILLISECONDS = 100
    HASH_MIB = 16

    reproducible = False

    @property
    def build(self) -> str:
        """The engine's build, with a warning: the same build plays another game every time."""
        return f"{self.pool.build}, not reproducible"

    def reply(self, board: chess.Board, seed: int) -> chess.Move:
        """Black's move; depends on the clock, the machine and the engine's own randomness."""
        limits = {"UCI_LimitStrength": "true", "UCI_Elo": str(self.ELO), "Hash": str(self.HASH_MIB)}
        # The hash table is carried from move to move, as the paper's is.
        request = Request(board, milliseconds=self.MILLISECONDS, options=tuple(limits.items()), fresh=board.ply() < 2)
        return chess.Move.from_uci(self.pool.search(request).move)


def make_opponent(name: str) -> Opponent:
    """An opponent by name.

    Raises:
        LmrlError: no such opponent, or it needs Stockfish and there is none.
    """
    if name == "random":
        return RandomOpponent()
    if name == "paper":
        return PaperOpponent(shared_pool())
    if name in LEVELS:
        return LevelOpponent(LEVELS[name], shared_pool())
    known = ", ".join([*LEVELS, "paper", "random"])
    raise LmrlError(f"unknown opponent {name!r}; it is one of: {known}")
