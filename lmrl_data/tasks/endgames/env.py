"""The endgames environment."""

from typing import Any

import chess
import numpy as np

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import stream_of
from lmrl_data.starts import Starts
from lmrl_data.stockfish.levels import DEFAULT
from lmrl_data.tasks.chess.env import ChessEnv
from lmrl_data.tasks.endgames.positions import check_fen, test_positions, train_positions
from lmrl_data.tasks.endgames.tablebase import best_moves, distance_to_mate

POSITIONS = ("train", "test")

_TEST = stream_of("endgames/test/start")
# Where White can no longer force mate: arrays of numbers hold no None.
_NO_MATE = -1


class EndgamesEnv(ChessEnv):
    """Mate a bare king with queen, rook, queen and rook, or two rooks.

    ## Description
    The agent is White in an endgame that it can win, whatever Black does. Each position's exact distance to mate is
    known by retrograde analysis. Rules, moves and opponents are those of the task chess.

    ## Action Space
    `Text`: a move in standard algebraic notation, such as `Qd5`, `Rad1`, `Kf6`, as python-chess writes it (see the task
    chess). Anything else changes nothing, costs 1, and `info["invalid_action"]` names a legal move.

    ## Observation Space
    `Text`: the position as FEN, with White to move unless the game is over: `8/8/8/4k3/8/8/8/2R1K3 w - - 0 1`.

    ## Starting State
    A position of one of four classes, KQ-K, KR-K, KQR-K and KRR-K, with White to move and nobody in check; a hash of
    the seed, each class and each of its positions as likely as the others. The test positions and their mirror images
    never come unless they are asked for: `positions="test"` draws from the 645 fixed ones, from the harder half of each
    class, with which policies are evaluated. `reset(options={"fen": FEN})` starts from any position of the four
    classes.

    ## Rewards
    1 for giving mate, -1 for each unusable action, else 0. A draw is worth 0.

    ## Episode End
    Terminated by mate, stalemate, insufficient material (Black has taken the last piece), the third repetition of a
    position, and 50 moves without a capture. Truncated after 400 actions.

    ## Information
    `invalid_action` (str) for an unusable action. At the end `success` (bool: mate given) and `return` (float).

    ## Arguments
    - `opponent`, `notation`, `spaced`: as in the task chess; `opponent="random"` needs no Stockfish.
    - `positions`: `"train"` or `"test"`.

    ## Differences from the paper
    The opponent is seeded and reproducible (see the task chess). The positions, of which the paper has 645 for testing
    as well, are our own; those for testing are kept apart from those for training, with all their mirror images. The
    best return is exactly 1, since every position is won.

    ## Version History
    - v0: first version.
    """

    def __init__(
        self,
        env_id: str = "lmrl/Endgames-v0",
        opponent: str = DEFAULT,
        notation: str = "san",
        spaced: bool = False,
        positions: str = "train",
    ) -> None:
        self._starts = test_starts() if _checked(positions) == "test" else None
        super().__init__(env_id, opponent, notation, spaced)

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record."""
        return self._facts() | {
            "best_moves": self._best_moves,
            "distance_before": self._before,
            "distance_after": self._after,
        }

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        observation = super()._start(seed, options)
        self._best_moves: list[str] = []
        self._before: list[int] = []
        self._after: list[int] = []
        return observation

    def _start_of(self, seed: int) -> str:
        if self._starts is not None:
            return str(self._starts.options(self._starts.of(seed))["fen"])
        return str(train_positions(np.array([seed]))[0])

    def _read_start(self, fen: object) -> chess.Board:
        return check_fen(fen)

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        before = self._board.copy(stack=False)
        step = super()._play(action)
        best = best_moves(before)
        self._best_moves.append(before.san(best[0]) if best else "")
        self._before.append(_number(distance_to_mate(before)))
        made = self._agent_moves[-1]
        if made:
            before.push_uci(made)
        self._after.append(_number(distance_to_mate(before)))
        return step


def test_starts() -> Starts:
    """The starts of evaluation: the test positions."""
    positions = test_positions()
    return Starts(len(positions), _TEST, lambda number: {"fen": positions[number].fen})


def evaluation_starts(
    opponent: str = DEFAULT, notation: str = "san", spaced: bool = False, positions: str = "test"
) -> Starts:
    """The starts of an evaluation in an environment with these arguments."""
    return test_starts()


def _checked(positions: str) -> str:
    if positions not in POSITIONS:
        raise LmrlError(f"unknown positions {positions!r}; give one of: {', '.join(POSITIONS)}")
    return positions


def _number(distance: int | None) -> int:
    return _NO_MATE if distance is None else distance
