"""How a chat model's reply is read as a move."""

import re
from collections.abc import Sequence

import chess

from lmrl_data.tasks.chess.policies import board_of
from lmrl_data.text import Message

_MOVE = re.compile(
    r"(?<![\w-])(?:[KQRBN]?[a-h]?[1-8]?[x-]?[a-h][1-8](?:=?[QRBN])?|[O0]-[O0](?:-[O0])?)(?![\w-])", re.IGNORECASE
)
_NAMED = re.compile(r"\b(knight|bishop|rook|queen|king) (to|takes|x) ?(?=[a-h][1-8])", re.IGNORECASE)
_LETTERS = {"knight": "N", "bishop": "B", "rook": "R", "queen": "Q", "king": "K"}


def read_move(text: str, conversation: Sequence[Message]) -> str | None:
    """The one legal move that a text names, in SAN or UCI, as the environment takes it: ``"Nf3"``.

    Case, missing or needless marks and squares are overlooked where only one legal move can be meant.
    """
    board = board_of("chat", conversation)
    text = _NAMED.sub(lambda found: _LETTERS[found[1].lower()] + ("" if found[2].lower() == "to" else "x"), text)
    moves = {move for found in _MOVE.findall(text) if (move := _legal(board, found)) is not None}
    return board.san(moves.pop()) if len(moves) == 1 else None


def _legal(board: chess.Board, text: str) -> chess.Move | None:
    """The legal move that a text stands for."""
    spelt = text.replace("0", "O").replace("o", "O") if text[0] in "0Oo" else text
    # A small b is a pawn's file before a bishop.
    for form in (spelt, spelt.lower(), spelt[0].upper() + spelt[1:].lower()):
        for parse in (board.parse_uci, board.parse_san):
            try:
                move = parse(form)
            except ValueError:
                continue
            if move:
                return move
    return None
