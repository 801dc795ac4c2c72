"""`lmrl evaluate` and `lmrl compare` as a user meets them."""

import json
import os
import subprocess
import sys

import pytest
from needed_programs import needs_stockfish
from typer.testing import CliRunner

from lmrl_data.registry import tasks
from lmrl_evaluation.commands import app
from lmrl_evaluation.comparison import compare
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


def test_the_task_may_be_given_as_an_argument(here):
    run("evaluate", "maze", *OPTIMAL[3:], "--out", "as-argument")
    run(*OPTIMAL, "--out", "as-option")
    for name in ("result.json", "episodes.parquet"):
        assert (here / "as-argument" / name).read_bytes() == (here / "as-option" / name).read_bytes()


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
        (["maze"], "name one task"),
        (["--policy", "python:nosuch:Thing"], "No module named 'nosuch'"),
        (["--task", "all", "--policy", "sleepy"], "no task has a policy 'sleepy'"),
        (["--task", "all", "--config", "default"], "`all` evaluates every config"),
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


def test_module_is_the_evaluate_command(here):
    command = [sys.executable, "-m", "lmrl_evaluation", *OPTIMAL[1:], "--json"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 0, outcome.stderr
    assert json.loads(outcome.stdout)["mean_return"] == -6.84


@needs_stockfish
def test_all_evaluates_every_config_of_every_task(here):
    outcome = run("evaluate", "all", "--policy", "random", "--episodes", 4, "--out", "r")
    assert outcome.stderr == ""
    results = [read_result(path) for path in (here / "r").iterdir()]
    assert {(result.task, result.config) for result in results} == {
        (task.name, config) for task in tasks().values() for config in task.configs
    }
    assert all(result.policy == "random" and result.episodes == 4 for result in results)
    assert all(task in outcome.stdout for task in tasks())
    assert "Wrote 11 results into r" in outcome.stdout


@needs_stockfish
def test_all_says_which_tasks_lack_a_policy_and_goes_on(here):
    outcome = run("evaluate", "--task", "all", "--policy", "optimal", "--episodes", 2, "--json")
    lacking = [name for name, task in tasks().items() if "optimal" not in task.policies]
    lines = outcome.stderr.splitlines()
    assert [line.partition(" (")[0] for line in lines] == lacking
    assert "chess (default): skipped: no policy 'optimal'; best known is level-10" in lines
    played = [(result["task"], result["config"]) for result in json.loads(outcome.stdout)]
    assert played == [(name, config) for name in tasks() if name not in lacking for config in tasks()[name].configs]


def test_all_goes_on_after_a_failure_and_tells_of_it(here, tmp_path):
    (tmp_path / "picky.py").write_text(
        "class Picky:\n"
        "    def __init__(self, task):\n"
        "        assert task in ('maze', 'wordle'), 'I do not know it'\n"
        "    def reset(self, seeds): pass\n"
        "    def act(self, conversations): return ['move up'] * len(conversations)\n"
    )
    outcome = lmrl("evaluate", "all", "--policy", "python:picky:Picky", "--episodes", "2", "--out", "r")
    assert outcome.returncode == 2
    assert len(outcome.stderr.splitlines()) == 7 and "Traceback" not in outcome.stderr
    assert "lmrl: car-dealer (default): python:picky:Picky: AssertionError: I do not know it" in outcome.stderr
    assert sorted(os.listdir("r")) == [
        *(f"maze-{config}-Picky-2episodes" for config in ("fully_observed", "partially_observed")),
        *(f"wordle-{config}-Picky-2episodes" for config in ("default", "full")),
    ]


def test_compare_two_results(here):
    a, b = (evaluate("maze", policy, episodes=100) for policy in ("optimal", "random"))
    write_result(a, here / "a")
    write_result(b, here / "b")
    found = compare(a, b)
    said = run("compare", "a", "b/result.json").stdout
    assert said.startswith("A: optimal\nB: random\n")
    assert f"{found.difference.value:.4f} [{found.difference.interval[0]:.4f}," in said
    assert "Probability that A is better: 100.0%" in said
    told = json.loads(run("compare", "b", "a", "--json").stdout)
    assert told["difference"] == -found.difference.value
    assert told["probability_better"] == 0
    assert told["policies"] == [["random"], ["optimal"]]


def test_compare_methods_with_several_training_seeds(here):
    group = [evaluate("maze", f"region-{seed}", episodes=100) for seed in range(3)]
    other = evaluate("maze", "random", episodes=100)
    for seed, result in enumerate(group):
        write_result(result, here / "method" / f"seed{seed}")
    write_result(other, here / "other")
    told = json.loads(run("compare", "method", "other", "--json").stdout)
    found = compare(group, other)
    assert told["difference"] == pytest.approx(found.difference.value)
    assert told["confidence_interval"] == pytest.approx(list(found.difference.interval))
    assert sorted(told["policies"][0]) == ["region-0", "region-1", "region-2"]


def test_compare_errors_are_one_line(here):
    write_result(evaluate("maze", "random", episodes=10), here / "a")
    write_result(evaluate("maze", "optimal", episodes=11), here / "b")
    for arguments, message in [(["a", "b"], "different episodes"), (["a", "nowhere"], "nowhere")]:
        outcome = lmrl("compare", *arguments)
        assert (outcome.returncode, outcome.stdout) == (2, "")
        assert message in outcome.stderr and outcome.stderr.count("\n") == 1
