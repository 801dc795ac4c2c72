"""Wordle's scripted policies. Each is a pure function of seeds and histories (`lmrl_data.game.ArrayPolicy`)."""

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import ArrayPolicy, Ints
from lmrl_data.policy import GamePolicy
from lmrl_data.seeding import U64, below, stream_of, turn_hashes, uniform
from lmrl_data.tasks.wordle import rules
from lmrl_data.tasks.wordle.game import WordleGame, wordle_game
from lmrl_data.tasks.wordle.trees import TreePolicy, best_guess

OPENING_WORD = "crane"

_CHOICE = stream_of("wordle/policy/choice")
_WORD = stream_of("wordle/policy/word")


def _draw_consistent(game: WordleGame, words: U64, actions: Ints, observations: Ints) -> Ints:
    """One of the answers that agree with the history, each as likely as the others."""
    candidates = game.consistent(actions, observations)
    sizes = np.bitwise_count(candidates).sum(axis=1)
    if not sizes.all():
        raise LmrlError("no answer agrees with the feedback; make the policy with the environment's options")
    return rules.nth_member(candidates, below(words, sizes)).astype(np.int32)


class RandomPolicy:
    """Any word of the guess list."""

    name = "random"

    def __init__(self, game: WordleGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        hashes = turn_hashes(seeds, actions.shape[1], _WORD)
        return below(hashes, len(self.game.action_texts)).astype(np.int32)


class MixturePolicy:
    """With probability `consistent` an answer that agrees with all feedback, else any answer (paper, appendix: 1/3)."""

    def __init__(self, game: WordleGame, name: str, consistent: float) -> None:
        self.game = game
        self.name = name
        self.consistent = consistent

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        turn = actions.shape[1]
        words = turn_hashes(seeds, turn, _WORD)
        chosen = below(words, len(self.game.vocabulary.answers)).astype(np.int32)
        rows = np.flatnonzero(uniform(turn_hashes(seeds, turn, _CHOICE)) < self.consistent)
        chosen[rows] = _draw_consistent(self.game, words[rows], actions[rows], observations[rows])
        return chosen


class RepeatPolicy:
    """A consistent answer at first; later, every second time, a guess that it has already made."""

    name = "repeat"

    def __init__(self, game: WordleGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        turn = actions.shape[1]
        words = turn_hashes(seeds, turn, _WORD)
        chosen = _draw_consistent(self.game, words, actions, observations)
        if turn:
            rows = np.flatnonzero(uniform(turn_hashes(seeds, turn, _CHOICE)) < 0.5)
            earlier = actions[rows, below(words[rows], turn)]
            chosen[rows] = np.where(earlier >= 0, earlier, chosen[rows])
        return chosen


class NeverConsistentPolicy:
    """An answer that the feedback has already ruled out; any answer while none is."""

    name = "never-consistent"

    def __init__(self, game: WordleGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        words = turn_hashes(seeds, actions.shape[1], _WORD)
        size = len(self.game.vocabulary.answers)
        every = rules.pack(np.ones(size, np.bool_))
        excluded = every & ~self.game.consistent(actions, observations)
        excluded[~excluded.any(axis=1)] = every
        sizes = np.bitwise_count(excluded).sum(axis=1)
        return rules.nth_member(excluded, below(words, sizes)).astype(np.int32)


class StartWordPolicy:
    """The same opening word always, then consistent answers."""

    name = "start-word"

    def __init__(self, game: WordleGame) -> None:
        self.game = game
        # A vocabulary of the user's may lack the word; its first answer then opens.
        self.opening = game.action_index.get(OPENING_WORD, 0)

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        if actions.shape[1] == 0:
            return np.full(len(seeds), self.opening, np.int32)
        words = turn_hashes(seeds, actions.shape[1], _WORD)
        return _draw_consistent(self.game, words, actions, observations)


class EntropyPolicy:
    """The guess, of the whole list, whose feedback has the highest entropy over the answers that are left."""

    name = "entropy"

    def __init__(self, game: WordleGame) -> None:
        self.game = game
        self._known: dict[tuple[bytes, bool], int] = {}

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A word per episode."""
        last = actions.shape[1] == rules.TRIES - 1
        candidates = self.game.consistent(actions, observations)
        # Far fewer different sets than episodes: each is worked out once.
        different, inverse = np.unique(candidates, axis=0, return_inverse=True)
        guesses = np.array([self._guess(bits, last) for bits in different], np.int32)
        return guesses[inverse.ravel()]

    def _guess(self, bits: NDArray[np.uint64], last: bool) -> int:
        key = (bits.tobytes(), last)
        if key not in self._known:
            members = np.flatnonzero(rules.unpack(bits, len(self.game.vocabulary.answers)))
            self._known[key] = best_guess(self.game.matrix, members, last)
        return self._known[key]


_POLICIES: dict[str, Callable[[WordleGame], ArrayPolicy]] = {
    "random": RandomPolicy,
    "mixture": partial(MixturePolicy, name="mixture", consistent=1 / 3),
    "consistent": partial(MixturePolicy, name="consistent", consistent=1.0),
    "repeat": RepeatPolicy,
    "never-consistent": NeverConsistentPolicy,
    "start-word": StartWordPolicy,
    "entropy": EntropyPolicy,
    "optimal": TreePolicy,
}


def _make(name: str, vocabulary: str | Path = "default", feedback: str = "game") -> GamePolicy:
    game = wordle_game(vocabulary, feedback)
    return GamePolicy(game, _POLICIES[name](game))


random, mixture, consistent, repeat, never_consistent, start_word, entropy, optimal = (
    partial(_make, name) for name in _POLICIES
)
