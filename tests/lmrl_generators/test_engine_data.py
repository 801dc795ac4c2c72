"""Data of tasks in which somebody answers the agent: options of the environment, labels, and who answered."""

import json
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from datasets import load_dataset

from lmrl_data import make
from lmrl_data.dataset import load_episodes
from lmrl_data.errors import LmrlError
from lmrl_data.files import file_hash
from lmrl_data.replays import replay
from lmrl_generators.generate import generate
from lmrl_generators.plan import make_plans
from lmrl_generators.validate import validate


def _make(folder: Path, *, workers: int = 1, **options: object) -> None:
    plans = make_plans("chess", episodes=6, validation=0, shard_size=3, policies={"random": 1}, options=options)
    generate(plans, folder, workers=workers)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    try:
        make("chess").close()
    except LmrlError as error:
        pytest.skip(str(error))
    folder = tmp_path_factory.mktemp("data") / "chess"
    _make(folder, opponent="level-1")
    return folder


def test_the_option_is_named_and_replays_by_the_id_alone(folder: Path) -> None:
    episodes = load_episodes(folder, "chess")
    assert {episode.env_id for episode in episodes} == {"lmrl/Chess-v0?opponent=level-1"}
    assert {episode.info["opponent"] for episode in episodes} == {"level-1"}
    assert replay(episodes) == [None] * 6
    found = validate(folder, replay=1)
    assert (found.episodes, found.problems, found.partners) == (6, [], Counter())
    assert json.loads((folder / "generation.json").read_text())["configs"]["default"]["partner"].startswith("Stockfish")


def test_the_bytes_do_not_depend_on_the_workers(folder: Path, tmp_path: Path) -> None:
    _make(tmp_path / "chess", workers=2, opponent="level-1")
    files = sorted(path.relative_to(folder) for path in folder.glob("data/**/*.parquet"))
    assert [file_hash(folder / file) for file in files] == [file_hash(tmp_path / "chess" / file) for file in files]


def test_every_move_of_the_agent_is_judged_and_datasets_reads_it(folder: Path) -> None:
    for row in load_dataset(str(folder), "default", split="train"):
        info, turns = row["info"], row["num_turns"]
        assert {len(info[name]) for name in ("best_moves", "cp_before", "mate_before", "cp_after", "cp_loss")} == {
            turns
        }
        assert all(info["best_moves"])
        assert all(
            (cp is None) != (mate is None) for cp, mate in zip(info["cp_before"], info["mate_before"], strict=True)
        )
        assert min(info["cp_loss"]) >= 0


def _change(folder: Path, copy: Path, change: object) -> Path:
    """A copy of the folder in which `change` has been made to the first row of the first file."""
    import shutil

    shutil.copytree(folder, copy)
    file = next(iter(sorted(copy.glob("data/default/*.parquet"))))
    table = pq.read_table(file)
    rows = table.to_pylist()
    change(rows[0])
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    manifest = json.loads((copy / "generation.json").read_text())
    (shard,) = (
        shard
        for shard in manifest["configs"]["default"]["splits"]["train"]["shards"]
        if shard["file"] == str(file.relative_to(copy))
    )
    shard["sha256"] = file_hash(file)
    (copy / "generation.json").write_text(json.dumps(manifest))
    return copy


def test_episodes_of_another_engine_are_checked_with_its_recorded_moves_and_said_to_be(
    folder: Path, tmp_path: Path
) -> None:
    def other_engine(row: dict) -> None:
        row["info"]["engine"] = "Stockfish 99 00000000"

    found = validate(_change(folder, tmp_path / "chess", other_engine), replay=1)
    assert (found.problems, found.partners) == ([], Counter({"Stockfish 99 00000000": 1}))

    def lying_engine(row: dict) -> None:
        other_engine(row)
        row["info"]["opponent_moves"][0] = "a7a5" if row["info"]["opponent_moves"][0] != "a7a5" else "a7a6"

    (problem,) = validate(_change(folder, tmp_path / "lying", lying_engine), replay=1).problems
    assert "does not replay" in problem


def test_a_changed_label_is_found(folder: Path, tmp_path: Path) -> None:
    def flatter(row: dict) -> None:
        row["info"]["cp_loss"] = [0 for _ in row["info"]["cp_loss"]]

    (problem,) = validate(_change(folder, tmp_path / "chess", flatter), replay=1).problems
    assert "the labels are not the engine's" in problem


def test_a_run_does_not_go_on_with_another_engine(folder: Path, tmp_path: Path) -> None:
    import shutil

    copy = tmp_path / "chess"
    shutil.copytree(folder, copy)
    manifest = json.loads((copy / "generation.json").read_text())
    manifest["configs"]["default"]["partner"] = "Stockfish 99 00000000"
    (copy / "generation.json").write_text(json.dumps(manifest))
    with pytest.raises(LmrlError, match="holds other data"):
        _make(copy, opponent="level-1")
