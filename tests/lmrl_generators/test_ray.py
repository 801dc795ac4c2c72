"""Generation on a real Ray cluster of two nodes on this machine, of which processes and nodes are taken away."""

import json
import logging
import os
import re
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from running import descendants, digests, is_running, lmrl, wait_for

from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans
from lmrl_generators.validate import validate

pytest.importorskip("ray")
pytestmark = pytest.mark.slow

OPTIONS = "--task car-dealer --config default --episodes 960 --validation 0 --shard-size 40".split()
SHARDS = 24


@pytest.fixture(scope="module")
def settings():
    """Of this process, and so of the clusters and commands that it starts: nothing of this machine's user is used."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("AWS_ACCESS_KEY_ID", "me")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "x")
        patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
        yield patch


@pytest.fixture(scope="module")
def bucket(settings):
    """A bucket of a server on this machine; the cluster that is started later reaches it too."""
    s3fs = pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    settings.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.mkdir("clusters")
    yield system
    server.stop()


@pytest.fixture(scope="module")
def cluster(bucket):
    from ray.cluster_utils import Cluster

    node = {"num_cpus": 1, "object_store_memory": 100 << 20}
    cluster = Cluster(initialize_head=True, head_node_args={**node, "include_dashboard": False})
    cluster.add_node(**node)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference") / "car-dealer"
    generate(make_plans("car-dealer", config="default", episodes=960, validation=0, shard_size=40), folder)
    return digests(folder)


def begin(cluster, out):
    return lmrl("generate", *OPTIONS, "--executor", "ray", "--address", cluster.address, "--out", out, "--json")


def finished(process) -> dict:
    output, errors = process.communicate(timeout=120)
    assert process.returncode == 0 and not errors, errors
    return json.loads(output)[0]


def shards_in(out) -> int:
    return len(list((out / "car-dealer/data/default").glob("train-*")))


def wait_for_shards(process, out, count=2) -> None:
    wait_for(lambda: shards_in(out) >= count or process.poll() is not None, 240)
    assert process.poll() is None, process.communicate()


def workers() -> list[int]:
    """The processes of the cluster that make shards."""
    found = []
    for pid in descendants(os.getpid()):
        try:
            name = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if name.startswith(b"ray::lmrl"):
            found.append(pid)
    return found


def test_a_worker_is_killed_and_its_shard_is_made_again(cluster, reference, tmp_path):
    process = begin(cluster, tmp_path)
    wait_for_shards(process, tmp_path)
    killed = workers()
    assert killed
    for pid in killed:
        os.kill(pid, signal.SIGKILL)
    assert shards_in(tmp_path) < SHARDS
    assert finished(process)["shards"] == SHARDS
    assert digests(tmp_path / "car-dealer") == reference


def test_workers_write_into_an_object_store_by_themselves(cluster, bucket, reference, tmp_path):
    done = finished(begin(cluster, "s3://clusters/out"))
    assert (done["shards"], done["kept_shards"]) == (SHARDS, 0)
    bucket.get("clusters/out/car-dealer", str(tmp_path / "car-dealer"), recursive=True)
    assert digests(tmp_path / "car-dealer") == reference
    assert validate("s3://clusters/out/car-dealer").problems == []


def test_the_driver_is_killed_and_the_same_command_goes_on(cluster, reference, tmp_path):
    process = begin(cluster, tmp_path)
    wait_for_shards(process, tmp_path)
    process.kill()
    process.communicate(timeout=60)
    # The cluster gives up the work of a driver that is gone.
    wait_for(lambda: not workers())
    there = shards_in(tmp_path)
    assert there < SHARDS
    done = finished(begin(cluster, tmp_path))
    assert there - 1 <= done["kept_shards"] <= there and done["kept_shards"] + done["shards"] == SHARDS
    assert digests(tmp_path / "car-dealer") == reference


def test_the_driver_is_interrupted_and_the_cluster_stops_working_for_it(cluster, reference, tmp_path):
    process = begin(cluster, tmp_path)
    # A file can be there before the driver has heard of it; of so many it has heard of two.
    wait_for_shards(process, tmp_path, 6)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    # Ray's core may say that it could not tell a driver that was gone already; that is its log, and not ours.
    ours = [line for line in errors.splitlines() if not re.match(r"\[.* [IWE] \d+ \d+\] \w+\.cc:\d+: ", line)]
    assert process.returncode == 130 and not ours, errors
    assert shards_in(tmp_path) < SHARDS
    wait_for(lambda: not workers(), 30)
    manifest = json.loads((tmp_path / "car-dealer" / "generation.json").read_text())
    recorded = len(manifest["configs"]["default"]["splits"]["train"]["shards"])
    done = finished(begin(cluster, tmp_path))
    assert done["kept_shards"] == recorded >= 2 and done["kept_shards"] + done["shards"] == SHARDS
    assert digests(tmp_path / "car-dealer") == reference


def test_a_node_is_lost_and_the_other_finishes(cluster, reference, tmp_path):
    process = begin(cluster, tmp_path)
    wait_for_shards(process, tmp_path)
    (other,) = [node for node in cluster.list_all_nodes() if node is not cluster.head_node]
    cluster.remove_node(other, allow_graceful=False)
    assert shards_in(tmp_path) < SHARDS
    assert finished(process)["shards"] == SHARDS
    assert digests(tmp_path / "car-dealer") == reference


@pytest.fixture
def short_folder(settings):
    """For the files of a cluster; its sockets lie there, whose paths may not be long."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    settings.setenv("RAY_TMPDIR", str(folder))
    yield folder
    settings.delenv("RAY_TMPDIR")
    shutil.rmtree(folder)


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_cluster_of_this_machine_ends_with_its_run(short_folder, tmp_path, blow):
    options = "--task car-dealer --config default --episodes 20000 --validation 0 --shard-size 40".split()
    process = lmrl("generate", *options, "--executor", "ray", "--workers", "2", "--out", tmp_path)
    wait_for_shards(process, tmp_path)
    started = descendants(process.pid)
    assert any(map(is_running, started)) and list(short_folder.iterdir())
    process.send_signal(blow)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == (130 if blow == signal.SIGINT else -9) and "Traceback" not in errors
    # Ray's agents try for more than a minute to tell a head that is dead of the death of its node.
    wait_for(lambda: not any(map(is_running, started)), 60 if blow == signal.SIGINT else 180)
    if blow == signal.SIGINT:
        assert not list(short_folder.iterdir()) and not list(tmp_path.rglob(".partial-*"))
