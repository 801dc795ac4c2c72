"""The scripted askers. Each is a pure function of seeds and histories (`lmrl_data.game.ArrayPolicy`)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import ArrayPolicy, Bools, Ints
from lmrl_data.policy import GamePolicy
from lmrl_data.seeding import U64, below, stream_of, turn_hashes, uniform
from lmrl_data.tasks.twenty_questions.game import MAX_TURNS, TwentyQuestionsGame, twenty_questions_game
from lmrl_data.tasks.twenty_questions.search import best_tree
from lmrl_data.tasks.twenty_questions.table import KINDS, NO

_CHOICE = stream_of("twenty-questions/policy/choice")
_PICK = stream_of("twenty-questions/policy/pick")
_WORDING = stream_of("twenty-questions/policy/wording")
_MEMORY = stream_of("twenty-questions/policy/memory")

# What a person asks about, by how far the game has come: the general first, then what narrows it down.
_STAGES = (
    ("category",),
    ("category", "place", "use", "size", "material", "life", "food", "power"),
    tuple(KINDS),
)


class Wordings:
    """The actions with fixed wordings, by what they mean."""

    def __init__(self, game: TwentyQuestionsGame) -> None:
        self.game = game
        self._first_question, self._questions = _groups(game.asked, len(game.table.attributes))
        self._first_guess, self._guesses = _groups(game.guessed, len(game.table.names))

    def question(self, attributes: NDArray[np.int64], hashes: U64) -> Ints:
        """An action that asks for each attribute, in a wording drawn with the hash."""
        return (self._first_question[attributes] + below(hashes, self._questions[attributes])).astype(np.int32)

    def guess(self, objects: NDArray[np.int64], hashes: U64) -> Ints:
        """An action that guesses each object, in a wording drawn with the hash."""
        return (self._first_guess[objects] + below(hashes, self._guesses[objects])).astype(np.int32)


def _groups(labels: Ints, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The first place of each label in an array where equal labels stand together, and how often each comes."""
    sizes = np.bincount(labels[labels >= 0], minlength=count).astype(np.int64)
    places = np.flatnonzero(labels >= 0)
    return places[0] + np.concatenate([[0], sizes.cumsum()[:-1]]), sizes


def possible(game: TwentyQuestionsGame, actions: Ints, observations: Ints, remembered: Bools | None = None) -> Bools:
    """Which objects agree with all answers so far, shape (N, objects).

    Args:
        game: the game.
        actions: questions so far, shape (N, t); negative ones say nothing.
        observations: what was said, shape (N, t + 1).
        remembered: which of the answers are taken into account, shape (N, t); None for all.
    """
    agree = np.ones((len(actions), len(game.starts)), np.bool_)
    for turn in range(actions.shape[1]):
        known = actions[:, turn] >= 0
        if remembered is not None:
            known &= remembered[:, turn]
        rows = np.flatnonzero(known)
        heard = (observations[rows, turn + 1] - 1).astype(np.uint8)
        agree[rows] &= game.answers[actions[rows, turn]] == heard[:, None]
    return agree


def _drawn(allowed: Bools, hashes: U64) -> NDArray[np.int64]:
    """One of the columns that are allowed in each row, each as likely as the others; 0 where none is."""
    counts = allowed.cumsum(axis=1, dtype=np.int32)
    chosen = below(hashes, counts[:, -1])
    column: NDArray[np.int64] = np.minimum((counts <= chosen[:, None]).sum(axis=1), allowed.shape[1] - 1)
    return column


