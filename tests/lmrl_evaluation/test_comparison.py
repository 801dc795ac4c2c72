"""Comparisons and training seeds, against scipy, against formulas and against the truth in simulations."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from scipy import stats

from lmrl_data.errors import LmrlError
from lmrl_evaluation.comparison import combine, compare
from lmrl_evaluation.evaluate import evaluate
from lmrl_evaluation.metrics import bootstrap_means


@pytest.fixture(scope="module")
def template():
    """A result of 400 episodes from 400 starts, whose rewards the tests replace."""
    return evaluate("wordle", "random", episodes=400)


@pytest.fixture(scope="module")
def small():
    """The same of 40 episodes."""
    return evaluate("wordle", "random", episodes=40)


def result_with(template, returns, policy="made up"):
    """A result with given returns; they are no returns of Wordle, but these are numbers as well."""
    columns = {
        "rewards": pa.array([[value] for value in np.asarray(returns, np.float32).tolist()], pa.list_(pa.float32())),
        "policy": pa.array([policy] * len(template.table)),
    }
    table = template.table
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    return replace(template, table=table, policy=policy, episodes_sha256=f"{policy}{float(np.sum(returns))}")


def test_paired_comparison_is_the_paired_t_test(template):
    generator = np.random.default_rng(1)
    hardness = generator.normal(size=400) * 5
    a = hardness + generator.normal(size=400) + 0.1
    b = hardness + generator.normal(size=400)
    found = compare(result_with(template, a), result_with(template, b))
    test = stats.ttest_rel(np.float32(a), np.float32(b))
    assert found.difference.value / found.difference.standard_error == pytest.approx(test.statistic, rel=1e-5)
    # With this many starts the resampled means are normal, so their share above 0 is the one-sided p-value's rest.
    assert found.probability_better == pytest.approx(stats.norm.cdf(test.statistic), abs=0.02)
    interval = stats.bootstrap(
        (np.float32(a) - np.float32(b),), np.mean, n_resamples=20_000, method="percentile", rng=generator
    ).confidence_interval
    error = found.difference.standard_error
    assert found.difference.interval == pytest.approx((interval.low, interval.high), abs=0.15 * error)


def test_comparison_is_surer_than_two_intervals():
    a, b = (evaluate("maze", name, episodes=800) for name in ("region-0", "random"))
    paired = compare(a, b)
    assert paired.difference.value == pytest.approx(
        a.estimates["mean_return"].value - b.estimates["mean_return"].value, rel=1e-12
    )
    apart = np.hypot(a.estimates["mean_return"].standard_error, b.estimates["mean_return"].standard_error)
    assert paired.difference.standard_error < apart
    assert paired.probability_better > 0.99
    assert compare(b, a).probability_better == pytest.approx(1 - paired.probability_better)
    assert compare(a, a).probability_better == 0.5


def test_a_constant_difference_is_certain(template):
    returns = np.random.default_rng(2).integers(-6, 0, 400)
    found = compare(result_with(template, returns + 1), result_with(template, returns))
    assert (found.difference.value, found.difference.interval, found.difference.standard_error) == (1, (1, 1), 0)
    assert found.probability_better == 1


def trained(template, generator, seeds, *, mean=0.0, between=1.0, hardness=None):
    """Results of a method: training seeds differ by `between`, starts by their hardness, episodes by 1."""
    count = len(template.table)
    hardness = np.zeros(count) if hardness is None else hardness
    return [
        result_with(
            template, mean + between * generator.normal() + hardness + generator.normal(size=count), f"seed {seed}"
        )
        for seed in range(seeds)
    ]


def test_training_seeds_are_a_second_level(template):
    generator = np.random.default_rng(3)
    results = trained(template, generator, 40, hardness=2 * generator.normal(size=400))
    found = combine(results)["mean_return"]
    table = np.array([np.concatenate(result.table["rewards"].to_pylist()) for result in results])
    assert found.value == pytest.approx(table.mean(), rel=1e-6)
    # Crossed: the variance of seeds' means over their number, and that of starts' means over theirs.
    expected = np.sqrt(table.mean(axis=1).var(ddof=1) / 40 + table.mean(axis=0).var(ddof=1) / 400)
    assert found.standard_error == pytest.approx(expected, rel=0.1)
    single = bootstrap_means(table[0][:, None], np.ones((400, 1)), np.arange(400))[0][0]
    assert found.standard_error > 1.3 * single.standard_error


def test_intervals_of_a_method_cover_the_truth(small):
    generator = np.random.default_rng(4)
    covered = 0
    for _ in range(60):
        low, high = combine(trained(small, generator, 10))["mean_return"].interval
        covered += low <= 0 <= high
    assert covered >= 0.83 * 60  # ten seeds: a little less than 95 %, as the module says


def test_two_methods_over_seeds(template):
    generator = np.random.default_rng(5)
    hardness = 5 * generator.normal(size=400)
    better = trained(template, generator, 8, mean=3.0, hardness=hardness)
    worse = trained(template, generator, 8, hardness=hardness)
    found = compare(better, worse)
    assert found.probability_better > 0.99
    assert found.difference.interval[0] < 3 < found.difference.interval[1]
    assert compare(worse, better).probability_better < 0.01
    # The hardness of the starts cancels out, the difference between seeds does not.
    assert 0.3 < found.difference.standard_error < 1.0
    one = compare(better[0], worse[0])
    assert one.difference.standard_error < found.difference.standard_error
    against_one = compare(better, worse[0])
    assert against_one.difference.value == pytest.approx(
        np.mean([compare(result, worse[0]).difference.value for result in better])
    )


def test_seeds_that_play_alike_are_as_sure_as_one(template):
    returns = np.random.default_rng(6).normal(size=400)
    results = [result_with(template, returns, f"seed {seed}") for seed in range(3)]
    found, one = combine(results)["mean_return"], results[0]
    alone = bootstrap_means(np.float32(returns).astype(float)[:, None], np.ones((400, 1)), np.arange(400))[0][0]
    assert found.value == pytest.approx(alone.value)
    assert found.interval == pytest.approx(alone.interval)
    assert found.standard_error == pytest.approx(alone.standard_error, rel=0.05)
    assert compare(results, one).probability_better == 0.5


def test_combined_metrics_are_those_of_a_result():
    results = [evaluate("maze", f"region-{number}", episodes=100) for number in range(3)]
    found = combine(results)
    assert found.keys() == results[0].estimates.keys()
    for name in ("mean_return", "success_rate", "mean_length", "unusable_action_rate"):
        assert found[name].value == pytest.approx(np.mean([result.estimates[name].value for result in results]))
    assert found["normalized_score"].value == results[0].bounds.normalise(found["mean_return"].value)


def test_what_cannot_be_compared_is_refused(template):
    a = evaluate("maze", "random", episodes=50)
    with pytest.raises(LmrlError, match="different episodes"):
        compare(a, evaluate("maze", "random", episodes=50, seed=1))
    with pytest.raises(LmrlError, match="cannot be compared"):
        compare(a, evaluate("maze", "random", config="partially_observed", episodes=50))
    with pytest.raises(LmrlError, match="different episodes"):
        combine([a, evaluate("maze", "optimal", episodes=51)])
    with pytest.raises(LmrlError, match="given twice"):
        combine([a, a])
    with pytest.raises(LmrlError, match="at least 2"):
        combine([a])
    with pytest.raises(LmrlError, match="no result"):
        compare([], a)
