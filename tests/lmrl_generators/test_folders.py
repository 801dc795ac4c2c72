"""Datasets in object stores: S3 spoken by a server on this machine, and the Hub of `hub_server`."""

import hashlib
import json
import logging
import signal

import pytest
from hub_server import Refused
from huggingface_hub import HfFileSystem, constants
from publishing import TOKEN
from running import digests, lmrl

import lmrl_generators.folders as module
from lmrl_data.errors import LmrlError
from lmrl_generators.folders import LocalFolder, open_folder
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans
from lmrl_generators.validate import validate

FIRST = "data/fully_observed/train-00000-of-00002.parquet"


def plans(**changes):
    """What the folder of the fixture `made` was made from."""
    return make_plans(
        "maze", **{"config": "fully_observed", "episodes": 20, "validation": 10, "shard_size": 10, **changes}
    )


@pytest.fixture(scope="module")
def s3_server():
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server.start()
    host, port = server.get_host_and_port()
    yield f"http://{host}:{port}"
    server.stop()


@pytest.fixture
def s3(s3_server, monkeypatch):
    """A file system with an empty bucket, which the commands of this test see too."""
    import s3fs

    settings = {
        "ENDPOINT_URL": s3_server,
        "ACCESS_KEY_ID": "me",
        "SECRET_ACCESS_KEY": "x",
        "DEFAULT_REGION": "us-east-1",
    }
    for name, value in settings.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    s3fs.S3FileSystem.clear_instance_cache()
    system = s3fs.S3FileSystem(use_listings_cache=False)
    system.mkdir("bucket")
    yield system
    system.rm("bucket", recursive=True)
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def hf(hub, api, monkeypatch):
    """The repository my-lab/maze on the Hub of this test."""
    monkeypatch.setattr(constants, "ENDPOINT", hub.url)
    template = constants.HUGGINGFACE_CO_URL_TEMPLATE.replace(constants._HF_DEFAULT_ENDPOINT, hub.url)
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", template)
    monkeypatch.setenv("HF_TOKEN", TOKEN)
    HfFileSystem.clear_instance_cache()
    api.create_repo("my-lab/maze", repo_type="dataset")
    yield hub.repos["my-lab/maze"]
    HfFileSystem.clear_instance_cache()


def s3_digests(system, root: str) -> dict[str, str]:
    return {
        path.removeprefix(f"{root}/"): hashlib.sha256(system.cat_file(path)).hexdigest() for path in system.find(root)
    }


def test_s3_gets_the_bytes_of_a_local_folder(s3, made):
    done = generate(plans(), "s3://bucket/deep/maze", workers=2)
    assert (done.shards, done.kept_shards) == (3, 0)
    assert s3_digests(s3, "bucket/deep/maze") == digests(made)
    done = generate(plans(), "s3://bucket/deep/maze/")
    assert (done.shards, done.kept_shards) == (0, 3)
    assert validate("s3://bucket/deep/maze", replay=1).problems == []


@pytest.mark.parametrize("damage", ["missing", "changed", "unrecorded"])
def test_a_damaged_object_is_found_and_made_again(s3, made, damage):
    generate(plans(), "s3://bucket/maze")
    if damage == "missing":
        s3.rm(f"bucket/maze/{FIRST}")
    elif damage == "changed":
        s3.pipe_file(f"bucket/maze/{FIRST}", s3.cat_file(f"bucket/maze/{FIRST}")[:-1] + b"?")
    else:
        manifest = json.loads(s3.cat_file("bucket/maze/generation.json"))
        del manifest["configs"]["fully_observed"]["splits"]["train"]["shards"][0]
        s3.pipe_file("bucket/maze/generation.json", json.dumps(manifest).encode())
    problems = validate("s3://bucket/maze").problems
    assert problems and all(problem.startswith(FIRST) for problem in problems)
    assert generate(plans(), "s3://bucket/maze").shards == 1
    assert s3_digests(s3, "bucket/maze") == digests(made)


def test_other_data_in_s3_are_refused_and_overwritten_on_demand(s3, made):
    generate(plans(episodes=30), "s3://bucket/maze")
    with pytest.raises(LmrlError, match=r"^s3://bucket/maze holds other data"):
        generate(plans(), "s3://bucket/maze")
    generate(plans(), "s3://bucket/maze", overwrite=True)
    assert s3_digests(s3, "bucket/maze") == digests(made)


def test_a_run_into_s3_that_was_interrupted_goes_on(s3, tmp_path):
    options = "--config default --episodes 40000 --validation 0 --shard-size 1000".split()
    process = lmrl("generate", "--task", "wordle", *options, "--workers", "1", "--out", "s3://bucket/out")
    while len(s3.glob("bucket/out/wordle/data/default/train-*")) < 2:
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130 and not errors
    large = make_plans("wordle", config="default", episodes=40_000, validation=0, shard_size=1000)
    assert generate(large, "s3://bucket/out/wordle").kept_shards >= 1
    generate(large, tmp_path / "wordle")
    assert s3_digests(s3, "bucket/out/wordle") == digests(tmp_path / "wordle")


def test_the_commands_take_urls_and_say_in_a_line_what_is_wrong(s3):
    small = ["generate", "--task", "maze", "--episodes", "10", "--validation", "0", "--workers", "1", "--json"]
    output, _ = lmrl(*small, "--out", "s3://bucket").communicate(timeout=60)
    assert json.loads(output)[0]["folder"] == "s3://bucket/maze"
    output, _ = lmrl("validate", "s3://bucket/maze", "--json").communicate(timeout=60)
    assert json.loads(output)["folders"][0]["episodes"] == 20
    for wrong, message in (("s3://nosuch", "bucket does not exist"), ("nosuch://bucket", "Protocol not known")):
        process = lmrl(*small, "--out", wrong)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2 and message in errors and len(errors.splitlines()) == 1


def test_a_url_of_this_machine_is_a_path(tmp_path):
    assert open_folder(f"file://{tmp_path}/maze") == LocalFolder(tmp_path / "maze") == open_folder(f"{tmp_path}/maze")


def test_the_hub_gets_the_bytes_of_a_local_folder(hf, made):
    url = "hf://datasets/my-lab/maze"
    assert generate(plans(), url).shards == 3
    assert hf.hashes() == digests(made)
    commits = len(hf.commits)
    assert generate(plans(), url).kept_shards == 3
    assert len(hf.commits) == commits
    assert validate(url, replay=1).problems == []
    hf.commit("damaged", {path: file for path, file in hf.files.items() if path != FIRST})
    assert generate(plans(), url).shards == 1
    assert hf.hashes() == digests(made)


def test_the_hub_is_asked_again_where_others_commit_at_the_same_time(hf, hub, made, monkeypatch):
    monkeypatch.setattr(module, "_WAITS", (0.01, 0.01))
    refusals = [412, 409]

    def refuse(method, path):
        if "/commit/" in path and refusals:
            raise Refused(refusals.pop(), "A commit has happened since. Please refresh and try again.")

    hub.on_request = refuse
    generate(plans(), "hf://datasets/my-lab/maze")
    assert not refusals and hf.hashes() == digests(made)


def test_a_repository_that_is_not_there(hf):
    with pytest.raises(LmrlError, match=r"cannot write hf://datasets/my-lab/nosuch/generation.json"):
        generate(plans(), "hf://datasets/my-lab/nosuch")
