"""Results in a model repository, as the Hub reads them."""

import subprocess

import pytest
import yaml
from huggingface_hub import CardData, parse_eval_result_entries

from lmrl_cards.metadata import evaluation_file
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.hub import eval_results, prepare_submission
from lmrl_evaluation.result import write_result
from lmrl_evaluation.verify import check_result


@pytest.fixture(scope="module")
def maze():
    return [evaluate("maze", "region-0", config=config, episodes=25) for config in get_task("maze").configs]


def test_the_hub_s_own_reader_reads_the_scores(maze):
    entries = parse_eval_result_entries(yaml.safe_load(eval_results(maze, "https://example.org/run")))
    assert [entry.dataset_id for entry in entries] == ["lmrl-gym/maze", "lmrl-gym/maze"]
    assert [entry.value for entry in entries] == [round(r.estimates["normalized_score"].value, 2) for r in maze]
    assert {entry.source_url for entry in entries} == {"https://example.org/run"}
    assert "over 25 episodes of lmrl/Maze-v0; region-0 (scripted)" in entries[0].notes


def test_the_tasks_are_those_of_the_dataset_s_eval_yaml(maze):
    registered = [task["id"] for task in yaml.safe_load(evaluation_file(get_task("maze")))["tasks"]]
    written = [entry["dataset"]["task_id"] for entry in yaml.safe_load(eval_results(maze))]
    assert written == registered
    assert CardData(tasks=registered).to_dict()["tasks"] == registered


def test_without_a_source_there_is_none(maze):
    assert all("source" not in entry for entry in yaml.safe_load(eval_results(maze)))


def test_names_cannot_break_the_file(maze):
    from dataclasses import replace

    name = "a: [b]\u2028'\"# {c}"
    (entry,) = yaml.safe_load(eval_results([replace(maze[0], policy=name)]))
    assert name in entry["notes"]


def test_what_cannot_stand_for_the_benchmark_is_refused(maze):
    with pytest.raises(LmrlError, match="did not play the published"):
        eval_results([evaluate("maze", "random", episodes=24)])
    with pytest.raises(LmrlError, match="did not play the published"):
        eval_results([evaluate("maze", "random", episodes=25, seed=1)])
    with pytest.raises(LmrlError, match="two results for maze, fully_observed"):
        eval_results([maze[0], maze[0]])


def test_the_repository_gets_scores_and_episodes_that_replay(maze, tmp_path):
    scores, *folders = prepare_submission(maze, tmp_path)
    assert scores == tmp_path / ".eval_results" / "lmrl-gym.yaml"
    assert [check_result(folder).result for folder in folders] == maze
    assert [check_result(folder).findings for folder in folders] == [(), ()]


def test_the_command_checks_first(maze, tmp_path):
    write_result(maze[0], tmp_path / "result")
    command = ["lmrl", "submit", tmp_path / "result", "--model-repo", tmp_path / "model"]
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 0, outcome.stderr
    assert outcome.stdout.count("Wrote ") == 2
    file = tmp_path / "result" / "result.json"
    file.write_text(file.read_text().replace('"starts": 25', '"starts": 24'))
    command[-1] = tmp_path / "other"
    outcome = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert outcome.returncode == 1
    assert "starts 24 recorded, 25 in the episodes" in outcome.stdout
    assert not (tmp_path / "other").exists()
