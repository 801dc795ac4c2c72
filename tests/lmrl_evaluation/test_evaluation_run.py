"""What `evaluate` plays and reports."""

import json
import platform
import time

import pytest
from needed_programs import needs_stockfish

import lmrl_evaluation.evaluate as module
from lmrl_data import make_policy
from lmrl_data.errors import LmrlError
from lmrl_data.llm import Usage
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.evaluate import evaluate, prepare


class Repeats:
    """Says the same at every turn."""

    def __init__(self, name="repeats", action="crane"):
        self.name = name
        self.action = action

    def reset(self, seeds):
        pass

    def act(self, conversations):
        return [self.action] * len(conversations)


@pytest.mark.parametrize(("config", "mean_return"), [("fully_observed", -6.84), ("partially_observed", -7.24)])
def test_optimal_maze_play_is_exact(config, mean_return):
    result = evaluate("maze", "optimal", config=config)
    assert result.episodes == 800
    assert result.starts == 25
    assert result.estimates["mean_return"].value == mean_return
    assert result.estimates["mean_length"].value == 1 - mean_return
    assert result.estimates["success_rate"].value == 1
    assert result.estimates["normalized_score"].value == 100
    # As sure as 25 starts make it, however often each is played.
    once = evaluate("maze", "optimal", config=config, episodes=25)
    assert result.estimates["mean_return"].interval == pytest.approx(once.estimates["mean_return"].interval)


def test_plays_the_evaluation_episodes_in_order():
    result = evaluate("wordle", "start-word", episodes=70, seed=3, batch_size=32)
    assert result.table["seed"].to_pylist() == evaluation_seeds("wordle", episodes=70, seed=3).tolist()
    assert set(result.table["policy"].to_pylist()) == {"start-word"}


def test_result_does_not_depend_on_the_batch_size():
    assert evaluate("wordle", "mixture", episodes=40, batch_size=7) == evaluate("wordle", "mixture", episodes=40)


def test_reports_each_batch():
    batches, turns = [], []
    result = evaluate("wordle", "optimal", episodes=10, batch_size=4, on_returns=batches.append, on_turns=turns.append)
    assert [len(batch) for batch in batches] == [4, 4, 2]
    assert [value for batch in batches for value in batch] == result.table["episode_return"].to_pylist()
    assert sum(turns) == sum(result.table["num_turns"].to_pylist()) == result.run.turns


@needs_stockfish
def test_best_is_the_policy_of_the_maximum():
    assert evaluate("maze", "best", episodes=25) == evaluate("maze", "optimal", episodes=25)
    assert prepare("chess", "best").player.name == "level-10"


def test_says_what_it_took():
    class Counts(Repeats):
        """Takes a while, and reads 7 tokens and writes 2 for each reply."""

        usage = Usage()

        def act(self, conversations):
            time.sleep(0.02)
            for conversation in conversations:
                if conversation:
                    self.usage.count_request((7, 2))
            return super().act(conversations)

    policy = Counts()
    policy.usage.count_request((1000, 1000))  # in another evaluation
    run = evaluate("wordle", policy, episodes=4, batch_size=2).run
    told = json.loads(run.to_json())
    assert (told["turns"], told["requests"], told["cached"]) == (run.turns, run.turns, 0)
    assert (told["prompt_tokens_per_turn"], told["completion_tokens_per_turn"]) == (7, 2)
    assert 0.02 * 6 <= run.policy_seconds < run.seconds
    assert 0 < run.simulator_seconds < run.seconds - run.policy_seconds
    assert told["seconds_per_turn"] == run.seconds / run.turns
    assert platform.node() not in run.to_json()


def test_model_folders_are_named_without_their_path(monkeypatch, tmp_path):
    (tmp_path / "secret" / "my-model").mkdir(parents=True)
    monkeypatch.setattr(module, "make_policy", lambda spec, task, config: Repeats(spec))
    monkeypatch.chdir(tmp_path)
    for path in (f"{tmp_path}/secret/my-model", "secret/my-model", "./secret/../secret/my-model"):
        result = evaluate("wordle", f"hf:{path}?beta=4", episodes=2)
        assert result.policy == "hf:my-model?beta=4"
        assert set(result.table["policy"].to_pylist()) == {result.policy}
        assert "secret" not in result.to_json()
    assert evaluate("wordle", "hf:owner/model", episodes=2).policy == "hf:owner/model"


def test_takes_a_policy_object():
    by_spec = evaluate("wordle", "consistent", episodes=20)
    assert evaluate("wordle", make_policy("consistent", "wordle"), episodes=20) == by_spec
    assert by_spec.method == "scripted"
    assert evaluate("wordle", Repeats(), episodes=2).method == "custom"


def trained(monkeypatch, settings, tmp_path):
    """The spec of a stand-in for a trained model, whose folder has this `lmrl.json`."""
    monkeypatch.setattr(module, "make_policy", lambda spec, task, config: Repeats(spec[:100]))
    if settings is not None:
        (tmp_path / "lmrl.json").write_bytes(settings)
    return f"hf:{tmp_path}"


def test_method_of_a_trained_model_is_in_its_folder(monkeypatch, tmp_path):
    spec = trained(monkeypatch, json.dumps({"method": "bc"}).encode(), tmp_path)
    assert evaluate("wordle", spec, episodes=2).method == "bc"


def test_method_of_another_model_is_the_kind_of_its_spec(monkeypatch, tmp_path):
    assert evaluate("wordle", trained(monkeypatch, None, tmp_path), episodes=2).method == "hf"


@pytest.mark.parametrize(
    "settings", [b"", b"{", b"[]", b"{}", b'"x"', b'{"method": 3}', b"\xff\xfe", b'{"method": ""}']
)
def test_model_folder_with_broken_settings_is_named(monkeypatch, tmp_path, settings):
    with pytest.raises(LmrlError, match=r"lmrl\.json"):
        evaluate("wordle", trained(monkeypatch, settings, tmp_path), episodes=2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"task": "chequers"}, "unknown task"),
        ({"config": "huge"}, "no config"),
        ({"policy": "sleepy"}, "unknown policy"),
        ({"episodes": 0}, "0 episodes"),
        ({"episodes": 1}, "from 2"),
        ({"episodes": -3}, "-3 episodes"),
        ({"episodes": 10**12}, "1,000,000"),
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**63}, "out of range"),
        ({"batch_size": 0}, "batch size 0"),
        ({"policy": Repeats("")}, "1 to 200 characters"),
        ({"policy": Repeats("x" * 10_000_000)}, "1 to 200 characters"),
        ({"policy": Repeats("two\nlines")}, "printable"),
        ({"policy": Repeats("lone \ud800")}, "printable"),
    ],
)
def test_bad_input_is_one_short_line(arguments, message):
    with pytest.raises(LmrlError, match=message) as caught:
        evaluate(**{"task": "wordle", "policy": "random", "episodes": 2, **arguments})
    assert len(str(caught.value)) < 300
    assert "\n" not in str(caught.value)


def test_ten_megabytes_are_an_unusable_action():
    class Endless(Repeats):
        def act(self, conversations):
            return ["x" * 10_000_000 if len(conversation) == 1 else "crane" for conversation in conversations]

    result = evaluate("wordle", Endless(), episodes=2)
    turns = sum(result.table["num_turns"].to_pylist())
    assert result.estimates["unusable_action_rate"].value == 2 / turns
