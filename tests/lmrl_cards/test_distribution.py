import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_cards import Distribution

NUMBERS = st.lists(st.integers(-500, 500) | st.floats(-1e3, 1e3, width=32), min_size=1, max_size=60)


@given(NUMBERS)
def test_figures_are_those_of_the_values(values):
    found = Distribution.of(values)
    assert found.count == len(values)
    assert found.mean == pytest.approx(statistics.fmean(values), abs=1e-9)
    assert found.std == pytest.approx(statistics.pstdev(values), abs=1e-6)
    assert (found.minimum, found.maximum) == (min(values), max(values))
    assert found.is_whole == all(float(value).is_integer() for value in values)


@given(NUMBERS, st.integers(0, 100))
def test_a_quantile_is_the_lowest_value_that_covers_its_share(values, percent):
    covering = [value for value in values if sum(other <= value for other in values) * 100 >= percent * len(values)]
    assert Distribution.of(values).quantile(percent) == min(covering)


@given(st.lists(NUMBERS, max_size=5))
def test_merging_is_the_distribution_of_everything(parts):
    merged = Distribution.merged(Distribution.of(part) for part in parts)
    whole = Distribution.of([value for part in parts for value in part])
    np.testing.assert_array_equal(merged.values, whole.values)
    np.testing.assert_array_equal(merged.counts, whole.counts)


@given(st.lists(st.integers(0, 300), max_size=40))
def test_counting_sizes_gives_the_same_as_sorting_them(sizes):
    counted, sorted_ = Distribution.of_sizes(np.array(sizes, np.int32)), Distribution.of(sizes)
    np.testing.assert_array_equal(counted.values, sorted_.values)
    np.testing.assert_array_equal(counted.counts, sorted_.counts)


def test_figures_of_nothing_are_no_numbers():
    nothing = Distribution.of([])
    figures = (nothing.mean, nothing.std, nothing.minimum, nothing.maximum, nothing.quantile(50))
    assert nothing.count == 0 and all(math.isnan(figure) for figure in figures)
