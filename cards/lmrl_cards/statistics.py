"""Statistics of a split, computed by column in one pass over its Parquet files."""

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike, NDArray

from lmrl_data.dataset import read_batches, split_files
from lmrl_data.episode import episode_schema
from lmrl_data.game import Game, action_of
from lmrl_data.registry import get_task, make_game

_ROWS = 16_384


@dataclass(frozen=True)
class Distribution:
    """How often each value occurs: all that means, quantiles and histograms need, in little memory.

    Attributes:
        values: the different values, ascending, shape (K,).
        counts: how often each occurs, at least once, shape (K,).
    """

    values: NDArray[np.float64]
    counts: NDArray[np.int64]

    @classmethod
    def of(cls, values: ArrayLike) -> "Distribution":
        """The distribution of an array."""
        different, counts = np.unique(np.asarray(values, np.float64), return_counts=True)
        return cls(different, counts)

    @classmethod
    def merged(cls, parts: Iterable["Distribution"]) -> "Distribution":
        """The distribution of all parts together."""
        parts = [*parts, cls(np.zeros(0), np.zeros(0, np.int64))]
        values, index = np.unique(np.concatenate([part.values for part in parts]), return_inverse=True)
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, index, np.concatenate([part.counts for part in parts]))
        return cls(values, counts)

    @property
    def count(self) -> int:
        """How many values there are."""
        return int(self.counts.sum())

    @property
    def mean(self) -> float:
        """The mean; NaN of nothing, as the other figures."""
        return float(self.values @ self.counts) / self.count if self.count else float("nan")

    @property
    def std(self) -> float:
        """The population standard deviation."""
        if not self.count:
            return float("nan")
        return float(np.sqrt(((self.values - self.mean) ** 2) @ self.counts / self.count))

    @property
    def minimum(self) -> float:
        """The lowest value."""
        return float(self.values[0]) if self.count else float("nan")

    @property
    def maximum(self) -> float:
        """The highest value."""
        return float(self.values[-1]) if self.count else float("nan")

    def quantile(self, q: float) -> float:
        """The lowest value that at least a share `q` of the values do not exceed: always one that occurs."""
        if not self.count:
            return float("nan")
        # In whole numbers: q * count is a rounding error above the rank for some q.
        rank = max(1, int(np.ceil(round(q * self.count, 6))))
        return float(self.values[np.searchsorted(self.counts.cumsum(), rank)])


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
        return part / self.episodes if self.episodes else float("nan")


@dataclass(frozen=True)
class SplitStatistics:
    """Figures of a split.

    Attributes:
        overall: of all episodes.
        policies: of the episodes of each behaviour policy, by name in alphabetical order.
        agent_characters: Unicode characters per message of the agent.
        environment_characters: Unicode characters per message of the environment.
        seeds: different seeds.
        starts: different start values: the info fields that ``reset(options=…)`` takes. None where there are none.
        unusable_actions: agent turns whose text is no action of the game; None for tasks without a table of actions.
        num_bytes: size of the columns in memory (Arrow), as ``dataset_info`` counts it.
    """

    overall: GroupStatistics
    policies: dict[str, GroupStatistics]
    agent_characters: Distribution
    environment_characters: Distribution
    seeds: int
    starts: int | None
    unusable_actions: int | None
    num_bytes: int


def split_statistics(
    folder: str | Path,
    task: str,
    *,
    config: str | None = None,
    split: str = "train",
    on_episodes: Callable[[int], None] | None = None,
) -> SplitStatistics:
    """The statistics of a split of a local dataset folder.

    One pass over the files. Memory holds one batch, the seeds (8 bytes per episode), and a counter for each different
    length, return and start value.

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
    tally = _Tally(make_game(task, name), [field for field in found.options if field in found.info])
    for path in split_files(folder, name, split):
        for table in read_batches(path, schema, _ROWS):
            tally.add(table)
            if on_episodes:
                on_episodes(len(table))
    return tally.result()


class _Tally:
    """What the pass over a split counts."""

    def __init__(self, game: Game | None, start_fields: list[str]) -> None:
        self.game = game
        self.start_fields = start_fields
        self.groups: dict[str, list[GroupStatistics]] = defaultdict(list)
        self.characters: list[list[Distribution]] = [[], []]
        self.seeds: list[NDArray[np.int64]] = []
        self.starts: set[str] = set()
        self.unusable = 0
        self.bytes = 0

    def add(self, table: pa.Table) -> None:
        """Count a batch of episodes."""
        self.bytes += table.nbytes
        self.seeds.append(table["seed"].to_numpy())
        self._add_groups(table)
        self._add_messages(table["messages"].combine_chunks().flatten())
        if self.start_fields:
            self.starts.update(_start_keys(table["info"].combine_chunks(), self.start_fields))

    def result(self) -> SplitStatistics:
        """The figures of everything that was counted."""
        policies = {name: GroupStatistics.merged(self.groups[name]) for name in sorted(self.groups)}
        return SplitStatistics(
            overall=GroupStatistics.merged(policies.values()),
            policies=policies,
            agent_characters=Distribution.merged(self.characters[0]),
            environment_characters=Distribution.merged(self.characters[1]),
            seeds=len(np.unique(np.concatenate(self.seeds))) if self.seeds else 0,
            starts=len(self.starts) if self.start_fields else None,
            unusable_actions=None if self.game is None else self.unusable,
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
        for kind, mine in enumerate((agent, ~agent)):
            # Lengths are small whole numbers: counting them is much faster than sorting them.
            counts = np.bincount(characters[mine])
            occurring = np.flatnonzero(counts)
            self.characters[kind].append(Distribution(occurring.astype(np.float64), counts[occurring]))
        if self.game is not None:
            known = pa.array(list(self.game.action_index), pa.string())
            actions = texts.filter(by_agent)
            odd = actions.filter(pc.invert(pc.is_in(actions, known))).value_counts()
            for text, count in zip(*(odd.field(name).to_pylist() for name in ("values", "counts")), strict=True):
                self.unusable += count if action_of(self.game, text) < 0 else 0


def _start_keys(info: pa.StructArray, fields: list[str]) -> list[str]:
    """A text for each different start of a batch."""
    columns: list[Any] = []
    for name in fields:
        column = info.field(name)
        if pa.types.is_list(column.type):
            column = pc.binary_join(column.cast(pa.list_(pa.string())), ",")
        columns.append(column.cast(pa.string()))
    joined = pc.binary_join_element_wise(*columns, "\x1f", null_handling="replace")
    keys: list[str] = pc.unique(joined).to_pylist()
    return keys
