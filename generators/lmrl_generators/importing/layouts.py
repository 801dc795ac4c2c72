"""The published layout of each task: how its records are gathered and read, and how they are recognised."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from lmrl_generators.importing import car_dealer, chess, maze, questions, text_nav, wordle
from lmrl_generators.importing.plays import Reading
from lmrl_generators.importing.records import Record


@dataclass(frozen=True)
class Layout:
    """How a task's published file is laid out.

    Attributes:
        read: makes an episode of a record's value, the config and the environment's id.
        marks: sets of fields that a record (or the first element of one that is a list) has in this layout.
        list_records: whether a record may be a list.
        gather: joins records that are parts of an episode.
    """

    read: Callable[[Any, str, str], Reading]
    marks: tuple[tuple[str, ...], ...]
    list_records: bool = False
    gather: Callable[[Iterable[Record]], Iterator[Record]] = iter


_CHESS = Layout(chess.read, (chess.MOVE, chess.LISTED), list_records=True, gather=chess.games)
_QUESTIONS = Layout(questions.read, (questions.FIELDS,))

LAYOUTS = {
    "maze": Layout(maze.read, (maze.TRANSITION, maze.HISTORY), list_records=True),
    "text-nav": Layout(text_nav.read, (text_nav.FIELDS,)),
    "wordle": Layout(wordle.read, (wordle.FIELDS,)),
    "chess": _CHESS,
    "endgames": _CHESS,
    "twenty-questions": _QUESTIONS,
    "guess-my-city": _QUESTIONS,
    "car-dealer": Layout(car_dealer.read, (car_dealer.FIELDS,)),
}


def tasks_like(value: Any) -> list[str]:
    """The tasks in whose layout a record is."""
    first = value[0] if isinstance(value, list) and value else value
    if not isinstance(first, dict):
        return []
    return [task for task, layout in LAYOUTS.items() if any(first.keys() >= set(mark) for mark in layout.marks)]
