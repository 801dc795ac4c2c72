import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans
from lmrl_generators.shards import write_parquet
from lmrl_generators.validate import Validated, validate

SHARD = "data/partially_observed/train-00000-of-00001.parquet"


@pytest.fixture
def folder(tmp_path):
    generate(make_plans("maze", config="partially_observed", episodes=40, validation=0), tmp_path)
    return tmp_path


def rewrite(folder: Path, change) -> None:
    """Put a changed table in place of the shard, with a manifest that agrees: only the content can give it away."""
    record = write_parquet(change(pq.read_table(folder / SHARD)), folder, SHARD)
    manifest = json.loads((folder / "generation.json").read_text())
    manifest["configs"]["partially_observed"]["splits"]["train"]["shards"] = [record]
    (folder / "generation.json").write_text(json.dumps(manifest))


def with_rows(change):
    """A change of the first row, as a Python dict."""

    def apply(table: pa.Table) -> pa.Table:
        rows = table.to_pylist()
        change(rows[0])
        return pa.Table.from_pylist(rows, table.schema)

    return apply


def test_a_fresh_folder_is_valid(folder):
    assert validate(folder, replay=1) == Validated(40, [], Counter())


def test_the_share_replayed_is_the_share_asked_for(folder, monkeypatch):
    import lmrl_generators.validate as module

    replayed = []
    monkeypatch.setattr(module, "replay_table", lambda table, env: replayed.append(len(table)) or [None] * len(table))
    for share in (0, 0.1, 0.5, 1):
        replayed.clear()
        validate(folder, replay=share)
        assert sum(replayed) == 40 * share


def edit_text(row):
    row["messages"][2]["content"] = "Walls: none."


def edit_action(row):
    row["messages"][1]["content"] = "move nowhere"


def edit_role(row):
    row["messages"][1]["role"] = "user"


def edit_reward(row):
    row["rewards"][0] = -2.0
    row["episode_return"] -= 1.0


def drop_turn(row):
    del row["messages"][-2:], row["rewards"][-1]
    row["num_turns"] -= 1
    row["episode_return"] = sum(row["rewards"])


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (edit_text, "observation differs"),
        (edit_action, "differs"),
        (edit_role, "messages do not alternate"),
        (edit_reward, "reward differs"),
        (drop_turn, "the episode has not ended"),
        (lambda row: row.update(episode_return=0.0), "episode_return is not the sum of the rewards"),
        (lambda row: row.update(num_turns=3), "num_turns is not the number of rewards"),
        (lambda row: row.update(seed=5), "seed is not the plan's"),
        (lambda row: row.update(policy="optimal"), "policy is not the plan's"),
        (lambda row: row.update(episode_id="x"), "episode_id is not the plan's"),
        (lambda row: row.update(env_id="lmrl/Maze-v0"), "env_id is not the plan's"),
        (lambda row: row.update(terminated=True, truncated=True), "neither terminated nor truncated, or both"),
        (lambda row: row["info"].update(start=[8, 6]), "info differs"),
        (lambda row: row.update(messages=None), "missing value in column 'messages'"),
    ],
)
def test_a_change_of_one_row_is_found_and_named(folder, change, problem):
    rewrite(folder, with_rows(change))
    problems = validate(folder, replay=1).problems
    assert any(problem in line for line in problems), problems
    assert all(SHARD in line for line in problems)


def test_a_lost_or_doubled_row_is_found(folder):
    rewrite(folder, lambda table: table.slice(0, 39))
    assert any("39 rows instead of 40" in line for line in validate(folder).problems)
    rewrite(folder, lambda table: pa.concat_tables([table, table.slice(0, 2)]))
    assert any("instead of 40" in line for line in validate(folder).problems)


def test_files_that_are_missing_changed_unreadable_or_unknown(folder):
    path = folder / SHARD
    good = path.read_bytes()
    path.write_bytes(good[: len(good) // 2])
    problems = validate(folder).problems
    assert any("not the recorded ones" in line for line in problems)
    assert any("is not a readable Parquet file" in line for line in problems)
    path.write_bytes(b"")
    assert any("is not a readable Parquet file" in line for line in validate(folder).problems)
    path.unlink()
    assert validate(folder).problems == [f"{SHARD}: missing; run the same `lmrl generate` command again"]
    path.write_bytes(good)
    (folder / "data/partially_observed/train-00001-of-00002.parquet").write_bytes(good)
    assert validate(folder).problems == ["data/partially_observed/train-00001-of-00002.parquet: not in the manifest"]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        (lambda table: table.drop_columns("rewards"), "has no column 'rewards'"),
        (lambda table: table.append_column("extra", table["seed"]), "has columns that no episode has: extra"),
        (
            lambda table: table.set_column(8, "seed", pc.cast(table["seed"], pa.string())),
            "column 'seed' has type string",
        ),
    ],
)
def test_wrong_columns(folder, change, problem):
    rewrite(folder, change)
    assert any(problem in line for line in validate(folder).problems)


def test_wrong_evaluation_episodes(folder):
    file = "data/evaluation/test-00000-of-00001.parquet"
    table = pq.read_table(folder / file)
    write_parquet(table.slice(1), folder, file)
    assert validate(folder).problems == [f"{file}: not the evaluation episodes of maze"]
    (folder / file).unlink()
    assert validate(folder).problems == [f"{file}: missing; run the same `lmrl generate` command again"]


@pytest.mark.parametrize(
    ("key", "value"),
    [("shard_size", 0), ("shard_size", "many"), ("seed", -1), ("policies", {"a": "b"}), ("splits", [])],
)
def test_a_manifest_with_a_wrong_value(folder, key, value):
    manifest = json.loads((folder / "generation.json").read_text())
    manifest["configs"]["partially_observed"][key] = value
    (folder / "generation.json").write_text(json.dumps(manifest))
    with pytest.raises(LmrlError, match="is damaged"):
        validate(folder)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "", "{", "[]", '{"format": 1}', '{"format": 1, "task": "maze", "configs": {"a": 3}}']
)
def test_a_damaged_manifest(folder, text):
    (folder / "generation.json").write_text(text)
    with pytest.raises(LmrlError, match=r"generation\.json .*generate the folder again"):
        validate(folder)


def test_a_folder_that_was_not_generated(tmp_path):
    with pytest.raises(LmrlError, match="not a folder made by `lmrl generate`"):
        validate(tmp_path)
    with pytest.raises(LmrlError, match="from 0 to 1"):
        validate(tmp_path, replay=2)


def test_the_command_says_what_is_wrong_and_ends_with_code_2(folder):
    command = [Path(sys.executable).with_name("lmrl"), "validate", folder, "--all"]
    good = subprocess.run([*command, "--json"], capture_output=True, text=True, check=True)
    assert json.loads(good.stdout)["folders"][0]["episodes"] == 40
    rewrite(folder, with_rows(edit_text))
    bad = subprocess.run(command, capture_output=True, text=True)
    assert bad.returncode == 2
    assert "maze-partially_observed-train-00000000" in bad.stderr and "Traceback" not in bad.stderr


def test_hash_of_a_file(tmp_path):
    (tmp_path / "empty").write_bytes(b"")
    assert file_hash(tmp_path / "empty") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
