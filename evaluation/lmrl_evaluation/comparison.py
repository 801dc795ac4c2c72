"""Comparisons: two methods on the same evaluation episodes, and one method over the seeds that it was trained with.

A result speaks of one trained policy. What a training method is worth takes several: then the seeds of training are a
second level of chance above the start states. Both are resampled, crossed: each resample draws training seeds and,
for all of them alike, starts (the pigeonhole bootstrap: Owen, "The pigeonhole bootstrap", Annals of Applied Statistics
1, 2007). From few seeds the spread between them is known badly, and resampling makes it too small by a factor of
sqrt((S - 1) / S): train five or more before a claim about a method.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_evaluation.metrics import (
    LEVEL,
    Estimate,
    Floats,
    bootstrap_means,
    measured,
    resampled_sums,
    stacked,
    start_clusters,
    with_score,
)
from lmrl_evaluation.result import Result

# Which training seeds are drawn does not depend on which starts are, nor on the other method's.
_SEEDS_OF_A, _SEEDS_OF_B = 1, 2
# Two sums of the same numbers in another order differ by rounding; means closer than that are a tie.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Comparison:
    """Two methods on the same episodes.

    Attributes:
        difference: mean return of the first less that of the second.
        probability_better: share of the resamples in which the first is better, ties counting half.
    """

    difference: Estimate
    probability_better: float


def compare(a: Result | Sequence[Result], b: Result | Sequence[Result]) -> Comparison:
    """Compare two methods on the same evaluation episodes, start by start.

    What the two have in common, such as how hard a start is, cancels out: the comparison can be sure of a difference
    that the two intervals by themselves hide.

    Args:
        a: the first method: a result, or one for each seed that it was trained with.
        b: the second.

    Raises:
        LmrlError: the results are not of the same episodes, or one is given twice for a method.
    """
    first, second = ([group] if isinstance(group, Result) else list(group) for group in (a, b))
    _check(first)
    _check(second)
    _check_same(first[0], second[0])
    if len(first) == len(second) == 1:
        returns = [_columns(result)[0][:, :1] for result in (first[0], second[0])]
        differences = returns[0] - returns[1]
        (estimate,), means = bootstrap_means(differences, np.ones_like(differences), _clusters(first[0]))
        return Comparison(estimate, _share_above(means[:, 0]))
    (value_a, means_a), (value_b, means_b) = _over_seeds(first, _SEEDS_OF_A), _over_seeds(second, _SEEDS_OF_B)
    means = means_a[:, 0] - means_b[:, 0]
    return Comparison(_estimate(value_a[0] - value_b[0], means), _share_above(means))


def combine(results: Sequence[Result]) -> dict[str, Estimate]:
    """The metrics of a training method from its results, one for each seed that it was trained with.

    Args:
        results: of the same episodes, two or more.

    Returns:
        What `lmrl_evaluation.metrics.summarise` gives for one result, as means over the training seeds.

    Raises:
        LmrlError: the results are not of the same episodes, one is given twice, or there are fewer than two.
    """
    if len(results) < 2:
        raise LmrlError("the spread between training seeds takes at least 2 results; train with another seed")
    _check(results)
    values, means = _over_seeds(results, _SEEDS_OF_A)
    task = get_task(results[0].task)
    names = measured(results[0].table, task, results[0].config)[0]
    estimates = {name: _estimate(values[place], means[:, place]) for place, name in enumerate(names)}
    return with_score(estimates, task, results[0].config)


def _over_seeds(results: Sequence[Result], stream: int) -> tuple[Floats, Floats]:
    """Means over results, shape (K,), and the same of resampled results and starts, shape (RESAMPLES, K)."""
    values, means = [], []
    for result in results:
        # The same starts are drawn for each result (see `resampled_sums`).
        estimates, resampled = bootstrap_means(*_columns(result), _clusters(result))
        values.append([estimate.value for estimate in estimates])
        means.append(resampled)
    drawn = resampled_sums(np.eye(len(results)), stream)  # how often each result is
    return np.mean(values, axis=0), np.einsum("rs,srk->rk", drawn, np.stack(means)) / len(results)


def _columns(result: Result) -> tuple[Floats, Floats]:
    values, weights = measured(result.table, get_task(result.task), result.config)
    return stacked(values), stacked(weights)


def _clusters(result: Result) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return start_clusters(result.table, get_task(result.task))


def _estimate(value: float, means: Floats) -> Estimate:
    low, high = np.quantile(means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2]).tolist()
    return Estimate(float(value), (low, high), float(means.std(ddof=1)))


def _share_above(means: Floats) -> float:
    return float(np.mean(means > _ROUNDING) + np.mean(np.abs(means) <= _ROUNDING) / 2)


def _check(results: Sequence[Result]) -> None:
    if not results:
        raise LmrlError("there is no result to compare; give some")
    for place, result in enumerate(results):
        _check_same(results[0], result)
        if any(result.episodes_sha256 == other.episodes_sha256 for other in results[:place]):
            raise LmrlError(f"the same result of {result.policy} is given twice for one method; give each once")


def _check_same(a: Result, b: Result) -> None:
    if a.env_id != b.env_id:
        raise LmrlError(f"{a.env_id} and {b.env_id} cannot be compared; evaluate both policies on one environment")
    if a.table["seed"] != b.table["seed"]:
        raise LmrlError("the results are of different episodes; evaluate both with the same seed and episodes")
