"""Results from strangers: whatever is in the files, the check ends soon, in bounded memory, and says why."""

import json
import os
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmrl_data.errors import LmrlError
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.leaderboard import leaderboard
from lmrl_evaluation.page import as_html
from lmrl_evaluation.result import write_result
from lmrl_evaluation.untrusted import check_parquet_size
from lmrl_evaluation.verify import check_result


@pytest.fixture(scope="module")
def measured():
    return evaluate("wordle", "random", episodes=20)


@pytest.fixture
def folder(measured, tmp_path):
    write_result(measured, tmp_path / "result")
    return tmp_path / "result"


def only_finding(folder):
    (finding,) = check_result(folder).findings
    text = str(finding)
    assert "\n" not in text
    assert len(text) < 600
    return text


class Says:
    """Plays one action, then another over and over."""

    def __init__(self, action):
        self.name = "says"
        self.action = action

    def reset(self, seeds):
        pass

    def act(self, conversations):
        return [self.action if len(conversation) == 1 else "no" for conversation in conversations]


def repeated(table, column, value, rows):
    """The first row of a table over and over, with a column of one value that is stored once."""
    index = pa.array(np.zeros(rows, np.int32))
    columns = [table[name].combine_chunks().slice(0, 1).take(index) for name in table.column_names]
    columns[table.column_names.index(column)] = pa.DictionaryArray.from_arrays(index, pa.array([value]))
    return pa.Table.from_arrays(columns, table.column_names)


def one_text_many_times(table):
    return repeated(table, "policy", "x" * 1_000_000, 100_000), 1


def many_rows(table):
    return repeated(table, "policy", "x", 100_000), 11


def endless_list(table):
    rewards = pa.array(np.zeros(6_000_000, np.float32))
    column = pa.ListArray.from_arrays(pa.array([0, len(rewards)], pa.int32()), rewards)
    return table.slice(0, 1).set_column(2, "rewards", column), 10


def packed_text(table):
    return table.slice(0, 1).set_column(9, "policy", pa.array(["x" * 60_000_000])), 10


@pytest.mark.parametrize(
    ("bomb", "message"),
    [
        (one_text_many_times, "holds more than 512 MiB of text"),
        (many_rows, "has 1,100,000 episodes"),
        (endless_list, "60,000,... values"),
        (packed_text, "unpacks to 572 MiB"),
    ],
)
def test_a_small_file_that_stands_for_much_is_refused(measured, folder, bomb, message):
    file = folder / "episodes.parquet"
    rows, times = bomb(measured.table)
    with pq.ParquetWriter(file, rows.schema, compression="zstd", use_dictionary=bomb is not packed_text) as writer:
        for _ in range(times):
            writer.write_table(rows)
    assert file.stat().st_size < 1_000_000
    code = f"""
import resource
from pathlib import Path
from lmrl_evaluation.untrusted import check_parquet_size
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
try:
    check_parquet_size(Path({str(file)!r}))
except ValueError as error:
    print(error)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
"""
    outcome = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    said, kilobytes = outcome.stdout.splitlines()
    with pytest.raises(LmrlError, match=message):
        check_parquet_size(file)
    assert str(file) in said
    assert int(kilobytes) < 100_000
    assert said == only_finding(folder)


def test_what_evaluate_writes_is_not_too_much(folder):
    check_parquet_size(folder / "episodes.parquet")


def test_an_action_of_ten_megabytes_replays_and_is_cut_short_in_the_page(tmp_path):
    result = evaluate("wordle", Says("<b>" + "x" * 10_000_000), episodes=2)
    write_result(result, tmp_path)
    check = check_result(tmp_path)
    assert check.findings == ()
    page = as_html(leaderboard([check.result]))
    assert len(page) < 200_000
    assert "(10,000,003 characters; the rest is not shown)" in page


def test_a_difference_in_texts_of_ten_megabytes_is_one_short_line(tmp_path):
    result = evaluate("wordle", Says("x" * 10_000_000), episodes=2)
    rows = result.table.to_pylist()
    rows[1]["messages"][2]["content"] = "y" * 10_000_000
    write_result(result, tmp_path)
    pq.write_table(pa.Table.from_pylist(rows, result.table.schema), tmp_path / "episodes.parquet")
    first = str(check_result(tmp_path).findings[0])
    assert first.startswith("episode 1, turn 1: observation 'yyy")
    assert len(first) < 300


def test_text_that_is_no_utf8_is_named(measured, folder):
    bad = pa.array([b"\xff\xfe"] * 20, pa.binary()).cast(pa.string(), safe=False)
    pq.write_table(measured.table.set_column(9, "policy", bad), folder / "episodes.parquet")
    assert "episodes.parquet is not a readable Parquet file" in only_finding(folder)


@pytest.mark.parametrize("name", ["result.json", "episodes.parquet"])
def test_links_and_pipes_are_refused(folder, tmp_path, name):
    elsewhere = tmp_path / name
    (folder / name).rename(elsewhere)
    (folder / name).symlink_to(elsewhere)
    assert only_finding(folder).endswith(f"{name} is a link; put the file itself there")
    (folder / name).unlink()
    (folder / name).symlink_to(folder / name)
    assert "is a link" in only_finding(folder)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    assert f"{name} does not exist or is no file" in only_finding(folder)
    (folder / name).unlink()
    (folder / name).mkdir()
    assert f"{name} does not exist or is no file" in only_finding(folder)


def test_a_link_to_a_result_folder_is_followed(folder, tmp_path):
    (tmp_path / "linked").symlink_to(folder)
    assert check_result(tmp_path / "linked").findings == ()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "maze", "config": "fully_observed"}, "is now lmrl/Maze-v0"),
        ({"env_id": "lmrl/Wordle-v9"}, "evaluate again"),
        ({"mean_return": float("nan")}, "finite"),
        ({"standard_error": float("inf")}, "finite"),
        ({"versions": {"x" * 10_000: "1"}}, "1 to 200 characters"),
        ({"policy": {"$": 1}}, "must be a text"),
    ],
)
def test_a_result_of_other_things_is_named(folder, changes, message):
    data = json.loads((folder / "result.json").read_text()) | changes
    (folder / "result.json").write_text(json.dumps(data))
    assert message in only_finding(folder)


def test_a_deep_or_long_json_is_named(folder):
    for text in ("[" * 500_000, '{"task": "' + "x" * 2_000_000 + '"}', '{"seed": ' + "9" * 100_000 + "}"):
        (folder / "result.json").write_text(text)
        assert "result.json" in only_finding(folder)
