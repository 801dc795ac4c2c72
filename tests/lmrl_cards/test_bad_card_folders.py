"""What `write_card` says of folders that are not as they should be, and that it leaves them as they are."""

import shutil

import pyarrow.parquet as pq
import pytest
from card_folders import files_of, write_parquet

from lmrl_cards import write_card
from lmrl_data.errors import LmrlError

SHARD = "data/fully_observed/train-00001-of-00002.parquet"
EVALUATION = "data/evaluation/test-00000-of-00001.parquet"


def overwrite(file, data):
    return lambda folder: (folder / file).write_bytes(data)


def copy(source, target):
    return lambda folder: shutil.copy(folder / source, folder / target)


def other_config(folder):
    shutil.copytree(folder / "data/partially_observed", folder / "data/fully_observed", dirs_exist_ok=True)


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (shutil.rmtree, "has no Parquet files"),
        (lambda folder: shutil.rmtree(folder / "data"), "has no Parquet files"),
        (lambda folder: (folder / SHARD).unlink(), "1 of 2 train files"),
        (lambda folder: [path.unlink() for path in folder.glob("data/fully_observed/train-*")], "no train split"),
        (lambda folder: (folder / "data/fully_observed").rename(folder / "data/other"), "no config 'other'"),
        (copy(SHARD, "data/fully_observed/train-00000-of-00001.parquet"), "more than one dataset"),
        (overwrite("data/fully_observed/notes.parquet", b""), "is not named SPLIT"),
        (overwrite(SHARD, b"PAR1"), "not a readable Parquet"),
        (overwrite(SHARD, b""), "not a readable Parquet"),
        (overwrite(EVALUATION, b"no"), "not a readable Parquet"),
        (copy(EVALUATION, SHARD), "has no column"),
        (other_config, "has episodes of lmrl/MazePartiallyObserved-v0"),
        (overwrite("generation.json", b"{"), "is unreadable"),
        (overwrite("generation.json", b"\xff\xfe"), "is unreadable"),
        (overwrite("generation.json", b"[" * 100_000), "is unreadable"),
        (overwrite("generation.json", b"[]"), "not a record of a dataset"),
        (overwrite("generation.json", b'{"format": 1, "task": "maze"}'), "does not describe"),
        (overwrite("generation.json", b'{"format": 1, "task": "wordle"}'), "holds the task wordle"),
    ],
)
def test_a_bad_folder_gives_one_clear_line_and_nothing_is_written(fresh, spoil, message):
    folder = fresh("maze")
    spoil(folder)
    before = files_of(folder)
    with pytest.raises(LmrlError, match=message) as caught:
        write_card(folder, "maze")
    assert "\n" not in str(caught.value)
    assert files_of(folder) == before


def test_an_empty_train_split_is_refused(fresh):
    folder = fresh("maze")
    for path in folder.glob("data/fully_observed/train-*"):
        write_parquet(pq.read_table(path).slice(0, 0), path)
    with pytest.raises(LmrlError, match="has no train episodes"):
        write_card(folder, "maze")


def test_an_unknown_task_is_refused(fresh):
    with pytest.raises(LmrlError, match="the tasks are"):
        write_card(fresh("maze"), "labyrinth")


def test_nothing_is_left_of_a_write_that_fails(fresh, monkeypatch):
    folder = fresh("maze")
    before = files_of(folder)

    def fail(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(LmrlError, match="No space left"):
        write_card(folder, "maze")
    assert files_of(folder) == before
