"""Making one shard: play its episodes, build the table by column, write the file safely."""

from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from typing import Any, TypedDict

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lmrl_data.episode import game_table, to_table
from lmrl_data.game import rollout_game
from lmrl_data.policy import GamePolicy, Policy
from lmrl_data.registry import get_task, locate, make_game, make_policy, make_vec
from lmrl_data.rollouts import rollout_batches
from lmrl_generators.folders import Place, open_folder
from lmrl_generators.plan import Plan, Shard

ROW_GROUP = 10_000
_BATCH = 256


class FileRecord(TypedDict):
    """What the manifest says of a file."""

    file: str
    episodes: int
    bytes: int
    sha256: str


def check_policies(plans: Sequence[Plan]) -> None:
    """Make every policy of the plans, before anything is written or removed.

    Raises:
        LmrlError: one of them cannot be made.
    """
    for plan in plans:
        for spec, _ in plan.policies:
            _policy(spec, plan.task, plan.config, plan.options)


def make_shard(shard: Shard, folder: Place) -> FileRecord:
    """Play the episodes of a shard and write its file; the bytes depend on nothing but the shard."""
    return write_parquet(shard_table(shard), folder, shard.file)


def shard_table(shard: Shard) -> pa.Table:
    """The episodes of a shard, in order."""
    plan = shard.plan
    index, seeds, ids = shard.policy_index, shard.seeds, np.array(shard.episode_ids, object)
    tables, rows = [], []
    for number, (spec, _) in enumerate(plan.policies):
        mine = np.flatnonzero(index == number)
        if len(mine):
            tables.append(_play(plan, spec, seeds[mine], ids[mine].tolist()))
            rows.append(mine)
    order = np.argsort(np.concatenate(rows), kind="stable")
    table = pa.concat_tables(tables)
    return table if len(tables) == 1 else table.combine_chunks().take(pa.array(order))


def _play(plan: Plan, spec: str, seeds: np.ndarray, ids: list[str]) -> pa.Table:
    task = get_task(plan.task)
    policy = _policy(spec, plan.task, plan.config, plan.options)
    if isinstance(policy, GamePolicy) and make_game(plan.task, plan.config, **dict(plan.options)) is not None:
        episodes = rollout_game(policy.game, policy.array_policy, seeds)
        return game_table(task, plan.env_id, policy.game, episodes, [policy.name] * len(ids), ids)
    names = iter(ids)
    tables = []
    size = min(_BATCH, task.batch_size, len(seeds))
    with make_vec(plan.task, size, config=plan.config, **dict(plan.options)) as env:
        for batch in rollout_batches(env, policy, seeds.tolist()):
            for episode in batch:
                episode.episode_id = next(names)
            tables.append(to_table(batch, task))
    table = pa.concat_tables(tables)
    return table if task.label is None else locate(task.label)(table)


@cache
def _policy(spec: str, task: str, config: str, options: tuple[tuple[str, Any], ...]) -> Policy:
    # One per process: a policy's tables (or its model) serve all the shards that a worker makes.
    return make_policy(spec, task, config=config, **dict(options))


def write_parquet(table: pa.Table, folder: Place, file: str) -> FileRecord:
    """Write a table as a file of a folder, as a whole or not at all.

    Raises:
        LmrlError: the file cannot be written; nothing is left of it.
    """
    data = parquet_bytes(table)
    open_folder(folder).write(file, data)
    return record_of(file, len(table), data)


def parquet_bytes(table: pa.Table) -> bytes:
    """A table as the bytes of a file of a dataset."""
    sink = pa.BufferOutputStream()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        row_group_size=ROW_GROUP,
        write_page_index=True,
        use_content_defined_chunking=True,
    )
    data: bytes = sink.getvalue().to_pybytes()
    return data


def record_of(file: str, episodes: int, data: bytes) -> FileRecord:
    """The manifest's record of a file."""
    return {"file": file, "episodes": episodes, "bytes": len(data), "sha256": sha256(data).hexdigest()}
