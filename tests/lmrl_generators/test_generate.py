import json
import os
import resource
import signal
import subprocess
import sys

import pyarrow.parquet as pq
import pytest
from running import descendants, digests, is_running, lmrl, wait_for

from lmrl_data.cli import main
from lmrl_data.errors import LmrlError
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans

SMALL = {"config": "default", "episodes": 3000, "validation": 500, "shard_size": 1000}


def small(**changes):
    return make_plans("wordle", **{**SMALL, **changes})


@pytest.fixture(scope="module")
def reference(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reference") / "wordle"
    done = generate(small(), folder)
    assert (done.episodes, done.shards, done.kept_shards) == (3500, 4, 0)
    return folder


def test_the_folder_has_all_its_parts(reference):
    assert set(digests(reference)) >= {
        "README.md",
        "eval.yaml",
        "generation.json",
        "data/default/train-00000-of-00003.parquet",
        "data/default/train-00002-of-00003.parquet",
        "data/default/validation-00000-of-00001.parquet",
        "data/evaluation/test-00000-of-00001.parquet",
    }


def test_the_manifest_names_every_shard_with_its_hash(reference):
    manifest = json.loads((reference / "generation.json").read_text())
    config = manifest["configs"]["default"]
    assert config["policies"] == {"mixture": 1.0}
    found = digests(reference)
    for split, shards in (("train", 3), ("validation", 1)):
        records = config["splits"][split]["shards"]
        assert len(records) == shards
        for record in records:
            assert record["sha256"] == found[record["file"]]
            assert record["episodes"] == pq.read_metadata(reference / record["file"]).num_rows


def test_two_workers_write_the_same_bytes(reference, tmp_path):
    generate(small(), tmp_path / "wordle", workers=2)
    assert digests(tmp_path / "wordle") == digests(reference)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_second_run_makes_nothing(tmp_path, workers):
    generate(small(), tmp_path / "wordle")
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "wordle/data/default").iterdir()}
    done = generate(small(), tmp_path / "wordle", workers=workers)
    assert (done.shards, done.kept_shards) == (0, 4)
    assert {path: path.stat().st_mtime_ns for path in before} == before


@pytest.mark.parametrize("damage", ["missing", "truncated", "changed", "unrecorded"])
def test_a_damaged_shard_is_made_again(reference, tmp_path, damage):
    folder = tmp_path / "wordle"
    generate(small(), folder)
    shard = folder / "data/default/train-00001-of-00003.parquet"
    if damage == "missing":
        shard.unlink()
    elif damage == "truncated":
        shard.write_bytes(shard.read_bytes()[:1000])
    elif damage == "changed":
        shard.write_bytes(shard.read_bytes()[:-1] + b"?")
    else:
        manifest = json.loads((folder / "generation.json").read_text())
        del manifest["configs"]["default"]["splits"]["train"]["shards"][1]
        (folder / "generation.json").write_text(json.dumps(manifest))
    assert generate(small(), folder).shards == 1
    assert digests(folder) == digests(reference)


@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_a_stopped_run_goes_on_and_ends_with_the_same_bytes(tmp_path, blow):
    options = "--config default --episodes 60000 --validation 0 --shard-size 1000".split()
    folder = tmp_path / "out" / "wordle"
    process = lmrl("generate", "--task", "wordle", *options, "--workers", "2", "--out", tmp_path / "out")
    wait_for(lambda: (folder / "generation.json").exists() and "sha256" in (folder / "generation.json").read_text())
    workers = descendants(process.pid)
    assert len(workers) >= 2
    process.send_signal(blow)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: -15}[blow]
    assert "Traceback" not in errors
    # No worker outlives the run.
    wait_for(lambda: not any(is_running(pid) for pid in workers))
    finished = list(folder.glob("data/default/train-*.parquet"))
    assert 1 <= len(finished) < 60
    if blow == signal.SIGINT:
        assert not list(folder.rglob(".partial-*"))
    plans = make_plans("wordle", config="default", episodes=60_000, validation=0, shard_size=1000)
    done = generate(plans, folder, workers=2)
    assert done.kept_shards >= 1
    generate(plans, tmp_path / "whole")
    assert digests(folder) == digests(tmp_path / "whole")


def test_other_data_in_the_folder_is_refused_and_overwritten_on_demand(tmp_path):
    generate(small(episodes=100), tmp_path)
    with pytest.raises(LmrlError, match=r"holds other data of config default \(100 train episodes, seed 0"):
        generate(small(episodes=200), tmp_path)
    with pytest.raises(LmrlError, match="give another --out, or --overwrite"):
        generate(small(episodes=100, seed=1), tmp_path)
    generate(small(episodes=200), tmp_path, overwrite=True)
    assert pq.read_metadata(tmp_path / "data/default/train-00000-of-00001.parquet").num_rows == 200
    with pytest.raises(LmrlError, match="holds the task wordle"):
        generate(make_plans("maze", episodes=10), tmp_path)


def test_configs_share_a_folder(tmp_path):
    generate(make_plans("maze", config="partially_observed", episodes=20, validation=0), tmp_path)
    generate(make_plans("maze", config="fully_observed", episodes=30, validation=0), tmp_path)
    manifest = json.loads((tmp_path / "generation.json").read_text())
    found = {name: config["splits"]["train"]["episodes"] for name, config in manifest["configs"].items()}
    assert found == {"fully_observed": 30, "partially_observed": 20}


