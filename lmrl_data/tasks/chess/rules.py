"""Reading moves, and how games end: the rules of chess are python-chess's."""

import re
from dataclasses import dataclass

import chess

from lmrl_data.errors import LmrlError

NOTATIONS = ("san", "uci")

# The longest is `Qa1xb2=Q+`-like; anything much longer is no move, and need not be looked at.
_LONGEST = 16
_MARKS = "+#!?"
_CASTLING = {"0-0": "O-O", "0-0-0": "O-O-O"}
# Fifty moves without a capture or a pawn move end a game: none has 6,000 moves.
LONGEST_GAME = 6000
_PROMOTION = re.compile(r"=[nbrq]$")


@dataclass(frozen=True)
class Ending:
    """How a game ended.

    Attributes:
        result: ``"1-0"``, ``"0-1"`` or ``"1/2-1/2"``.
        reason: such as ``"checkmate"``.
    """

    result: str
    reason: str


def read_move(board: chess.Board, text: str, notation: str = "san") -> chess.Move | None:
    """The legal move that a text stands for; None for one that stands for none.

    A move counts when it is python-chess's own SAN for it. Marks at the end (``+ # ! ?``) may be there or not,
    ``0-0`` may stand for ``O-O``, and a promotion may be in lower case. python-chess's reader alone takes more: UCI,
    needless or missing disambiguation, captures without ``x``, null moves.

    Args:
        board: the position.
        text: without white space around it.
        notation: ``"san"``, or ``"uci"`` which takes UCI as well.
    """
    if not 2 <= len(text) <= _LONGEST or not text.isascii():
        return None
    if notation == "uci":
        try:
            move = board.parse_uci(text)
            if move and move.uci() == text:  # not Chess960's castling
                return move
        except ValueError:
            pass
    body = text.rstrip(_MARKS)
    body = _CASTLING.get(body, body)
    body = _PROMOTION.sub(lambda found: found[0].upper(), body)
    try:
        move = board.parse_san(body)
    except ValueError:
        return None
    return move if move and board.san(move).rstrip(_MARKS) == body else None


def ending(board: chess.Board) -> Ending | None:
    """How the game has ended in this position; None where it goes on. Draws that could be claimed are claimed."""
    if board.is_checkmate():
        return Ending("0-1" if board.turn == chess.WHITE else "1-0", "checkmate")
    if board.is_insufficient_material():
        return Ending("1/2-1/2", "insufficient material")
    if board.is_stalemate():
        return Ending("1/2-1/2", "stalemate")
    if board.halfmove_clock >= 100:
        return Ending("1/2-1/2", "fifty moves")
    if board.is_repetition(3):
        return Ending("1/2-1/2", "threefold repetition")
    return None


def read_fen(fen: object, example: str) -> chess.Board:
    """The board of a FEN that an episode can start from: legal, White to move, and not over.

    Args:
        fen: the FEN.
        example: one that can be, for the error.

    Raises:
        LmrlError: it cannot be.
    """
    try:
        board = chess.Board(fen) if isinstance(fen, str) else None
    except ValueError:
        board = None
    if board is None:
        reason = "it cannot be read as a FEN"
    elif not board.is_valid() or board.fullmove_number > LONGEST_GAME:
        reason = "no game of chess leads to it"
    elif board.turn != chess.WHITE:
        reason = "Black is to move"
    elif ended := ending(board):
        reason = f"the game is over by {ended.reason}"
    else:
        return board
    raise LmrlError(
        f"fen {repr(fen)[:100]} cannot be: {reason}; give a position with White to move, such as {example!r}"
    )
