"""`lmrl replay` and `lmrl leaderboard` as a user meets them."""

import json
import os
import shutil
import subprocess

import pytest

from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import write_result


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Four results, one of them tampered with."""
    folder = tmp_path_factory.mktemp("made") / "results"
    for policy in ("random", "optimal", "mixture"):
        write_result(evaluate("wordle", policy, episodes=400), folder / policy)
    write_result(evaluate("maze", "random", episodes=25), folder / "tampered")
    change(folder / "tampered", mean_return=-6.84)
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    shutil.copytree(made, tmp_path / "results")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def change(folder, **changes):
    data = json.loads((folder / "result.json").read_text()) | changes
    (folder / "result.json").write_text(json.dumps(data))


def lmrl(*arguments):
    return subprocess.run(["lmrl", *arguments], capture_output=True, text=True, timeout=60)


def test_replay_says_what_is_right_and_what_is_wrong(here):
    outcome = lmrl("replay", "results")
    assert outcome.returncode == 1
    assert outcome.stderr == ""
    right, wrong = outcome.stdout.splitlines()[:3], outcome.stdout.splitlines()[3:]
    assert right[0] == "results/mixture: right: 400 episodes of mixture on lmrl/Wordle-v0 replayed"
    (line,) = wrong
    assert line.startswith("results/tampered: mean_return -6.84 recorded, -")


def test_replay_of_right_results_exits_with_0(here):
    outcome = lmrl("replay", "results/random", "results/optimal/result.json")
    assert outcome.returncode == 0
    assert outcome.stdout.count(": right: ") == 2


def test_replay_as_json(here):
    outcome = lmrl("replay", "results/tampered", "results/random", "--json")
    assert outcome.returncode == 1
    wrong, right = json.loads(outcome.stdout)
    assert (right["right"], right["findings"], right["notes"]) == (True, [], [])
    (finding,) = wrong["findings"]
    assert (wrong["right"], finding["field"], finding["episode"], finding["turn"]) == (False, "mean_return", None, None)
    assert finding["message"].startswith("mean_return -6.84 recorded")


def test_replay_prints_ten_findings_of_a_result_or_all(here):
    change(here / "results" / "random", seed=1)
    assert len(lmrl("replay", "results/random").stdout.splitlines()) == 11
    assert len(lmrl("replay", "results/random", "--all").stdout.splitlines()) == 400


def test_a_bad_result_does_not_stop_the_leaderboard(here):
    (here / "results" / "broken").mkdir()
    (here / "results" / "broken" / "result.json").write_text("{")
    outcome = lmrl("leaderboard", "results", "--out", "board/leaderboard.md")
    assert outcome.returncode == 1
    assert [line.split()[:2] for line in outcome.stdout.splitlines() if "scripted" in line] == [
        ["1", "optimal"],
        ["2", "mixture"],
        ["3", "random"],
    ]
    assert "results/tampered: mean_return -6.84 recorded" in outcome.stdout
    assert "results/broken: results/broken/result.json is not JSON" in outcome.stdout
    assert "Refused 2 of 5 results." in outcome.stdout
    text = (here / "board" / "leaderboard.md").read_text()
    assert "| 1 | optimal | scripted |" in text
    assert "ILQL" in text
    assert "results/tampered" in text[text.index("## Refused") :]


def test_a_leaderboard_of_right_results_exits_with_0(here):
    shutil.rmtree("results/tampered")
    outcome = lmrl("leaderboard", "results/optimal", "results/random/result.json", "--json")
    assert (outcome.returncode, outcome.stderr) == (0, "")
    (board,) = json.loads(outcome.stdout)["boards"]
    assert [entry["policy"] for entry in board["entries"]] == ["optimal", "random"]
    for name in ("board.json", "board.html"):
        assert lmrl("leaderboard", "results", "--out", name).returncode == 0
    assert len(json.loads((here / "board.json").read_text())["boards"][0]["entries"]) == 3
    assert (here / "board.html").read_text().startswith("<!DOCTYPE html>")


def test_errors_are_one_line_and_leave_nothing(here):
    (here / "empty").mkdir()
    for arguments, message in [
        (["leaderboard", "empty"], "empty holds no results"),
        (["leaderboard", "nowhere"], "nowhere"),
        (["leaderboard", "results", "--out", "board.txt"], "end it in .html, .md, .json"),
        (["leaderboard", "results", "--out", "results/random/result.json/board.md"], "cannot write"),
        (["replay", "empty"], "empty holds no results"),
    ]:
        outcome = lmrl(*arguments)
        assert (outcome.returncode, outcome.stdout) == (2, "")
        assert message in outcome.stderr
        assert outcome.stderr.count("\n") == 1
    assert sorted(os.listdir(here)) == ["empty", "results"]
