"""The scripted askers: what they say is a pure function of the episode's seed and of what was said so far."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import TypeVar

from lmrl_data.seeding import mix, stream_of
from lmrl_data.tasks.guess_my_city.bank import Cities, bank, city_names, every_city, members, narrowed, split_of
from lmrl_data.text import Message

T = TypeVar("T")

TURNS = 20

_WORDING, _TOPIC, _GUESS, _MOOD, _ATTENTION = (
    stream_of(f"guess-my-city/policy/{purpose}") for purpose in ("wording", "topic", "guess", "mood", "attention")
)
# From the general to the special, as people ask.
_GENERAL = (
    *("continent", "region", "coastal", "climate", "language", "size", "capital", "population", "water", "terrain"),
    *("religion", "currency", "temperature", "history", "landmarks", "food", "industry", "sports", "drink", "founded"),
    *("architecture", "people", "music", "festival", "nature", "transport", "neighbours", "nickname", "arts", "flag"),
)
# Answers that divide the cities into more sets than this take knowledge to make use of.
_PLAIN = 8


@dataclass(frozen=True)
class Style:
    """How an asker asks.

    Attributes:
        order: what it asks about: ``"general first"``, ``"anything"``, ``"yes or no"`` (the question that divides the
            cities left best), ``"best"`` (the same of all questions).
        attention: how often it makes use of a plain answer, such as a continent or a yes.
        knowledge: how often it makes use of an answer that takes knowledge, such as the name of a dish or a currency.
        guesses_from: the turn in which it begins to guess, drawn between the two.
        guesses: how often it guesses from then on.
        certain: with so few cities left it guesses at once.
        repeats: how often it asks again, in other words, what it has asked already.
    """

    order: str
    attention: float = 1.0
    knowledge: float = 1.0
    guesses_from: tuple[int, int] = (TURNS - 1, TURNS - 1)
    guesses: float = 1.0
    certain: int = 0
    repeats: float = 0.0


STYLES = {
    "random": Style("anything", attention=0.0, knowledge=0.0, guesses_from=(0, 0), guesses=0.2),
    "greedy": Style("best", certain=1),
    "yes-no": Style("yes or no", certain=1),
    "person": Style("general first", knowledge=0.06, guesses_from=(18, 19)),
    "expert": Style("general first", knowledge=0.4, guesses_from=(8, 19), certain=1),
    "curious": Style("anything", attention=0.8, knowledge=0.08, guesses_from=(17, 19)),
    "hasty": Style("general first", knowledge=0.02, guesses_from=(3, 12), guesses=0.3),
    "repetitive": Style("general first", knowledge=0.05, guesses_from=(17, 19), repeats=0.5),
}


@dataclass
class _Game:
    """What an asker knows in an episode.

    Attributes:
        seed: of the episode.
        left: the cities that the answers leave.
        asked: the questions so far: indices into `_questions`, or -1 for a guess.
        said: its last words, to which the answer is not yet read.
        guessed: the number of the city in its last words; None where they were no guess.
    """

    seed: int
    left: Cities
    asked: list[int]
    said: str = ""
    guessed: int | None = None


class Asker:
    """Asks and guesses in a style. What it does not know of the answers' wordings it takes from the tables."""

    def __init__(self, name: str, style: Style) -> None:
        self.name = name
        self.style = style
        self.reset([])

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        self._games = [_Game(seed, every_city(), []) for seed in seeds]

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """A question or a guess per conversation."""
        if len(conversations) != len(self._games):
            raise ValueError(f"{len(conversations)} conversations after reset with {len(self._games)} seeds")
        return [
            self._next(game, conversation) if conversation else ""
            for game, conversation in zip(self._games, conversations, strict=True)
        ]

    def _next(self, game: _Game, conversation: list[Message]) -> str:
        turn = len(conversation) // 2
        if turn:
            self._hear(game, turn - 1, conversation[-1]["content"])
        if self._will_guess(game, turn):
            return self._guess(game, turn)
        number = self._choose(game, turn)
        game.asked.append(number)
        game.guessed = None
        game.said = _pick(_questions()[number].wordings, game.seed, turn, _WORDING)
        return game.said

    def _hear(self, game: _Game, turn: int, answer: str) -> None:
        """Make use of an answer."""
        if game.guessed is not None:
            game.left = game.left & ~(1 << game.guessed) or every_city()
            return
        question = _questions()[game.asked[-1]]
        share = self.style.attention if question.sets <= _PLAIN else self.style.knowledge
        if _draw(game.seed, turn, _ATTENTION) < share:
            game.left = narrowed(game.left, game.said, answer)

    def _will_guess(self, game: _Game, turn: int) -> bool:
        if game.left.bit_count() <= self.style.certain or turn == TURNS - 1:
            return True
        first, last = self.style.guesses_from
        begins = first + int(_draw(game.seed, 0, _MOOD) * (last - first + 1))
        return turn >= begins and _draw(game.seed, turn + 1, _MOOD) < self.style.guesses

    def _guess(self, game: _Game, turn: int) -> str:
        game.guessed = _pick(members(game.left), game.seed, turn, _GUESS)
        game.asked.append(-1)
        game.said = _pick(bank().guess, game.seed, turn, _WORDING).replace("{}", city_names()[game.guessed])
        return game.said

    def _choose(self, game: _Game, turn: int) -> int:
        """The number of the next question."""
        before = sorted({number for number in game.asked if number >= 0})
        if before and _draw(game.seed, turn, _TOPIC) < self.style.repeats:
            return _pick(before, game.seed, turn, _TOPIC)
        fresh = [number for number in _pool(self.style.order) if number not in before]
        if self.style.order in ("best", "yes or no"):
            return _best(fresh, game, turn)
        if self.style.order == "general first":
            # Not strictly in order: one of the next few.
            return _pick(fresh[:4], game.seed, turn, _TOPIC)
        return _pick(fresh, game.seed, turn, _TOPIC)


