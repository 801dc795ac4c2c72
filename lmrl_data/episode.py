"""The episode record: what one game is, as a Python object, as a row, and as a column table of arrays."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmrl_data.game import Bools, Game, GameEpisodes, Ints
from lmrl_data.registry import FieldType, Task
from lmrl_data.text import Message

_TYPES = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float32": pa.float32(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
}


@dataclass
class Episode:
    """One finished episode.

    Attributes:
        messages: ``user`` is the environment, ``assistant`` the agent; starts and ends with the environment.
        rewards: one per agent turn.
        success: whether the task was solved.
        terminated: whether the game ended by itself.
        truncated: whether a time limit ended it.
        seed: what the environment was reset with.
        policy: who played.
        env_id: the environment's id with version.
        info: the task's own fields.
        episode_id: unique in a dataset; from environment, policy and seed where none is given.
    """

    messages: list[Message]
    rewards: list[float]
    success: bool
    terminated: bool
    truncated: bool
    seed: int
    policy: str
    env_id: str
    info: dict[str, Any]
    episode_id: str = field(default="")

    def __post_init__(self) -> None:
        if not self.episode_id:
            self.episode_id = default_id(self.env_id, self.policy, self.seed)

    @property
    def num_turns(self) -> int:
        """Agent turns."""
        return len(self.rewards)

    @property
    def episode_return(self) -> float:
        """Undiscounted sum of the rewards."""
        return float(sum(self.rewards))

    @property
    def actions(self) -> list[str]:
        """What the agent said."""
        return [message["content"] for message in self.messages[1::2]]


def default_id(env_id: str, policy: str, seed: int) -> str:
    """The id of an episode that nobody gave one."""
    return f"{env_id}:{policy}:{seed}"


def arrow_type(name: FieldType) -> pa.DataType:
    """The Arrow type of a name such as ``"string"`` or ``"list<int32>"``, or of a struct's fields by name."""
    if not isinstance(name, str):
        return struct_type(name.items())
    if name.startswith("list<"):
        return pa.list_(arrow_type(name[5:-1]))
    return _TYPES[name]


def struct_type(fields: Iterable[tuple[str, FieldType]]) -> pa.StructType:
    """The Arrow struct of a task's ``info`` or ``options``."""
    return pa.struct([(name, arrow_type(kind)) for name, kind in fields])


def episode_schema(task: Task) -> pa.Schema:
    """The Arrow schema of a task's episodes, one row each."""
    message = pa.struct([("role", pa.string()), ("content", pa.string())])
    return pa.schema(
        [
            ("episode_id", pa.string()),
            ("messages", pa.list_(message)),
            ("rewards", pa.list_(pa.float32())),
            ("episode_return", pa.float32()),
            ("success", pa.bool_()),
            ("terminated", pa.bool_()),
            ("truncated", pa.bool_()),
            ("num_turns", pa.int32()),
            ("seed", pa.int64()),
            ("policy", pa.string()),
            ("env_id", pa.string()),
            ("info", struct_type(task.info.items())),
        ]
    )


def evaluation_schema(task: Task) -> pa.Schema:
    """The Arrow schema of a task's evaluation episodes: what to reset the environment with."""
    return pa.schema(
        [
            ("episode_id", pa.string()),
            ("env_id", pa.string()),
            ("seed", pa.int64()),
            ("options", struct_type(task.options.items())),
        ]
    )


def missing_values(table: pa.Table) -> dict[str, Bools]:
    """For each column, the rows in which a value is missing: its own, or one in its list."""
    missing = {}
    for name in table.column_names:
        column = table[name].combine_chunks()
        rows = column.is_null().to_numpy(zero_copy_only=False)
        if pa.types.is_list(column.type):
            elements = column.flatten()
            absent = elements.is_null().to_numpy(zero_copy_only=False)
            for part in elements.flatten() if pa.types.is_struct(elements.type) else ():
                absent = absent | part.is_null().to_numpy(zero_copy_only=False)
            rows = rows.copy()
            rows[pc.list_parent_indices(column).to_numpy()[absent]] = True
        missing[name] = rows
    return missing


def to_table(episodes: Sequence[Episode], task: Task) -> pa.Table:
    """Episodes as a table."""
    rows = [
        {**vars(episode), "episode_return": episode.episode_return, "num_turns": episode.num_turns}
        for episode in episodes
    ]
    return pa.Table.from_pylist(rows, episode_schema(task))


def from_table(table: pa.Table) -> list[Episode]:
    """The episodes of a table."""
    rows = table.drop_columns(["episode_return", "num_turns"]).to_pylist()
    return [Episode(**row) for row in rows]


def game_table(
    task: Task, env_id: str, game: Game, episodes: GameEpisodes, policies: Sequence[str], episode_ids: Sequence[str]
) -> pa.Table:
    """Episodes of an array game as a table, built by column: the same as `to_table` of the same games.

    Args:
        task: the task.
        env_id: the environment's id.
        game: the rules that the episodes were played by.
        episodes: N episodes.
        policies: who played each, shape (N,).
        episode_ids: shape (N,).
    """
    count, turns = episodes.actions.shape
    length = episodes.length
    # Messages alternate, the environment first: 2 * length + 1 of them, gathered from one table of all texts.
    spoken = np.empty((count, 2 * turns + 1), np.int32)
    spoken[:, 0::2] = episodes.observations
    spoken[:, 1::2] = episodes.actions + np.int32(len(game.observation_texts))
    said = np.arange(2 * turns + 1) < (2 * length + 1)[:, None]
    role = np.broadcast_to(np.arange(2 * turns + 1, dtype=np.int8) % 2, said.shape)[said]
    messages = pa.StructArray.from_arrays(
        [pa.array(["user", "assistant"]).take(pa.array(role)), _texts_of(game, spoken[said])],
        names=["role", "content"],
    )
    played = np.arange(turns) < length[:, None]
    rewards = np.where(played, episodes.rewards, np.float32(0))
    infos = pa.array([game.episode_info(start) for start in range(len(game.starts))], struct_type(task.info.items()))
    columns = [
        pa.array(episode_ids, pa.string()),
        pa.ListArray.from_arrays(_offsets(2 * length + 1), messages),
        pa.ListArray.from_arrays(_offsets(length), pa.array(episodes.rewards[played])),
        pa.array(rewards.sum(axis=1, dtype=np.float64).astype(np.float32)),
        pa.array(episodes.success),
        pa.array(episodes.terminated),
        pa.array(episodes.truncated),
        pa.array(length),
        pa.array(episodes.seeds),
        pa.array(policies, pa.string()),
        pa.array([env_id]).take(pa.array(np.zeros(count, np.int8))),
        infos.take(pa.array(episodes.start)),
    ]
    return pa.Table.from_arrays(columns, schema=episode_schema(task))


def _texts_of(game: Game, spoken: Ints) -> pa.Array:
    """The texts of messages: an observation's index, or an action's after all of those."""
    observations = len(game.observation_texts)
    used = np.flatnonzero(np.bincount(spoken, minlength=observations))
    place = np.zeros(observations + len(game.action_texts), np.int32)
    place[used] = np.arange(len(used))
    heard, said = used[used < observations], used[used >= observations] - observations
    texts = np.concatenate([game.observation_texts[heard], game.action_texts[said]])
    return pa.array(texts, pa.string()).take(pa.array(place[spoken]))


def _offsets(lengths: np.ndarray[Any, Any]) -> pa.Array:
    return pa.array(np.concatenate([[0], lengths.cumsum(dtype=np.int32)]).astype(np.int32))
