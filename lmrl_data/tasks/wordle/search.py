"""Search for the best decision tree of a vocabulary: ``python -m lmrl_data.tasks.wordle.search default``.

The cost of a tree is the number of unsolving guesses, summed over the answers (minus the return). At each set of
possible answers the search tries the `width` guesses of highest entropy, in the order of a lower bound of their cost,
and leaves out what cannot beat the best so far. A width of the whole guess list makes the result the proven optimum:
6,748 for the vocabulary ``default`` takes minutes and gives -1.8125, the same as a width of 20 does in a second.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.tasks.wordle import rules
from lmrl_data.tasks.wordle.game import WordleGame, wordle_game
from lmrl_data.tasks.wordle.trees import fingerprint, remaining_surprise

Members = NDArray[np.int64]


class TreeSearch:
    """Branch and bound over decision trees, with a memory of the sets already solved."""

    def __init__(self, game: WordleGame, width: int) -> None:
        self.game = game
        self.matrix = game.matrix
        self.width = width
        self._solved: dict[tuple[bytes, int], tuple[int, Any]] = {}

    def solve(self, members: Members, tries: int, width: int | None = None) -> tuple[int, Any]:
        """The least cost found for a set of possible answers with some tries left, and its tree."""
        words = self.game.vocabulary.guesses
        size = len(members)
        if size == 1 or tries == 1:
            return tries * (size - 1) if tries == 1 else 0, words[members[0]]
        if size == 2:
            letters = rules.feedback_letters(int(self.matrix[members[0], members[1]]))
            return 1, (words[members[0]], {letters: words[members[1]]})
        key = (members.tobytes(), tries)
        if key not in self._solved:
            self._solved[key] = self._branch(members, tries, width or self.width)
        return self._solved[key]

    def _branch(self, members: Members, tries: int, width: int) -> tuple[int, Any]:
        surprise = 2 * remaining_surprise(self.matrix, members) + 1
        surprise[members] -= 1
        tried = np.argsort(surprise, kind="stable")[:width]
        plans = sorted((self._plan(int(guess), members) for guess in tried), key=lambda plan: plan[0])
        best, best_tree = 10**9, None
        for bound, guess, groups in plans:
            if bound >= best:
                break
            cost, branches = bound, {}
            for feedback, group in groups:
                solved, tree = self.solve(group, tries - 1)
                cost += solved - (len(group) - 1)
                if cost >= best:
                    break
                branches[rules.feedback_letters(feedback)] = tree
            else:
                best, best_tree = cost, (self.game.vocabulary.guesses[guess], branches)
        return best, best_tree

    def _plan(self, guess: int, members: Members) -> tuple[int, int, list[tuple[int, Members]]]:
        """A lower bound of a guess's cost, the guess, and the sets that it leaves, the largest first.

        A set of n answers costs at least n - 1: every answer but one needs an unsolving guess more.
        """
        feedback = self.matrix[guess, members]
        groups = [(int(value), members[feedback == value]) for value in np.unique(feedback) if value != rules.SOLVED]
        groups.sort(key=lambda group: -len(group[1]))
        left = sum(len(group) for _, group in groups)
        return left + sum(len(group) - 1 for _, group in groups), guess, groups


def main() -> None:
    """Search and store the tree beside this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vocabulary", choices=["default", "full"])
    parser.add_argument("--width", type=int, default=20, help="guesses tried at each set")
    parser.add_argument("--root-width", type=int, default=40, help="guesses tried first of all")
    arguments = parser.parse_args()
    game = wordle_game(arguments.vocabulary)
    answers = len(game.vocabulary.answers)
    search = TreeSearch(game, arguments.width)
    cost, root = search.solve(np.arange(answers), rules.TRIES, arguments.root_width)
    folder = Path(__file__).parent / "trees"
    folder.mkdir(exist_ok=True)
    tree = {"answers": answers, "fingerprint": fingerprint(game), "mean_return": -cost / answers, "root": root}
    (folder / f"{arguments.vocabulary}.json").write_text(
        json.dumps(tree, separators=(",", ":")) + "\n", encoding="ascii"
    )
    print(f"{arguments.vocabulary}: mean return {-cost / answers:.4f} over {answers} answers")


if __name__ == "__main__":
    main()
