"""What an evaluation measures, and how sure it is: estimates with bootstrap intervals, clustered by start state.

Evaluation sets visit a task's start states over and over, and episodes from one start are alike: a deterministic policy
even plays the same episode each time. Counting those as independent would make intervals too narrow. So the start state
is the unit that is resampled, with all its episodes (cluster bootstrap: Cameron, Gelbach and Miller, 2008). Where no
start comes twice this is the ordinary bootstrap. An interval speaks of other starts drawn in the same way; where the
evaluation visits every start there is, it is wider than it need be.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.game import Game
from lmrl_data.registry import Bounds, Task, make_game
from lmrl_data.seeding import below

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

METRICS = ("mean_return", "normalized_score", "success_rate", "mean_length")
OPTIONAL_METRICS = ("unusable_action_rate", "understood_rate")

RESAMPLES = 2000
LEVEL = 0.95

# Elements of a block of resampling weights: bounds the memory, whatever the number of episodes.
_BLOCK = 2**21


@dataclass(frozen=True)
class Estimate:
    """A measured value and its uncertainty.

    Attributes:
        value: the estimate.
        interval: percentile bootstrap interval, 95 %; a point where all episodes are alike.
        standard_error: of the estimate.
    """

    value: float
    interval: tuple[float, float]
    standard_error: float


def summarise(table: pa.Table, task: Task, config: str) -> dict[str, Estimate]:
    """The metrics of finished episodes.

    Args:
        table: episodes of one config, in the schema of `lmrl_data.episode.episode_schema`.
        task: the task.
        config: name of its config, whose bounds normalise the score.

    Returns:
        ``mean_return`` (undiscounted, per episode), ``normalized_score`` (of the mean return), ``success_rate``,
        ``mean_length`` (agent turns) and, per agent turn, ``unusable_action_rate`` or, in a dialogue, the other way
        about ``understood_rate``: both where the environment's texts or the ``info`` of the episodes tell them.

    Raises:
        LmrlError: fewer than two episodes.
    """
    values, weights = measured(table, task, config)
    estimates, _ = bootstrap_means(stacked(values), stacked(weights), start_clusters(table, task))
    return with_score(dict(zip(values, estimates, strict=True)), task, config)


def measured(table: pa.Table, task: Task, config: str) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """What the metrics but the score are means of: by name a value per episode, and what it is a share of."""
    turns = table["num_turns"].to_numpy().astype(np.float64)
    once = np.ones(len(table))
    values = {"mean_return": _returns(table), "success_rate": table["success"].to_numpy().astype(np.float64)}
    weights = {"mean_return": once, "success_rate": once}
    values["mean_length"], weights["mean_length"] = turns, once
    game = make_game(task.name, config)
    if game is not None or "usable" in task.info:
        unusable = turns - _usable(table) if game is None else _unusable(table, game)
        name = "understood_rate" if "dialogue" in task.tags else "unusable_action_rate"
        values[name], weights[name] = turns - unusable if name == "understood_rate" else unusable, turns
    return values, weights


def stacked(columns: Mapping[str, Floats]) -> Floats:
    """Columns side by side, shape (N, K)."""
    return np.stack(list(columns.values()), axis=1)


def with_score(estimates: Mapping[str, Estimate], task: Task, config: str) -> dict[str, Estimate]:
    """Estimates with the normalised score after the mean return that it follows from."""
    score = _normalised(estimates["mean_return"], task.config(config)[1].bounds)
    return {"mean_return": estimates["mean_return"], "normalized_score": score, **estimates}


def bootstrap_means(values: Floats, weights: Floats, clusters: Ints) -> tuple[list[Estimate], Floats]:
    """Weighted means (sums of values over sums of weights) and their uncertainty.

    Args:
        values: K quantities of N episodes, shape (N, K).
        weights: what each is a share of, shape (N, K): 1 for a mean per episode, its turns for a mean per turn.
        clusters: the cluster of each episode, numbered from 0, shape (N,). A single cluster cannot say how clusters
            differ, so then the episodes are resampled one by one.

    Returns:
        K estimates, and the resampled means, shape (RESAMPLES, K). The standard error is the linearised one of a ratio;
        for a mean over clusters of one episode it is the usual s / sqrt(N).

    Raises:
        LmrlError: fewer than two episodes.
    """
    if len(values) < 2:
        raise LmrlError(f"a confidence interval takes at least 2 episodes, not {len(values)}; evaluate more")
    if not clusters.any():
        clusters = np.arange(len(values))
    # Relative to the first episode, so that episodes that are alike leave exactly nothing.
    residuals = values - values[0] / weights[0] * weights
    residuals -= residuals.sum(axis=0) / weights.sum(axis=0) * weights
    count, groups = values.shape[1], int(clusters.max()) + 1
    sums = np.zeros((groups, 2 * count))
    np.add.at(sums, clusters, np.hstack([residuals, weights]))
    errors = np.sqrt(groups / (groups - 1) * (sums[:, :count] ** 2).sum(axis=0)) / weights.sum(axis=0)
    resampled = resampled_sums(sums)
    means = np.array([math.fsum(value) / math.fsum(weight) for value, weight in zip(values.T, weights.T, strict=True)])
    # A mean lies among the values that it is a mean of; rounding must not say otherwise.
    shares = values / weights
    least, most = np.minimum(shares.min(axis=0), means), np.maximum(shares.max(axis=0), means)
    resampled_means = np.clip(means + resampled[:, :count] / resampled[:, count:], least, most)
    lows, highs = np.quantile(resampled_means, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], axis=0)
    estimates = [
        Estimate(value, (low, high), error)
        for value, low, high, error in zip(means.tolist(), lows.tolist(), highs.tolist(), errors.tolist(), strict=True)
    ]
    return estimates, resampled_means


def start_clusters(table: pa.Table, task: Task) -> Ints:
    """The start state of each episode, numbered from 0: the fields of ``info`` that ``reset(options=…)`` takes as well.

    A task that records no such field has episodes with starts of their own.
    """
    fields = [name for name in task.info if name in task.options]
    if not fields:
        return np.arange(len(table))
    numbers: dict[str, int] = {}
    info = table["info"].combine_chunks()
    starts = map(repr, zip(*(pc.struct_field(info, name).to_pylist() for name in fields), strict=True))
    return np.array([numbers.setdefault(start, len(numbers)) for start in starts], np.int64)


def resampled_sums(sums: Floats, seed: int = 0) -> Floats:
    """The column sums of rows drawn with replacement, shape (RESAMPLES, columns).

    The draws follow from the number of rows and the seed alone: a result follows from its episodes alone, and two
    results with the same starts are resampled alike.
    """
    # Raw bits, because numpy keeps those the same in all versions: everybody gets the same intervals.
    bits = np.random.PCG64(seed)
    groups = len(sums)
    totals = np.empty((RESAMPLES, sums.shape[1]))
    step = max(1, _BLOCK // groups)
    for first in range(0, RESAMPLES, step):
        rows = min(step, RESAMPLES - first)
        drawn = below(bits.random_raw((rows, groups)), groups) + groups * np.arange(rows)[:, None]
        times = np.bincount(drawn.ravel(), minlength=rows * groups).reshape(rows, groups)
        totals[first : first + rows] = times @ sums
    return totals


def _normalised(mean_return: Estimate, bounds: Bounds) -> Estimate:
    """The normalised score of a mean return: a rising function of it, so its interval has the ends' scores for ends."""
    low, high = (bounds.normalise(end) for end in mean_return.interval)
    value, error = mean_return.value, mean_return.standard_error
    # The score has a kink at the mean of the data: the slope there is that across the standard error.
    slope_error = (bounds.normalise(value + error) - bounds.normalise(value - error)) / 2
    return Estimate(bounds.normalise(value), (low, high), slope_error)


