"""Exact distances to mate of the endgames' positions, for boards and for arrays.

The classes are KQ-K, KR-K, KQR-K and KRR-K; White has the pieces. Each is solved when it is first asked for, in under a
second (see `retrograde`). Distances take no account of castling, nor of the fifty-move rule, which comes far later than
the longest mate: 16 moves.
"""

from collections.abc import Sequence
from functools import cache

import chess
import numpy as np
from numpy.typing import NDArray

from lmrl_data.tasks.endgames.retrograde import NO_MATE, Distances, solve
from lmrl_data.tasks.endgames.squares import FOLD, ROW, SYMMETRIES

MATERIALS = {"KQ-K": "Q", "KR-K": "R", "KQR-K": "QR", "KRR-K": "RR"}
"""White's pieces beside the king, by the name of the class."""

_NAMES = {pieces: name for name, pieces in MATERIALS.items()}
# For single boards, as lists: where the symmetry that suits each square of White's king puts the others, and its row.
_IMAGES: list[list[int]] = SYMMETRIES[FOLD].tolist()
_ROWS: list[int] = ROW.tolist()


@cache
def table(material: str) -> Distances:
    """The distances of a class, such as ``"KQR-K"``."""
    return solve(MATERIALS[material])


def white_distances(material: str, squares: NDArray[np.int64]) -> NDArray[np.uint8]:
    """Moves until mate of positions with White to move.

    Args:
        material: their class.
        squares: of White's king, White's pieces in the order of the class's name, and Black's king, shape (N, 3 or 4).

    Returns:
        Shape (N,); `NO_MATE` for squares that make no legal position.
    """
    images = SYMMETRIES[FOLD[squares[:, :1]], squares]
    found: NDArray[np.uint8] = table(material).white[(ROW[squares[:, 0]], *images[:, 1:].T)]
    return found


def read_board(board: chess.Board) -> tuple[str, list[int]] | None:
    """The class of a board and its squares in the order of `white_distances`.

    None for other material, for Black having the pieces, and where White may castle.
    """
    white = board.occupied_co[chess.WHITE]
    queens, rooks = chess.SquareSet(board.queens & white), chess.SquareSet(board.rooks & white)
    name = _NAMES.get("Q" * len(queens) + "R" * len(rooks))
    white_king, black_king = board.king(chess.WHITE), board.king(chess.BLACK)
    if name is None or white_king is None or black_king is None or board.clean_castling_rights():
        return None
    squares = [white_king, *queens, *rooks, black_king]
    return (name, squares) if len(squares) == board.occupied.bit_count() else None


def distance_to_mate(board: chess.Board) -> int | None:
    """White's moves until mate with best play of both sides: "mate in N" with White to move, 0 for mate on the board.

    None where White cannot force mate, and for other boards than `read_board` reads.
    """
    found = read_board(board)
    return _distance(*found, board.turn) if found else None


def distances_after(board: chess.Board) -> dict[chess.Move, int | None]:
    """White's moves until mate after each legal move, as `distance_to_mate` of the board that it leads to.

    Empty for boards that `read_board` does not read.
    """
    found = read_board(board)
    if found is None:
        return {}
    material, squares = found
    after: dict[chess.Move, int | None] = {}
    for move in board.legal_moves:
        # A piece of White on the square that Black's king steps onto is captured; White can capture nothing.
        captured = squares.index(move.to_square) if move.to_square in squares else None
        moved = [move.to_square if square == move.from_square else square for square in squares]
        name: str | None = material
        if captured is not None:
            del moved[captured]
            pieces = MATERIALS[material]
            name = _NAMES.get(pieces[: captured - 1] + pieces[captured:])
        after[move] = _distance(name, moved, not board.turn) if name else None
    return after


def best_moves(board: chess.Board) -> list[chess.Move]:
    """The moves of perfect play, in the order of their UCI texts.

    For White all that keep the shortest mate, for Black all that put mate off longest, or for ever if any does. Empty
    for boards that `read_board` does not read.
    """
    worth = {move: NO_MATE if moves is None else moves for move, moves in distances_after(board).items()}
    best = (min if board.turn == chess.WHITE else max)(worth.values(), default=NO_MATE)
    return sorted((move for move, moves in worth.items() if moves == best), key=chess.Move.uci)


def _distance(material: str, squares: Sequence[int], turn: chess.Color) -> int | None:
    white_king, *others = squares
    image = _IMAGES[white_king]
    distances = table(material).white if turn == chess.WHITE else table(material).black
    moves = distances.item(_ROWS[white_king], *[image[square] for square in others])
    return None if moves == NO_MATE else moves
