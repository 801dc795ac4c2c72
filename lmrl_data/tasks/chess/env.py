"""The chess environment."""

import math
from collections.abc import Sequence
from typing import Any, ClassVar

import chess
from gymnasium.spaces import Text

from lmrl_data.env import TextEnv
from lmrl_data.errors import LmrlError
from lmrl_data.seeding import mix, stream_of
from lmrl_data.starts import Starts
from lmrl_data.stockfish.levels import DEFAULT
from lmrl_data.tasks.chess.opponents import Opponent, make_opponent
from lmrl_data.tasks.chess.rules import NOTATIONS, Ending, ending, read_fen, read_move

# What the engine judges of each turn once a game is over.
LABELS = ("best_moves", "cp_before", "mate_before", "cp_after", "mate_after", "cp_loss")

_OPPONENT = stream_of("chess/opponent")
_FEN_CHARACTERS = "".join(sorted(set("pnbrqkPNBRQK/ wabcdefgh-0123456789")))
_MOVE_CHARACTERS = "".join(sorted(set("abcdefgh12345678NBRQKOox0-=nbrq+#!? ")))
_LONGEST_FEN = 100
_REWARDS = {"1-0": 1.0, "0-1": -1.0, "1/2-1/2": 0.0}


class ChessEnv(TextEnv):
    """Play White against a seeded Stockfish.

    ## Description
    A game of chess from the usual start. The agent is White. After its move Stockfish answers, at a level of strength
    that is fixed by nodes searched, not by time, and that picks its move with a hash of the episode's seed: the same
    seed, moves and engine build give the same game, on any machine and however episodes share engines.

    ## Action Space
    `Text`: a move in standard algebraic notation, such as `Nf3`, `exd5`, `O-O`, `a8=Q`, as python-chess writes it.
    Marks at the end (`+`, `#`, `!`, `?`) may be there or not, `0-0` is `O-O`, `a8=q` is `a8=Q`. Case matters: `bxc3`
    and `Bxc3` are two moves. Anything else (no such move, a move that is not legal, missing or needless disambiguation,
    a null move) changes nothing, costs 1, and `info["invalid_action"]` names a legal move.

    ## Observation Space
    `Text`: the position as FEN, with White to move unless the game is over:
    `rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1`.

    ## Starting State
    The usual start. `reset(options={"fen": FEN})` starts from any legal position with White to move. The seed fixes
    what the opponent picks.

    ## Rewards
    1 for giving mate, -1 for being mated, -1 for each unusable action, else 0.

    ## Episode End
    Terminated by mate, stalemate, insufficient material, the third repetition of a position, and 50 moves without a
    capture or a pawn move: draws that could be claimed are claimed. Truncated after 400 actions.

    ## Information
    `invalid_action` (str) for an unusable action. At the end `success` (bool: mate given) and `return` (float).

    ## Arguments
    - `opponent`: `"level-1"` to `"level-10"`; `"paper"`: the published opponent, which is not reproducible; `"random"`:
      any legal move, for which no Stockfish is needed.
    - `notation`: `"san"`, or `"uci"` to take `e2e4` as well.
    - `spaced`: whether FEN and moves are written letter by letter with blanks between, as the paper's models do.

    The levels, in Elo relative to the paper's opponent with 95 % intervals (`python -m benchmarks.ladder`, Stockfish
    15.1; the paper's opponent is as strong as the machine is fast). A level searches so many nodes, picks among the
    best four lines with chances proportional to exp(score / temperature in centipawns), and plays a share of random
    moves:

    | level | nodes | temperature | random | Elo | games |
    |---|--:|--:|--:|--:|--:|
    | `level-1` | 500 | 300 | 0.3 | −1055 [−1167, −961] | 400 |
    | `level-2` | 500 | 300 | 0.1 | −695 [−790, −605] | 520 |
    | `level-3` | 500 | 300 | 0 | −477 [−563, −394] | 640 |
    | `level-4` | 500 | 150 | 0 | −304 [−386, −225] | 480 |
    | `level-5` (default) | 2,000 | 145 | 0 | 11 [−41, 59] | 640 |
    | `level-6` | 2,000 | 95 | 0 | 103 [35, 175] | 480 |
    | `level-7` | 2,000 | 65 | 0 | 244 [174, 318] | 480 |
    | `level-8` | 2,000 | 40 | 0 | 358 [278, 440] | 640 |
    | `level-9` | 2,000 | 15 | 0 | 514 [435, 604] | 520 |
    | `level-10` | 5,000 | 0 | 0 | 1252 [1118, 1450] | 400 |

    With fewer nodes than the default's a move is hardly cheaper: half of the time of a search of 500 nodes is its
    start. 160 of the default's games are against the paper's opponent: it scored .516 [.442, .589].

    ## Differences from the paper
    The paper's opponent was to have Elo 1200, a value that Stockfish does not have and drops in silence: it played at
    its floor of 1350 with 100 ms a move, a strength that depends on the machine, and by its own clock-seeded generator,
    so no game could be seeded. Ours is as strong within 50 Elo, costs a few milliseconds, and is reproducible. An
    engine that dies or hangs raises an error, and never becomes a reward. A null move is no legal move. Draws end the
    game.

    ## Version History
    - v0: first version.
    """

    start_options: ClassVar[tuple[str, ...]] = ("fen",)
    max_turns = 400
    case_matters = True

    def __init__(
        self,
        env_id: str = "lmrl/Chess-v0",
        opponent: str = DEFAULT,
        notation: str = "san",
        spaced: bool = False,
    ) -> None:
        super().__init__(env_id)
        if notation not in NOTATIONS:
            raise LmrlError(f"unknown notation {notation!r}; it is one of: {', '.join(NOTATIONS)}")
        self.opponent_name = opponent
        self.notation = notation
        self.spaced = spaced
        self._opponent: Opponent = make_opponent(opponent)
        self._recorded: list[str] | None = None
        self.concurrency = self._opponent.concurrency
        self.reproducible = self._opponent.reproducible
        longest = 2 * _LONGEST_FEN if spaced else _LONGEST_FEN
        self.observation_space = Text(max_length=longest, min_length=1, charset=_FEN_CHARACTERS)
        self.action_space = Text(max_length=16, charset=_MOVE_CHARACTERS)

    @property
    def partner(self) -> str:
        """The engine's build, which the opponent's moves depend on."""
        return self._opponent.build

    def follow(self, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started, play the recorded moves of the opponent."""
        self._recorded = [move or "" for move in info["opponent_moves"] or []]
        self._build = str(info["engine"])

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record; the engine's judgement is filled in later (see `labels`)."""
        return self._facts() | dict.fromkeys(LABELS)

    def _facts(self) -> dict[str, Any]:
        ended = self._ending or Ending("*", "move limit")
        return {
            "fen": self._start_fen,
            "opponent": self.opponent_name,
            "engine": self._build,
            "result": ended.result,
            "ending": ended.reason,
            "agent_moves": self._agent_moves,
            "opponent_moves": self._opponent_moves,
            "usable": [move != "" for move in self._agent_moves],
        }

    def close(self) -> None:
        """Let go of the engines."""
        self._opponent.close()

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        self._board = self._read_start(options["fen"]) if "fen" in options else chess.Board(self._start_of(seed))
        self._start_fen = self._board.fen()
        self._seed = mix(seed, _OPPONENT)
        self._build = self._opponent.build
        self._ending: Ending | None = None
        self._agent_moves: list[str] = []
        self._opponent_moves: list[str] = []
        self._recorded = None
        return self._shown()

    def _start_of(self, seed: int) -> str:
        """The FEN that a seed starts from."""
        return chess.STARTING_FEN

    def _read_start(self, fen: object) -> chess.Board:
        """The board of ``reset(options={"fen": …})``."""
        return read_fen(fen, chess.STARTING_FEN)

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        said = action.strip()
        move = read_move(self._board, "".join(said.split()) if self.spaced else said, self.notation)
        if move is None:
            self._note("", "")
            legal = self._board.san(next(iter(self._board.legal_moves)))
            return self._shown(), -1.0, False, False, {"invalid_action": f"not a legal move in SAN, such as {legal}"}
        self._board.push(move)
        ended, reply = ending(self._board), ""
        if ended is None:
            try:
                answer = self._reply()
            except BaseException:
                self._board.pop()  # the engine failed: as if nothing had been said
                raise
            if answer is None:
                self._note(move.uci(), "")
                # The reward is no number, so that no record agrees with it.
                return "the record has no legal answer of the opponent", math.nan, True, False, {}
            reply = answer.uci()
            self._board.push(answer)
            ended = ending(self._board)
        self._note(move.uci(), reply)
        self._ending = ended
        if ended is None:
            return self._shown(), 0.0, False, False, {}
        return self._shown(), _REWARDS[ended.result], True, ended.result == "1-0", {}

    def _reply(self) -> chess.Move | None:
        """The opponent's move; None where it is to be taken from a record that has none which is legal."""
        if self._recorded is None:
            return self._opponent.reply(self._board, self._seed)
        turn = len(self._agent_moves)
        return read_move(self._board, self._recorded[turn], "uci") if turn < len(self._recorded) else None

    def _note(self, move: str, reply: str) -> None:
        self._agent_moves.append(move)
        self._opponent_moves.append(reply)

    def _shown(self) -> str:
        fen = self._board.fen()
        return " ".join(fen) if self.spaced else fen


def evaluation_starts(opponent: str = DEFAULT, notation: str = "san", spaced: bool = False) -> Starts:
    """The starts of an evaluation in an environment with these arguments: there is one."""
    return Starts(1, _OPPONENT, lambda number: {"fen": chess.STARTING_FEN})
