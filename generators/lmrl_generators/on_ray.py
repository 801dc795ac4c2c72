"""Making shards on a Ray cluster: by the same plan, with the same bytes, as on one machine."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cache, partial

from lmrl_data.ray_executor import RayCluster, check_node
from lmrl_generators.folders import Folder
from lmrl_generators.manifest import versions
from lmrl_generators.plan import Plan, Shard, describe
from lmrl_generators.shards import FileRecord, make_shard, parquet_bytes, record_of, shard_table

_Ground = Mapping[Plan, Mapping[str, str]]


def make_on_cluster(cluster: RayCluster, shards: Sequence[Shard], folder: Folder) -> Iterator[tuple[Shard, FileRecord]]:
    """Make shards, in any order. An object store gets them from the workers, a folder of this machine from here.

    Raises:
        LmrlError: a node would make other bytes than this machine, or a shard cannot be made or written.
    """
    ground = {plan: _ground_of(plan) for plan in {shard.plan: None for shard in shards}}
    if folder.everywhere:
        yield from cluster.run(partial(_make_and_write, folder=folder, ground=ground), shards)
        return
    for shard, data in cluster.run(partial(_make, ground=ground), shards):
        folder.write(shard.file, data)
        yield shard, record_of(shard.file, shard.stop - shard.start, data)


@cache
def _ground_of(plan: Plan) -> dict[str, str]:
    """What the bytes of a plan's shards depend on, and the plan does not say: versions, and who answers the agent."""
    partner = describe(plan).get("partner")
    return versions() if partner is None else versions() | {"partner": partner}


def _make_and_write(shard: Shard, folder: Folder, ground: _Ground) -> FileRecord:
    check_node(ground[shard.plan], _ground_of(shard.plan))
    return make_shard(shard, folder)


def _make(shard: Shard, ground: _Ground) -> bytes:
    check_node(ground[shard.plan], _ground_of(shard.plan))
    return parquet_bytes(shard_table(shard))