def _returns(table: pa.Table) -> Floats:
    """The undiscounted returns, from the rewards: the column `episode_return` has fewer digits."""
    rewards = table["rewards"].combine_chunks()
    episode = pc.list_parent_indices(rewards).to_numpy()
    return _sums_by(episode, rewards.flatten().to_numpy(), len(table))


def _unusable(table: pa.Table, game: Game) -> Floats:
    """The number of unusable actions in each episode, as the environment's replies tell."""
    messages = table["messages"].combine_chunks()
    spoken = messages.flatten()
    heard = pc.equal(spoken.field("role"), "user")
    episode = pc.list_parent_indices(messages).filter(heard).to_numpy()
    texts = spoken.field("content").filter(heard).dictionary_encode()
    observations = map(game.observation_of, texts.dictionary.to_pylist())
    unusable = np.array([seen is not None and game.invalid(seen) > 0 for seen in observations], np.float64)
    return _sums_by(episode, unusable[texts.indices.to_numpy()], len(table))


def _usable(table: pa.Table) -> Floats:
    """The number of usable actions in each episode, as its ``info`` tells."""
    usable = pc.struct_field(table["info"].combine_chunks(), "usable")
    episode, values = pc.list_parent_indices(usable).to_numpy(), usable.flatten().to_numpy(zero_copy_only=False)
    return _sums_by(episode, values, len(table))


def _sums_by(group: Ints, values: NDArray[Any], groups: int) -> Floats:
    return np.bincount(group, values, groups).astype(np.float64, copy=False)
