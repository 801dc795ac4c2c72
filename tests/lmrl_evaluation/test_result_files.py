"""Result files: what is written is read, and what is broken is named."""

import hashlib
import json
import os
import re

import pyarrow as pa
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_evaluation import result as module
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import read_result, write_result


@pytest.fixture(scope="module")
def measured():
    return evaluate("maze", "region-1", config="partially_observed", episodes=50)


@pytest.fixture
def folder(measured, tmp_path):
    write_result(measured, tmp_path / "result")
    return tmp_path / "result"


def change(folder, **changes):
    """Overwrite fields of the result.json; None takes one out."""
    data = json.loads((folder / "result.json").read_text()) | changes
    data = {key: value for key, value in data.items() if value is not None}
    (folder / "result.json").write_text(json.dumps(data))


def test_round_trip(measured, folder):
    assert read_result(folder) == measured
    assert read_result(folder / "result.json") == measured


def test_fields(measured, folder):
    data = json.loads((folder / "result.json").read_text())
    assert data["task"] == "maze"
    assert data["config"] == "partially_observed"
    assert data["env_id"] == "lmrl/MazePartiallyObserved-v0"
    assert (data["policy"], data["method"], data["seed"], data["episodes"]) == ("region-1", "scripted", 0, 50)
    returns = measured.table["episode_return"].to_pylist()
    assert data["mean_return"] == pytest.approx(sum(returns) / 50)
    assert data["success_rate"] == sum(measured.table["success"].to_pylist()) / 50
    assert data["mean_length"] == sum(measured.table["num_turns"].to_pylist()) / 50
    low, high = data["confidence_interval"]
    assert low < data["mean_return"] < high
    for name in ("normalized_score", "success_rate", "mean_length", "unusable_action_rate"):
        low, high = data["uncertainty"][name]["confidence_interval"]
        assert low <= data[name] <= high
    assert data["bounds"] == vars(get_task("maze").config("partially_observed")[1].bounds)
    assert {"lmrl-gym", "python", "numpy", "pyarrow"} <= data["versions"].keys()
    assert data["episodes_sha256"] == hashlib.sha256((folder / "episodes.parquet").read_bytes()).hexdigest()


def test_same_evaluation_same_bytes(folder, tmp_path):
    write_result(evaluate("maze", "region-1", config="partially_observed", episodes=50), tmp_path / "again")
    for name in ("result.json", "episodes.parquet"):
        assert (folder / name).read_bytes() == (tmp_path / "again" / name).read_bytes()


def test_writing_again_replaces(folder):
    other = evaluate("wordle", "random", episodes=4)
    write_result(other, folder)
    assert read_result(folder) == other
    assert sorted(path.name for path in folder.iterdir()) == ["episodes.parquet", "result.json", "run.json"]
    # Nothing is known of what a result that was read took to play.
    write_result(read_result(folder), folder)
    assert sorted(path.name for path in folder.iterdir()) == ["episodes.parquet", "result.json"]


