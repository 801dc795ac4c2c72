"""The maze: cells, texts, moves and rewards, against rules written another way."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from maze_reference import CONFIGS, FREE, GOAL, STEPS, moved, start, start_of, walls

from lmrl_data import make
from lmrl_data.tasks.maze.game import maze_game


def test_cells_starts_and_goal() -> None:
    game = maze_game()
    assert len(FREE) == 26
    assert set(game.maze.cells) == FREE
    assert game.maze.cells[game.maze.goal] == GOAL
    assert {game.maze.cells[cell] for cell in game.starts} == FREE - {GOAL}
    assert len(game.starts) == 25


def test_every_start_is_drawn() -> None:
    env = make("maze")
    assert {start_of(env.reset(seed=seed)[0]) for seed in range(400)} == FREE - {GOAL}


def test_fully_observed_text_names_goal_position_and_walls() -> None:
    env = make("maze")
    for row, column in FREE - {GOAL}:
        text = f"The goal is at row 8, column 6. You are at row {row}, column {column}. {walls(FREE, (row, column))}"
        assert start(env, (row, column)) == text


def test_partially_observed_text_names_only_the_walls() -> None:
    env = make("maze", config="partially_observed")
    assert all(start(env, cell) == walls(FREE, cell) for cell in FREE - {GOAL})
    game = maze_game("partially_observed")
    assert len(set(game.seen.tolist())) == len({walls(FREE, cell) for cell in FREE}) == 8


@pytest.mark.parametrize("config", CONFIGS)
def test_texts_lie_in_the_space_whatever_the_goal(config: str) -> None:
    env = make("maze", config=config)
    for goal in FREE:
        for cell in FREE - {goal}:
            assert start(env, cell, goal) in env.observation_space
            assert env.step("x")[0] in env.observation_space


@given(st.data())
def test_transitions_equal_the_rules_in_any_maze(data: st.DataObject) -> None:
    rows, columns = data.draw(st.integers(1, 4)), data.draw(st.integers(2, 4))
    every = [(row, column) for row in range(1, rows + 1) for column in range(1, columns + 1)]
    free = {data.draw(st.sampled_from(every))}
    for _ in range(data.draw(st.integers(1, 12))):  # grow it cell by cell, so that all cells are connected
        row, column = data.draw(st.sampled_from(sorted(free)))
        down, right = data.draw(st.sampled_from(list(STEPS.values())))
        free |= {(row + down, column + right)} & set(every)
    if len(free) < 2:
        return
    goal, here = data.draw(st.permutations(sorted(free)))[:2]
    layout = [[int((row, column) not in free) for column in range(columns + 2)] for row in range(rows + 2)]
    config, reward = data.draw(st.sampled_from(CONFIGS)), data.draw(st.sampled_from(["standard", "illegal_penalty"]))
    at_goal, any_move, unusable = {"standard": (0, -1, -4), "illegal_penalty": (1, 0, -1)}[reward]
    env = make("maze", config=config, layout=layout, goal=goal, reward=reward)
    assert start(env, here).endswith(walls(free, here))
    for name in data.draw(st.lists(st.sampled_from([*STEPS, "wait"]), min_size=1, max_size=20)):
        here = here if name == "wait" else moved(free, here, name)
        text, paid, terminated, truncated, info = env.step(f"move {name}")
        assert (terminated, truncated) == (here == goal, False)
        if terminated:
            assert paid == at_goal
            assert info == {"success": True, "return": pytest.approx(info["return"])}
            assert text == "You have reached the goal."
            break
        assert paid == (unusable if name == "wait" else any_move)
        assert ("invalid_action" in info) == (name == "wait")
        assert text.endswith(walls(free, here))
        if config == "fully_observed":
            assert start_of(text) == here


def test_array_step_equals_single_step() -> None:
    for config in CONFIGS:
        game = maze_game(config)
        states = np.repeat(np.arange(26, dtype=np.int32), 5)
        actions = np.tile(np.array([-1, 0, 1, 2, 3], np.int32), 26)
        columns = [column.tolist() for column in game.step(states, actions)]
        for row, (state, action) in enumerate(zip(states.tolist(), actions.tolist(), strict=True)):
            if state != game.maze.goal:
                assert game.step_one(state, action) == tuple(column[row] for column in columns)


def test_bumping_costs_one_and_an_unusable_action_four() -> None:
    env = make("maze")
    start(env, (1, 1))
    assert env.step("move up")[:3] == (start_text := env.step("move left")[0], -1.0, False)
    text, reward, _, _, info = env.step("go up")
    assert reward == -4.0
    assert text.endswith(start_text)
    assert all(move in text and move in info["invalid_action"] for move in ("move up", "move down", "move left"))


def test_a_hundred_moves() -> None:
    env = make("maze")
    start(env, (7, 6))
    for _ in range(99):
        assert env.step("move left")[2:4] == (False, False)
    _, reward, terminated, truncated, info = env.step("move left")
    assert (reward, terminated, truncated, info) == (-1.0, False, True, {"success": False, "return": -100.0})
    start(env, (7, 6))
    for _ in range(99):
        env.step("move left")
    _, reward, terminated, truncated, info = env.step("move down")
    assert (reward, terminated, truncated, info) == (0.0, True, False, {"success": True, "return": -99.0})
