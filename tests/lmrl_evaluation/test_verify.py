"""Every kind of tampering with a result is found, and the first is named."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmrl_data.episode import episode_schema
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.result import sha256, write_result
from lmrl_evaluation.verify import verify_result


@pytest.fixture(scope="module")
def measured():
    return evaluate("wordle", "consistent", episodes=420)


@pytest.fixture
def folder(measured, tmp_path):
    write_result(measured, tmp_path)
    return tmp_path


def tamper(folder, edit, hide=True):
    """Edit the rows of the episodes; hide it by putting the new hash into the result.json."""
    file = folder / "episodes.parquet"
    rows = pq.read_table(file).to_pylist()
    edit(rows)
    pq.write_table(pa.Table.from_pylist(rows, episode_schema(get_task("wordle"))), file)
    if hide:
        change(folder, episodes_sha256=sha256(file.read_bytes()))


def change(folder, **changes):
    data = json.loads((folder / "result.json").read_text()) | changes
    (folder / "result.json").write_text(json.dumps(data))


def test_an_honest_result_passes(measured, folder):
    assert verify_result(folder) == measured
    assert verify_result(folder / "result.json") == measured


def test_other_evaluation_sets_and_numbers_of_episodes_pass(tmp_path):
    result = evaluate("maze", "random", config="partially_observed", episodes=30, seed=5)
    write_result(result, tmp_path)
    assert verify_result(tmp_path) == result


def letter(rows):
    rows[17]["messages"][2]["content"] = rows[17]["messages"][2]["content"].replace("b", "g", 1)


def action(rows):
    rows[17]["messages"][1]["content"] = "z z z z z"


def role(rows):
    rows[17]["messages"][1]["role"] = "user"


def reward(rows):
    rows[17]["rewards"][0] = 0.0


def nan(rows):
    rows[17]["rewards"][0] = float("nan")


def null(rows):
    rows[17]["rewards"][0] = None


def seed(rows):
    rows[17]["seed"] += 1


def no_seed(rows):
    rows[17]["seed"] = None


def duplicate(rows):
    rows[17] = dict(rows[3])


def order(rows):
    rows[17], rows[18] = rows[18], rows[17]


def success(rows):
    rows[17]["success"] = not rows[17]["success"]


def word(rows):
    rows[17]["info"]["word"] = "crane"


def episode_return(rows):
    rows[17]["episode_return"] += 1


def num_turns(rows):
    rows[17]["num_turns"] += 1


def cut(rows):
    rows[17]["messages"] = rows[17]["messages"][:-2]
    rows[17]["rewards"] = rows[17]["rewards"][:-1]
    rows[17]["num_turns"] -= 1


def empty(rows):
    rows[17]["messages"], rows[17]["rewards"], rows[17]["num_turns"] = [], [], 0


def player(rows):
    rows[17]["policy"] = "optimal"


def environment(rows):
    rows[17]["env_id"] = "lmrl/WordleFull-v0"


@pytest.mark.parametrize("hide", [True, False], ids=["hidden", "plain"])
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (letter, "turn 1: observation differs"),
        (action, "turn 1: observation differs"),
        (role, "roles"),
        (reward, "turn 1: reward differs"),
        (nan, "turn 1: reward differs"),
        (null, "missing"),
        (seed, "seed .* must be"),
        (no_seed, "missing value in column 'seed'"),
        (duplicate, "repeats episode 3"),
        (order, "seed .* must be"),
        (success, "success differs"),
        (word, "info differs"),
        (episode_return, "episode_return differs"),
        (num_turns, "num_turns differs"),
        (cut, "has not ended"),
        (empty, "no turns"),
        (player, "policy 'optimal', but the result 'consistent'"),
        (environment, "env_id 'lmrl/WordleFull-v0'"),
    ],
)
def test_tampered_episodes(folder, edit, message, hide):
    tamper(folder, edit, hide)
    with pytest.raises(LmrlError, match=f"episode 17.*{message}") as caught:
        verify_result(folder)
    assert "episodes.parquet" in str(caught.value)


def test_missing_and_added_episodes(folder):
    tamper(folder, lambda rows: rows.pop())
    with pytest.raises(LmrlError, match="speaks of 420 episodes"):
        verify_result(folder)
    change(folder, episodes=419)
    with pytest.raises(LmrlError, match=r"is .*, but the episodes give"):
        verify_result(folder)


def test_no_episodes(folder):
    tamper(folder, lambda rows: rows.clear())
    change(folder, episodes=0)
    with pytest.raises(LmrlError, match="has 0 episodes"):
        verify_result(folder)


def test_an_edit_that_replays_is_found_by_the_hash(folder):
    def respelt(rows):
        rows[17]["messages"][1]["content"] = rows[17]["messages"][1]["content"].replace(" ", "")

    tamper(folder, respelt, hide=False)
    with pytest.raises(LmrlError, match="sha256 differs"):
        verify_result(folder)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"mean_return": -1.0}, "mean_return is -1, but the episodes give"),
        ({"normalized_score": 100.0}, "normalized_score is 100"),
        ({"success_rate": 0.5}, "success_rate is 0.5"),
        ({"mean_length": 1.0}, "mean_length is 1"),
        ({"confidence_interval": [-2.2, 0.0]}, "confidence interval of mean_return, low end"),
        ({"standard_error": 0.0}, "standard error of mean_return"),
        ({"starts": 419}, "speaks of 419 starts"),
        ({"seed": 1}, "seed .* must be .* in evaluation set 1"),
        ({"episodes_sha256": "0" * 64}, "sha256 differs"),
        ({"policy": "optimal"}, "policy 'consistent', but the result 'optimal'"),
    ],
)
def test_tampered_numbers(folder, changes, message):
    change(folder, **changes)
    with pytest.raises(LmrlError, match=message):
        verify_result(folder)


def test_a_metric_left_out(folder):
    data = json.loads((folder / "result.json").read_text())
    del data["unusable_action_rate"]
    (folder / "result.json").write_text(json.dumps(data))
    with pytest.raises(LmrlError, match="must have the metrics"):
        verify_result(folder)
