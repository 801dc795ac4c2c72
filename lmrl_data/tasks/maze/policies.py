"""The maze's scripted policies. Each is a pure function of seeds and histories (`lmrl_data.game.ArrayPolicy`)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import ArrayPolicy, Ints, start_states
from lmrl_data.policy import GamePolicy
from lmrl_data.seeding import U64, below, stream_of, turn_hashes, uniform
from lmrl_data.tasks.maze.beliefs import solve_beliefs
from lmrl_data.tasks.maze.game import MazeGame, maze_game
from lmrl_data.tasks.maze.rules import MOVES, Cell

RANDOM_SHARE = 0.85

_CHOICE = stream_of("maze/policy/choice")
_MOVE = stream_of("maze/policy/move")


class RandomPolicy:
    """Any of the four moves."""

    name = "random"

    def __init__(self, game: MazeGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A move per episode."""
        return below(turn_hashes(seeds, actions.shape[1], _MOVE), len(MOVES)).astype(np.int32)


class RegionPolicy:
    """Collects data: knows the way in one third of the maze only, and even there mostly moves at random.

    The cells are split into three regions by the number of moves to the goal: near, middle and far. In its own region
    the policy plays the optimal move with probability 1 - `RANDOM_SHARE`; all other moves are random. So an episode
    shows at most one part of the way well, and a learner has to put the parts together (paper, appendix).

    It is privileged: it tells its cell from the seed and its moves, so it plays alike in both configs of the task.
    """

    def __init__(self, game: MazeGame, region: int) -> None:
        self.game = game
        self.name = f"region-{region}"
        distance = game.maze.distance
        order = np.argsort(distance, kind="stable")
        self._mine = np.zeros(len(distance), np.bool_)
        self._mine[np.array_split(order[1:], 3)[region]] = True
        self._optimal = distance[game.maze.next_cell].argmin(axis=1).astype(np.int32)

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A move per episode."""
        cell = start_states(self.game, seeds)
        for turn in range(actions.shape[1]):
            cell = self.game.step(cell, actions[:, turn]).state
        turn = actions.shape[1]
        chosen = below(turn_hashes(seeds, turn, _MOVE), len(MOVES)).astype(np.int32)
        knows = self._mine[cell] & (uniform(turn_hashes(seeds, turn, _CHOICE)) >= RANDOM_SHARE)
        return np.where(knows, self._optimal[cell], chosen)


class OptimalPolicy:
    """Exact optimal play from the observations alone, in both configs (see `beliefs`).

    Where the position is shown, a belief is a single cell and this is the shortest way.
    """

    name = "optimal"

    def __init__(self, game: MazeGame) -> None:
        self.plan = solve_beliefs(game)

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A move per episode."""
        belief = self.plan.first[observations[:, 0]]
        for turn in range(actions.shape[1]):
            move = actions[:, turn]
            # An unusable action changes nothing that is known.
            after = self.plan.following[belief, np.maximum(move, 0), observations[:, turn + 1]]
            belief = np.where(move >= 0, after, belief)
        if (belief < 0).any():
            raise LmrlError("these observations cannot be of this maze; make the policy with the environment's options")
        return self.plan.move[belief]


_POLICIES: dict[str, Callable[[MazeGame], ArrayPolicy]] = {
    "random": RandomPolicy,
    "region-0": partial(RegionPolicy, region=0),
    "region-1": partial(RegionPolicy, region=1),
    "region-2": partial(RegionPolicy, region=2),
    "optimal": OptimalPolicy,
}


def _make(
    name: str,
    observe: str = "fully_observed",
    layout: str | list[list[int]] | NDArray[np.int_] = "double_t",
    goal: Cell | None = None,
    reward: str = "standard",
) -> GamePolicy:
    game = maze_game(observe, layout, goal, reward)
    return GamePolicy(game, _POLICIES[name](game))


random, region_0, region_1, region_2, optimal = (partial(_make, name) for name in _POLICIES)
