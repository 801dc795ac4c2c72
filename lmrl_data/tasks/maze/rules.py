"""The maze's rules: layouts, moves as a table, shortest paths, and optimal play with the position unknown."""

from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError

Cell = tuple[int, int]
Grid = tuple[tuple[int, ...], ...]

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
LAYOUTS: dict[str, tuple[Grid, Cell]] = {
    "double_t": (DOUBLE_T, (8, 6)),
    "umaze": (UMAZE, (1, 1)),
}


def as_cell(value: Any) -> Cell | None:
    """A (row, column) in plain integers; None for anything that is no pair of integers."""
    try:
        row, column = (index(part) for part in value)
    except (TypeError, ValueError):
        return None
    return row, column


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

    def number(self, cell: object, what: str) -> int:
        """The number of a (row, column).

        Raises:
            LmrlError: it is no free cell; the message lists those.
        """
        pair = as_cell(cell)
        if pair in self.cells:
            return self.cells.index(pair)
        free = " ".join(f"({row}, {column})" for row, column in self.cells)
        raise LmrlError(f"{what} {cell!r} is no free cell; the free cells (row, column) are: {free}")


def read_layout(layout: object) -> Grid:
    """A layout from its name or from any kind of array of 0 (free) and 1 (wall).

    Raises:
        LmrlError: an unknown name, or no such array.
    """
    if isinstance(layout, str):
        if layout not in LAYOUTS:
            raise LmrlError(f"unknown layout {layout!r}; it is one of: {', '.join(LAYOUTS)}, or an array of 0 and 1")
        return LAYOUTS[layout][0]
    try:
        grid = np.asarray(layout)
    except ValueError as error:
        raise LmrlError("a layout is an array of rows of equal length, 0 for free and 1 for wall") from error
    if grid.ndim != 2 or grid.dtype.kind not in "iufb" or not np.isin(grid, (0, 1)).all() or (grid == 0).sum() < 2:
        raise LmrlError("a layout is a two-dimensional array of 0 (free) and 1 (wall) with at least two free cells")
    return tuple(map(tuple, grid.astype(int).tolist()))


def build_maze(layout: Grid, goal: Cell) -> Maze:
    """A maze from a layout and a goal.

    Raises:
        LmrlError: the layout is not closed, the goal is no free cell, or it cannot be reached from one.
    """
    grid = np.asarray(layout)
    if not (grid[[0, -1]].all() and grid[:, [0, -1]].all()):
        raise LmrlError("the outer rows and columns of a layout must be walls")
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
