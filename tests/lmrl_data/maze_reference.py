"""The default maze's facts, and its rules and searches written another way than in the package."""

from collections import deque
from functools import cache
from typing import Any

Cell = tuple[int, int]

FREE = {
    *((1, column) for column in (*range(1, 6), *range(7, 12))),
    *((row, column) for row in (2, 3, 4) for column in (3, 9)),
    *((5, column) for column in range(3, 10)),
    *((row, 6) for row in (6, 7, 8)),
}
GOAL = (8, 6)
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
UMAZE = {(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (3, 1)}
CONFIGS = ("fully_observed", "partially_observed")


def moved(free: set[Cell], cell: Cell, name: str) -> Cell:
    """The cell after a move, as the rules say it."""
    down, right = STEPS[name]
    to = (cell[0] + down, cell[1] + right)
    return to if to in free else cell


def walls(free: set[Cell], cell: Cell) -> str:
    return f"Walls: {', '.join(name for name in STEPS if moved(free, cell, name) == cell) or 'none'}."


def distances(free: set[Cell], goal: Cell) -> dict[Cell, int]:
    """Moves to the goal from each cell, breadth first."""
    found, waiting = {goal: 0}, deque([goal])
    while waiting:
        cell = waiting.popleft()
        for name in STEPS:
            near = moved(free, cell, name)
            if near not in found:
                found[near] = found[cell] + 1
                waiting.append(near)
    return found


def least_total(free: set[Cell], goal: Cell) -> int:
    """The least number of moves, summed over all starts, of an agent that sees only walls: expectimax over histories.

    What is known is the list of cells that the equally likely starts have led to. An agent that has not arrived after
    `limit` moves is out; a limit above any sensible detour does not bind.
    """
    limit = 40

    @cache
    def total(cells: tuple[Cell, ...], left: int) -> float:
        if left == 0:
            return float("inf")
        best = float("inf")
        for name in STEPS:
            after = [moved(free, cell, name) for cell in cells]
            seen: dict[str, list[Cell]] = {}
            for cell in after:
                if cell != goal:
                    seen.setdefault(walls(free, cell), []).append(cell)
            cost = float(len(cells))
            for group in seen.values():
                cost += total(tuple(sorted(group)), left - 1)
                if cost >= best:
                    break
            best = min(best, cost)
        return best

    groups: dict[str, list[Cell]] = {}
    for cell in sorted(free - {goal}):
        groups.setdefault(walls(free, cell), []).append(cell)
    return int(sum(total(tuple(group), limit) for group in groups.values()))


def start(env: Any, cell: Cell, goal: Cell | None = None) -> str:
    observation, _ = env.reset(seed=0, options={"start": cell} | ({"goal": goal} if goal else {}))
    return str(observation)


def start_of(observation: str) -> Cell:
    """The position that a fully observed text names."""
    words = observation.replace(",", " ").replace(".", " ").split()
    here = words.index("You")
    return int(words[here + 4]), int(words[here + 6])
