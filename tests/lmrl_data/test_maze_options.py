"""The maze's arguments and start options: what they do, and what is said of those that cannot be."""

from contextlib import suppress
from typing import Any

import gymnasium
import numpy as np
import pytest
from maze_reference import FREE, GOAL, UMAZE, start, start_of

from lmrl_data import make, make_vec
from lmrl_data.errors import LmrlError
from lmrl_data.tasks.maze.game import maze_game


def test_umaze() -> None:
    game = maze_game(layout="umaze")
    assert set(game.maze.cells) == UMAZE
    assert game.maze.cells[game.maze.goal] == (1, 1)
    assert int(game.maze.distance.max()) == 6


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_layout_as_an_array(kind: Any) -> None:
    env = make("maze", layout=kind([[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]]), goal=kind([1, 2]))
    assert env.reset(seed=0)[0].startswith("The goal is at row 1, column 2. You are at row 1, column 1.")
    assert env.step("move right")[2]
    assert env.episode_info() == {"start": [1, 1], "goal": [1, 2]}


@pytest.mark.parametrize("goal", [(1, 11), [1, 11], np.array([1, 11])], ids=["tuple", "list", "array"])
def test_goal_of_an_episode(goal: Any) -> None:
    env = make("maze")
    observation, _ = env.reset(seed=0, options={"goal": goal, "start": (1, 10)})
    assert observation.startswith("The goal is at row 1, column 11. You are at row 1, column 10.")
    assert env.step("move right")[2]
    assert env.episode_info() == {"start": [1, 10], "goal": [1, 11]}
    drawn = {start_of(env.reset(seed=seed, options={"goal": goal})[0]) for seed in range(400)}
    assert drawn == FREE - {(1, 11)}
    assert env.reset(seed=0)[0].startswith("The goal is at row 8, column 6.")


def test_goal_of_an_environment() -> None:
    env = make("maze", goal=(1, 1))
    assert start(env, (1, 2)).startswith("The goal is at row 1, column 1.")
    assert env.step("move left")[:3] == ("You have reached the goal.", 0.0, True)


@pytest.mark.parametrize("option", ["start", "goal"])
@pytest.mark.parametrize("cell", [(0, 0), (1, 6), (10, 1), (-2, 6), (1,), (1, 1, 1), (1.5, 1), "1,1", None], ids=repr)
def test_cell_that_is_not_free_lists_the_free_ones(option: str, cell: Any) -> None:
    with pytest.raises(ValueError) as error:
        make("maze").reset(options={option: cell})
    assert all(f"({row}, {column})" in str(error.value) for row, column in FREE)


def test_start_at_the_goal_cannot_be() -> None:
    for options in ({"start": GOAL}, {"start": (1, 1), "goal": (1, 1)}):
        with pytest.raises(ValueError, match="goal"):
            make("maze").reset(options=options)


def test_failed_reset_does_not_move_the_goal_of_the_episode_being_played() -> None:
    env = make("maze")
    start(env, (7, 6))
    with pytest.raises(ValueError):
        env.reset(options={"goal": (1, 1), "start": (0, 0)})
    with suppress(gymnasium.error.ResetNeeded):
        assert env.step("move down")[2]


CLOSED = [[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]]


@pytest.mark.parametrize(
    "options",
    [
        {"layout": "nosuch"},
        {"layout": None},
        {"layout": 3},
        {"layout": []},
        {"layout": [1, 0, 0, 1], "goal": (1, 1)},
        {"layout": [[[1]]], "goal": (1, 1)},
        {"layout": [["#", "."]], "goal": (1, 1)},
        {"layout": [*CLOSED[:2], [1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1, 1, 1, 1], [1, 0, 2, 1], [1, 1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1, 1, 1, 1], [1, 0, 0.5, 1], [1, 1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1, 1, 1, 1], [1, 0, 0, 0], [1, 1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1, 0, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1, 1, 1], [1, 0, 1], [1, 1, 1]], "goal": (1, 1)},
        {"layout": [[1] * 5, [1, 0, 1, 0, 1], [1] * 5], "goal": (1, 1)},
        {"layout": CLOSED},
        {"observe": "nosuch"},
        {"reward": "nosuch"},
    ],
    ids=repr,
)
def test_bad_arguments_name_the_remedy(options: dict[str, Any]) -> None:
    for maker in (lambda: make("maze", **options), lambda: make_vec("maze", 2, **options)):
        with pytest.raises(LmrlError) as error:
            maker()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("goal", [(0, 0), (1,), (8, 6, 1), (8, 6.5), "ab", 5], ids=repr)
def test_bad_goal_of_an_environment(goal: Any) -> None:
    with pytest.raises(LmrlError, match=r"goal .*\(row, column\)"):
        make("maze", goal=goal)
