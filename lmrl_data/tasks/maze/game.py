"""The maze on arrays: the state is the number of the agent's cell, an action one of four moves."""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import Ints, LazyTexts, States, Texts, Transition
from lmrl_data.seeding import stream_of
from lmrl_data.tasks.maze.rules import LAYOUTS, MOVES, Cell, Grid, Maze, as_cell, build_maze, read_layout

MAX_MOVES = 100
CONFIGS = ("fully_observed", "partially_observed")
# Rewards: reaching the goal, any other move, an unusable action.
REWARDS = {"standard": (0.0, -1.0, -4.0), "illegal_penalty": (1.0, 0.0, -1.0)}

GOAL_TEXT = "You have reached the goal."
UNUSABLE_TEXT = "That is no move. Say move up, move down, move left or move right. "


class MazeGame:
    """The array game of a maze (see `lmrl_data.game.Game`). Make it with `maze_game`.

    Attributes:
        seen: the observation in each cell.

    Observations are numbered: D descriptions, the same D after an unusable action, the goal. When the position is
    shown, D is the number of cells; when it is not, of different surroundings (8 in the default maze).
    """

    max_turns = MAX_MOVES
    limit_is_terminal = False
    partner = ""
    invalid_reasons: tuple[str, ...] = ("not one of: move up, move down, move left, move right",)
    start_stream = stream_of("maze/start")
    secret_texts: Texts | None = None

    def __init__(self, maze: Maze, observed: bool, reward: str) -> None:
        self.maze = maze
        self._reward = REWARDS[reward]
        descriptions = [_describe(maze, cell, observed) for cell in range(len(maze.cells))]
        different = list(dict.fromkeys(descriptions))
        self._descriptions = len(different)
        self.seen: Ints = np.array([different.index(text) for text in descriptions], np.int32)
        texts = [*different, *(UNUSABLE_TEXT + text for text in different), GOAL_TEXT]
        self.observation_texts: Texts | LazyTexts = np.array(texts, object)
        self._observation_of = {text: number for number, text in enumerate(texts)}
        self.action_texts = np.array([f"move {name}" for name in MOVES], object)
        self.action_index = {text: move for move, text in enumerate(self.action_texts)}
        self.starts: States = np.delete(np.arange(len(maze.cells), dtype=np.int32), maze.goal)
        self.first_observation: Ints = self.seen[self.starts]
        self._next = maze.next_cell.ravel()
        self._next_list: list[list[int]] = maze.next_cell.tolist()
        self._seen_list: list[int] = self.seen.tolist()

    def step(self, state: States, action: Ints) -> Transition:
        """Move in each episode."""
        usable = action >= 0
        cell = np.where(usable, self._next.take(np.maximum(action, 0) + state * np.int32(len(MOVES))), state)
        goal = cell == self.maze.goal
        at_goal, moved, unusable = self._reward
        seen = self.seen[cell] + np.where(usable, np.int32(0), np.int32(self._descriptions))
        observation = np.where(goal, np.int32(2 * self._descriptions), seen)
        reward = np.where(goal, np.float32(at_goal), np.where(usable, np.float32(moved), np.float32(unusable)))
        return Transition(cell, observation, reward, goal, goal)

    def step_one(self, state: int, action: int) -> tuple[int, int, float, bool, bool]:
        """Move once."""
        at_goal, moved, unusable = self._reward
        if action < 0:
            return state, self._seen_list[state] + self._descriptions, unusable, False, False
        cell = self._next_list[state][action]
        if cell == self.maze.goal:
            return cell, 2 * self._descriptions, at_goal, True, True
        return cell, self._seen_list[cell], moved, False, False

    def invalid(self, observation: Any) -> Any:
        """0 for the reply to a move, else 1."""
        return ((observation >= self._descriptions) & (observation < 2 * self._descriptions)) * 1

    def interpret(self, action: str) -> int:
        """There is one kind of unusable action."""
        return -1

    def observation_of(self, text: str) -> int | None:
        """The observation that a text stands for."""
        return self._observation_of.get(text)

    def start_options(self, start: int) -> dict[str, Any]:
        """Start and goal as [row, column]."""
        return {"start": list(self.maze.cells[self.starts[start]]), "goal": list(self.maze.cells[self.maze.goal])}

    episode_info = start_options


def _describe(maze: Maze, cell: int, observed: bool) -> str:
    walls = f"Walls: {', '.join(maze.walls(cell)) or 'none'}."
    if not observed:
        return walls
    (goal_row, goal_column), (row, column) = maze.cells[maze.goal], maze.cells[cell]
    return f"The goal is at row {goal_row}, column {goal_column}. You are at row {row}, column {column}. {walls}"


def maze_game(
    observe: str = "fully_observed",
    layout: str | list[list[int]] | NDArray[np.int_] = "double_t",
    goal: Cell | None = None,
    reward: str = "standard",
) -> MazeGame:
    """The array game of a maze.

    Args:
        observe: ``"fully_observed"`` or ``"partially_observed"``.
        layout: ``"double_t"``, ``"umaze"`` or an array of 0 (free) and 1 (wall).
        goal: (row, column); None is the layout's own.
        reward: ``"standard"`` or ``"illegal_penalty"``.

    Raises:
        LmrlError: a value that cannot be.
    """
    if observe not in CONFIGS:
        raise LmrlError(f"unknown value {observe!r} of observe; it is one of: {', '.join(CONFIGS)}")
    if reward not in REWARDS:
        raise LmrlError(f"unknown reward {reward!r}; it is one of: {', '.join(REWARDS)}")
    grid = read_layout(layout)
    if goal is None:
        if not isinstance(layout, str):
            raise LmrlError("a layout given as an array needs a goal=(row, column) as well")
        goal = LAYOUTS[layout][1]
    cell = as_cell(goal)
    if cell is None:
        raise LmrlError(f"goal {goal!r} is no (row, column) of two whole numbers")
    return _cached(grid, cell, observe == "fully_observed", reward)


# Bounded: goals and layouts can be given without end.
@lru_cache(maxsize=64)
def _cached(layout: Grid, goal: Cell, observed: bool, reward: str) -> MazeGame:
    return MazeGame(build_maze(layout, goal), observed, reward)
