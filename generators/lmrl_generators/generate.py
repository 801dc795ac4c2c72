"""`generate`: carry out plans into a dataset folder, resuming where an earlier run stopped."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from filelock import FileLock, Timeout

from lmrl_data.errors import LmrlError
from lmrl_data.files import TEMPORARY, file_hash
from lmrl_data.starts import evaluation_table
from lmrl_generators.executors import run_all
from lmrl_generators.manifest import Manifest
from lmrl_generators.plan import Plan, Shard
from lmrl_generators.shards import check_policies, make_shard, write_parquet

EVALUATION_FILE = "data/evaluation/test-00000-of-00001.parquet"


@dataclass(frozen=True)
class Generated:
    """What a run did: episodes and shards made, and those of an earlier run that were found whole."""

    episodes: int
    shards: int
    kept_episodes: int
    kept_shards: int


def generate(
    plans: Sequence[Plan],
    folder: Path,
    *,
    workers: int = 1,
    overwrite: bool = False,
    on_episodes: Callable[[int], None] | None = None,
) -> Generated:
    """Make the shards of the plans, the evaluation episodes, the manifest and the card of one task's dataset.

    A shard that is there with the recorded hash is kept; a missing, half-written or changed one is made again. So a run
    that was killed goes on where it stopped, and ends with the same bytes.

    Args:
        plans: of one task.
        folder: of the dataset; made if need be.
        workers: processes.
        overwrite: remove what the folder holds of the plans' configs first.
        on_episodes: called with a number of episodes each time some are there.

    Raises:
        LmrlError: the folder holds other data or is in use, or something cannot be written.
    """
    task = plans[0].task
    check_policies(plans)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # Beside the folder, which holds only what is to be published.
        with FileLock(folder.with_name(f".{folder.name}.lock"), timeout=0):
            return _generate(task, plans, folder, workers, overwrite, on_episodes or (lambda episodes: None))
    except Timeout as error:
        raise LmrlError(f"another process is generating into {folder}; wait for it or give another --out") from error
    except OSError as error:
        raise LmrlError(f"cannot write into {folder}: {error.strerror or error}; give another --out") from error


def _generate(
    task: str, plans: Sequence[Plan], folder: Path, workers: int, overwrite: bool, on_episodes: Callable[[int], None]
) -> Generated:
    for leftover in folder.glob(f"**/{TEMPORARY}*"):
        leftover.unlink()
    manifest = Manifest.open(folder, task, overwrite=overwrite)
    if overwrite:
        configs = {plan.config for plan in plans}
        manifest.forget(configs)
        for config in configs:
            shutil.rmtree(folder / "data" / config, ignore_errors=True)
    for plan in plans:
        manifest.begin(plan)
    manifest.save()
    missing: list[Shard] = []
    kept: list[Shard] = []
    for shard in (shard for plan in plans for shard in plan.shards):
        (kept if _is_whole(shard, folder, manifest) else missing).append(shard)
    on_episodes(_count(kept))
    for shard, record in run_all(partial(make_shard, folder=folder), missing, workers):
        manifest.add(shard.plan, record)
        on_episodes(_count([shard]))
    manifest.content["evaluation"] = write_parquet(evaluation_table(task), folder, EVALUATION_FILE)
    manifest.save()
    from lmrl_cards import write_card  # brings datasets and matplotlib, which a failing run need not wait for

    write_card(folder, task)
    return Generated(_count(missing), len(missing), _count(kept), len(kept))


def _is_whole(shard: Shard, folder: Path, manifest: Manifest) -> bool:
    record, path = manifest.record(shard.plan, shard.file), folder / shard.file
    return record is not None and path.is_file() and file_hash(path) == record["sha256"]


def _count(shards: Sequence[Shard]) -> int:
    return sum(shard.stop - shard.start for shard in shards)
