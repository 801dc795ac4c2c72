"""`validate`: check a dataset folder against its manifest, its schema, its invariants and the simulator."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from lmrl_data.dataset import read_batches
from lmrl_data.episode import episode_schema, evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_data.registry import Task, get_task, locate, make_vec_of, options_of
from lmrl_data.replays import followed, replay_table
from lmrl_data.starts import evaluation_table
from lmrl_data.vector import TextVectorEnv
from lmrl_generators.folders import Folder, Place, open_folder
from lmrl_generators.manifest import Manifest
from lmrl_generators.plan import Plan, Shard

_BATCH = 4096
_SHOWN = 5  # problems named per check and file; the rest are counted


@dataclass(frozen=True)
class Validated:
    """What a check found.

    Attributes:
        episodes: how many were checked.
        problems: what is wrong, a line each.
        partners: how many of the replayed episodes had a partner (an engine's build, a model) that cannot be asked
            again, by its name. In these the partner's part was taken from the record, and the rest was checked.
    """

    episodes: int
    problems: list[str]
    partners: Counter[str]


def validate(place: Place, *, replay: float = 0.01, on_episodes: Callable[[int], None] | None = None) -> Validated:
    """Check every file of a dataset folder.

    Args:
        place: the folder or its URL; made by `lmrl generate`.
        replay: the share of the episodes to play again in the simulator, evenly spread; 1 for all.
        on_episodes: called with a number of episodes each time some have been checked.

    Raises:
        LmrlError: the folder was not made by `lmrl generate`.
    """
    if not 0 <= replay <= 1:
        raise LmrlError(f"the share of episodes to replay is {replay}; give a number from 0 to 1")
    folder = open_folder(place)
    manifest = Manifest.read(folder)
    task = get_task(manifest.content["task"])
    problems = [f"{file}: not in the manifest" for file in _unknown_files(folder, manifest)]
    checked, partners = 0, Counter[str]()
    for shard, record in _shards(task, manifest):
        try:
            if record is None:
                raise FileNotFoundError(shard.file)
            with folder.local(shard.file) as path:
                problems += _check_file(task, shard, record["sha256"], path, replay, partners)
        except FileNotFoundError:
            problems.append(f"{shard.file}: missing; run the same `lmrl generate` command again")
            continue
        checked += shard.stop - shard.start
        if on_episodes:
            on_episodes(shard.stop - shard.start)
    problems += _check_evaluation(task, folder, manifest)
    return Validated(checked, problems, partners)


def planned_episodes(place: Place) -> int:
    """How many episodes a folder's manifest names."""
    configs = Manifest.read(place).content["configs"].values()
    return sum(split["episodes"] for config in configs for split in config["splits"].values())


def _shards(task: Task, manifest: Manifest) -> Iterator[tuple[Shard, Any]]:
    for name, config in manifest.content["configs"].items():
        task.config(name)
        for split, content in config["splits"].items():
            policies = tuple(config["policies"].items())
            size, seed, options = config["shard_size"], config["seed"], tuple(options_of(config["env_id"]).items())
            plan = Plan(task.name, name, split, content["episodes"], size, seed, policies, options)
            for shard in plan.shards:
                yield shard, manifest.record(plan, shard.file)


def _unknown_files(folder: Folder, manifest: Manifest) -> list[str]:
    known = {
        record["file"]
        for config in manifest.content["configs"].values()
        for split in config["splits"].values()
        for record in split["shards"]
    } | {manifest.content.get("evaluation", {}).get("file")}
    return [file for file in folder.parquet_files() if file not in known]


def _check_file(
    task: Task, shard: Shard, recorded: str, path: Path, replay: float, partners: Counter[str]
) -> list[str]:
    problems = []
    if file_hash(path) != recorded:
        problems.append(f"{shard.file}: its bytes are not the recorded ones")
    try:
        problems += _check_shard(task, shard, path, replay, partners)
    except LmrlError as error:
        problems.append(str(error).replace(str(path), shard.file))
    return problems


def _check_shard(task: Task, shard: Shard, path: Path, replay: float, partners: Counter[str]) -> list[str]:
    seeds, ids = shard.seeds, np.array(shard.episode_ids, object)
    policies = np.array([spec for spec, _ in shard.plan.policies], object)[shard.policy_index]
    problems: list[str] = []
    row = 0
    with make_vec_of(shard.plan.env_id, min(task.batch_size, len(seeds))) as env:
        for table in read_batches(path, episode_schema(task), _BATCH):
            if row + len(table) > len(ids):
                break
            rows = slice(row, row + len(table))
            expected = {"episode_id": ids[rows], "seed": seeds[rows], "policy": policies[rows]}
            problems += _check_rows(table, expected, shard.plan.env_id, shard.file)
            chosen = _sample(table, row, replay)
            problems += _check_replay(chosen, env, shard.file)
            problems += _check_labels(chosen, task, env, shard.file)
            partners.update(partner for partner in followed(chosen, env) if partner is not None)
            row += len(table)
    rows_in_file = pq.read_metadata(path).num_rows
    if rows_in_file != len(ids):
        problems.append(f"{shard.file}: {rows_in_file} rows instead of {len(ids)}")
    return problems


def _check_rows(table: pa.Table, expected: dict[str, Any], env_id: str, file: str) -> list[str]:
    """Everything that must hold between the columns of a row, on arrays."""
    bad: dict[str, np.ndarray[Any, Any]] = {}
    for name, values in expected.items():
        bad[f"{name} is not the plan's"] = table[name].to_numpy() != values
    turns = table["num_turns"].to_numpy()
    paid = pc.list_value_length(table["rewards"]).to_numpy()
    spoken = pc.list_value_length(table["messages"]).to_numpy()
    messages = table["messages"].combine_chunks()
    first = messages.offsets.to_numpy()[:-1] - messages.offsets.to_numpy()[0]
    place = np.arange(int(spoken.sum())) - np.repeat(first, spoken)
    roles = messages.flatten().field("role").to_numpy(zero_copy_only=False)
    wrong_role = roles != np.where(place % 2 == 0, "user", "assistant")
    episode_of = np.repeat(np.arange(len(table)), spoken)
    rewards = table["rewards"].combine_chunks().flatten().to_numpy().astype(np.float64)
    sums = np.bincount(np.repeat(np.arange(len(table)), paid), weights=rewards, minlength=len(table))
    terminated, truncated = table["terminated"].to_numpy(), table["truncated"].to_numpy()
    bad["env_id is not the plan's"] = table["env_id"].to_numpy() != env_id
    bad["num_turns is not the number of rewards"] = (turns != paid) | (turns < 1)
    bad["messages do not alternate from the environment to the environment"] = (spoken != 2 * turns + 1) | (
        np.bincount(episode_of, weights=wrong_role, minlength=len(table)) > 0
    )
    bad["episode_return is not the sum of the rewards"] = sums.astype(np.float32) != table["episode_return"].to_numpy()
    bad["neither terminated nor truncated, or both"] = terminated == truncated
    bad["success without an end of the game"] = table["success"].to_numpy() & ~terminated
    names = table["episode_id"].to_pylist()
    return [
        line for what, rows in bad.items() for line in _named(file, what, [names[row] for row in np.flatnonzero(rows)])
    ]


def _sample(table: pa.Table, first: int, share: float) -> pa.Table:
    """The rows whose numbers fall on the grid of the share."""
    numbers = np.arange(first, first + len(table))
    rows = np.flatnonzero(np.floor((numbers + 1) * share) > np.floor(numbers * share))
    return table.take(pa.array(rows))


def _check_labels(table: pa.Table, task: Task, env: TextVectorEnv, file: str) -> list[str]:
    """Judge the episodes again where the engine that judged them is the one here."""
    if task.label is None or not len(table):
        return []
    mine = table.filter(pa.array([partner is None for partner in followed(table, env)]))
    recorded, judged = mine["info"].to_pylist(), locate(task.label)(mine)["info"].to_pylist()
    names = mine["episode_id"].to_pylist()
    wrong = [name for name, ours, theirs in zip(names, judged, recorded, strict=True) if ours != theirs]
    return _named(file, "the labels are not the engine's", wrong)


def _check_replay(table: pa.Table, env: TextVectorEnv, file: str) -> list[str]:
    """Replay episodes."""
    differences = replay_table(table, env)
    names = table["episode_id"].to_pylist()
    return [
        line
        for name, difference in zip(names, differences, strict=True)
        if difference is not None
        for line in _named(file, f"does not replay: {difference}", [name])
    ][:_SHOWN]


def _named(file: str, what: str, names: list[str]) -> list[str]:
    if not names:
        return []
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return [f"{file}: {what}: {', '.join(names[:_SHOWN])}{more}"]


def _check_evaluation(task: Task, folder: Folder, manifest: Manifest) -> list[str]:
    record = manifest.content.get("evaluation")
    if record is None:
        return ["data/evaluation: missing; run the same `lmrl generate` command again"]
    file = record["file"]
    try:
        with folder.local(file) as path:
            found = pa.concat_tables(read_batches(path, evaluation_schema(task)))
    except FileNotFoundError:
        return [f"{file}: missing; run the same `lmrl generate` command again"]
    except LmrlError as error:
        return [str(error).replace(str(path), file)]
    right = found.equals(evaluation_table(task.name))
    return [] if right else [f"{file}: not the evaluation episodes of {task.name}"]
