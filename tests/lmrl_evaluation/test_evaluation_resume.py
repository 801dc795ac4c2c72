"""Evaluations that are killed go on where they stopped, and end with the same bytes."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from filelock import FileLock

import lmrl_evaluation.evaluate as module
from lmrl_data.errors import LmrlError
from lmrl_evaluation import unfinished
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import read_result

LMRL = Path(sys.executable).with_name("lmrl")

# Guesses a word that follows from the seed, takes its time where it is told to, and keeps a log of what it is asked.
POLICY = """
import os, time

WORDS = "crane slate money fight julia bawdy".split()

class Slow:
    name = "slow"

    def reset(self, seeds):
        self.seeds = seeds
        with open("log", "a") as log:
            log.write(" ".join(map(str, seeds)) + "\\n")

    def act(self, conversations):
        time.sleep(float(os.environ.get("NAP", "0")))
        return [WORDS[(seed + len(talk)) % 6] for seed, talk in zip(self.seeds, conversations)]
"""
COMMAND = [str(LMRL), *"evaluate wordle --policy python:slow:Slow --episodes 60 --batch-size 6 --out result".split()]
FILES = ("result.json", "episodes.parquet")


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("slow.py").write_text(POLICY)
    return tmp_path


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The files of a run that nothing interrupts."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "slow.py").write_text(POLICY)
    subprocess.run(COMMAND, cwd=folder, check=True, capture_output=True)
    return {name: (folder / "result" / name).read_bytes() for name in FILES}


def stopped(number, parts=3):
    """Start the command, and send it a signal when some batches are finished."""
    playing = subprocess.Popen(COMMAND, stderr=subprocess.PIPE, text=True, env={**os.environ, "NAP": "0.03"})
    deadline = time.monotonic() + 60
    while len(list(Path("result/unfinished").glob("episodes-*"))) < parts:
        assert playing.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    playing.send_signal(number)
    _, said = playing.communicate(timeout=60)
    return playing.returncode, said


def seeds_asked():
    return [line.split() for line in Path("log").read_text().splitlines()]


def test_a_killed_run_goes_on_without_losing_or_repeating_an_episode(here, whole):
    played = []
    for parts in (2, 5):  # killed, gone on with, and killed again
        code, _ = stopped(signal.SIGKILL, parts)
        assert code == -signal.SIGKILL
        assert os.listdir("result") == ["unfinished"]
        kept = len(list(Path("result/unfinished").glob("episodes-*")))
        assert parts <= kept < 10
        played = played[:kept] + seeds_asked()
        Path("log").unlink()
        assert kept <= len(played) <= kept + 1
        played = played[:kept]
    subprocess.run(COMMAND, check=True, capture_output=True)
    assert sorted(os.listdir("result")) == ["episodes.parquet", "result.json", "run.json"]
    assert {name: Path("result", name).read_bytes() for name in FILES} == whole
    result = read_result("result")
    seeds = [seed for batch in played + seeds_asked() for seed in batch]
    assert seeds == [str(seed) for seed in result.table["seed"].to_pylist()]
    run = json.loads(Path("result/run.json").read_text())
    assert run["turns"] == sum(result.table["num_turns"].to_pylist())


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_run_says_how_to_go_on(here, whole, number, code):
    returned, said = stopped(number)
    assert returned == code
    kept = 6 * len(list(Path("result/unfinished").glob("episodes-*")))
    (line,) = [line for line in said.splitlines() if line.startswith("lmrl:")]
    assert line == f"lmrl: stopped; {kept} of 60 episodes are kept in result; run the same command to go on"
    assert "Traceback" not in said
    subprocess.run(COMMAND, check=True, capture_output=True)
    assert {name: Path("result", name).read_bytes() for name in FILES} == whole


class StopsAfter:
    """Plays some batches, and then there is an error."""

    def __init__(self, batches, error=KeyboardInterrupt):
        self.name = "stops"
        self.batches = batches
        self.error = error

    def reset(self, seeds):
        if not self.batches:
            raise self.error
        self.batches -= 1

    def act(self, conversations):
        return ["crane"] * len(conversations)


def begin(folder, batches, **changes):
    """An evaluation of 12 episodes in batches of 4 that stops early."""
    settings = {"episodes": 12, "batch_size": 4, **changes}
    with pytest.raises(KeyboardInterrupt):
        evaluate("wordle", StopsAfter(batches), folder=folder, **settings)


def go_on(folder, **changes):
    settings = {"task": "wordle", "policy": StopsAfter(9), "episodes": 12, "batch_size": 4, **changes}
    return evaluate(folder=folder, **settings)


def test_returns_of_the_earlier_run_come_first_and_another_batch_size_will_do(tmp_path):
    begin(tmp_path / "r", 2)
    batches = []
    result = go_on(tmp_path / "r", batch_size=3, on_returns=batches.append)
    assert [len(batch) for batch in batches] == [8, 3, 1]
    assert result == go_on(None)
    assert sum(map(sum, batches)) == sum(result.table["episode_return"].to_pylist())


def test_quick_batches_share_a_file_and_none_is_lost_or_repeated(tmp_path, monkeypatch):
    monkeypatch.setattr(unfinished, "_PAUSE", 1000)
    begin(tmp_path, 5, batch_size=2)
    assert sorted(path.name for path in (tmp_path / "unfinished").glob("episodes-*")) == [
        "episodes-0000000.parquet",
        "episodes-0000002.parquet",
    ]
    assert unfinished.kept_episodes(tmp_path) == 10
    begin(tmp_path, 0, batch_size=2)  # stopped again before anything was played
    result = go_on(tmp_path, batch_size=2)
    assert result == go_on(None)
    assert result.run.turns == sum(result.table["num_turns"].to_pylist())


def test_a_run_that_finished_no_batch_leaves_nothing(tmp_path):
    begin(tmp_path / "deep" / "r", 0)
    assert os.listdir(tmp_path) == []
    (tmp_path / "mine").mkdir()
    begin(tmp_path / "mine" / "r", 0)
    assert os.listdir(tmp_path) == ["mine"] and os.listdir(tmp_path / "mine") == []


def test_killed_after_the_result_was_written_before_the_rest_was_removed(tmp_path, monkeypatch):
    def written_and_killed(result, folder):
        write_result(result, folder)
        raise KeyboardInterrupt

    write_result = module.write_result
    monkeypatch.setattr(module, "write_result", written_and_killed)
    with pytest.raises(KeyboardInterrupt):
        go_on(tmp_path)
    monkeypatch.undo()
    assert (tmp_path / "unfinished").exists()
    played = StopsAfter(0)
    assert go_on(tmp_path, policy=played) == go_on(None)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["episodes.parquet", "result.json", "run.json"]


@pytest.mark.parametrize(
    "changes",
    [
        {"episodes": 13},
        {"seed": 1},
        {"config": "full"},
        {"task": "maze"},
        {"policy": "random"},
    ],
)
def test_another_evaluation_is_refused(tmp_path, changes):
    begin(tmp_path, 1)
    with pytest.raises(LmrlError, match=r"unfinished evaluation \(12 episodes of wordle \(default\) by stops, set 0\)"):
        go_on(tmp_path, **changes)
    assert go_on(tmp_path) == go_on(None)


def test_another_version_is_refused(tmp_path, monkeypatch):
    begin(tmp_path, 1)
    monkeypatch.setattr(module, "version", lambda package: "9.9")
    with pytest.raises(LmrlError, match="another version"):
        go_on(tmp_path)


def test_a_model_that_was_trained_anew_is_refused(tmp_path, monkeypatch):
    model = tmp_path / "model"
    model.mkdir()
    (model / "weights").write_text("old")
    monkeypatch.setattr(module, "make_policy", lambda spec, task, config: policy)
    policy = StopsAfter(1)
    with pytest.raises(KeyboardInterrupt):
        go_on(tmp_path / "r", policy=f"hf:{model}")
    (model / "weights").write_text("trained")
    policy = StopsAfter(9)
    with pytest.raises(LmrlError, match="another model behind the name"):
        go_on(tmp_path / "r", policy=f"hf:{model}")
    assert str(tmp_path) not in (tmp_path / "r" / "unfinished" / "state.json").read_text()


def test_a_finished_result_of_another_evaluation_is_not_replaced(tmp_path):
    done = go_on(tmp_path)
    for changes in ({"policy": "random"}, {"seed": 1}, {"config": "full"}, {"task": "maze"}):
        with pytest.raises(LmrlError, match="holds another result"):
            go_on(tmp_path, **changes)
    assert read_result(tmp_path) == done
    assert go_on(tmp_path, episodes=6).episodes == 6  # the same policy, on fewer


def test_two_processes_do_not_write_into_one_folder(tmp_path):
    begin(tmp_path, 1)
    with FileLock(tmp_path / "unfinished" / "lock"), pytest.raises(LmrlError, match="another process"):
        go_on(tmp_path)
    assert go_on(tmp_path) == go_on(None)


def test_leftovers_of_a_write_that_was_cut_off_are_removed(tmp_path):
    begin(tmp_path, 1)
    (tmp_path / "unfinished" / ".partial-123-episodes-0000004.parquet").write_bytes(b"PAR1")
    assert go_on(tmp_path) == go_on(None)


@pytest.mark.parametrize("damage", ["cut", "missing", "state"])
def test_damage_is_named_with_what_to_do(tmp_path, damage):
    begin(tmp_path, 2)
    parts = tmp_path / "unfinished"
    first = parts / "episodes-0000000.parquet"
    if damage == "cut":
        first.write_bytes(first.read_bytes()[:-50])
    elif damage == "missing":
        first.unlink()
    else:
        (parts / "state.json").write_text("{")
    with pytest.raises(LmrlError, match=r"unfinished is damaged.*remove it to begin again"):
        go_on(tmp_path)


def test_an_error_keeps_what_was_finished(tmp_path):
    broken = StopsAfter(2, LmrlError("the server is down"))
    with pytest.raises(LmrlError, match="server is down"):
        go_on(tmp_path, policy=broken)
    assert len(list((tmp_path / "unfinished").glob("episodes-*"))) == 2
    assert go_on(tmp_path) == go_on(None)
