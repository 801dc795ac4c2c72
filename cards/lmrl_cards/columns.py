"""The columns of the data: type and meaning of each, with its value in the episode that the card shows."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from lmrl_cards import markdown
from lmrl_data.episode import Episode, episode_schema, evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import Task

_MEANINGS = {
    "episode_id": "unique in the dataset: task, config, split and number",
    "messages": "the conversation: `user` is the environment, `assistant` the agent; the environment begins and ends",
    "rewards": "reward of each agent turn",
    "episode_return": "undiscounted sum of the rewards",
    "success": "whether the task was solved",
    "terminated": "whether the game ended by itself",
    "truncated": "whether a time limit ended the episode, so that its last state is not terminal",
    "num_turns": "agent turns",
    "seed": "what the environment was reset with; it fixes the start and all chance in the environment",
    "policy": "the behaviour policy that played",
    "env_id": "the environment, with its version",
}
_EVALUATION_MEANINGS = {
    "episode_id": "unique in the dataset: task, config, `test` and number",
    "env_id": "the environment to play in, with its version",
    "seed": "what to reset it with",
}


@dataclass(frozen=True)
class Column:
    """A column, or a field of a struct in one.

    Attributes:
        name: with dots, such as ``info.word``.
        kind: its type in words.
        meaning: what it holds.
        value: of the episode that the card shows, as a cell; empty where there is none.
    """

    name: str
    kind: str
    meaning: str
    value: str = ""


def episode_columns(task: Task, example: Episode | None) -> list[Column]:
    """Each column of the episodes and each field of ``info``.

    Raises:
        LmrlError: the task does not say what a field means.
    """
    columns = []
    for name, kind in _leaves(episode_schema(task)):
        value = "" if example is None else markdown.excerpt(_value(example, name))
        columns.append(Column(name, markdown.type_name(kind), _meaning(task, name, _MEANINGS), value))
    return columns


def evaluation_columns(task: Task) -> list[Column]:
    """Each column of the evaluation episodes and each field of ``options``.

    Raises:
        LmrlError: the task does not say what a field means.
    """
    return [
        Column(name, markdown.type_name(kind), _meaning(task, name, _EVALUATION_MEANINGS))
        for name, kind in _leaves(evaluation_schema(task))
    ]


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    """Name and type of each column; of the fields instead where it is a struct."""
    pending = [(field.name, field.type) for field in schema]
    while pending:
        name, kind = pending.pop(0)
        if pa.types.is_struct(kind):
            pending[:0] = [(f"{name}.{field.name}", field.type) for field in kind]
        else:
            yield name, kind


def _meaning(task: Task, name: str, known: dict[str, str]) -> str:
    # The fields of `options` bear the names of those of `info`, which record them.
    meaning = known.get(name) or task.column_notes.get(name.rpartition(".")[2])
    if meaning is None:
        raise LmrlError(f"the task {task.name} does not say what {name} means; add it to `column_notes` of its TASK")
    return meaning


def _value(episode: Episode, name: str) -> Any:
    if name == "messages":
        return markdown.plural(len(episode.messages), "message")
    value: Any = episode
    for part in name.split("."):
        value = value.get(part) if isinstance(value, dict) else getattr(value, part)
    return value
