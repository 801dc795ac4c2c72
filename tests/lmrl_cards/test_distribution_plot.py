import struct

import matplotlib
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_cards import Distribution, distribution_plot, split_statistics
from lmrl_cards.plots import bin_edges


@given(st.lists(st.integers(-400, 400) | st.floats(-2, 2, width=32), min_size=1, max_size=50))
def test_bins_hold_every_value_and_whole_numbers_lie_inside(values):
    distribution = Distribution.of(values)
    edges = bin_edges(distribution)
    assert (np.diff(edges) > 0).all() and len(edges) <= 31
    counts, _ = np.histogram(distribution.values, edges, weights=distribution.counts)
    assert counts.sum() == len(values)
    if distribution.is_whole:
        assert (edges % 1 == 0.5).all()
        assert np.unique(np.diff(edges)).size == 1


@pytest.fixture
def maze(carded):
    return split_statistics(carded / "lmrl-gym/maze", "maze")


def test_the_same_statistics_give_the_same_bytes_whatever_the_users_settings(maze, monkeypatch):
    first = distribution_plot("Maze", maze)
    settings = dict(matplotlib.rcParams)
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "red"}):
        assert distribution_plot("Maze", maze) == first
    assert dict(matplotlib.rcParams) == settings
    assert distribution_plot("Other title", maze) != first


def test_a_png_without_version_or_date_and_a_row_per_policy(maze):
    one = distribution_plot("Maze", maze)
    assert one.startswith(b"\x89PNG\r\n\x1a\n")
    assert b"atplotlib" not in one and b"tIME" not in one
    policies = {**maze.policies, **{f"other-{number}": maze.overall for number in range(3)}}
    more = distribution_plot("Maze", type(maze)(**{**vars(maze), "policies": policies}))
    (width, height), (wider, higher) = (struct.unpack(">II", data[16:24]) for data in (one, more))
    assert width == wider and height < higher


def test_names_with_markup_are_drawn_as_they_are(maze):
    policies = {"$\\frac{$ <b>&amp;\n_x_" + "y" * 200: maze.overall}
    assert distribution_plot("$\\bad{", type(maze)(**{**vars(maze), "policies": policies}))
