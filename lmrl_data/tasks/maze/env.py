"""The maze environment."""

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import GameEnv, text_space
from lmrl_data.tasks.maze.game import MazeGame, maze_game
from lmrl_data.tasks.maze.rules import Cell


class MazeEnv(GameEnv[MazeGame]):
    """Find the way to the goal of a small maze, told in words.

    ## Description
    The maze has 26 free cells in the shape of two Ts whose stems meet; the way from the goal leads up the common stem.
    In the config `fully_observed` every observation names the goal's and the agent's coordinates. In
    `partially_observed` it names only the walls around the agent: many cells look alike, and the agent must tell them
    apart by its own moves so far.

    ## Action Space
    `Text`: `move up`, `move down`, `move left` or `move right`, in any case. A move into a wall stays in place. Any
    other text moves nothing and is answered with the four moves; `info["invalid_action"]` says so.

    ## Observation Space
    `Text`. Rows count from the top, columns from the left, both from 0, outer walls included:
    `The goal is at row 8, column 6. You are at row 2, column 3. Walls: left, right.`; partially observed only
    `Walls: left, right.`, of which the 26 cells have 8 different ones.

    ## Starting State
    One of the 25 cells that are not the goal: a hash of the seed, each as likely as the others.
    `reset(options={"start": (row, column), "goal": (row, column)})` fixes either.

    ## Rewards
    0 for the move that reaches the goal, -1 for any other move, -4 for an unusable action (`reward="standard"`). With
    `reward="illegal_penalty"`: 1, 0 and -1.

    ## Episode End
    Terminated at the goal; truncated after 100 moves.

    ## Information
    `invalid_action` (str) for an unusable action. At the end `success` (bool) and `return` (float).

    ## Arguments
    - `observe`: `"fully_observed"` or `"partially_observed"`: what the two configs set.
    - `layout`: `"double_t"`, `"umaze"` (D4RL's), or an array of 0 (free) and 1 (wall), closed by walls.
    - `goal`: (row, column); needed with an array.
    - `reward`: `"standard"` or `"illegal_penalty"`.

    ## Differences from the paper
    All 100 moves are executed; an unusable action costs 4 and leaves the conversation as it is. Exact optima by search:
    a mean return of -6.84 over the 25 starts when the position is shown, -7.24 when it is not (the paper's -25.75 is
    the return of a policy). The minimum of the score is -100, that of usable actions (paper: -101).
    The published data are shorter (mean length 19.7) and less successful (.11) than episodes played to the goal or to
    100 moves can be: a random walk reaches the goal within 100 moves in a quarter of them. Ours are played to the end.

    ## Version History
    - v0: first version.
    """

    start_options: ClassVar[tuple[str, ...]] = ("start", "goal")

    def __init__(
        self,
        env_id: str = "lmrl/Maze-v0",
        observe: str = "fully_observed",
        layout: str | list[list[int]] | NDArray[np.int_] = "double_t",
        goal: Cell | None = None,
        reward: str = "standard",
    ) -> None:
        self._arguments: dict[str, Any] = {"observe": observe, "layout": layout, "reward": reward}
        self._default_game = maze_game(goal=goal, **self._arguments)
        super().__init__(self._default_game, env_id)
        # `reset` can put the goal in another cell, whose coordinates may have more digits.
        digits = [len(f"{row}{column}") for row, column in self.game.maze.cells]
        longer = max(digits) - digits[self.game.maze.goal]
        self.observation_space = text_space(self.game.observation_texts, longer=longer)

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        game = self._default_game
        if "goal" in options:
            goal = game.maze.cells[game.maze.number(options["goal"], "goal")]
            game = maze_game(goal=goal, **self._arguments)
        cell = game.maze.number(options["start"], "start") if "start" in options else None
        if cell == game.maze.goal:
            raise LmrlError(f"start {options['start']!r} is the goal; start from any other free cell")
        if game is not self.game:
            self._use(game)
        return self._begin(self._draw(seed) if cell is None else int(np.searchsorted(game.starts, cell)))
