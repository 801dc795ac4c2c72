"""`lmrl evaluate` and `lmrl leaderboard` as a user meets them."""

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from lmrl_evaluation.commands import app
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import read_result, write_result

OPTIMAL = ["evaluate", "--task", "maze", "--policy", "optimal", "--episodes", "50"]


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*arguments):
    outcome = CliRunner().invoke(app, [str(argument) for argument in arguments])
    if outcome.exception and not isinstance(outcome.exception, SystemExit):
        raise outcome.exception
    assert outcome.exit_code == 0
    return outcome


def lmrl(*arguments):
    return subprocess.run(["lmrl", *arguments], capture_output=True, text=True, timeout=60)


def test_evaluate_writes_a_result_and_says_so(here):
    said = run(*OPTIMAL).stdout
    result = read_result(here / "results" / "maze-fully_observed-optimal-50episodes")
    assert result.estimates == evaluate("maze", "optimal", episodes=50).estimates
    assert "-6.8400" in said
    assert "50 episodes from 25 starts" in said
    assert "Wrote results/maze-fully_observed-optimal-50episodes" in said


def test_evaluate_json_is_the_file(here):
    outcome = run(*OPTIMAL, "--json", "--out", "there/deep")
    assert outcome.stdout == (here / "there" / "deep" / "result.json").read_text()
    assert json.loads(outcome.stdout)["mean_return"] == -6.84
    assert outcome.stderr == ""


def test_same_command_same_bytes(here):
    for out in ("a", "b"):
        run("evaluate", "--task", "wordle", "--policy", "mixture", "--episodes", 300, "--seed", 2, "--out", out)
    for name in ("result.json", "episodes.parquet"):
        assert (here / "a" / name).read_bytes() == (here / "b" / name).read_bytes()


def test_evaluate_takes_config_seed_and_batch_size(here):
    options = "--task=maze --config=partially_observed --policy=random --episodes=30 --seed=4 --batch-size=7 --out=r"
    run("evaluate", *options.split())
    result = read_result(here / "r")
    assert (result.config, result.seed, result.episodes) == ("partially_observed", 4, 30)


def test_leaderboard_of_a_folder(here):
    for policy in ("random", "optimal", "mixture"):
        run("evaluate", "--task", "wordle", "--policy", policy, "--episodes", 400)
    said = run("leaderboard", "results", "--out", "board/leaderboard.md").stdout
    assert [line.split()[:2] for line in said.splitlines() if "scripted" in line] == [
        ["1", "optimal"],
        ["2", "mixture"],
        ["3", "random"],
    ]
    assert "ILQL" in said
    assert "| 1 | optimal | scripted |" in (here / "board" / "leaderboard.md").read_text()
    printed = run(
        "leaderboard",
        "results/wordle-default-optimal-400episodes",
        "results/wordle-default-random-400episodes/result.json",
        "--json",
    )
    assert [entry["policy"] for entry in json.loads(printed.stdout)[0]["entries"]] == ["optimal", "random"]
    run("leaderboard", "results", "--out", "leaderboard.json")
    assert len(json.loads((here / "leaderboard.json").read_text())[0]["entries"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--task", "chequers"], "unknown task 'chequers'"),
        (["--policy", "sleepy"], "unknown policy 'sleepy'"),
        (["--config", "huge"], "no config 'huge'"),
        (["--episodes", "0"], "0 episodes"),
        (["--episodes", "1"], "1 episodes"),
        (["--seed", "-1"], "seed -1"),
        (["--batch-size", "0"], "batch size 0"),
        (["--out", "file/folder"], "cannot write to file/folder"),
        (["--policy", "x" * 100_000], "unknown policy"),
    ],
)
def test_evaluate_errors_are_one_line_and_leave_nothing(here, arguments, message):
    (here / "file").touch()
    outcome = lmrl("evaluate", "--task", "wordle", "--policy", "random", "--episodes", "2", *arguments)
    assert outcome.returncode == 2
    assert outcome.stdout == ""
    assert outcome.stderr.startswith("lmrl: ")
    assert message in outcome.stderr
    assert outcome.stderr.count("\n") == 1
    assert os.listdir(here) == ["file"]


def test_leaderboard_errors_are_one_line_and_leave_nothing(here):
    (here / "empty").mkdir()
    write_result(evaluate("maze", "random", episodes=10), here / "results" / "good")
    write_result(evaluate("maze", "random", episodes=10), here / "results" / "mixed")
    write_result(evaluate("wordle", "random", episodes=10), here / "other")
    (here / "other" / "episodes.parquet").replace(here / "results" / "mixed" / "episodes.parquet")
    for arguments, message in [
        (["empty"], "empty holds no results"),
        (["nowhere"], "nowhere does not exist"),
        (["results"], "results/mixed/episodes.parquet"),
        (["results/good", "other"], "other/episodes.parquet does not exist"),
        (["results/good", "--out", "board.txt"], "end it in .md or .json"),
        (["results/good", "--out", "results/good/result.json/board.md"], "cannot write"),
    ]:
        outcome = lmrl("leaderboard", *arguments, *([] if "--out" in arguments else ["--out", "board.md"]))
        assert (outcome.returncode, outcome.stdout) == (2, "")
        assert message in outcome.stderr
        assert outcome.stderr.count("\n") == 1
    assert sorted(os.listdir(here)) == ["empty", "other", "results"]


def test_module_is_the_evaluate_command(here):
    command = [sys.executable, "-m", "lmrl_evaluation", *OPTIMAL[1:], "--json"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout)["mean_return"] == -6.84
