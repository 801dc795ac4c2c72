"""Small dataset folders, written without the generator."""

import json
import os
from functools import cache
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from lmrl_data import list_tasks, make_vec, rollout
from lmrl_data.episode import game_table, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.game import rollout_game
from lmrl_data.registry import get_task, make_game, make_policy
from lmrl_data.seeding import episode_seeds
from lmrl_data.starts import evaluation_table
from lmrl_data.stockfish.binary import find_stockfish

EPISODES = {"train": 150, "validation": 30}
SHARD_SIZE = 80
GAME_TASKS = [name for name in list_tasks() if get_task(name).game]


def _has_stockfish() -> bool:
    try:
        find_stockfish()
    except LmrlError:
        return False
    return True


# In CI nothing may be missing.
TASKS = [
    name
    for name in list_tasks()
    if "stockfish" not in get_task(name).tags or _has_stockfish() or os.environ.get("LMRL_TEST_ALL")
]


def episodes_of(name: str) -> dict[str, int]:
    """How many episodes each split of a task has: few where each is played in text, but one of each policy."""
    if name in GAME_TASKS:
        return EPISODES
    policies = max(len(config.collection) for config in get_task(name).configs.values())
    return {"train": policies, "validation": 2}


def write_parquet(table: pa.Table, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, compression="zstd", row_group_size=10_000, write_page_index=True)


@cache
def play(name: str, config: str, split: str, count: int) -> pa.Table:
    """Episodes of the config's behaviour policies in turns."""
    task = get_task(name)
    game = make_game(name, config)
    seeds = episode_seeds(0, f"{name}/{config}/{split}", 0, count)
    specs = list(task.configs[config].collection)
    tables, rows = [], []
    for number, spec in enumerate(specs[:count]):
        mine = np.arange(number, count, len(specs))
        policy = make_policy(spec, name, config=config)
        ids = [f"{name}-{config}-{split}-{row:08d}" for row in mine]
        if game is None:
            played = rollout(make_vec(name, len(mine), config=config), policy, seeds[mine].tolist())
            for episode, episode_id in zip(played, ids, strict=True):
                episode.episode_id = episode_id
            tables.append(to_table(played, task))
        else:
            episodes = rollout_game(game, policy.array_policy, seeds[mine])
            tables.append(game_table(task, task.configs[config].env_id, game, episodes, [spec] * len(mine), ids))
        rows.append(mine)
    return pa.concat_tables(tables).combine_chunks().take(pa.array(np.argsort(np.concatenate(rows))))


@cache
def evaluation(name: str) -> pa.Table:
    return evaluation_table(name)


def write_folder(folder: Path, name: str) -> None:
    task = get_task(name)
    configs = {}
    for config, registered in task.configs.items():
        splits = {}
        for split, count in episodes_of(name).items():
            table = play(name, config, split, count)
            total = -(-count // SHARD_SIZE)
            shards = [f"data/{config}/{split}-{shard:05d}-of-{total:05d}.parquet" for shard in range(total)]
            for shard, file in enumerate(shards):
                write_parquet(table.slice(shard * SHARD_SIZE, SHARD_SIZE), folder / file)
            splits[split] = {"episodes": count, "shards": [{"file": file} for file in shards]}
        configs[config] = {
            "env_id": registered.env_id,
            "seed": 3,
            "shard_size": SHARD_SIZE,
            "policies": dict(registered.collection),
            "splits": splits,
        }
    write_parquet(evaluation(name), folder / "data/evaluation/test-00000-of-00001.parquet")
    versions = {"lmrl-gym": "0.0.1", "pyarrow": "1.2.3"}
    manifest = {"format": 1, "task": name, "versions": versions, "configs": configs}
    (folder / "generation.json").write_text(json.dumps(manifest), encoding="utf-8")


def files_of(folder: Path) -> dict[str, bytes]:
    """The files of a folder by path."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
