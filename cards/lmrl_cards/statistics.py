"""Statistics of a split, computed by column in one pass over its Parquet files."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_cards.distribution import Distribution
from lmrl_cards.example import Example
from lmrl_cards.figures import GroupStatistics, SplitStatistics
from lmrl_data.dataset import read_batches, split_files
from lmrl_data.episode import episode_schema
from lmrl_data.errors import LmrlError
from lmrl_data.game import Game
from lmrl_data.registry import Task, get_task, make_game

_ROWS = 16_384
PROBED = 200
"""Episodes of a split whose observations are looked for in another one."""


def split_statistics(
    folder: str | Path,
    task: str,
    *,
    config: str | None = None,
    split: str = "train",
    probe: pa.Array | None = None,
    workers: int = 1,
    on_episodes: Callable[[int], None] | None = None,
) -> SplitStatistics:
    """The statistics of a split of a local dataset folder, in one pass over its files.

    Memory holds a batch per worker, the seeds (8 bytes per episode), the different starts, a hash of each different
    message of the agent (8 bytes), and for each batch the counts of the lengths and returns that occur in it.

    Args:
        folder: of the dataset.
        task: name of its task.
        config: of the task; None is its default.
        split: name of the split.
        probe: observations of other episodes, of which the share that this split lacks is measured.
        workers: files that are read at a time, each by a thread.
        on_episodes: called with a number of episodes each time some have been read.

    Raises:
        LmrlError: unknown task or config, no such split, or files that cannot be read.
    """
    found = get_task(task)
    name, _ = found.config(config)
    tally = _Tally(found, make_game(task, name), probe)
    count = partial(_count, task=found, config=name, probe=probe, on_episodes=on_episodes)
    pool = ThreadPoolExecutor(workers)
    try:
        for part in pool.map(count, split_files(folder, name, split)):
            tally.merge(part)
    finally:
        pool.shutdown(cancel_futures=True)
    return tally.result()


def _count(
    path: Path, *, task: Task, config: str, probe: pa.Array | None, on_episodes: Callable[[int], None] | None
) -> "_Tally":
    """What there is in one file."""
    tally = _Tally(task, make_game(task.name, config), probe)
    for table in read_batches(path, episode_schema(task), _ROWS):
        if not pc.all(pc.is_finite(table["episode_return"]), min_count=0).as_py():
            raise LmrlError(f"{path}: column 'episode_return' has values that are no numbers; make it again")
        tally.add(table)
        if on_episodes:
            on_episodes(len(table))
    return tally


def observations(folder: str | Path, task: str, *, config: str, split: str) -> pa.Array:
    """What the environment says in the first `PROBED` episodes of a split: a probe for another one.

    Raises:
        LmrlError: no such split, or files that cannot be read.
    """
    for path in split_files(folder, config, split):
        for table in read_batches(path, episode_schema(get_task(task)), PROBED):
            messages = table["messages"].combine_chunks().flatten()
            return messages.filter(pc.equal(messages.field("role"), "user")).field("content")
    return pa.array([], pa.string())


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

    def __init__(self, task: Task, game: Game | None, probe: pa.Array | None) -> None:
        self.game = game
        self.partner = task.partner
        self.info_tells = game is None and "usable" in task.info
        self.start_fields = start_fields(task)
        self.groups: dict[str, list[GroupStatistics]] = defaultdict(list)
        self.agent_characters: list[Distribution] = []
        self.environment_characters: list[Distribution] = []
        self.seeds: list[NDArray[np.int64]] = [np.zeros(0, np.int64)]
        self.starts: set[str] = set()
        self.unusable = 0
        self.env_ids: set[str] = set()
        self.partners: set[str] = set()
        self.rewards: list[Distribution] = []
        self.agent_texts: list[NDArray[np.uint64]] = [np.zeros(0, np.uint64)]
        self.probe = probe
        self.found = np.zeros(0 if probe is None else len(probe), np.bool_)
        self.example = Example()
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
        self.rewards.append(Distribution.of(table["rewards"].combine_chunks().flatten()))
        if self.partner is not None:
            partners = pc.struct_field(table["info"].combine_chunks(), self.partner)
            self.partners.update(pc.unique(partners.drop_null()).to_pylist())
        self.example.consider(table)

    def merge(self, later: "_Tally") -> None:
        """Count in what was counted of episodes behind these."""
        self.bytes += later.bytes
        self.unusable += later.unusable
        for name, groups in later.groups.items():
            self.groups[name] += groups
        self.agent_characters += later.agent_characters
        self.environment_characters += later.environment_characters
        self.rewards += later.rewards
        self.seeds += later.seeds
        self.agent_texts += later.agent_texts
        self.starts |= later.starts
        self.env_ids |= later.env_ids
        self.partners |= later.partners
        self.found |= later.found
        self.example.merge(later.example)

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
            partners=tuple(sorted(self.partners - {""})),
            rewards=Distribution.merged(self.rewards),
            agent_texts=len(np.unique(np.concatenate(self.agent_texts))),
            unseen=1 - float(self.found.mean()) if len(self.found) else None,
            example=self.example.best,
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
        said = pc.unique(texts.filter(by_agent)).to_pandas()
        # Hashes of 64 bits: of a million texts two are alike once in 40 million times.
        self.agent_texts.append(np.unique(pd.util.hash_array(said.to_numpy(object))))
        if self.probe is not None:
            self.found |= pc.is_in(self.probe, value_set=texts).to_numpy(zero_copy_only=False)
        if self.game is not None:
            for reply in texts.filter(pc.invert(by_agent)).value_counts().to_pylist():
                observation = self.game.observation_of(reply["values"])
                self.unusable += reply["counts"] if observation is not None and self.game.invalid(observation) else 0
