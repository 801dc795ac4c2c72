"""Exact optimal play in a maze whose position is unknown: a search over beliefs.

A belief is how many of the equally likely starts are now in each cell, given the observations and moves so far. Moves
are certain and each observation splits a belief, so the reachable beliefs are few, and value iteration over them gives
the exact optimum (a stochastic shortest path).
"""

from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from lmrl_data.tasks.maze.game import MazeGame

Belief = tuple[tuple[int, int], ...]  # (cell, weight), ascending, weights in lowest terms

_MOVES = 4


@dataclass(frozen=True)
class BeliefPlan:
    """Optimal play by belief.

    Attributes:
        first: the belief after each first observation, shape (observations,); -1 where it cannot come first.
        following: the belief after each belief, move and observation, shape (beliefs, 4, observations); -1: cannot be.
        move: the optimal move in each belief, shape (beliefs,).
        mean_length: expected moves to the goal over the starts.
    """

    first: NDArray[np.int32]
    following: NDArray[np.int32]
    move: NDArray[np.int32]
    mean_length: float


def _reduced(weights: dict[int, int]) -> Belief:
    divisor = gcd(*weights.values())
    return tuple(sorted((cell, weight // divisor) for cell, weight in weights.items()))


def solve_beliefs(game: "MazeGame") -> BeliefPlan:
    """Enumerate the beliefs that play can reach, and find the optimal move in each."""
    maze = game.maze
    seen = game.seen
    beliefs: dict[Belief, int] = {}
    waiting: list[Belief] = []

    def number(weights: dict[int, int]) -> int:
        belief = _reduced(weights)
        if belief not in beliefs:
            beliefs[belief] = len(beliefs)
            waiting.append(belief)
        return beliefs[belief]

    def split(cells: list[tuple[int, int]]) -> dict[int, dict[int, int]]:
        """Weights of cells by what is observed there; the goal ends the episode and is left out."""
        by_observation: dict[int, dict[int, int]] = {}
        for cell, weight in cells:
            if cell != maze.goal:
                group = by_observation.setdefault(int(seen[cell]), {})
                group[cell] = group.get(cell, 0) + weight
        return by_observation

    observations = len(game.observation_texts)
    first = np.full(observations, -1, np.int32)
    starts = split([(int(cell), 1) for cell in game.starts])
    for observation, weights in starts.items():
        first[observation] = number(weights)
    following: list[NDArray[np.int32]] = []
    outcomes: list[list[list[tuple[float, int]]]] = []  # [belief][move]: (probability, next belief)
    while waiting:
        belief = waiting.pop(0)
        total = sum(weight for _, weight in belief)
        rows = np.full((_MOVES, observations), -1, np.int32)
        moves: list[list[tuple[float, int]]] = []
        for step in range(_MOVES):
            groups = split([(int(maze.next_cell[cell, step]), weight) for cell, weight in belief])
            for observation, weights in groups.items():
                rows[step, observation] = number(weights)
            moves.append([(sum(weights.values()) / total, int(rows[step, seen_])) for seen_, weights in groups.items()])
        following.append(rows)
        outcomes.append(moves)
    move, length = _value_iteration(outcomes)
    mean = sum(sum(weights.values()) * length[first[observation]] for observation, weights in starts.items())
    return BeliefPlan(first, np.stack(following), move, float(mean / len(game.starts)))


def _value_iteration(outcomes: list[list[list[tuple[float, int]]]]) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """The optimal move and the expected moves to the goal of each belief."""
    length = np.zeros(len(outcomes))
    while True:
        ahead = np.array(
            [[1 + sum(share * length[to] for share, to in after) for after in moves] for moves in outcomes]
        )
        improved = ahead.min(axis=1)
        if np.abs(improved - length).max() < 1e-12:
            return ahead.argmin(axis=1).astype(np.int32), improved
        length = improved
