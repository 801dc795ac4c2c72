"""Geometry of the chess board for arrays: steps, neighbours, bitboards and symmetries.

Squares are numbered as in python-chess: 0 is a1, 1 is b1, 63 is h8. A bitboard is a 64-bit number whose bit ``s`` is
set when square ``s`` belongs to the set.
"""

import numpy as np
from numpy.typing import NDArray

Bitboards = NDArray[np.uint64]
Step = tuple[int, int]

ROOK_STEPS: tuple[Step, ...] = ((1, 0), (0, 1), (-1, 0), (0, -1))
QUEEN_STEPS: tuple[Step, ...] = (*ROOK_STEPS, (1, 1), (1, -1), (-1, 1), (-1, -1))

BIT: Bitboards = np.uint64(1) << np.arange(64, dtype=np.uint64)
"""The bitboard of each square alone, shape (64,)."""

_FILE_A, _FILE_H = (np.bitwise_or.reduce(BIT[file::8]) for file in (0, 7))
_ONE, _EIGHT = np.uint64(1), np.uint64(8)


def stepping_stones(step: Step) -> list[tuple[int, int]]:
    """Each square with the one that a step leads to, the far end of every line first; steps off the board left out.

    Args:
        step: ranks up and files to the right.
    """
    up, right = step
    order = range(64) if 8 * up + right < 0 else range(63, -1, -1)
    on_board = [s for s in order if 0 <= s // 8 + up < 8 and 0 <= s % 8 + right < 8]
    return [(s, s + 8 * up + right) for s in on_board]


def around(sets: Bitboards) -> Bitboards:
    """The squares that a king steps onto from any square of each set, which are those from which it steps into it."""
    beside = ((sets << _ONE) & ~_FILE_A) | ((sets >> _ONE) & ~_FILE_H)
    rows = sets | beside
    found: Bitboards = beside | (rows << _EIGHT) | (rows >> _EIGHT)
    return found


def unpack(sets: Bitboards) -> NDArray[np.bool_]:
    """Membership of each square, shape (..., 64), of bitboards of shape (...)."""
    octets = np.ascontiguousarray(sets, "<u8").view(np.uint8).reshape(*sets.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little").view(np.bool_)


def _symmetries() -> NDArray[np.int64]:
    board = np.arange(64).reshape(8, 8)
    boards = [b[::up, ::right] for b in (board, board.T) for up in (1, -1) for right in (1, -1)]
    return np.stack(boards).reshape(8, 64)


SYMMETRIES = _symmetries()
"""Where each of the 8 turns and mirror images of the board puts each square, shape (8, 64); the first leaves all."""

TRIANGLE = np.array([0, 1, 2, 3, 9, 10, 11, 18, 19, 27])
"""The ten squares a1-d1-d4: every square has an image there."""

FOLD = np.argmax(np.isin(SYMMETRIES, TRIANGLE), axis=0)
"""The first symmetry that takes each square into the triangle, shape (64,)."""

ROW = np.searchsorted(TRIANGLE, SYMMETRIES[FOLD, np.arange(64)])
"""The number in the triangle of that image, shape (64,)."""
