"""Decision trees for Wordle: the greedy guess, and play by the best tree that `search` found."""

import json
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import Ints
from lmrl_data.seeding import U64
from lmrl_data.tasks.wordle import rules
from lmrl_data.tasks.wordle.game import WordleGame

# n log2 n in fixed point: sums of integers give the same order of guesses on every machine.
_SURPRISE_UNIT = 2**20


@cache
def _surprise(size: int) -> NDArray[np.int64]:
    n = np.arange(size + 1, dtype=np.float64)
    return np.rint(n * np.log2(np.maximum(n, 1)) * _SURPRISE_UNIT).astype(np.int64)


def remaining_surprise(matrix: NDArray[np.uint8], members: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum over feedbacks of n log2 n, n being the answers left after it, for each guess: less is better."""
    guesses, size = len(matrix), len(members)
    cells = matrix[:, members].astype(np.int64) + np.arange(guesses)[:, None] * rules.FEEDBACKS
    counts = np.bincount(cells.ravel(), minlength=guesses * rules.FEEDBACKS).reshape(guesses, rules.FEEDBACKS)
    surprise: NDArray[np.int64] = _surprise(size)[counts].sum(axis=1)
    return surprise


def best_guess(matrix: NDArray[np.uint8], members: NDArray[np.int64], last: bool) -> int:
    """The guess of highest entropy over the answers left; a possible answer wins ties, then the first in the list.

    Args:
        matrix: as in `WordleGame`.
        members: indices of the answers that are left, ascending.
        last: whether it is the last try, when only a possible answer can help.
    """
    if last or len(members) <= 2:
        return int(members[0])
    surprise = 2 * remaining_surprise(matrix, members) + 1
    surprise[members] -= 1
    return int(surprise.argmin())


class TreePolicy:
    """Play by the stored decision tree, the best that `lmrl_data.tasks.wordle.search` found for the vocabulary."""

    name = "optimal"

    def __init__(self, game: WordleGame) -> None:
        self.game = game
        stored = files("lmrl_data.tasks.wordle") / "trees"
        for name in ("default", "full"):
            found = stored / f"{name}.json"
            if found.is_file():
                tree = json.loads(found.read_text("utf-8"))
                if tree["answers"] == len(game.vocabulary.answers) and tree["fingerprint"] == fingerprint(game):
                    self._guess, self._next = _flatten(game, tree["root"])
                    return
        raise LmrlError(
            "policy 'optimal' is stored for the vocabularies 'default' and 'full' with feedback 'game' only; "
            "policy 'entropy' plays any vocabulary, and lmrl_data.tasks.wordle.search finds a tree for one"
        )

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode; only games that the policy played from the start are in its tree."""
        node = np.zeros(len(seeds), np.int32)
        for turn in range(actions.shape[1]):
            if (self._guess[node] != actions[:, turn]).any():
                raise LmrlError("policy 'optimal' continues only games that it played itself; 'entropy' continues any")
            node = self._next[node, observations[:, turn + 1]]
        return self._guess[node]


def fingerprint(game: WordleGame) -> str:
    """A digest of the words and the feedback rule that a tree is made for."""
    import hashlib

    digest = hashlib.sha256(" ".join(game.vocabulary.guesses).encode("ascii"))
    digest.update(game.matrix.tobytes())
    return digest.hexdigest()[:16]


def _flatten(game: WordleGame, root: Any) -> tuple[Ints, Ints]:
    """A tree as arrays: the guess of each node, and the node after each feedback (-1: none)."""
    index = {word: i for i, word in enumerate(game.vocabulary.guesses)}
    guess: list[int] = []
    following: list[NDArray[np.int32]] = []

    def add(node: Any) -> int:
        number = len(guess)
        # A leaf is its word; an inner node a word and the nodes after each feedback.
        word, branches = (node, {}) if isinstance(node, str) else node
        guess.append(index[word])
        following.append(np.full(rules.FEEDBACKS, -1, np.int32))
        for letters, branch in branches.items():
            feedback = int(letters.translate(str.maketrans(rules.COLOURS, "012")), 3)
            following[number][feedback] = add(branch)
        return number

    add(root)
    return np.array(guess, np.int32), np.stack(following)
