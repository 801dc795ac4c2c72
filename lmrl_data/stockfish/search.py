"""One search: what is asked of the engine, what it answers, and the command that carries it.

python-chess starts the process and speaks UCI with it; this command replaces its `analyse`, which reads every variation
of every depth and so takes longer than the short searches themselves.
"""

import re
from dataclasses import dataclass

import chess
from chess.engine import BaseCommand, EngineError, UciProtocol
from typing_extensions import override

# A small table, so that clearing it before every search costs nothing; short searches fill no more.
DEFAULTS = {"Threads": "1", "Hash": "1", "UCI_LimitStrength": "false"}

_MATE = 32_000
_INFO = re.compile(r"\bscore (cp|mate) (-?\d+)\b.*? pv (\S+)")
_MULTIPV = re.compile(r"\bmultipv (\d+)\b")


@dataclass(frozen=True)
class Line:
    """A move that the engine considered and its score from the side of who moves.

    Attributes:
        move: in UCI notation.
        cp: centipawns; None where a mate is seen.
        mate: moves until the mate, negative where the mover is mated; None where no mate is seen.
    """

    move: str
    cp: int | None
    mate: int | None

    @property
    def value(self) -> int:
        """The score as one number: centipawns, a mate beyond all of them and the nearer the better."""
        if self.mate is None:
            return self.cp or 0
        return _MATE - self.mate if self.mate > 0 else -_MATE - self.mate


@dataclass(frozen=True)
class Request:
    """A search that the engine is asked for. With a limit of nodes its outcome is a pure function of the request.

    Attributes:
        board: the position, with its history. Nobody may change it before the answer is there.
        nodes: limit of the search; None for no limit.
        milliseconds: limit of the search; None for no limit. Its outcome depends on the machine.
        lines: moves to score (MultiPV).
        options: UCI options for this search.
        fresh: whether to clear the hash table first, without which the outcome depends on earlier searches.
    """

    board: chess.Board
    nodes: int | None = None
    milliseconds: int | None = None
    lines: int = 1
    options: tuple[tuple[str, str], ...] = ()
    fresh: bool = True

    @property
    def position(self) -> str:
        """The position as UCI's ``position`` takes it."""
        moves = " ".join(move.uci() for move in self.board.move_stack)
        return f"fen {self.board.root().fen()}" + (f" moves {moves}" if moves else "")

    @property
    def go(self) -> str:
        """The UCI command that starts the search."""
        limits = [("nodes", self.nodes), ("movetime", self.milliseconds)]
        return " ".join(["go", *(f"{name} {value}" for name, value in limits if value is not None)])


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        move: the one that the engine plays. Under a limit of strength it need not be the best, nor among the lines.
        lines: the best moves with their scores, the best first.
    """

    move: str
    lines: tuple[Line, ...]


class Search(BaseCommand[Found]):
    """The command for `chess.engine`: sends a request, and keeps the engine's last word on each line."""

    def __init__(self, engine: UciProtocol, request: Request, options: dict[str, str]) -> None:
        super().__init__(engine)
        self.engine = engine
        self.request = request
        self.options = options
        self._last: dict[int, str] = {}

    @override
    def start(self) -> None:
        """Send the request; what the engine is set to already is not sent again."""
        wanted = {**DEFAULTS, "MultiPV": str(self.request.lines), **dict(self.request.options)}
        for name, value in wanted.items():
            if self.options.get(name) != value:
                self._check(name, value)
                self.engine.send_line(f"setoption name {name} value {value}")
                self.options[name] = value
        if self.request.fresh:
            self.engine.send_line("ucinewgame")
        self.engine.send_line(f"position {self.request.position}")
        self.engine.send_line(self.request.go)

    def _check(self, name: str, value: str) -> None:
        """An engine takes no notice of an option that it does not have, nor of a value that is out of range."""
        option = self.engine.options.get(name)
        if option is None:
            raise EngineError(f"it has no option {name}")
        option.parse(value)

    @override
    def line_received(self, line: str) -> None:
        """Take in a line of the engine."""
        if line.startswith("info ") and " pv " in line:
            number = _MULTIPV.search(line)
            self._last[int(number[1]) if number else 1] = line
        elif line.startswith("bestmove") and not self.result.done():  # done: given up, and the engine is being killed
            move = self._legal(" ".join(line.split()[1:2]))
            lines = tuple(self._read(self._last[number]) for number in sorted(self._last))
            if not lines:
                raise EngineError(f"no line before {line[:80]!r}")
            self.result.set_result(Found(move, lines))
            self.set_finished()

    def _read(self, line: str) -> Line:
        found = _INFO.search(line)
        if found is None:
            raise EngineError(f"unreadable line {line[:200]!r}")
        kind, score, move = found.groups()
        move = self._legal(move)
        return Line(move, int(score), None) if kind == "cp" else Line(move, None, int(score))

    def _legal(self, text: str) -> str:
        """A move of the engine, if it can be played."""
        try:
            legal = self.request.board.parse_uci(text)
        except ValueError:
            legal = None
        # python-chess takes the null move and Chess960's castling too.
        if not legal or legal.uci() != text:
            raise EngineError(f"{text[:80]!r} is no legal move")
        return text
