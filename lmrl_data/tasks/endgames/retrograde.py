"""Retrograde analysis: exact distances to mate of king and pieces against a bare king, without tablebase files.

All positions of a class are worked on at once. A set of positions is an array of bitboards: an axis for the square of
White's king, one for each of White's pieces, and the bits are the squares of Black's king. Round after round, the
positions in which Black is mated within n moves give those in which White mates within n + 1, until nothing is new.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.tasks.endgames.squares import (
    BIT,
    QUEEN_STEPS,
    ROOK_STEPS,
    TRIANGLE,
    Bitboards,
    Step,
    around,
    stepping_stones,
    unpack,
)

NO_MATE = 255
"""The distance of a position that is not won for White, or that cannot be."""

_STEPS = {"Q": QUEEN_STEPS, "R": ROOK_STEPS}


class Distances(NamedTuple):
    """Moves of White until mate, uint8, or `NO_MATE`.

    Both arrays are indexed by White's king as its number in `squares.TRIANGLE`, by White's pieces in the order of the
    class's name, and by Black's king: shape (10, 64, 64) or (10, 64, 64, 64).

    Attributes:
        white: with White to move.
        black: with Black to move; 0 is mate.
    """

    white: NDArray[np.uint8]
    black: NDArray[np.uint8]


def solve(pieces: str) -> Distances:
    """The distances of a class of positions.

    Args:
        pieces: White's pieces beside the king, such as ``"QR"``.
    """
    analysis = _Analysis(pieces)
    shape = (len(TRIANGLE), *[64] * len(pieces), 64)
    distances = Distances(np.full(shape, NO_MATE, np.uint8), np.full(shape, NO_MATE, np.uint8))
    moves, unfinished = 0, True
    while unfinished:
        lost, won = analysis.lost, analysis.won
        unfinished = analysis.advance()
        distances.black[unpack((analysis.lost & ~lost)[TRIANGLE])] = moves
        distances.white[unpack((analysis.won & ~won)[TRIANGLE])] = moves + 1
        moves += 1
    return distances


class _Analysis:
    """The analysis of a class after some rounds.

    Attributes:
        legal: positions that can be with White to move: Black is not in check.
        won: White to move mates within as many moves as there were rounds.
        lost: Black to move is mated within one move less, whatever it plays.
    """

    def __init__(self, pieces: str) -> None:
        self._pieces = pieces
        # What is left when Black has captured a piece, round by round beside this class; bare kings are never won.
        self._smaller = [_Analysis(pieces[:i] + pieces[i + 1 :]) for i in range(len(pieces))]
        self._placed = _placed(len(pieces))
        in_check = np.zeros_like(self._placed)
        for i, piece in enumerate(pieces, 1):
            on_king = np.broadcast_to(_along(BIT, i, self._placed.ndim), self._placed.shape)
            in_check |= _slides(on_king, self._placed, i, _STEPS[piece])
        self.legal = self._placed & ~in_check
        self.won = np.zeros_like(self._placed)
        self.lost = np.zeros_like(self._placed)
        self._stalemate = self.legal & ~around(self._escapes())

    def advance(self) -> bool:
        """Add the positions that are one move farther from mate.

        Returns:
            Whether there were any, here or in the classes that Black's captures lead to.
        """
        self.lost = self._placed & ~self._stalemate & ~around(self._escapes())
        before, self.won = self.won, self.legal & self._reaching(self.lost)
        # Not any() of a generator: every class must move on.
        unfinished = [analysis.advance() for analysis in self._smaller]
        return any(unfinished) or not np.array_equal(before, self.won)

    def _escapes(self) -> Bitboards:
        """Where Black's king may step without being mated within the rounds so far."""
        escapes = self.legal & ~self.won
        for i, smaller in enumerate(self._smaller, 1):
            captured = _along(BIT, i, self._placed.ndim)
            escapes |= np.expand_dims(smaller.legal & ~smaller.won, i) & captured
        return escapes

    def _reaching(self, target: Bitboards) -> Bitboards:
        """The positions with White to move from which a move leads into a set of positions."""
        reaching = np.zeros_like(target)
        for step in QUEEN_STEPS:
            for square, following in stepping_stones(step):
                reaching[square] |= target[following]
        for i, piece in enumerate(self._pieces, 1):
            reaching |= _slides(target, self._placed, i, _STEPS[piece])
        return reaching


def _along(values: Bitboards, axis: int, ndim: int) -> Bitboards:
    """Values of the squares on one axis, to be broadcast along the others."""
    return values.reshape([64 if i == axis else 1 for i in range(ndim)])


def _placed(pieces: int) -> Bitboards:
    """Positions in which every piece has a square of its own and the kings do not touch."""
    ndim = pieces + 1
    placed = np.full([64] * ndim, ~np.uint64(0))
    for i in range(ndim):
        placed &= _along(~BIT, i, ndim)
        for j in range(i):
            placed = np.where(_along(BIT, i, ndim) == _along(BIT, j, ndim), np.uint64(0), placed)
    return placed & ~_along(around(BIT), 0, ndim)


def _slides(target: Bitboards, free: Bitboards, axis: int, steps: tuple[Step, ...]) -> Bitboards:
    """The positions from which a queen or rook slides into a set of positions.

    Args:
        target: the set.
        free: positions in which the piece's square is empty of others; it may pass and stop.
        axis: that of the piece.
        steps: the directions in which it slides.
    """
    target, free = np.moveaxis(target, axis, 0), np.moveaxis(free, axis, 0)
    reaching = np.zeros_like(free)
    for step in steps:
        line = np.zeros_like(free)
        for square, following in stepping_stones(step):
            line[square] = target[following] | (free[following] & line[following])
        reaching |= line
    return np.moveaxis(reaching, 0, axis)
