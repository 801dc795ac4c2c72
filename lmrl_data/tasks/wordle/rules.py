"""Wordle's rules: word lists, feedback, and sets of words as bits. No text, no environment.

A feedback is a number in [0, 243): five base-3 digits, the first letter's most significant; 0 = not there (b),
1 = elsewhere (y), 2 = right place (g).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError

LETTERS = 5
TRIES = 6
FEEDBACKS = 3**LETTERS
SOLVED = FEEDBACKS - 1
_AT_A_TIME = 64
COLOURS = "byg"
FEEDBACK_RULES = ("game", "paper")
ANSWER_FILES = {"default": "answers.txt", "full": "answers_full.txt"}


@dataclass(frozen=True)
class Vocabulary:
    """The words of a game. The answers come first in `guesses`, so an answer has the same index in both."""

    answers: tuple[str, ...]
    guesses: tuple[str, ...]


def load_vocabulary(name: str | Path) -> Vocabulary:
    """A vocabulary: ``"default"``, ``"full"``, or the path of a file with a word a line.

    The words of a file are both the answers and the guesses.

    Raises:
        LmrlError: no such file, or a file that is not a list of different five-letter words.
    """
    if isinstance(name, str) and name in ANSWER_FILES:
        return _own_vocabulary(name)
    try:
        answers = Path(name).read_text("utf-8").lower().split()
    except (OSError, ValueError, TypeError) as error:
        raise LmrlError(
            f"cannot read the vocabulary {name!r} ({error}); give 'default', 'full' or a UTF-8 file with a word a line"
        ) from error
    for word in answers:
        if not (len(word) == LETTERS and word.isascii() and word.isalpha()):
            raise LmrlError(f"the vocabulary {name!r} has {word[:40]!r}; every word must have five letters a-z")
    if len(set(answers)) != len(answers) or len(answers) < 2:
        raise LmrlError(f"the vocabulary {name!r} must have at least two words and none of them twice")
    return Vocabulary(tuple(answers), tuple(answers))


@cache
def _own_vocabulary(name: str) -> Vocabulary:
    words = files("lmrl_data.tasks.wordle") / "words"
    answers = (words / ANSWER_FILES[name]).read_text("utf-8").split()
    others = sorted(set((words / "guesses.txt").read_text("utf-8").split()) - set(answers))
    return Vocabulary(tuple(answers), (*answers, *others))


def _letters(words: Sequence[str]) -> NDArray[np.uint8]:
    return np.frombuffer("".join(words).encode("ascii"), np.uint8).reshape(len(words), LETTERS)


def feedback_matrix(guesses: Sequence[str], hidden: Sequence[str], rule: str = "game") -> NDArray[np.uint8]:
    """The feedback of every guess for every hidden word, shape (guesses, hidden).

    Args:
        guesses: five-letter lower-case words.
        hidden: likewise.
        rule: ``"game"`` colours repeated letters as the real game does: greens first, then yellows from left to right
            while copies of the letter remain. ``"paper"`` colours every letter yellow that occurs anywhere.
    """
    letters, answers = _letters(guesses), _letters(hidden)[None, :, :]
    feedback = np.empty((len(guesses), len(hidden)), np.uint8)
    # Some guesses at a time: what is between stays in the processor's cache, and small.
    for first in range(0, len(guesses), _AT_A_TIME):
        rows = slice(first, first + _AT_A_TIME)
        feedback[rows] = _feedback(letters[rows, None, :], answers, rule)
    return feedback


def _feedback(g: NDArray[np.uint8], h: NDArray[np.uint8], rule: str) -> NDArray[np.uint8]:
    """`feedback_matrix` of letters, shapes (guesses, 1, 5) and (1, hidden, 5)."""
    green = [g[..., i] == h[..., i] for i in range(LETTERS)]
    feedback = np.zeros((len(g), h.shape[1]), np.uint8)
    for i in range(LETTERS):
        if rule == "paper":
            yellow = np.logical_or.reduce([g[..., i] == h[..., j] for j in range(LETTERS)])
        else:
            # Copies of letter i in the hidden word that no green takes, against earlier letters that want one.
            left = sum(((g[..., i] == h[..., j]) & ~green[j]).view(np.uint8) for j in range(LETTERS))
            wanted = sum(((g[..., i] == g[..., j]) & ~green[j]).view(np.uint8) for j in range(i))
            yellow = wanted < left
        feedback = feedback * np.uint8(3) + np.where(green[i], np.uint8(2), yellow.view(np.uint8))
    return feedback


def feedback_letters(feedback: int) -> str:
    """A feedback as letters, such as ``"bbyyg"``."""
    return "".join(COLOURS[feedback // 3**place % 3] for place in reversed(range(LETTERS)))


def pack(members: NDArray[np.bool_]) -> NDArray[np.uint64]:
    """Sets as bits: shape (…, n) of bool to (…, ceil(n / 64)); member i is bit i % 64 of word i // 64."""
    padded = np.zeros((*members.shape[:-1], -(-members.shape[-1] // 64) * 64), np.bool_)
    padded[..., : members.shape[-1]] = members
    return np.packbits(padded, axis=-1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(bits: NDArray[np.uint64], size: int) -> NDArray[np.bool_]:
    """The inverse of `pack`: shape (…, words) to (…, size) of bool."""
    as_bytes = np.ascontiguousarray(bits.astype("<u8", copy=False)).view(np.uint8)
    return np.unpackbits(as_bytes, axis=-1, count=size, bitorder="little").view(np.bool_)


def nth_member(bits: NDArray[np.uint64], n: NDArray[np.int64]) -> NDArray[np.int64]:
    """The n-th smallest member of each set (counting from 0); shapes (N, words) and (N,). Needs n < size of the set."""
    totals = np.bitwise_count(bits).cumsum(axis=1, dtype=np.int64)
    word_index = (totals <= n[:, None]).sum(axis=1)
    rows = np.arange(len(bits))
    word = bits[rows, word_index]
    rank = n - np.where(word_index > 0, totals[rows, word_index - 1], 0)
    position = np.zeros(len(bits), np.uint64)
    for width in (32, 16, 8, 4, 2, 1):  # halve the word: go to the upper half when the lower one has too few members
        lower = (word >> position) & np.uint64((1 << width) - 1)
        inside = np.bitwise_count(lower).astype(np.int64)
        upper = rank >= inside
        rank = np.where(upper, rank - inside, rank)
        position = np.where(upper, position + np.uint64(width), position)
    members: NDArray[np.int64] = word_index * 64 + position.astype(np.int64)
    return members
