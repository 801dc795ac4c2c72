"""Statistics of a split, computed by column in one pass over its Parquet files."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_cards.distribution import Distribution
from lmrl_data.dataset import read_batches, split_files
from lmrl_data.episode import Episode, episode_schema, from_table
from lmrl_data.errors import LmrlError
from lmrl_data.game import Game
from lmrl_data.registry import Task, get_task, make_game

_ROWS = 16_384


@dataclass(frozen=True)
class GroupStatistics:
    """Figures of a set of episodes.

    Attributes:
        length: agent turns per episode.
        returns: undiscounted return per episode.
        successes: episodes that solved the task.
        terminated: episodes that the game ended.
        truncated: episodes that a time limit ended.
    """

    length: Distribution
    returns: Distribution
    successes: int
    terminated: int
    truncated: int

    @classmethod
    def merged(cls, parts: Iterable["GroupStatistics"]) -> "GroupStatistics":
        """The figures of all parts together."""
        parts = list(parts)
        return cls(
            length=Distribution.merged(part.length for part in parts),
            returns=Distribution.merged(part.returns for part in parts),
            successes=sum(part.successes for part in parts),
            terminated=sum(part.terminated for part in parts),
            truncated=sum(part.truncated for part in parts),
        )

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return self.returns.count

    @property
    def turns(self) -> int:
        """Agent turns in all."""
        return int(self.length.values @ self.length.counts)

    @property
    def success_rate(self) -> float:
        """Share of episodes that solved the task, from 0 to 1."""
        return self._share(self.successes)

    @property
    def terminated_rate(self) -> float:
        """Share of episodes that the game ended, from 0 to 1."""
        return self._share(self.terminated)

    @property
    def truncated_rate(self) -> float:
        """Share of episodes that a time limit ended, from 0 to 1."""
        return self._share(self.truncated)

    def _share(self, part: int) -> float:
        return part / self.episodes if self.episodes else math.nan


@dataclass(frozen=True)
class SplitStatistics:
    """Figures of a split.

    Attributes:
        overall: of all episodes.
        policies: of the episodes of each behaviour policy, by name in alphabetical order.
        agent_characters: Unicode characters per message of the agent.
        environment_characters: Unicode characters per message of the environment.
        seeds: how many different seeds there are.
        starts: a key for each different start (see `start_keys`); empty where a task's episodes do not record it.
        unusable_actions: agent turns that the environment could not use, as its replies tell; None for tasks whose
            replies are not numbered.
        env_ids: the environments that the episodes name, in alphabetical order.
        first_success: the first episode that solved the task.
        first_failure: the first one that did not.
        num_bytes: size of the columns in memory (Arrow), as ``dataset_info`` counts it.
    """

    overall: GroupStatistics
    policies: dict[str, GroupStatistics]
    agent_characters: Distribution
    environment_characters: Distribution
    seeds: int
    starts: frozenset[str]
    unusable_actions: int | None
    env_ids: tuple[str, ...]
    first_success: Episode | None
    first_failure: Episode | None
    num_bytes: int


def split_statistics(
    folder: str | Path,
    task: str,
    *,
    config: str | None = None,
    split: str = "train",
    on_episodes: Callable[[int], None] | None = None,
) -> SplitStatistics:
    """The statistics of a split of a local dataset folder, in one pass over its files.

    Memory holds one batch, the seeds (8 bytes per episode), the different starts, and for each batch the counts of the
    lengths and returns that occur in it.

    Args:
        folder: of the dataset.
        task: name of its task.
        config: of the task; None is its default.
        split: name of the split.
        on_episodes: called with a number of episodes each time some have been read.

    Raises:
        LmrlError: unknown task or config, no such split, or files that cannot be read.
    """
    found = get_task(task)
    name, _ = found.config(config)
    schema = episode_schema(found)
    tally = _Tally(found, make_game(task, name))
    for path in split_files(folder, name, split):
        for table in read_batches(path, schema, _ROWS):
            if not pc.all(pc.is_finite(table["episode_return"]), min_count=0).as_py():
                raise LmrlError(f"{path}: column 'episode_return' has values that are no numbers; make it again")
            tally.add(table)
            if on_episodes:
                on_episodes(len(table))
    return tally.result()


def start_fields(task: Task) -> list[str]:
    """The fields that say how an episode started: those that ``reset(options=…)`` takes and ``info`` records."""
    return [name for name in task.options if name in task.info]


def start_keys(values: pa.StructArray, fields: Sequence[str]) -> set[str]:
    """A text for each different combination of the fields of a column of structs, ``info`` or ``options``.

    Rows in which a field is null record no start.
    """
    if not fields:
        return set()
    columns: list[Any] = []
    for name in fields:
        column = pc.struct_field(values, name)  # unlike `values.field`, null where the struct is
        if pa.types.is_list(column.type):
            column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
        columns.append(column.cast(pa.string()))
    joined = pc.binary_join_element_wise(*columns, "\x1f", null_handling="emit_null")
    return set(pc.unique(joined.drop_null()).to_pylist())


class _Tally:
    """What the pass over a split counts."""

    def __init__(self, task: Task, game: Game | None) -> None:
        self.game = game
        self.info_tells = game is None and "usable" in task.info
        self.start_fields = start_fields(task)
        self.groups: dict[str, list[GroupStatistics]] = defaultdict(list)
        self.agent_characters: list[Distribution] = []
        self.environment_characters: list[Distribution] = []
        self.seeds: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self.starts: set[str] = set()
        self.unusable = 0
        self.env_ids: set[str] = set()
        self.first: dict[bool, Episode] = {}
        self.bytes = 0

    def add(self, table: pa.Table) -> None:
        """Count a batch of episodes."""
        self.bytes += table.nbytes
        self.seeds.append(table["seed"].to_numpy())
        self.env_ids.update(pc.unique(table["env_id"]).to_pylist())
        self.starts |= start_keys(table["info"].combine_chunks(), self.start_fields)
        if self.info_tells:
            usable = pc.struct_field(table["info"].combine_chunks(), "usable").flatten()
            self.unusable += len(usable) - (pc.sum(usable).as_py() or 0)
        self._add_groups(table)
        self._add_messages(table["messages"].combine_chunks().flatten())
        success = table["success"].to_numpy()
        for outcome in {True, False} - set(self.first):
            rows = np.flatnonzero(success == outcome)
            if len(rows):
                (self.first[outcome],) = from_table(table.slice(rows[0], 1))

    def result(self) -> SplitStatistics:
        """The figures of everything that was counted."""
        policies = {name: GroupStatistics.merged(self.groups[name]) for name in sorted(self.groups)}
        return SplitStatistics(
            overall=GroupStatistics.merged(policies.values()),
            policies=policies,
            agent_characters=Distribution.merged(self.agent_characters),
            environment_characters=Distribution.merged(self.environment_characters),
            seeds=len(np.unique(np.concatenate(self.seeds))),
            starts=frozenset(self.starts),
            unusable_actions=None if self.game is None and not self.info_tells else self.unusable,
            env_ids=tuple(sorted(self.env_ids)),
            first_success=self.first.get(True),
            first_failure=self.first.get(False),
            num_bytes=self.bytes,
        )

    def _add_groups(self, table: pa.Table) -> None:
        policies = table["policy"].combine_chunks().dictionary_encode()
        policy_of = policies.indices.to_numpy()
        length, returns = table["num_turns"].to_numpy(), table["episode_return"].to_numpy()
        flags = [table[name].to_numpy() for name in ("success", "terminated", "truncated")]
        for number, name in enumerate(policies.dictionary.to_pylist()):
            rows = policy_of == number
            counts = [int(np.count_nonzero(flag[rows])) for flag in flags]
            group = GroupStatistics(Distribution.of(length[rows]), Distribution.of(returns[rows]), *counts)
            self.groups[name].append(group)

    def _add_messages(self, messages: pa.StructArray) -> None:
        texts = messages.field("content")
        by_agent = pc.equal(messages.field("role"), "assistant")
        characters, agent = pc.utf8_length(texts).to_numpy(), by_agent.to_numpy(zero_copy_only=False)
        self.agent_characters.append(Distribution.of_sizes(characters[agent]))
        self.environment_characters.append(Distribution.of_sizes(characters[~agent]))
        if self.game is not None:
            for reply in texts.filter(pc.invert(by_agent)).value_counts().to_pylist():
                observation = self.game.observation_of(reply["values"])
                self.unusable += reply["counts"] if observation is not None and self.game.invalid(observation) else 0
