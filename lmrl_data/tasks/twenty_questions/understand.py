"""What a question means: from a line of English to the answer for each object."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lmrl_data.language.stems import english
from lmrl_data.tasks.twenty_questions.lexicon import lexicon
from lmrl_data.tasks.twenty_questions.named import other_things, things_named
from lmrl_data.tasks.twenty_questions.phrase_tree import BREAK, OBJECT
from lmrl_data.tasks.twenty_questions.question import Question, read_question
from lmrl_data.tasks.twenty_questions.reading import read, sincere
from lmrl_data.tasks.twenty_questions.table import NO, SOMETIMES, YES, Values, knowledge_table
from lmrl_data.tasks.twenty_questions.yardsticks import names

ANSWER_NO, ANSWER_YES, ANSWER_WIN = np.uint8(0), np.uint8(1), np.uint8(2)
# How many of the words of a question about something unheard of must be plain English.
_SHARE = 0.6


class Answers(NamedTuple):
    """How a question is answered.

    Attributes:
        row: `ANSWER_NO`, `ANSWER_YES` or `ANSWER_WIN` for each object; None for what is not understood.
        reading: what it was taken for, or why it was not understood; for people to read.
    """

    row: NDArray[np.uint8] | None
    reading: str


@lru_cache(maxsize=50_000)
def understand(text: str) -> Answers:
    """The answers to a line of text."""
    guess = names().guess(text)
    if guess is not None:
        return _guessed(guess)
    question = read_question(text)
    if isinstance(question, str):
        return Answers(None, question)
    guess = names().guess(" ".join(question.words))  # "is the vehicle a bus"
    if guess is not None:
        return _guessed(guess)
    mended = question._replace(words=lexicon().mended(question.words))
    row, reading = things_named(mended) or _read(question)
    if row is None:
        return Answers(None, reading)
    return Answers((row >= (YES if question.universal else SOMETIMES)).astype(np.uint8), reading)


def _guessed(guess: int) -> Answers:
    """The answers to a direct guess: no for all others, unless the name is a colour or a class of theirs too."""
    table = knowledge_table()
    row = np.array([table.names[guess] in classes for classes in table.is_a], np.uint8) * ANSWER_YES
    colour = table.rows.get(table.names[guess].lower())
    if colour is not None and table.attributes[colour].kind == "colour":
        row[table.values[colour] > NO] = ANSWER_YES
    row[guess] = ANSWER_WIN
    return Answers(row, f"a guess: {table.names[guess]}")


def _read(question: Question) -> tuple[Values | None, str]:
    """What holds of each object; nothing, where a question in plain words asks for what the table says of none."""
    words = lexicon()
    row, reading = read(words, words.mended(sincere(question.words)), question)
    if row is None and question.context != question.words:
        row, _ = read(words, words.mended(sincere(question.context)), question)
    if row is None:
        return _unheard_of(question), f"nothing known of: {reading}"
    return row, reading


def _unheard_of(question: Question) -> Values | None:
    """No for every object, if a question about the thing is in plain English."""
    words = lexicon()
    plain, _ = words.plain(words.mended(sincere(question.words)))
    content = [word.removesuffix(OBJECT) for word in plain if word != BREAK and words.weight(word) == 1]
    known = sum(word in english() or word in words.known or other_things().find([word]) is not None for word in content)
    if not question.whole or not content or known < _SHARE * len(content):
        return None
    return np.full(len(knowledge_table().names), NO)
