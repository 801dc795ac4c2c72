"""How good an asker can be: ``python -m lmrl_data.tasks.twenty_questions.search`` prints the bounds.

The cost of a plan is the number of questions that do not win, summed over the objects (minus the return). If any split
of the objects could be asked for, the least cost of n objects would be that of `least_cost`: no asker of an oracle that
says only yes and no can do better. `Tree` always asks the most even question of the table, which gives the most
information. Its cost is the least there can be, so it is optimal and the bound exact.
"""

from functools import cache

import numpy as np
from numpy.typing import NDArray

from lmrl_data.tasks.twenty_questions.table import NO, knowledge_table

Bools = NDArray[np.bool_]


@cache
def least_cost(objects: int) -> int:
    """The least cost of a number of objects if every split can be asked for.

    A question costs each of them 1. A guess costs all but the one that is guessed 1, and leaves one less.
    """
    if objects <= 1:
        return 0
    guess = objects - 1 + least_cost(objects - 1)
    split = min(objects + least_cost(part) + least_cost(objects - part) for part in range(1, objects // 2 + 1))
    return min(guess, split)


class Tree:
    """For every set of objects what to ask next: the most even question, or a guess where that costs less."""

    def __init__(self, yes: Bools) -> None:
        self._yes = yes
        self._plans: dict[bytes, int] = {}

    def plan(self, members: Bools, last: bool = False) -> int:
        """What to do with a set of objects: the number of an attribute, or -1 - the object to guess.

        Args:
            members: which objects are possible, shape (objects,).
            last: whether this is the last question, which only a guess can win.
        """
        count = int(members.sum())
        # With three left, two guesses at worst are as cheap as any question.
        if last or count <= 3:
            return -1 - int(members.argmax())
        key = np.packbits(members).tobytes()
        if key not in self._plans:
            sizes = self._yes[:, members].sum(axis=1)
            self._plans[key] = int(np.minimum(sizes, count - sizes).argmax())
        return self._plans[key]

    def cost(self, members: Bools) -> int:
        """What the tree costs a set of objects."""
        count = int(members.sum())
        if count == 0:
            return 0
        plan = self.plan(members)
        if plan < 0:
            rest = members.copy()
            rest[-1 - plan] = False
            return count - 1 + self.cost(rest)
        yes = self._yes[plan]
        return count + self.cost(members & yes) + self.cost(members & ~yes)


@cache
def best_tree() -> Tree:
    """The tree of the task's table."""
    return Tree(knowledge_table().values > NO)


def main() -> None:
    """Print the bounds."""
    count = len(knowledge_table().names)
    print(f"no asker can do better than a mean return of {-least_cost(count) / count:.4f}")
    print(f"the tree attains {-best_tree().cost(np.ones(count, np.bool_)) / count:.4f}")


if __name__ == "__main__":
    main()