class RandomPolicy:
    """Any of the questions and guesses with fixed wordings."""

    name = "random"

    def __init__(self, game: TwentyQuestionsGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A question per episode."""
        hashes = turn_hashes(seeds, actions.shape[1], _PICK)
        return below(hashes, len(self.game.action_texts)).astype(np.int32)


class OptimalPolicy:
    """Asks what gives the most information over the table, in varying words; no asker does better (see `search`)."""

    name = "optimal"

    def __init__(self, game: TwentyQuestionsGame) -> None:
        self.game = game
        self.wordings = Wordings(game)
        self.tree = best_tree()

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A question per episode."""
        candidates = possible(self.game, actions, observations)
        if not candidates.any(axis=1).all():
            raise LmrlError("no object agrees with the answers; make the policy for the environment's oracle")
        packed = np.packbits(candidates, axis=1)
        different, inverse = np.unique(packed, axis=0, return_inverse=True)
        last = actions.shape[1] == MAX_TURNS - 1
        sets = np.unpackbits(different, axis=1, count=candidates.shape[1]).astype(np.bool_)
        plans = [self.tree.plan(members, last) for members in sets]
        chosen = np.array(plans, np.int64)[inverse.ravel()]
        hashes = turn_hashes(seeds, actions.shape[1], _WORDING)
        asks = chosen >= 0
        question = self.wordings.question(np.where(asks, chosen, 0), hashes)
        return np.where(asks, question, self.wordings.guess(np.where(asks, 0, -1 - chosen), hashes))


class PersonPolicy:
    """Asks as people do: from the general to the special, with what it remembers, and guesses when few are left.

    Attributes:
        memory: the probability with which an answer is taken into account, drawn once per answer.
        guess_below: with at most so many objects in mind it guesses one of them.
        rash: the probability of a guess at any turn after the first two.
        repeat: the probability of asking again what has been asked, in other words.
    """

    def __init__(
        self, game: TwentyQuestionsGame, name: str, *, memory: float, guess_below: int, rash: float, repeat: float
    ) -> None:
        self.game = game
        self.name = name
        self.memory, self.guess_below, self.rash, self.repeat = memory, guess_below, rash, repeat
        self.wordings = Wordings(game)
        self._yes = (game.table.values > NO).astype(np.float32)
        kinds = np.array([KINDS.index(attribute.kind) for attribute in game.table.attributes])
        self._stages = [np.isin(kinds, [KINDS.index(kind) for kind in stage]) for stage in _STAGES]

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A question per episode."""
        turn = actions.shape[1]
        choice, pick = turn_hashes(seeds, turn, _CHOICE), turn_hashes(seeds, turn, _PICK)
        wording = turn_hashes(seeds, turn, _WORDING)
        candidates = self._in_mind(seeds, actions, observations)
        left = candidates.sum(axis=1)
        wish = uniform(choice)
        guesses = (left <= self.guess_below) | ((wish < self.rash) & (turn > 1)) | (turn == MAX_TURNS - 1)
        asked = np.where(actions >= 0, self.game.asked[np.maximum(actions, 0) % len(self.game.asked)], -1)
        question = self._question(candidates, asked, pick, turn)
        chosen = np.where(
            guesses,
            self.wordings.guess(_drawn(candidates, pick), wording),
            self.wordings.question(np.maximum(question, 0), wording),
        )
        again = (wish >= 1 - self.repeat) & ~guesses & (asked >= 0).any(axis=1)
        if again.any():
            rows = np.flatnonzero(again)
            earlier = _drawn(asked[rows] >= 0, pick[rows])
            chosen[rows] = self.wordings.question(asked[rows, earlier].astype(np.int64), wording[rows])
        return chosen.astype(np.int32)

    def _in_mind(self, seeds: U64, actions: Ints, observations: Ints) -> Bools:
        """The objects that agree with the answers that are remembered; never those that were guessed in vain."""
        turns = actions.shape[1]
        remembered = np.ones(actions.shape, np.bool_)
        for turn in range(turns):
            guess = self.game.guessed[np.maximum(actions[:, turn], 0) % len(self.game.guessed)] >= 0
            remembered[:, turn] = guess | (uniform(turn_hashes(seeds, turn, _MEMORY)) < self.memory)
        return possible(self.game, actions, observations, remembered)

    def _question(self, candidates: Bools, asked: Ints, hashes: U64, turn: int) -> NDArray[np.int64]:
        """One of the questions of the stage that split the objects in mind well, not asked before."""
        count = candidates.sum(axis=1, keepdims=True).astype(np.float32)
        yes = candidates.astype(np.float32) @ self._yes.T / np.maximum(count, 1)
        balance = np.minimum(yes, 1 - yes)
        rows = np.arange(len(candidates))
        for column in range(asked.shape[1]):
            known = asked[:, column] >= 0
            balance[rows[known], asked[known, column]] = 0
        stage = self._stages[0 if turn < 3 else 1 if turn < 8 else 2]
        staged = np.where(stage, balance, 0)
        usable = staged.max(axis=1) > 0.15
        staged[~usable] = balance[~usable]
        good = staged >= 0.7 * staged.max(axis=1, keepdims=True)
        return _drawn(good & (staged > 0), hashes)


_POLICIES: dict[str, Callable[[TwentyQuestionsGame], ArrayPolicy]] = {
    "random": RandomPolicy,
    "person": partial(PersonPolicy, name="person", memory=0.8, guess_below=2, rash=0.03, repeat=0.05),
    "forgetful": partial(PersonPolicy, name="forgetful", memory=0.25, guess_below=3, rash=0.1, repeat=0.15),
    "repetitive": partial(PersonPolicy, name="repetitive", memory=0.5, guess_below=2, rash=0.03, repeat=0.6),
    "early-guesser": partial(PersonPolicy, name="early-guesser", memory=0.3, guess_below=20, rash=0.4, repeat=0.0),
    "optimal": OptimalPolicy,
}


def _make(name: str, oracle: str = "knowledge") -> GamePolicy:
    game = twenty_questions_game()
    assert game is not None
    return GamePolicy(game, _POLICIES[name](game))


random, person, forgetful, repetitive, early_guesser, optimal = (partial(_make, name) for name in _POLICIES)
