"""`generate`: carry out plans into a dataset folder, resuming where an earlier run stopped."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from lmrl_data.ray_executor import RayCluster
from lmrl_data.starts import evaluation_table
from lmrl_generators.executors import run_all
from lmrl_generators.folders import Folder, Place, open_folder
from lmrl_generators.manifest import Manifest
from lmrl_generators.on_ray import make_on_cluster
from lmrl_generators.plan import Plan, Shard
from lmrl_generators.shards import FileRecord, check_policies, make_shard, parquet_bytes, record_of

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
    place: Place,
    *,
    workers: int = 1,
    cluster: RayCluster | None = None,
    overwrite: bool = False,
    on_episodes: Callable[[int], None] | None = None,
) -> Generated:
    """Make the shards of the plans, the evaluation episodes, the manifest and the card of one task's dataset.

    A shard that is there with the recorded hash is kept; a missing, half-written or changed one is made again. So a run
    that was killed goes on where it stopped, and ends with the same bytes.

    Args:
        plans: of one task.
        place: the folder of the dataset, made if need be, or its URL in an object store.
        workers: processes.
        cluster: makes the shards instead of processes of this machine.
        overwrite: remove what the folder holds of the plans' configs first.
        on_episodes: called with a number of episodes each time some are there.

    Raises:
        LmrlError: the folder holds other data or is in use, or something cannot be written.
    """
    folder = open_folder(place)
    check_policies(plans)
    made = partial(_made, folder=folder, workers=workers, cluster=cluster)
    with folder.held():
        done = _generate(plans, folder, made, overwrite, on_episodes or (lambda episodes: None))
        from lmrl_cards import write_card  # brings datasets and matplotlib, which a failing run need not wait for

        with folder.whole() as path:
            write_card(path, plans[0].task, workers=workers)
        return done


def _generate(
    plans: Sequence[Plan],
    folder: Folder,
    made: Callable[[list[Shard]], Iterator[tuple[Shard, FileRecord]]],
    overwrite: bool,
    on_episodes: Callable[[int], None],
) -> Generated:
    task = plans[0].task
    manifest = Manifest.open(folder, task, overwrite=overwrite)
    if overwrite:
        configs = {plan.config for plan in plans}
        manifest.forget(configs)
        for config in sorted(configs):
            folder.remove(f"data/{config}")
    for plan in plans:
        manifest.begin(plan)
    manifest.save()
    missing: list[Shard] = []
    kept: list[Shard] = []
    for shard in (shard for plan in plans for shard in plan.shards):
        (kept if _is_whole(shard, folder, manifest) else missing).append(shard)
    on_episodes(_count(kept))
    try:
        for shard, record in made(missing):
            manifest.add(shard.plan, record)
            on_episodes(_count([shard]))
    finally:
        manifest.save()
    manifest.content["evaluation"] = _write_evaluation(task, folder)
    manifest.save()
    return Generated(_count(missing), len(missing), _count(kept), len(kept))


def _made(
    shards: list[Shard], *, folder: Folder, workers: int, cluster: RayCluster | None
) -> Iterator[tuple[Shard, FileRecord]]:
    """Make shards, in any order."""
    if cluster is None:
        return run_all(partial(make_shard, folder=folder), shards, workers)
    return make_on_cluster(cluster, shards, folder)


def _write_evaluation(task: str, folder: Folder) -> FileRecord:
    table = evaluation_table(task)
    data = parquet_bytes(table)
    record = record_of(EVALUATION_FILE, len(table), data)
    if folder.hash(EVALUATION_FILE) != record["sha256"]:
        folder.write(EVALUATION_FILE, data)
    return record


def _is_whole(shard: Shard, folder: Folder, manifest: Manifest) -> bool:
    record = manifest.record(shard.plan, shard.file)
    return record is not None and folder.hash(shard.file) == record["sha256"]


def _count(shards: Sequence[Shard]) -> int:
    return sum(shard.stop - shard.start for shard in shards)
