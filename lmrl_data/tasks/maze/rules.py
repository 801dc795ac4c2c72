"""The maze's rules: layouts, moves as a table, shortest paths, and optimal play with the position unknown."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError

Cell = tuple[int, int]

MOVES: dict[str, Cell] = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}

# 0 is free, 1 is wall; rows from the top. The published maze ("double T") and D4RL's U-maze.
DOUBLE_T = (
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    (1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1),
    (1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1),
    (1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1),
    (1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1),
    (1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1),
    (1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1),
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
)
UMAZE = ((1, 1, 1, 1, 1), (1, 0, 0, 0, 1), (1, 1, 1, 0, 1), (1, 0, 0, 0, 1), (1, 1, 1, 1, 1))
LAYOUTS: dict[str, tuple[tuple[tuple[int, ...], ...], Cell]] = {
    "double_t": (DOUBLE_T, (8, 6)),
    "umaze": (UMAZE, (1, 1)),
}


@dataclass(frozen=True)
class Maze:
    """A layout with a goal. Cells are numbered row by row, free ones only.

    Attributes:
        cells: (row, column) of each cell.
        goal: number of the goal's cell.
        next_cell: the cell after each move (in the order of MOVES) from each cell, shape (cells, 4); itself at a wall.
        distance: moves to the goal from each cell, shape (cells,).
    """

    cells: tuple[Cell, ...]
    goal: int
    next_cell: NDArray[np.int32]
    distance: NDArray[np.int32]

    def walls(self, cell: int) -> tuple[str, ...]:
        """The directions in which a cell has a wall."""
        return tuple(name for move, name in enumerate(MOVES) if self.next_cell[cell, move] == cell)

    def number(self, cell: object, purpose: str) -> int:
        """The number of a (row, column).

        Raises:
            ValueError: it is no free cell; the message lists those.
        """
        if isinstance(cell, (Sequence, np.ndarray)) and not isinstance(cell, str) and len(cell) == 2:
            try:
                return self.cells.index((int(cell[0]), int(cell[1])))
            except (TypeError, ValueError):
                pass
        free = " ".join(f"({row}, {column})" for row, column in self.cells)
        raise ValueError(f"{purpose} {cell!r} is no free cell; the free cells (row, column) are: {free}")


def build_maze(layout: str | Sequence[Sequence[int]] | NDArray[np.int_], goal: Cell | None) -> Maze:
    """A maze from the name of a layout or an array of 0 (free) and 1 (wall).

    Raises:
        LmrlError: an unknown name; an array that is no closed maze in which every cell reaches the goal; no goal.
    """
    if isinstance(layout, str):
        if layout not in LAYOUTS:
            raise LmrlError(f"unknown layout {layout!r}; it is one of: {', '.join(LAYOUTS)}, or an array of 0 and 1")
        layout, default_goal = LAYOUTS[layout]
        goal = default_goal if goal is None else goal
    try:
        grid = np.asarray(layout, np.int64)
    except ValueError as error:
        raise LmrlError("a layout is an array of rows of equal length, 0 for free and 1 for wall") from error
    if grid.ndim != 2 or not np.isin(grid, (0, 1)).all() or (grid == 0).sum() < 2:
        raise LmrlError("a layout is a two-dimensional array of 0 (free) and 1 (wall) with at least two free cells")
    if not (grid[[0, -1]].all() and grid[:, [0, -1]].all()):
        raise LmrlError("the outer rows and columns of a layout must be walls")
    if goal is None:
        raise LmrlError("a layout given as an array needs a goal=(row, column) as well")
    cells = tuple((int(row), int(column)) for row, column in np.argwhere(grid == 0))
    number = {cell: i for i, cell in enumerate(cells)}
    next_cell = np.array(
        [
            [number.get((row + down, column + right), number[row, column]) for down, right in MOVES.values()]
            for row, column in cells
        ],
        np.int32,
    )
    maze = Maze(cells, -1, next_cell, np.zeros(len(cells), np.int32))
    goal_number = maze.number(goal, "goal")
    distance = _distances(next_cell, goal_number)
    if (distance < 0).any():
        raise LmrlError(f"the goal {goal} cannot be reached from every free cell of the layout")
    return Maze(cells, goal_number, next_cell, distance)


def _distances(next_cell: NDArray[np.int32], goal: int) -> NDArray[np.int32]:
    """Moves to the goal by breadth-first search; -1 where there is no way. Every move can be taken back."""
    distance = np.full(len(next_cell), -1, np.int32)
    distance[goal] = 0
    frontier = np.array([goal])
    while len(frontier):
        reached = np.unique(next_cell[frontier])
        frontier_distance = distance[frontier[0]]
        frontier = reached[distance[reached] < 0]
        distance[frontier] = frontier_distance + 1
    return distance
