"""Estimates against hand-worked numbers, against scipy, and against the truth in simulations."""

import numpy as np
import pytest
from scipy import stats

from lmrl_data import make
from lmrl_data.episode import to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_data.rollouts import rollout
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.metrics import bootstrap_means, start_clusters, summarise


def estimate_mean(values, clusters=None):
    column = np.asarray(values, np.float64)[:, None]
    clusters = np.arange(len(column)) if clusters is None else np.asarray(clusters)
    (estimate,), _ = bootstrap_means(column, np.ones_like(column), clusters)
    return estimate


class Says:
    """Plays a fixed list of actions over and over."""

    def __init__(self, *actions):
        self.name = "says"
        self.actions = actions

    def reset(self, seeds):
        pass

    def act(self, conversations):
        return [self.actions[len(conversation) // 2 % len(self.actions)] for conversation in conversations]


def test_unclustered_mean_agrees_with_scipy():
    values = np.random.default_rng(1).gamma(2.0, size=150)
    ours = estimate_mean(values)
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert ours.value == pytest.approx(values.mean(), rel=1e-12)
    assert ours.standard_error == pytest.approx(stats.sem(values), rel=1e-12)
    assert ours.interval == pytest.approx((theirs.low, theirs.high), abs=0.15 * stats.sem(values))


def test_clustered_mean_agrees_with_scipy_on_the_cluster_means():
    generator = np.random.default_rng(3)
    clusters = np.repeat(np.arange(30), 8)
    values = generator.normal(size=30)[clusters] + generator.normal(size=240)
    means = values.reshape(30, 8).mean(axis=1)
    order = generator.permutation(240)
    ours = estimate_mean(values[order], clusters[order])
    theirs = stats.bootstrap(
        (means,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(4)
    ).confidence_interval
    assert ours.standard_error == pytest.approx(stats.sem(means), rel=1e-12)
    assert ours.interval == pytest.approx((theirs.low, theirs.high), abs=0.15 * stats.sem(means))


def test_hand_worked_numbers():
    # Two starts, each played twice alike: as sure as two episodes are. Resampling two of two starts gives a mean of 0
    # or of 1 with probability 1/4 each.
    assert estimate_mean([0, 0, 1, 1], [0, 0, 1, 1]) == estimate_mean([0, 1])
    estimate = estimate_mean([0, 1])
    assert (estimate.value, estimate.interval, estimate.standard_error) == (0.5, (0.0, 1.0), 0.5)


def test_a_ratio_counts_turns_not_episodes():
    (estimate,), _ = bootstrap_means(np.array([[2.0], [0.0]]), np.array([[2.0], [6.0]]), np.arange(2))
    # Residuals 2 - 2/4 and 0 - 6/4; sqrt(2 / 1 * (1.5^2 + 1.5^2)) / 8.
    assert estimate.value == 0.25
    assert estimate.standard_error == pytest.approx(3 / 8)
    assert estimate.interval == (0.0, 1.0)


@pytest.mark.parametrize("value", [0.1, -6.84, 1 / 3, 1e9 + 0.1])
def test_episodes_that_are_alike_give_a_point(value):
    estimate = estimate_mean([value] * 49, np.arange(49) % 7)
    assert estimate.interval == (estimate.value, estimate.value)
    assert estimate.standard_error == 0
    assert estimate.value == pytest.approx(value, rel=1e-15)


def test_one_start_for_all_episodes_is_no_point():
    alone = estimate_mean([0, 1, 0, 1, 1], [0] * 5)
    assert alone == estimate_mean([0, 1, 0, 1, 1])
    assert alone.interval[0] < alone.value < alone.interval[1]


def test_intervals_cover_the_truth_where_naive_ones_do_not():
    generator = np.random.default_rng(5)
    clusters = np.repeat(np.arange(40), 10)
    covered, naively = 0, 0
    for _ in range(150):
        values = generator.normal(size=40)[clusters] + 0.3 * generator.normal(size=400)
        low, high = estimate_mean(values, clusters).interval
        covered += low <= 0 <= high
        low, high = estimate_mean(values).interval
        naively += low <= 0 <= high
    assert covered >= 0.9 * 150
    assert naively < 0.7 * 150


@pytest.mark.parametrize("count", [0, 1])
def test_fewer_than_two_episodes_are_refused(count):
    with pytest.raises(LmrlError, match="at least 2"):
        bootstrap_means(np.ones((count, 1)), np.ones((count, 1)), np.zeros(count, np.int64))


def test_many_episodes_in_blocks_give_the_same_as_scipy():
    values = np.random.default_rng(6).random(30_000)
    estimate = estimate_mean(values)
    low, high = stats.norm.interval(0.95, values.mean(), stats.sem(values))
    assert estimate.interval == pytest.approx((low, high), abs=0.15 * stats.sem(values))


def test_unusable_actions_are_counted_per_turn():
    episodes = rollout(make("wordle"), Says("s t a r e", "qqqqq", "no"), [0, 1])
    assert [episode.num_turns for episode in episodes] == [6, 6]
    found = summarise(to_table(episodes, get_task("wordle")), get_task("wordle"), "default")
    assert found["unusable_action_rate"].value == pytest.approx(4 / 6)
    assert found["mean_return"].value == -6
    assert found["normalized_score"].value == 0
    assert found["success_rate"].value == 0
    assert found["mean_length"].value == 6


@pytest.mark.parametrize(
    ("task", "clear", "unclear"),
    [
        ("twenty-questions", "Is it alive?", "qwrtz plmk fgh"),
        ("guess-my-city", "Is your city by the sea?", ""),
        ("car-dealer", "Good morning! Which car do you like?", ""),
    ],
)
def test_dialogues_say_how_many_lines_were_understood(task, clear, unclear):
    found = get_task(task)
    episodes = rollout(make(task), Says(clear, clear, clear, unclear), [0, 1])
    turns = [episode.num_turns for episode in episodes]
    unclear_turns = sum(count // 4 for count in turns)
    assert unclear_turns
    estimates = summarise(to_table(episodes, found), found, "default")
    assert estimates["understood_rate"].value == pytest.approx(1 - unclear_turns / sum(turns))
    assert "unusable_action_rate" not in estimates


def test_starts_are_the_hidden_words():
    task = get_task("wordle")
    episodes = rollout(make("wordle"), Says("crane"), range(30))
    clusters = start_clusters(to_table(episodes, task), task)
    words = [episode.info["word"] for episode in episodes]
    assert [words.index(word) for word in words] == [clusters.tolist().index(cluster) for cluster in clusters]


def test_score_and_its_interval_follow_the_bounds():
    result = evaluate("maze", "region-0", episodes=100)
    bounds = get_task("maze").config()[1].bounds
    mean_return, score = result.estimates["mean_return"], result.estimates["normalized_score"]
    assert score.value == bounds.normalise(mean_return.value)
    assert score.interval == tuple(bounds.normalise(end) for end in mean_return.interval)
