"""Scripted policies of array games are evaluated on arrays: the same results as in text."""

from dataclasses import replace

import pytest

from lmrl_data.policy import GamePolicy
from lmrl_data.registry import get_task, make_policy
from lmrl_evaluation.evaluate import evaluate, prepare
from lmrl_evaluation.on_arrays import plays_on_arrays


class InText(GamePolicy):
    """The same policy, which is asked for texts because it is of another class."""

    def act(self, conversations):
        self.asked = True
        return super().act(conversations)


@pytest.mark.parametrize(
    ("task", "config", "spec"),
    [
        ("wordle", "default", "mixture"),
        ("wordle", "full", "random"),
        ("maze", "partially_observed", "region-0"),
        ("text-nav", "fully_observed", "random"),
        ("twenty-questions", "default", "person"),
    ],
)
def test_the_result_is_that_of_the_same_policy_in_text(task, config, spec):
    policy = make_policy(spec, task, config=config)
    assert plays_on_arrays(policy, get_task(task), config)
    in_text = InText(policy.game, policy.array_policy)
    assert not plays_on_arrays(in_text, get_task(task), config)
    turns = []
    result = evaluate(task, policy, config=config, episodes=30, seed=2, batch_size=8, on_turns=turns.append)
    slow = evaluate(task, in_text, config=config, episodes=30, seed=2)
    assert result == replace(slow, method="scripted")
    assert in_text.asked
    assert sum(turns) == result.run.turns == sum(result.table["num_turns"].to_pylist())
    assert 0 < result.run.policy_seconds < result.run.seconds


def test_a_policy_of_another_config_is_asked_in_text():
    task = get_task("wordle")
    assert not plays_on_arrays(make_policy("random", "wordle", config="full"), task, "default")


def test_policies_that_read_text_play_as_many_at_once_as_before():
    assert prepare("wordle", "mixture").batch_size == get_task("wordle").batch_size
    assert prepare("guess-my-city", "person").batch_size == 128
