"""Evaluation: a policy plays the fixed evaluation episodes of a task, and is measured."""

import json
import platform
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import pyarrow as pa

from lmrl_data.episode import Episode, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.policy import GamePolicy, HumanPolicy, Policy
from lmrl_data.registry import Task, evaluation_env_id, get_task, make_evaluation_vec, make_policy
from lmrl_data.rollouts import rollout_batches
from lmrl_data.seeding import check_seed
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.fields import shown
from lmrl_evaluation.metrics import start_clusters, summarise
from lmrl_evaluation.result import Result, check_name, parquet_bytes, sha256

BATCH_SIZE = 128
MAX_EPISODES = 1_000_000


def evaluate(
    task: str,
    policy: str | Policy,
    *,
    config: str | None = None,
    episodes: int | None = None,
    seed: int = 0,
    batch_size: int = BATCH_SIZE,
    on_episodes: Callable[[Sequence[Episode]], None] | None = None,
) -> Result:
    """Evaluate a policy.

    Args:
        task: name of a task.
        policy: a spec, as `lmrl_data.make_policy` takes it, or a policy.
        config: of the task; None is its default.
        episodes: how many of the evaluation episodes, from the first; None is the config's number.
        seed: of the evaluation set; 0 is the published one.
        batch_size: episodes played side by side.
        on_episodes: called with the episodes each time some have been finished.

    Raises:
        LmrlError: an unknown task, config or policy, or a number that cannot be.
    """
    found = get_task(task)
    name, chosen = found.config(config)
    count = chosen.evaluation_episodes if episodes is None else episodes
    if not 2 <= count <= MAX_EPISODES:
        raise LmrlError(f"{count} episodes cannot be evaluated; give a number from 2 to {MAX_EPISODES:,}")
    check_seed(seed)
    if batch_size < 1:
        raise LmrlError(f"batch size {batch_size} is too small; give at least 1")
    player = make_policy(policy, task, config=name) if isinstance(policy, str) else policy
    check_name(player.name, "the policy's name")
    method = _method(policy, found)
    tables = []
    with make_evaluation_vec(task, min(batch_size, count), config=name) as env:
        for batch in rollout_batches(env, player, evaluation_seeds(task, name, episodes=count, seed=seed).tolist()):
            tables.append(to_table(batch, found))
            if on_episodes:
                on_episodes(batch)
    table = pa.concat_tables(tables).combine_chunks()
    return Result(
        task=task,
        config=name,
        env_id=evaluation_env_id(chosen),
        policy=player.name,
        method=method,
        seed=seed,
        starts=int(start_clusters(table, found).max()) + 1,
        estimates=summarise(table, found, name),
        versions=_versions(method),
        episodes_sha256=sha256(parquet_bytes(table)),
        table=table,
    )


def _method(policy: str | Policy, task: Task) -> str:
    """How a policy came about; a trained one's folder says so in its `lmrl.json`."""
    if not isinstance(policy, str):
        return {GamePolicy: "scripted", HumanPolicy: "human"}.get(type(policy), "custom")
    if policy in task.policies:
        return "scripted"
    kind, _, argument = policy.partition(":")
    settings = Path(argument) / "lmrl.json"
    if not settings.is_file():
        return kind
    try:
        method = json.loads(settings.read_bytes())["method"]
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise LmrlError(f"{settings} does not name the method that trained the model; train it again") from error
    if not isinstance(method, str):
        raise LmrlError(f"{settings} has {shown(method)} for a method, which must be a text; train the model again")
    check_name(method, f"{settings}: method")
    return method


def _versions(method: str) -> dict[str, str]:
    """What the episodes and the numbers depend on."""
    packages = ["lmrl-gym", "numpy", "pyarrow"]
    if method not in ("scripted", "human"):
        packages += ["torch", "transformers"]
    found = {"python": platform.python_version()}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue  # a remote model needs none of them
    return found
