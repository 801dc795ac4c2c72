"""Wordle on arrays: the state is the index of the hidden word, an action the index of a guess."""

from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import Ints, LazyTexts, States, Texts, Transition
from lmrl_data.seeding import stream_of
from lmrl_data.tasks.wordle import rules

INITIAL_TEXT = "Guess the five-letter word. You have 6 tries."
_INITIAL = rules.FEEDBACKS


class WordleGame:
    """The array game of a vocabulary and a feedback rule (see `lmrl_data.game.Game`). Make it with `wordle_game`.

    Attributes:
        matrix: feedback of every guess for every answer, shape (guesses, answers), uint8.
    """

    max_turns = rules.TRIES
    start_stream = stream_of("wordle/start")
    limit_is_terminal = True
    partner = ""
    invalid_reasons: tuple[str, ...] = ("not a word of five letters a-z", "not in the word list")

    def __init__(self, vocabulary: rules.Vocabulary, feedback: str) -> None:
        self.vocabulary = vocabulary
        answers, guesses = self.vocabulary.answers, self.vocabulary.guesses
        self.matrix = rules.feedback_matrix(guesses, answers, feedback)
        self._flat = self.matrix.ravel()
        self._bytes = self.matrix.tobytes()
        self._answers = len(answers)
        self.starts: States = np.arange(len(answers), dtype=np.int32)
        self.first_observation: Ints = np.full(len(answers), _INITIAL, np.int32)
        self.secret_texts: Texts | None = np.array(answers, object)
        spaced = [" ".join(word) for word in guesses]
        self.action_texts = np.array(spaced, object)
        self.action_index = {text: i for i, pair in enumerate(zip(guesses, spaced, strict=True)) for text in pair}
        feedbacks = [" ".join(rules.feedback_letters(feedback)) for feedback in range(rules.FEEDBACKS)]
        replies = [INITIAL_TEXT, "That is not a word of five letters.", "That word is not in the list."]
        self.observation_texts: Texts | LazyTexts = np.array([*feedbacks, *replies], object)
        self._observation_of = {text: number for number, text in enumerate([*feedbacks, *replies])}

    def step(self, state: States, action: Ints) -> Transition:
        """Colour a guess in each episode."""
        usable = action >= 0
        feedback = self._flat.take(np.maximum(action, 0) * np.int64(self._answers) + state)
        observation = np.where(usable, feedback, _INITIAL - action).astype(np.int32, copy=False)
        solved = observation == rules.SOLVED
        return Transition(state, observation, solved.astype(np.float32) - np.float32(1), solved, solved)

    def step_one(self, state: int, action: int) -> tuple[int, int, float, bool, bool]:
        """Colour one guess."""
        if action < 0:
            return state, _INITIAL - action, -1.0, False, False
        feedback = self._bytes[action * self._answers + state]
        if feedback == rules.SOLVED:
            return state, feedback, 0.0, True, True
        return state, feedback, -1.0, False, False

    def invalid(self, observation: Any) -> Any:
        """0 for the reply to a usable guess, else 1 + the number of the reason."""
        return (observation > _INITIAL) * (observation - _INITIAL)

    def interpret(self, action: str) -> int:
        """-2 for five letters that are no word of the list, -1 for anything else."""
        word = action.replace(" ", "")
        spelt = action in (word, " ".join(word))
        return -2 if spelt and len(word) == rules.LETTERS and word.isascii() and word.isalpha() else -1

    def observation_of(self, text: str) -> int | None:
        """The observation that a text stands for."""
        return self._observation_of.get(text)

    def start_options(self, start: int) -> dict[str, Any]:
        """The hidden word."""
        return {"word": self.vocabulary.answers[start]}

    episode_info = start_options

    def start_of(self, word: object) -> int:
        """The state of a hidden word.

        Raises:
            LmrlError: the word is no answer.
        """
        if word not in self.vocabulary.answers:
            some = ", ".join(self.vocabulary.answers[:5])
            raise LmrlError(f"{word!r} cannot be the hidden word; it must be one of {self._answers} answers: {some}, …")
        return self.vocabulary.answers.index(str(word))

    @cached_property
    def _pairs(self) -> tuple[NDArray[np.int32], NDArray[np.uint64]]:
        """For each answer as a guess and each feedback, the row of the set of answers that give it; and the sets."""
        row_of = np.full((self._answers, rules.FEEDBACKS), -1, np.int32)
        seen = [np.unique(feedbacks) for feedbacks in self.matrix[: self._answers]]
        # Filled in place: 70 MB for the full list, which parts that are put together would take twice.
        sets = np.empty((sum(map(len, seen)), -(-self._answers // 64)), np.uint64)
        count = 0
        for guess, feedbacks in enumerate(seen):
            rows = np.arange(count, count + len(feedbacks), dtype=np.int32)
            row_of[guess, feedbacks] = rows
            sets[rows] = rules.pack(self.matrix[guess] == feedbacks[:, None])
            count += len(feedbacks)
        return row_of, sets

    def consistent(self, actions: Ints, observations: Ints) -> NDArray[np.uint64]:
        """The answers that agree with a history, as sets of bits (see `rules.pack`), shape (N, words).

        Args:
            actions: guesses so far, shape (N, t); negative ones say nothing.
            observations: observations so far, shape (N, t + 1); the first is the opening.
        """
        every = rules.pack(np.ones(self._answers, np.bool_))
        candidates = np.broadcast_to(every, (len(actions), len(every))).copy()
        row_of, sets = self._pairs
        for turn in range(actions.shape[1]):
            guess, feedback = actions[:, turn], observations[:, turn + 1]
            known = (guess >= 0) & (guess < self._answers)
            candidates[known] &= sets[row_of[guess[known], feedback[known]]]
            other = np.flatnonzero(guess >= self._answers)
            candidates[other] &= rules.pack(self.matrix[guess[other]] == feedback[other, None])
        return candidates


def wordle_game(vocabulary: str | Path = "default", feedback: str = "game") -> WordleGame:
    """The array game of a vocabulary and a feedback rule.

    Args:
        vocabulary: ``"default"``, ``"full"`` or a path.
        feedback: ``"game"`` or ``"paper"``.

    Raises:
        LmrlError: no such vocabulary or rule.
    """
    if feedback not in rules.FEEDBACK_RULES:
        raise LmrlError(f"unknown feedback rule {feedback!r}; it is one of: {', '.join(rules.FEEDBACK_RULES)}")
    return _cached(rules.load_vocabulary(vocabulary), feedback)


# By the words themselves: a file may have changed since it was read. Bounded: a matrix takes up to 15 MB.
@lru_cache(maxsize=8)
def _cached(vocabulary: rules.Vocabulary, feedback: str) -> WordleGame:
    return WordleGame(vocabulary, feedback)
