"""Start positions of the endgames: drawn from seeds for training, and a fixed list for testing that those never touch.

All are legal positions of the four classes with White to move. Each of these is won (the tests count them), and nobody
is in check: Black cannot be when White is to move, and a bare king gives none.
"""

import csv
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import chess
import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import below, mix_array, stream_of, turn_hashes
from lmrl_data.tasks.chess.rules import LONGEST_GAME
from lmrl_data.tasks.endgames.retrograde import NO_MATE
from lmrl_data.tasks.endgames.squares import SYMMETRIES
from lmrl_data.tasks.endgames.tablebase import MATERIALS, distance_to_mate, read_board, white_distances

Squares = NDArray[np.int64]

TEST_FILE = Path(__file__).parent / "test_positions.csv"

_MATERIAL = stream_of("endgames/material")
_SQUARES = stream_of("endgames/squares")


class StartPosition(NamedTuple):
    """A position to begin at.

    Attributes:
        fen: White to move.
        material: its class, such as ``"KQR-K"``.
        distance: White's moves until mate with best play.
    """

    fen: str
    material: str
    distance: int


@cache
def test_positions() -> tuple[StartPosition, ...]:
    """The 645 test positions, the classes taking turns; `build_positions` says how they were drawn."""
    with TEST_FILE.open(encoding="ascii", newline="") as file:
        return tuple(StartPosition(row["fen"], row["material"], int(row["distance"])) for row in csv.DictReader(file))


def train_positions(seeds: NDArray[Any]) -> NDArray[np.object_]:
    """The position of each seed, as a FEN.

    Each class is as likely as the others, and so is each position of a class, but for the test positions and their
    mirror images, which never come.

    Args:
        seeds: shape (N,).

    Returns:
        Shape (N,).
    """
    chosen = below(mix_array(seeds, _MATERIAL), len(MATERIALS))
    fens = np.empty(len(seeds), object)
    for number, material in enumerate(MATERIALS):
        rows = np.flatnonzero(chosen == number)
        fens[rows] = fens_of(material, draw(material, seeds[rows], _SQUARES, _held_out(material)))
    return fens


def is_held_out(board: chess.Board) -> bool:
    """Whether a board with White to move is a test position, or the mirror image of one."""
    found = read_board(board)
    if found is None or board.turn == chess.BLACK:
        return False
    material, squares = found
    return bool(np.isin(canonical(material, np.array([squares])), _held_out(material))[0])


def check_fen(fen: object) -> chess.Board:
    """The board of a FEN at which an episode can begin.

    Raises:
        LmrlError: it is no legal position of the four classes with White to move, or has no time for its mate.
    """
    if not isinstance(fen, str):
        raise _refusal(fen, "it is no text")
    try:
        board = chess.Board(fen)
    except ValueError:
        raise _refusal(fen, "it cannot be read as a FEN") from None
    if board.castling_rights:
        raise _refusal(fen, "it has castling rights")
    if read_board(board) is None:
        raise _refusal(fen, "its pieces are others")
    if board.turn == chess.BLACK:
        raise _refusal(fen, "it is Black's turn")
    distance = distance_to_mate(board)
    if distance is None or not board.is_valid() or board.fullmove_number > LONGEST_GAME:
        raise _refusal(fen, "it is not legal")
    # A draw can be claimed with the move that will be the hundredth half-move; White's mating move is number 2 N - 1.
    if board.halfmove_clock + 2 * distance > 100:
        raise _refusal(fen, f"the fifty-move rule comes before its mate in {distance}")
    return board


def _refusal(fen: object, reason: str) -> LmrlError:
    shown = repr(fen)
    shown = shown if len(shown) <= 90 else f"{shown[:90]}…"
    return LmrlError(
        f"{shown} cannot be the start: {reason}; it must be a legal position of {', '.join(MATERIALS)} (White has the "
        f"pieces) with White to move, such as {test_positions()[0].fen!r}"
    )


def draw(material: str, seeds: NDArray[Any], stream: int, excluded: NDArray[np.int64]) -> Squares:
    """A position of a class for each seed, any as likely as the others.

    Args:
        material: the class.
        seeds: shape (N,).
        stream: of the draw.
        excluded: positions that must not come, nor their mirror images: numbers from `canonical`.

    Returns:
        Squares in the order of `tablebase.white_distances`, shape (N, 3 or 4).
    """
    shifts = np.arange(0, 6 * (len(MATERIALS[material]) + 2), 6, dtype=np.uint64)
    squares = np.empty((len(seeds), len(shifts)), np.int64)
    left, attempt = np.arange(len(seeds)), 0
    while len(left):
        hashes = turn_hashes(seeds[left], attempt, stream)
        tried = ((hashes[:, None] >> shifts) & np.uint64(63)).astype(np.int64)
        good = (white_distances(material, tried) != NO_MATE) & ~np.isin(canonical(material, tried), excluded)
        squares[left[good]] = tried[good]
        left, attempt = left[~good], attempt + 1
    return squares


def canonical(material: str, squares: Squares) -> NDArray[np.int64]:
    """A number for each position, shape (N,): the same for its mirror images and turns, and no other's of the class."""
    images = SYMMETRIES[:, squares]
    if material == "KRR-K":
        images = np.concatenate([images, images[..., [0, 2, 1, 3]]])
    numbers: NDArray[np.int64] = (images @ 64 ** np.arange(squares.shape[1])).min(axis=0)
    return numbers


@cache
def _held_out(material: str) -> NDArray[np.int64]:
    boards = (read_board(chess.Board(start.fen)) for start in test_positions() if start.material == material)
    return canonical(material, np.array([board[1] for board in boards if board]))


def fens_of(material: str, squares: Squares) -> list[str]:
    """The FENs of positions with White to move, shape (N, 3 or 4) as in `draw`."""
    if not len(squares):
        return []
    cells = np.full((len(squares), 64), ord("1"), np.uint8)
    letters = f"K{MATERIALS[material]}k".encode("ascii")
    cells[np.arange(len(squares))[:, None], squares] = np.frombuffer(letters, np.uint8)
    # A rank is eight letters, so a 64-bit number; few are different, and each of those is put into words once.
    ranks, inverse = np.unique(cells.view(np.uint64), return_inverse=True)
    words = [re.sub("1+", lambda empty: str(len(empty[0])), rank.tobytes().decode("ascii")) for rank in ranks]
    rows = np.array(words, object)[inverse].reshape(-1, 8)[:, ::-1].tolist()
    return [f"{'/'.join(row)} w - - 0 1" for row in rows]
