"""Twenty Questions on arrays: the state is the secret object, an action a question with a row of answers."""

import threading
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import Ints, LazyTexts, States, Texts, Transition
from lmrl_data.seeding import stream_of
from lmrl_data.tasks.twenty_questions.table import NO, Table, knowledge_table
from lmrl_data.tasks.twenty_questions.understand import ANSWER_NO, ANSWER_WIN, ANSWER_YES, understand
from lmrl_data.text import normalise

MAX_TURNS = 20
KNOWLEDGE = "knowledge-1"

OPENING_TEXT = "I am thinking of an object. You have 20 questions to find out what it is; I answer yes or no."
NO_TEXT, YES_TEXT, WIN_TEXT = "No.", "Yes.", "Yes! That is it, you have found it."
# Why a line is not answered, and what is said to it.
NOT_ASKED = {
    "nothing was asked": "I am listening. Ask me something that I can answer with yes or no.",
    "not a yes/no question about the object": "I can only answer yes or no. Please ask such a question about it.",
    "not understood": "I am not sure what you mean. Please ask it as another yes/no question.",
}
_REASON_OF = {"empty": -1, "open": -2, "none": -2}
_OPENING, _FIRST_ANSWER, _FIRST_REFUSAL = 0, 1, 4
_WIN = int(ANSWER_WIN)

GUESSES = ("Is it {}?", "Could it be {}?", "I think it is {}.", "Is the object {}?", "My guess is {}.", "{}?")
PLURAL_GUESSES = (
    "Are they {}?", "Could it be {}?", "I think they are {}.", "Is the object {}?", "My guess is {}.", "{}?"
)  # fmt: skip
# Objects that one speaks of without an article.
_MASS = frozenset("Paper Toothpaste Broccoli Spinach Corn Celery Glue Lego".split())

# Rows of answers to free questions that are kept at a time; an older one makes room for a new one.
FREE_ROWS = 16_384