@dataclass(frozen=True)
class _Question:
    """A question of the bank: its wordings, and into how many sets its answers divide the cities."""

    wordings: Sequence[str]
    sets: int


@cache
def _questions() -> tuple[_Question, ...]:
    """Every question: first those for a fact, then those for yes or no."""
    every = [*bank().open.values(), *bank().tests]
    return tuple(_Question(wordings, len(split_of(wordings))) for wordings in every)


@cache
def _pool(order: str) -> tuple[int, ...]:
    """The numbers of the questions that an order asks, in its sequence."""
    topics = list(bank().open)
    if order == "general first":
        return tuple(topics.index(facet) for facet in (*_GENERAL, *(f for f in topics if f not in _GENERAL)))
    tests = range(len(topics), len(_questions()))
    return tuple(tests) if order == "yes or no" else tuple(range(len(_questions())))


def _best(numbers: Sequence[int], game: _Game, turn: int) -> int:
    """The question whose answers tell most about the cities left; among equals, any."""
    worth = {number: _information(number, game.left) for number in numbers}
    most = max(worth.values())
    return _pick([number for number in numbers if worth[number] == most], game.seed, turn, _TOPIC)


@cache
def _information(number: int, left: Cities) -> float:
    """How many bits the answer to a question tells where each of the cities left is as likely as the others."""
    total = left.bit_count()
    counts = [(part & left).bit_count() for part in split_of(_questions()[number].wordings)]
    return round(-sum(count / total * math.log2(count / total) for count in counts if count), 9)


def _draw(seed: int, turn: int, stream: int) -> float:
    """A number from 0 to 1."""
    return (mix(mix(seed, stream), turn) >> 11) * 2.0**-53


def _pick(choices: Sequence[T], seed: int, turn: int, stream: int) -> T:
    """One of the choices."""
    return choices[(mix(mix(seed, stream), turn + TURNS) >> 32) * len(choices) >> 32]


def _make(name: str, oracle: str = "knowledge") -> Asker:
    return Asker(name, STYLES[name])


# One per style: what the registry finds.
random, greedy, yes_no, person, expert, curious, hasty, repetitive = (partial(_make, name) for name in STYLES)
