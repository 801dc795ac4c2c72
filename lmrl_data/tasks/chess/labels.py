"""Stockfish's judgement of every move of the agent, from White's side: what data are labelled with.

Each position is searched by itself, from an empty hash table and for a fixed number of nodes, so that a label is a pure
function of the position and the engine's build.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import chess
import pyarrow as pa

from lmrl_data.stockfish.pool import EnginePool, shared_pool
from lmrl_data.stockfish.search import Line, Request
from lmrl_data.tasks.chess.env import LABELS
from lmrl_data.tasks.chess.rules import ending

NODES = 5000
# Losses are counted between scores of at most ten pawns: beyond that a game is decided, and a mate is worth no more.
DECIDED = 1000

_BATCH = 1024


@dataclass(frozen=True)
class Score:
    """A position's score from White's side.

    Attributes:
        cp: centipawns; None where a mate is seen.
        mate: moves until the mate, negative where White is mated, 0 for mate on the board; None where none is seen.
    """

    cp: int | None
    mate: int | None

    @property
    def clipped(self) -> int:
        """Centipawns between `DECIDED` for White and for Black."""
        if self.mate is not None:
            return DECIDED if self.mate >= 0 else -DECIDED
        return max(-DECIDED, min(DECIDED, self.cp or 0))


def label(table: pa.Table) -> pa.Table:
    """Fill in the labels of a table of chess episodes, a value per turn of the agent: null where its move was unusable.

    ``best_moves`` (SAN), ``cp_before``, ``mate_before``, ``cp_after``, ``mate_after`` (scores as in `Score`, before the
    move and after it), and ``cp_loss``: what the move gave away, never below 0, and 0 for the best move.

    Raises:
        LmrlError: there is no Stockfish, or it failed.
    """
    rows = table["info"].to_pylist()
    lines = _searched({fen for info in rows for fen in _positions(info)}, shared_pool())
    labelled = [info | _labels(info, lines) for info in rows]
    place = table.schema.get_field_index("info")
    return table.set_column(place, table.schema.field(place), pa.array(labelled, table.schema.field(place).type))


def _turns(info: dict[str, Any]) -> Iterator[tuple[chess.Board, chess.Move | None]]:
    """The board before each turn of the agent, and its move where it made one. The caller may not change the board."""
    board = chess.Board(info["fen"])
    for made, answer in zip(info["agent_moves"], info["opponent_moves"], strict=True):
        yield board, chess.Move.from_uci(made) if made else None
        for move in (made, answer):
            if move:
                board.push_uci(move)


def _positions(info: dict[str, Any]) -> Iterator[str]:
    """The FENs to search in an episode."""
    for board, move in _turns(info):
        yield board.fen()
        if move:
            after = _after(board, move)
            if ending_of(after) is None:
                yield after.fen()


def _after(board: chess.Board, move: chess.Move) -> chess.Board:
    after = board.copy(stack=False)
    after.push(move)
    return after


def ending_of(board: chess.Board) -> Score | None:
    """The score of a position in which the game is over; None where it goes on."""
    ended = ending(board)
    if ended is None:
        return None
    return Score(None, 0) if ended.reason == "checkmate" else Score(0, None)


def _searched(fens: Iterable[str], pool: EnginePool) -> dict[str, Line]:
    """The best line of each position."""
    left = iter(sorted(fens))
    lines: dict[str, Line] = {}
    while batch := list(islice(left, _BATCH)):
        found = pool.search_all([Request(chess.Board(fen), NODES) for fen in batch])
        lines |= {fen: search.lines[0] for fen, search in zip(batch, found, strict=True)}
    return lines


def _labels(info: dict[str, Any], lines: dict[str, Line]) -> dict[str, list[Any]]:
    labels: dict[str, list[Any]] = {name: [] for name in LABELS}
    for board, move in _turns(info):
        best = lines[board.fen()]
        before, after = Score(best.cp, best.mate), None
        if move:
            next_board = _after(board, move)
            after = ending_of(next_board) or _of_black(lines[next_board.fen()])
        best_move = chess.Move.from_uci(best.move)
        loss = None if after is None else 0 if move == best_move else max(0, before.clipped - after.clipped)
        after = after or Score(None, None)
        values = (board.san(best_move), before.cp, before.mate, after.cp, after.mate, loss)
        for name, value in zip(LABELS, values, strict=True):
            labels[name].append(value)
    return labels


def _of_black(line: Line) -> Score:
    """The score of a position with Black to move, from White's side."""
    return Score(None if line.cp is None else -line.cp, None if line.mate is None else -line.mate)
