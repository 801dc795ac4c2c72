"""What `evaluate` plays and reports."""

import json

import pytest

from lmrl_data import make_policy
from lmrl_data.errors import LmrlError
from lmrl_data.starts import evaluation_seeds
from lmrl_evaluation.evaluate import evaluate


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
    batches = []
    evaluate("wordle", "random", episodes=10, batch_size=4, on_episodes=batches.append)
    assert [len(batch) for batch in batches] == [4, 4, 2]


def test_takes_a_policy_object():
    by_spec = evaluate("wordle", "consistent", episodes=20)
    assert evaluate("wordle", make_policy("consistent", "wordle"), episodes=20) == by_spec
    assert by_spec.method == "scripted"
    assert evaluate("wordle", Repeats(), episodes=2).method == "custom"


def trained(monkeypatch, settings, tmp_path):
    """The spec of a stand-in for a trained model, whose folder has this `lmrl.json`."""
    import lmrl_evaluation.evaluate as module

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
