"""Reading dataset folders: what is read, and what is said of files that are not episodes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmrl_data import load_episodes, make_policy, make_vec, rollout
from lmrl_data.dataset import load_table, read_batches, split_files
from lmrl_data.episode import Episode, episode_schema, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task

SCHEMA = episode_schema(get_task("wordle"))
SHARD = "data/default/train-{:05d}-of-{:05d}.parquet"


def episodes_of(seeds: range) -> list[Episode]:
    return rollout(make_vec("wordle", 64), make_policy("mixture", "wordle"), seeds)


def write(folder: Path, table: pa.Table, number: int = 0, total: int = 1, **options: Any) -> Path:
    path = folder / SHARD.format(number, total)
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, **options)
    return path


def one_line(error: pytest.ExceptionInfo[LmrlError], path: Path) -> bool:
    return str(path) in str(error.value) and "\n" not in str(error.value)


def test_shards_are_read_in_order(tmp_path: Path) -> None:
    shards = [episodes_of(range(first, first + 20)) for first in (0, 20, 40)]
    for number in (2, 0, 1):
        write(tmp_path, to_table(shards[number], get_task("wordle")), number, 3, row_group_size=7)
    assert [path.name for path in split_files(tmp_path, "default", "train")] == [
        f"train-0000{number}-of-00003.parquet" for number in range(3)
    ]
    assert load_episodes(tmp_path, "wordle") == [episode for shard in shards for episode in shard]
    assert load_table(str(tmp_path), "wordle", config="default", split="train").schema == SCHEMA


def test_batches_are_small_and_complete(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(50)), get_task("wordle"))
    batches = list(read_batches(write(tmp_path, table), SCHEMA, rows=8))
    assert max(map(len, batches)) == 8
    assert pa.concat_tables(batches).equals(table)


def test_file_without_rows(tmp_path: Path) -> None:
    write(tmp_path, SCHEMA.empty_table())
    assert load_episodes(tmp_path, "wordle") == []
    assert load_table(tmp_path, "wordle").schema == SCHEMA


def test_columns_in_another_order_are_put_right(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    write(tmp_path, table.select(table.column_names[::-1]))
    assert load_table(tmp_path, "wordle").equals(table)


def test_names_of_list_elements_do_not_matter(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    write(tmp_path, table, use_compliant_nested_type=False)
    assert load_table(tmp_path, "wordle").equals(table)


def test_missing_split_config_task_and_folder(tmp_path: Path) -> None:
    write(tmp_path, SCHEMA.empty_table())
    for options in ({"split": "validation"}, {"config": "full"}):
        with pytest.raises(LmrlError, match="lmrl generate"):
            load_table(tmp_path, "wordle", **options)
    with pytest.raises(LmrlError, match="lmrl generate"):
        load_table(tmp_path / "nosuch", "wordle")
    with pytest.raises(LmrlError, match=r"maze, .*wordle"):
        load_table(tmp_path, "nosuch")
    with pytest.raises(LmrlError, match="default, full"):
        load_table(tmp_path, "wordle", config="nosuch")
    with pytest.raises(LmrlError, match="does not exist"):
        list(read_batches(tmp_path / "nosuch.parquet", SCHEMA))


def test_missing_shard_is_noticed(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    for number in (0, 2):
        write(tmp_path, table, number, 3)
    with pytest.raises(LmrlError, match="train-00001-of-00003"):
        load_table(tmp_path, "wordle")


@pytest.mark.parametrize(
    "content", [b"", b"P", b"PAR1", b"PAR1PAR1", b"PAR1\xff\xff\xff\x7fPAR1", b"<html>\n" * 99, b"\0" * 4096]
)
def test_file_that_is_no_parquet(tmp_path: Path, content: bytes) -> None:
    path = write(tmp_path, SCHEMA.empty_table())
    path.write_bytes(content)
    with pytest.raises(LmrlError, match="not a readable Parquet file") as error:
        load_table(tmp_path, "wordle")
    assert one_line(error, path)


def test_folder_in_place_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / SHARD.format(0, 1)
    path.mkdir(parents=True)
    with pytest.raises(LmrlError) as error:
        load_table(tmp_path, "wordle")
    assert one_line(error, path)


@pytest.mark.parametrize("part", [0.001, 0.1, 0.5, 0.9, 0.999])
def test_truncated_file(tmp_path: Path, part: float) -> None:
    path = write(tmp_path, to_table(episodes_of(range(50)), get_task("wordle")))
    content = path.read_bytes()
    path.write_bytes(content[: int(part * len(content))])
    with pytest.raises(LmrlError, match="not a readable Parquet file") as error:
        load_episodes(tmp_path, "wordle")
    assert one_line(error, path)


@pytest.mark.parametrize("compression", ["none", "zstd"])
def test_damaged_bytes_never_give_another_error(tmp_path: Path, compression: str) -> None:
    path = write(tmp_path, to_table(episodes_of(range(50)), get_task("wordle")), compression=compression)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for place in rng.integers(4, len(content), size=100).tolist():
        damaged = bytearray(content)
        damaged[place] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            load_episodes(tmp_path, "wordle")
        except LmrlError as error:
            refused += 1
            assert str(path) in str(error)
    assert refused > 10


def _columns(change: Callable[[dict[str, Any]], object]) -> Callable[[pa.Table], pa.Table]:
    def changed(table: pa.Table) -> pa.Table:
        columns = dict(zip(table.column_names, table.columns, strict=True))
        change(columns)
        return pa.table(columns)

    return changed


def _as(name: str, kind: pa.DataType) -> Callable[[pa.Table], pa.Table]:
    return _columns(lambda columns: columns.update({name: pa.array(columns[name].to_pylist()).cast(kind)}))


def _values(name: str, values: list[Any]) -> Callable[[pa.Table], pa.Table]:
    return _columns(lambda columns: columns.update({name: pa.array(values * 5)}))


@pytest.mark.parametrize(
    ("change", "column"),
    [
        (_columns(lambda columns: columns.pop("rewards")), "rewards"),
        (_columns(lambda columns: columns.pop("info")), "info"),
        (_columns(lambda columns: columns.update(prompt=columns["policy"])), "prompt"),
        (_columns(lambda columns: columns.update(reward=columns.pop("rewards"))), "rewards"),
        (_as("seed", pa.string()), "seed"),
        (_as("rewards", pa.list_(pa.string())), "rewards"),
        (_as("num_turns", pa.int64()), "num_turns"),
        (_values("success", [1]), "success"),
        (_values("rewards", [0.5]), "rewards"),
        (_values("messages", ["hello"]), "messages"),
        (_values("messages", [[{"role": "user"}]]), "messages"),
        (_values("messages", [[{"role": "user", "content": 3}]]), "messages"),
        (_values("info", [{"start": [1, 1], "goal": [8, 6]}]), "info"),
        (_values("info", ["crane"]), "info"),
        (lambda table: pa.table({"text": ["hello"]}), "episode_id"),
    ],
)
def test_wrong_columns_are_named(tmp_path: Path, change: Callable[[pa.Table], pa.Table], column: str) -> None:
    path = write(tmp_path, change(to_table(episodes_of(range(5)), get_task("wordle"))))
    with pytest.raises(LmrlError, match=column) as error:
        load_table(tmp_path, "wordle")
    assert one_line(error, path)


def test_text_that_is_not_utf8(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    broken = pa.array([b"mixt\xffre"] * 5, pa.binary()).view(pa.string())
    path = write(tmp_path, table.set_column(table.column_names.index("policy"), "policy", broken))
    with pytest.raises(LmrlError) as error:
        load_episodes(tmp_path, "wordle")
    assert one_line(error, path)


@pytest.mark.parametrize("name", ["messages", "rewards", "seed", "success", "info", "policy", "env_id"])
def test_missing_values_are_noticed(tmp_path: Path, name: str) -> None:
    rows = to_table(episodes_of(range(5)), get_task("wordle")).to_pylist()
    rows[3][name] = None
    path = write(tmp_path, pa.Table.from_pylist(rows, SCHEMA))
    with pytest.raises(LmrlError, match=name) as error:
        load_episodes(tmp_path, "wordle")
    assert one_line(error, path)


def test_files_of_two_datasets_are_not_mixed(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    for number, total in ((0, 1), (0, 2), (1, 2)):
        write(tmp_path, table, number, total)
    with pytest.raises(LmrlError, match="belongs to another dataset"):
        load_table(tmp_path, "wordle")


def test_what_pandas_writes_is_read(tmp_path: Path) -> None:
    table = to_table(episodes_of(range(5)), get_task("wordle"))
    path = write(tmp_path, table)
    pd.read_parquet(path).to_parquet(path)
    assert load_table(tmp_path, "wordle").equals(table)