@pytest.mark.parametrize("moment", range(2))
def test_no_result_without_its_episodes_when_interrupted(measured, folder, monkeypatch, moment):
    """Killed before either file is put in place: the folder holds no result, or a whole one."""
    replaced = []

    def interrupted(source, target):
        if len(replaced) == moment:
            raise KeyboardInterrupt
        replaced.append(target)
        replace(source, target)

    replace = os.replace
    monkeypatch.setattr(module.os, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write_result(evaluate("maze", "random", episodes=4), folder)
    assert not (folder / "result.json").exists()
    assert not list(folder.glob(".*"))


def test_failed_write_keeps_the_old_result(measured, folder, monkeypatch):
    def full(path, data):
        path.write_bytes(data[:10])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(module, "_write_synced", full)
    with pytest.raises(OSError, match="No space"):
        write_result(evaluate("maze", "random", episodes=4), folder)
    assert read_result(folder) == measured
    assert not list(folder.glob(".*"))


@pytest.mark.parametrize(
    "key",
    [
        *("format", "task", "config", "env_id", "policy", "method", "seed", "episodes", "starts", "mean_return"),
        *("normalized_score", "success_rate", "mean_length", "confidence_interval", "standard_error", "uncertainty"),
        *("bounds", "versions", "episodes_sha256"),
    ],
)
def test_a_missing_field_is_named(folder, key):
    change(folder, **{key: None})
    with pytest.raises(LmrlError, match=f"has no '{key}'"):
        read_result(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"format": 2}, "format 2"),
        ({"format": True}, "'format', which must be a whole number"),
        ({"task": "chequers"}, "unknown task 'chequers'"),
        ({"task": 3}, "'task', which must be a text"),
        ({"config": "huge"}, "no config 'huge'"),
        ({"env_id": "lmrl/MazePartiallyObserved-v1"}, "is of 'lmrl/MazePartiallyObserved-v1'"),
        ({"config": "fully_observed"}, "is now lmrl/Maze-v0"),
        ({"seed": "0"}, "'seed'"),
        ({"seed": 1.5}, "'seed'"),
        ({"seed": -1}, "'seed'"),
        ({"episodes": 51}, "speaks of 51 episodes, but .* has 50"),
        ({"mean_return": float("nan")}, "has nan for 'mean_return', which must be a finite number"),
        ({"success_rate": float("inf")}, "finite"),
        ({"mean_length": 10**400}, "finite"),
        ({"mean_return": "-6"}, "finite"),
        ({"mean_return": True}, "finite"),
        ({"confidence_interval": [1]}, "two numbers"),
        ({"confidence_interval": [2, 1]}, "two numbers"),
        ({"confidence_interval": [float("nan"), 1]}, "two numbers"),
        ({"standard_error": []}, "'standard_error'"),
        ({"uncertainty": []}, "must be an object"),
        ({"uncertainty": {}}, r"has no 'uncertainty\.normalized_score'"),
        ({"uncertainty": {"normalized_score": {}}}, r"has no 'uncertainty\.normalized_score\.confidence_interval'"),
        ({"bounds": {"minimum": -1000}}, "other bounds"),
        ({"versions": {"numpy": 2}}, r"'versions\.numpy', which must be a text"),
        ({"versions": {"numpy": "\ud800"}}, "printable"),
        ({"policy": "x" * 100_000}, "1 to 200 characters"),
        ({"policy": "\x1b[31mred"}, "printable"),
        ({"method": ""}, "method ''"),
    ],
)
def test_a_wrong_field_is_named(folder, changes, message):
    change(folder, **changes)
    with pytest.raises(LmrlError, match=message) as caught:
        read_result(folder)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b"[]", b"null", b"\xff\xfe\x00", b"[" * 100_000, b'"' + b"x" * 10_000_000 + b'"', b"9" * 10_000],
    ids=["empty", "cut", "list", "null", "not utf-8", "deep", "ten megabytes", "long number"],
)
def test_a_file_that_is_no_result_is_named(folder, text):
    (folder / "result.json").write_bytes(text)
    with pytest.raises(LmrlError, match=r"result\.json") as caught:
        read_result(folder)
    assert len(str(caught.value)) < 500
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("data", [None, b"", b"PAR1", b"x" * 1000])
def test_episodes_that_cannot_be_read_are_named(folder, data):
    episodes = folder / "episodes.parquet"
    episodes.unlink()
    if data is not None:
        episodes.write_bytes(data)
    with pytest.raises(LmrlError, match=r"episodes\.parquet"):
        read_result(folder)


def test_truncated_episodes_are_named(folder):
    episodes = folder / "episodes.parquet"
    episodes.write_bytes(episodes.read_bytes()[:-100])
    with pytest.raises(LmrlError, match=r"episodes\.parquet"):
        read_result(folder)


def test_episodes_of_another_task_are_named(folder, tmp_path):
    write_result(evaluate("wordle", "random", episodes=50), tmp_path / "wordle")
    (tmp_path / "wordle" / "episodes.parquet").replace(folder / "episodes.parquet")
    with pytest.raises(LmrlError, match="column 'info' has type"):
        read_result(folder)


def test_no_folder_is_named(tmp_path):
    with pytest.raises(LmrlError, match="does not exist"):
        read_result(tmp_path / "nowhere")


def folder_name(result, **changes):
    from dataclasses import replace

    return replace(result, **{"config": "fully_observed", **changes}).folder_name


def test_folder_names_are_safe_and_different(measured):
    policies = ["random", "hf:models/a", "hf:models-a", "../../etc", "日本", "日 本", "x" * 200, "x" * 199]
    names = [folder_name(measured, policy=policy) for policy in policies]
    assert len(set(names)) == len(names)
    assert all(re.fullmatch(r"maze-fully_observed-[A-Za-z0-9._-]{1,120}", name) and ".." not in name for name in names)
    assert names[0].startswith("maze-fully_observed-random")


def test_a_try_does_not_take_the_folder_of_the_published_evaluation(measured):
    table = pa.concat_tables([measured.table] * (800 // len(measured.table)))
    whole = folder_name(measured, table=table, seed=0)
    assert whole == f"maze-fully_observed-{measured.policy}"
    assert folder_name(measured, table=table, seed=1) == f"{whole}-seed1"
    assert folder_name(measured, table=table[:50], seed=0) == f"{whole}-50episodes"
