"""The layouts of chess and endgames: a line per move with ``from_state``, or a list of ``state``, for each game."""

import re
from collections.abc import Iterable, Iterator
from typing import Any

import chess

from lmrl_data.registry import find_env
from lmrl_data.tasks.chess.env import LABELS, ChessEnv
from lmrl_data.tasks.chess.rules import Ending, ending, read_move
from lmrl_generators.importing.plays import Play, Reading, Unreadable, play_of_transitions, reading
from lmrl_generators.importing.records import Record

MOVE = ("from_state", "action", "reward", "done")
LISTED = ("state", "action", "reward", "done")
# Who played Black in the published games; see the environment's `opponent`.
_OPPONENT = "paper"
_MOVE_NUMBER = re.compile(r" ([0-9]{1,5})\s*$")
_REWARDS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}
_KINDS = {1.0: "the move that gives mate, worth 1", -1.0: "an illegal move or being mated, worth -1"}


def games(records: Iterable[Record]) -> Iterator[Record]:
    """Lines of single moves gathered into a list for each game; other records as they are.

    A game ends with ``done``, or before a line whose move number does not follow: the published data has games that
    are cut off.
    """
    where, moves = "", list[Any]()
    for record in records:
        if not isinstance(record.value, dict) or "from_state" not in record.value:
            if moves:
                yield Record(where, moves)
                moves = []
            yield record
            continue
        if moves and (moves[-1].get("done") or not _follows(moves[-1], record.value)):
            if record.value == moves[-1]:  # the last line of a game twice
                moves.append(record.value)
                continue
            yield Record(where, moves)
            moves = []
        if not moves:
            where = record.where
        moves.append(record.value)
        if len(moves) > 2 * ChessEnv.max_turns:
            yield Record(where, None, "a game without end")
            moves = []
    if moves:
        yield Record(where, moves)


def _follows(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether the move number is the same (after an illegal move) or one higher."""
    numbers = [_MOVE_NUMBER.search(str(move["from_state"])) for move in (before, after)]
    if None in numbers:
        return True  # what is wrong with the position is said when the game is read
    first, second = (int(found[1]) for found in numbers if found)
    return second - first in (0, 1)


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a game; the rewards are compared with what python-chess says of each move."""
    if not isinstance(value, list):
        raise Unreadable(f"no move with the fields {', '.join(MOVE)}")
    single = bool(value) and isinstance(value[0], dict) and "from_state" in value[0]
    play = play_of_transitions(value, "from_state" if single else "state")
    play.observations = [_unspaced(text) for text in play.observations]
    play.actions = [_unspaced(text) for text in play.actions]
    replay = _Replay(play)
    if len(play.actions) > ChessEnv.max_turns:
        play.faults.append(f"longer than {ChessEnv.max_turns} turns")
    info = replay.info | dict.fromkeys(_labels(env_id))
    over = replay.ended is not None
    success = replay.ended is not None and replay.ended.result == "1-0"
    return reading(play, success=success, terminated=over, info=info, env_id=env_id, differences=replay.differences)


def _labels(env_id: str) -> tuple[str, ...]:
    if find_env(env_id)[0].name == "endgames":
        return ("best_moves", "distance_before", "distance_after")
    return LABELS


def _unspaced(text: str) -> str:
    """A text that may be written letter by letter with blanks between."""
    return text[::2] if len(text) > 1 and not text[1::2].strip() else text


class _Replay:
    """A game played again move by move from its positions.

    Attributes:
        ended: how the game ended; None where it was cut off.
        differences: for each reward that the rules would not give, of what kind it is.
    """

    def __init__(self, play: Play) -> None:
        self.ended: Ending | None = None
        self.differences: list[str] = []
        self._play = play
        self._agent: list[str] = []
        self._opponent: list[str] = []
        board = _board(play.observations[0])
        self._start = board.fen()
        for turn in range(len(play.actions)):
            board = self._turn(board, turn)

    @property
    def info(self) -> dict[str, Any]:
        """The fields of the ``info`` struct that a file tells."""
        ended = self.ended or Ending("*", "move limit")
        return {
            "fen": self._start,
            "opponent": _OPPONENT,
            "engine": None,
            "result": ended.result,
            "ending": ended.reason,
            "agent_moves": self._agent,
            "opponent_moves": self._opponent,
            "usable": [move != "" for move in self._agent],
        }

    def _turn(self, board: chess.Board, turn: int) -> chess.Board:
        """Play a turn; the position that follows it."""
        play, reward = self._play, self._play.rewards[turn]
        following = _board(play.observations[turn + 1]) if turn + 1 < len(play.actions) else None
        move = read_move(board, play.actions[turn])
        self._agent.append(move.uci() if move else "")
        right, reply = -1.0, None
        if move is not None:
            board.push(move)
            right, reply = self._last(board, reward) if following is None else (0.0, _reply(board, following))
        self._opponent.append(reply.uci() if reply else "")
        if reward != right:
            self.differences.append(_KINDS.get(right, "another move, worth 0"))
        if reply is not None:
            board.push(reply)
        if following is None:
            known = move is None or reply is not None or ending(board) is not None
            play.observations[-1] = board.fen() if known else ""
        elif not chess.BaseBoard.__eq__(board, following):  # the pieces alone: files differ in the rest of a FEN
            _note(play, "a position does not follow from the move before")
            return following
        elif ending(board):
            _note(play, "goes on after the end of the game")
        return board

    def _last(self, board: chess.Board, reward: float) -> tuple[float, chess.Move | None]:
        """The reward of the last turn, whose answer no file tells, and that answer where only one can be."""
        self.ended = ending(board)
        if self.ended is not None:
            return _REWARDS[self.ended.result], None
        endings = [(reply, found) for reply in board.legal_moves if (found := _after(board, reply))]
        if not self._play.done:
            return 0.0, None
        possible = [(reply, found) for reply, found in endings if _REWARDS[found.result] == reward]
        if not possible:
            return 0.0, None
        self.ended = possible[0][1]
        return reward, possible[0][0] if len(possible) == 1 else None


def _board(fen: str) -> chess.Board:
    try:
        board = chess.Board(fen)
    except ValueError as error:
        raise Unreadable(f"{fen[:80]!r} is no position in FEN") from error
    if board.turn != chess.WHITE or not board.is_valid():
        raise Unreadable(f"{fen[:80]!r} is no legal position with White to move")
    return board


def _reply(board: chess.Board, following: chess.Board) -> chess.Move | None:
    """Black's move between two positions; None where no single legal move is."""
    before, after = board.occupied_co[chess.BLACK], following.occupied_co[chess.BLACK]
    left, reached = chess.SquareSet(before & ~after), chess.SquareSet(after & ~before)
    if len(left) == 2:  # castling: the move is the king's
        home, goal = board.king(chess.BLACK), following.king(chess.BLACK)
    else:
        home, goal = next(iter(left), None), next(iter(reached), None)
    if home is None or goal is None:
        return None
    promoted = following.piece_type_at(goal) if board.piece_type_at(home) == chess.PAWN else None
    move = chess.Move(home, goal, promoted if promoted != chess.PAWN else None)
    return move if move in board.legal_moves else None


def _after(board: chess.Board, reply: chess.Move) -> Ending | None:
    board.push(reply)
    found = ending(board)
    board.pop()
    return found


def _note(play: Play, fault: str) -> None:
    if fault not in play.faults:
        play.faults.append(fault)