def test_two_runs_at_once_are_kept_apart(tmp_path):
    from filelock import FileLock

    with (
        FileLock(tmp_path.with_name(f".{tmp_path.name}.lock")),
        pytest.raises(LmrlError, match="another process is generating"),
    ):
        generate(small(episodes=10), tmp_path)


def test_a_file_size_limit_leaves_nothing_half_written(tmp_path):
    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))

    options = "--config default --episodes 5000 --validation 0 --workers 1".split()
    process = lmrl("generate", "--task", "wordle", *options, "--out", tmp_path, preexec_fn=limit)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.startswith("lmrl: cannot write") and len(errors.splitlines()) == 1
    assert "run the same command to go on" in errors
    assert not list(tmp_path.rglob("*.parquet")) and not list(tmp_path.rglob(".partial-*"))


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can mount a small disk")
def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", tmp_path], check=True)
    try:
        command = ["generate", "--task", "wordle", "--config", "default", "--shard-size", "5000", "--out", tmp_path]
        process = lmrl(*command)
        _, errors = process.communicate(timeout=60)
        assert process.returncode == 2
        assert "No space left on device" in errors and len(errors.splitlines()) == 1
        assert list(tmp_path.rglob("train-*.parquet")) and not list(tmp_path.rglob(".partial-*"))
        # With room to write, the same command keeps what is finished.
        subprocess.run(["mount", "-o", "remount,size=50m", tmp_path], check=True)
        process = lmrl(*command, "--json")
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert json.loads(output)[0]["kept_shards"] >= 1
    finally:
        subprocess.run(["umount", tmp_path], check=True)


@pytest.mark.parametrize("place", ["file", "file/below", "/proc/nosuch"])
def test_a_folder_that_cannot_be_written(tmp_path, place):
    (tmp_path / "file").write_text("in the way")
    process = lmrl("generate", "--task", "maze", "--out", tmp_path / place)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 2
    assert errors.startswith("lmrl: cannot write into") and len(errors.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "nosuch"], "unknown task 'nosuch'"),
        (["--task", "maze", "--config", "nosuch"], "no config 'nosuch'"),
        (["--task", "maze", "--size", "huge"], "unknown size 'huge'"),
        (["--task", "maze", "--policy", "nosuch=1"], "unknown policy 'nosuch'"),
        (["--task", "maze", "--policy", "random=often"], "cannot read the policy"),
        (["--task", "maze", "--episodes", "0"], "0 episodes"),
        (["--task", "maze", "--nosuch"], "No such option"),
    ],
)
def test_options_that_cannot_be_end_with_code_2_and_write_nothing(tmp_path, monkeypatch, capsys, arguments, message):
    monkeypatch.setattr(sys, "argv", ["lmrl", "generate", *arguments, "--workers", "1", "--out", str(tmp_path / "out")])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 2
    assert message in capsys.readouterr().err
    assert not list(tmp_path.rglob("*"))


def test_a_policy_that_cannot_be_made_removes_and_writes_nothing(tmp_path):
    generate(small(episodes=100), tmp_path / "wordle")
    before = digests(tmp_path / "wordle")
    for spec in ("nosuch", "hf:nowhere"):
        with pytest.raises(LmrlError):
            generate(small(episodes=100, policies={spec: 1.0}), tmp_path / "wordle", overwrite=True)
        with pytest.raises(LmrlError):
            generate(small(episodes=100, policies={spec: 1.0}), tmp_path / "other")
    assert digests(tmp_path / "wordle") == before
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    "damage", ["{", "[]", '{"format": 1, "task": "wordle", "configs": {}, "versions": {"lmrl-gym": "0"}}']
)
def test_overwrite_replaces_what_its_message_says_it_replaces(tmp_path, damage):
    generate(small(episodes=100), tmp_path)
    before = digests(tmp_path)
    (tmp_path / "generation.json").write_text(damage)
    with pytest.raises(LmrlError, match="overwrite"):
        generate(small(episodes=100), tmp_path)
    generate(small(episodes=100), tmp_path, overwrite=True)
    assert digests(tmp_path) == before


@pytest.mark.parametrize("package", ["lmrl-gym", "pyarrow"])
def test_data_of_other_versions_are_not_mixed_with_new_ones(tmp_path, package):
    generate(small(episodes=100), tmp_path)
    before = digests(tmp_path)
    manifest = json.loads((tmp_path / "generation.json").read_text())
    manifest["versions"][package] = "0.0.1"
    (tmp_path / "generation.json").write_text(json.dumps(manifest))
    with pytest.raises(LmrlError, match=f"{package} 0.0.1.*--overwrite"):
        generate(small(episodes=100), tmp_path)
    generate(small(episodes=100), tmp_path, overwrite=True)
    assert digests(tmp_path) == before


def test_the_order_of_policies_is_part_of_a_plan(tmp_path):
    generate(small(episodes=100, policies={"random": 1, "mixture": 1}), tmp_path)
    with pytest.raises(LmrlError, match="holds other data"):
        generate(small(episodes=100, policies={"mixture": 1, "random": 1}), tmp_path)