class TwentyQuestionsGame:
    """The array game of the knowledge table (see `lmrl_data.game.Game`). Make it with `twenty_questions_game`.

    An action below `len(action_texts)` is a question with a fixed wording: each wording of each attribute, and direct
    guesses of each object. Any other question is worked out over all objects at once when it is first asked, and its
    row of answers is kept in a table of `FREE_ROWS` rows after those; two questions with the same answers share a row.
    This table is the only thing about a game that changes, and what an index means while an action is being played
    does not depend on it.

    Attributes:
        answers: the answer of every action for every object, shape (actions + FREE_ROWS, objects), uint8.
        asked: the attribute of each action with a fixed wording; -1 for guesses. Shape (actions,).
        guessed: the object that each of them guesses; -1 for questions. Shape (actions,).
    """

    max_turns = MAX_TURNS
    limit_is_terminal = True
    partner = KNOWLEDGE
    invalid_reasons: tuple[str, ...] = tuple(NOT_ASKED)
    start_stream = stream_of("twenty-questions/start")

    def __init__(self, table: Table) -> None:
        self.table = table
        count = len(table.names)
        texts, rows, asked, guessed = [], [], [], []
        for number, (attribute, row) in enumerate(zip(table.attributes, table.values, strict=True)):
            for text in attribute.ask:
                texts.append(text)
                rows.append(np.where(row > NO, ANSWER_YES, ANSWER_NO))
                asked.append(number)
                guessed.append(-1)
        for column in range(count):
            row = np.full(count, ANSWER_NO)
            row[column] = ANSWER_WIN
            for text in guess_texts(table, column):
                texts.append(text)
                rows.append(row)
                asked.append(-1)
                guessed.append(column)
        self.action_texts: Texts = np.array(texts, object)
        self.asked: Ints = np.array(asked, np.int32)
        self.guessed: Ints = np.array(guessed, np.int32)
        self.answers: NDArray[np.uint8] = np.zeros((len(texts) + FREE_ROWS, count), np.uint8)
        self.answers[: len(texts)] = rows
        self._flat = self.answers.reshape(-1)
        self.action_index = {form: number for number, text in enumerate(texts) for form in (text, normalise(text))}
        self._row_of: dict[bytes, int] = {
            row.tobytes(): number for number, row in reversed(list(enumerate(self.answers[: len(texts)])))
        }
        self._free = 0
        self._lock = threading.Lock()
        replies = [OPENING_TEXT, NO_TEXT, YES_TEXT, WIN_TEXT, *NOT_ASKED.values()]
        self.observation_texts: Texts | LazyTexts = np.array(replies, object)
        self._observation_of = {text: number for number, text in enumerate(replies)}
        self.starts: States = np.arange(count, dtype=np.int32)
        self.first_observation: Ints = np.full(count, _OPENING, np.int32)
        self.secret_texts: Texts | None = np.array(table.names, object)

    def step(self, state: States, action: Ints) -> Transition:
        """Answer a question in each episode."""
        answer = self._flat.take(np.maximum(action, 0) * np.int64(len(self.starts)) + state)
        refused = action < 0
        observation = np.where(refused, _FIRST_REFUSAL - 1 - action, _FIRST_ANSWER + answer).astype(np.int32)
        won = ~refused & (answer == ANSWER_WIN)
        return Transition(state, observation, won.astype(np.float32) - np.float32(1), won, won)

    def step_one(self, state: int, action: int) -> tuple[int, int, float, bool, bool]:
        """Answer one question."""
        if action < 0:
            return state, _FIRST_REFUSAL - 1 - action, -1.0, False, False
        answer = int(self._flat[action * len(self.starts) + state])
        won = answer == _WIN
        return state, _FIRST_ANSWER + answer, float(won) - 1.0, won, won

    def invalid(self, observation: Any) -> Any:
        """0 for an answer, else 1 + the number of the reason why there is none."""
        return (observation >= _FIRST_REFUSAL) * (observation - _FIRST_REFUSAL + 1)

    def interpret(self, action: str) -> int:
        """The row of the answers to a question in free words; negative for one that is not understood."""
        understood = understand(action)
        if understood.row is None:
            return _REASON_OF.get(understood.reading, -3)
        key = understood.row.tobytes()
        with self._lock:
            if key not in self._row_of:
                number = len(self.action_texts) + self._free % FREE_ROWS
                if self._free >= FREE_ROWS:
                    del self._row_of[self.answers[number].tobytes()]
                self.answers[number] = understood.row
                self._row_of[key] = number
                self._free += 1
            row: int = self._row_of[key]
            return row

    def observation_of(self, text: str) -> int | None:
        """The observation that a text stands for."""
        return self._observation_of.get(text)

    def start_options(self, start: int) -> dict[str, Any]:
        """The secret object."""
        return {"object": self.table.names[start]}

    def episode_info(self, start: int) -> dict[str, Any]:
        """The object, its category, and who answered."""
        return {"object": self.table.names[start], "category": self.table.categories[start], "oracle": KNOWLEDGE}

    def start_of(self, name: object) -> int:
        """The state of a secret object.

        Raises:
            LmrlError: there is no such object.
        """
        if not isinstance(name, str) or name not in self.table.columns:
            raise LmrlError(f"{name!r} is none of the objects; they are: {', '.join(self.table.names)}")
        return self.table.columns[name]


def noun_phrase(table: Table, column: int) -> str:
    """An object as one speaks of it: "a cat", "an apple", "shoes", "paper"."""
    name = table.names[column]
    if table.plural[column] or name in _MASS:
        return table.aliases[column][1] if name in ("Headphone", "Earring", "Chopstick") else name.lower()
    return f"{'an' if name[0] in 'AEIOU' else 'a'} {name if name in ('Sharpie',) else name.lower()}"


def guess_texts(table: Table, column: int) -> list[str]:
    """The fixed wordings of a direct guess of an object."""
    phrase = noun_phrase(table, column)
    wordings = PLURAL_GUESSES if table.plural[column] else GUESSES
    return [text[0].upper() + text[1:] for text in (wording.format(phrase) for wording in wordings)]


def twenty_questions_game(oracle: str = "knowledge") -> TwentyQuestionsGame | None:
    """The array game; None for an oracle that is a language model, whose answers are no table.

    Args:
        oracle: ``"knowledge"``, or the spec of a language model.
    """
    return knowledge_game() if oracle == "knowledge" else None


@cache
def knowledge_game() -> TwentyQuestionsGame:
    """The array game of the knowledge table."""
    return TwentyQuestionsGame(knowledge_table())
