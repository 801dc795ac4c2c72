"""Seeds: hashes on numbers and on arrays, and golden values, so that no episode changes by accident."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from lmrl_data.game import start_states
from lmrl_data.registry import make_game
from lmrl_data.seeding import below, episode_seeds, mix, mix_array, stream_of, turn_hashes, uniform

SEEDS = np.arange(100_000)

# The first outputs of splitmix64 from state 0, as its authors' implementation prints them.
SPLITMIX64 = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F, 0xF88BB8A8724C81EC, 0x1B39896A51A8749B]


def test_mix_is_splitmix64() -> None:
    assert [mix(0, stream) for stream in (0, 1, 2)] == SPLITMIX64[::2]
    step = 0x9E3779B97F4A7C15
    assert [mix(i * step, 0) for i in range(5)] == SPLITMIX64


@given(st.integers(-(2**63), 2**63 - 1), st.integers(0, 2**32 - 1))
def test_arrays_give_what_numbers_give(seed: int, stream: int) -> None:
    hashes = mix_array(np.array([seed, 0, seed]), stream)
    assert hashes.tolist() == [mix(seed, stream), mix(0, stream), mix(seed, stream)]
    assert turn_hashes(np.array([seed]), 7, stream).tolist() == [mix(mix(seed, stream), 7)]


def test_golden_values() -> None:
    assert stream_of("wordle/start") == 3933440544
    assert mix(12345, stream_of("wordle/start")) == 11321006016187595452
    assert episode_seeds(0, "wordle/train", 0, 3).tolist() == [
        5758612766348271673,
        1840879312197884960,
        5580844906081530086,
    ]
    assert turn_hashes(np.array([1]), 2, 3).tolist() == [12695958775352297781]
    assert start_states(make_game("wordle"), np.arange(6)).tolist() == [274, 275, 296, 316, 91, 397]
    assert start_states(make_game("maze"), np.arange(6)).tolist() == [4, 19, 18, 11, 2, 22]


@pytest.mark.parametrize("limit", [2, 3, 25, 400, 2300])
def test_below_is_uniform(limit: int) -> None:
    for hashes in (
        mix_array(SEEDS, 5),
        turn_hashes(SEEDS, 3, 5),
        mix_array(np.full(10**5, 9), 5) ^ mix_array(SEEDS, 1),
    ):
        drawn = below(hashes, limit)
        assert drawn.dtype == np.int64
        assert chisquare(np.bincount(drawn, minlength=limit)).pvalue > 1e-3
        assert len(np.bincount(drawn)) == limit


def test_below_keeps_to_the_limit_of_each() -> None:
    limits = np.array([1, 2, 5, 2**31])
    largest = np.full(4, 2**64 - 1, np.uint64)
    assert below(largest, limits).tolist() == (limits - 1).tolist()
    assert below(np.zeros(4, np.uint64), limits).tolist() == [0] * 4


def test_uniform_is_uniform() -> None:
    drawn = uniform(mix_array(SEEDS, 6))
    assert drawn.min() >= 0
    assert drawn.max() < 1
    assert chisquare(np.histogram(drawn, 50, (0, 1))[0]).pvalue > 1e-3
    assert uniform(np.array([0, 2**64 - 1], np.uint64)).tolist() == [0.0, 1 - 2.0**-53]


def test_streams_turns_and_seeds_are_independent() -> None:
    one = uniform(mix_array(SEEDS, stream_of("a")))
    for other in (
        mix_array(SEEDS, stream_of("b")),
        turn_hashes(SEEDS, 0, stream_of("a")),
        mix_array(SEEDS + 1, stream_of("a")),
    ):
        assert abs(np.corrcoef(one, uniform(other))[0, 1]) < 0.01


@given(st.integers(0, 2**62), st.integers(0, 300), st.integers(0, 300))
def test_episode_seeds_do_not_depend_on_the_size_of_the_plan(plan_seed: int, start: int, more: int) -> None:
    whole = episode_seeds(plan_seed, "task/train", 0, start + more)
    assert (episode_seeds(plan_seed, "task/train", start, start + more) == whole[start:]).all()
    assert whole.dtype == np.int64
    assert (whole >= 0).all()


def test_episode_seeds_differ_between_plans_and_splits() -> None:
    plans = [(seed, split) for seed in (0, 1, 2) for split in ("wordle/train", "wordle/validation", "maze/train")]
    drawn = np.concatenate([episode_seeds(seed, split, 0, 20_000) for seed, split in plans])
    assert len(np.unique(drawn)) == len(drawn)
