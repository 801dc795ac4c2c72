"""Every kind of tampering with a result is found, and named with episode, turn and field."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lmrl_data import make, make_policy
from lmrl_data.episode import episode_schema, to_table
from lmrl_data.registry import get_task
from lmrl_data.rollouts import rollout
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.findings import differs
from lmrl_evaluation.result import sha256, write_result
from lmrl_evaluation.verify import check_result

TASK = get_task("wordle")


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
    pq.write_table(pa.Table.from_pylist(rows, episode_schema(TASK)), file)
    if hide:
        change(folder, episodes_sha256=sha256(file.read_bytes()))


def change(folder, **changes):
    data = json.loads((folder / "result.json").read_text()) | changes
    (folder / "result.json").write_text(json.dumps(data))


def findings(folder):
    return list(map(str, check_result(folder).findings))


def test_an_honest_result_passes(measured, folder):
    for path in (folder, folder / "result.json"):
        check = check_result(path)
        assert (check.findings, check.notes) == ((), ())
        assert check.result == measured


def test_other_evaluation_sets_and_numbers_of_episodes_pass(tmp_path):
    result = evaluate("maze", "random", config="partially_observed", episodes=30, seed=5)
    write_result(result, tmp_path)
    assert check_result(tmp_path).result == result
    assert findings(tmp_path) == []


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


def negative_seed(rows):
    rows[17]["seed"] = -1


def dropped(rows):
    rows.pop(17)
    rows.append(dict(rows[-1], seed=evaluation_seeds("wordle", episodes=421).tolist()[420]))
    rows[-1] |= to_table(
        rollout(make("wordle"), make_policy("consistent", "wordle"), [rows[-1]["seed"]]), TASK
    ).to_pylist()[0]


def longer(rows):
    rows[17]["messages"] += rows[17]["messages"][-2:]
    rows[17]["rewards"].append(0.0)
    rows[17]["num_turns"] += 1


def same_id(rows):
    rows[17]["episode_id"] = rows[3]["episode_id"]


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
    ("edit", "finding"),
    [
        (letter, r"episode 17, turn 1: observation '.*' recorded, '.*' replayed"),
        (action, r"episode 17, turn 1: observation '.*' recorded, 'That word is not in the list.' replayed"),
        (role, "episode 17, turn 1: role 'user' recorded, 'assistant' expected"),
        (reward, "episode 17, turn 1: reward 0 recorded, -1 replayed"),
        (nan, "episode 17, turn 1: reward nan recorded, -1 replayed"),
        (null, "episode 17 has a missing value in column 'rewards'"),
        (seed, r"episode 17: seed \d+ is not in evaluation set 0"),
        (no_seed, "episode 17 has a missing value in column 'seed'"),
        (negative_seed, "episode 17: seed -1 is negative"),
        (duplicate, r"episode 17: seed \d+ repeats episode 3"),
        (duplicate, r"episode 17: seed \d+ of evaluation set 0 is missing"),
        (dropped, r"episode 17: seed \d+ of evaluation set 0 is missing"),
        (order, r"episode 17: seed \d+ recorded, \d+ next in evaluation set 0"),
        (success, "episode 17: success false recorded, true replayed"),
        (word, r"episode 17: info\.word 'crane' recorded, '.*' replayed"),
        (episode_return, r"episode 17: episode_return -?\d recorded, -\d replayed"),
        (num_turns, r"episode 17: num_turns \d recorded, but there are \d rewards"),
        (cut, "episode 17: messages stop before the episode has ended"),
        (longer, r"episode 17, turn \d: turn recorded, but the episode had ended"),
        (empty, "episode 17: rewards are none: the episode has no turns"),
        (player, "episode 17: policy 'optimal' recorded, 'consistent' in result.json"),
        (environment, "episode 17: env_id 'lmrl/WordleFull-v0' recorded, 'lmrl/Wordle-v0' in result.json"),
        (same_id, "episode 17: episode_id is that of episode 3"),
    ],
)
def test_tampered_episodes(folder, edit, finding, hide):
    tamper(folder, edit, hide)
    found = findings(folder)
    assert any(re.search(finding, line) for line in found), found
    # Nothing is said of other episodes. What cannot be read at all has one finding; else the hash differs too.
    assert all("episode 17" in line or "episodes_sha256" in line or "result.json speaks" in line for line in found)
    if not hide and len(found) > 1:
        assert "episodes_sha256" in found[-1]


def test_each_difference_of_an_episode_has_a_line(folder):
    def several(rows):
        reward(rows)
        success(rows)
        rows[30]["messages"][0]["content"] += "!"

    tamper(folder, several)
    first, second, third = findings(folder)
    assert first == "episode 17, turn 1: reward 0 recorded, -1 replayed"
    assert second == "episode 17: success false recorded, true replayed"
    assert third.startswith("episode 30: opening observation 'Guess")


def test_the_place_of_a_difference_in_a_long_text_is_shown():
    text = "a" * 10_000_000
    shown = differs(text[:500] + "b" + text[501:], text, "replayed")
    assert len(shown) < 300
    assert "aab" in shown.partition(" recorded, ")[0]
    assert "b" not in shown.partition(" recorded, ")[2].removesuffix(" replayed")


def test_missing_and_added_episodes(folder):
    tamper(folder, lambda rows: rows.pop())
    (finding,) = findings(folder)
    assert "speaks of 420 episodes" in finding
    change(folder, episodes=419)
    assert all("from the episodes" in line or "starts" in line for line in findings(folder))
    assert any(line.startswith("mean_return ") for line in findings(folder))


def test_no_episodes(folder):
    tamper(folder, lambda rows: rows.clear())
    change(folder, episodes=0)
    assert findings(folder) == ["episodes 0 recorded; a result has at least 2"]


def test_an_edit_that_replays_is_found_by_the_hash(folder):
    def respelt(rows):
        rows[17]["messages"][1]["content"] = rows[17]["messages"][1]["content"].replace(" ", "")

    tamper(folder, respelt, hide=False)
    (finding,) = findings(folder)
    assert finding.startswith("episodes_sha256 ")


@pytest.mark.parametrize(
    ("changes", "finding"),
    [
        ({"mean_return": -1.0}, "mean_return -1 recorded, -2.* from the episodes"),
        ({"normalized_score": 100.0}, "normalized_score 100 recorded"),
        ({"success_rate": 0.5}, "success_rate 0.5 recorded"),
        ({"mean_length": 1.0}, "mean_length 1 recorded"),
        ({"confidence_interval": [-2.2, 0.0]}, "confidence_interval of mean_return, low end -2.2 recorded"),
        ({"standard_error": 0.0}, "standard_error of mean_return 0 recorded"),
        ({"starts": 419}, "starts 419 recorded, 400 in the episodes"),
        ({"episodes_sha256": "0" * 64}, "episodes_sha256 '0+' recorded"),
        ({"policy": "optimal"}, "episode 0: policy 'consistent' recorded, 'optimal' in result.json"),
        ({"seed": 1}, r"episode 0: seed \d+ is not in evaluation set 1"),
        ({"bounds": {"minimum": -7, "mean": 0, "maximum": 1}}, r"another bounds\.minimum: -7 recorded, -6 of lmrl"),
    ],
)
def test_tampered_numbers(folder, changes, finding):
    change(folder, **changes)
    assert any(re.search(finding, line) for line in findings(folder)), findings(folder)


def test_a_metric_left_out_or_added(folder):
    data = json.loads((folder / "result.json").read_text())
    rate = data.pop("unusable_action_rate")
    (folder / "result.json").write_text(json.dumps(data))
    assert findings(folder) == ["unusable_action_rate is missing"]
    data["uncertainty"]["understood_rate"] = data["uncertainty"]["unusable_action_rate"]
    change(folder, unusable_action_rate=rate, understood_rate=rate, uncertainty=data["uncertainty"])
    assert findings(folder) == ["understood_rate is no metric of this task"]


def test_many_findings_are_cut_short_in_the_summary(folder):
    change(folder, seed=1)
    check = check_result(folder)
    assert len(check.findings) == 420
    assert check.summary()[10:] == ["and 410 more"]
