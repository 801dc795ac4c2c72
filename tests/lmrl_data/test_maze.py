"""The maze: the facts of its rules one by one, against searches and transitions written another way."""

from collections import deque
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.game import rollout_game
from lmrl_data.seeding import episode_seeds
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.maze.beliefs import solve_beliefs
from lmrl_data.tasks.maze.game import MazeGame, maze_game
from lmrl_data.tasks.maze.policies import OptimalPolicy, RegionPolicy

Cell = tuple[int, int]

FREE = {
    *((1, column) for column in (*range(1, 6), *range(7, 12))),
    *((row, column) for row in (2, 3, 4) for column in (3, 9)),
    *((5, column) for column in range(3, 10)),
    *((row, 6) for row in (6, 7, 8)),
}
GOAL = (8, 6)
STEPS = {"up": (-1, 0), "down": (1, 0), "left": (0, -1), "right": (0, 1)}
UMAZE = {(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (3, 1)}
CONFIGS = ("fully_observed", "partially_observed")


def moved(free: set[Cell], cell: Cell, name: str) -> Cell:
    """The cell after a move, as the rules say it."""
    down, right = STEPS[name]
    to = (cell[0] + down, cell[1] + right)
    return to if to in free else cell


def walls(free: set[Cell], cell: Cell) -> str:
    return f"Walls: {', '.join(name for name in STEPS if moved(free, cell, name) == cell) or 'none'}."


def distances(free: set[Cell], goal: Cell) -> dict[Cell, int]:
    """Moves to the goal from each cell, breadth first."""
    found, waiting = {goal: 0}, deque([goal])
    while waiting:
        cell = waiting.popleft()
        for name in STEPS:
            near = moved(free, cell, name)
            if near not in found:
                found[near] = found[cell] + 1
                waiting.append(near)
    return found


def least_total(free: set[Cell], goal: Cell) -> int:
    """The least number of moves, summed over all starts, of an agent that sees only walls: expectimax over histories.

    What is known is the list of cells that the equally likely starts have led to. An agent that has not arrived after
    `limit` moves is out; a limit above any sensible detour does not bind.
    """
    limit = 40

    @cache
    def total(cells: tuple[Cell, ...], left: int) -> float:
        if left == 0:
            return float("inf")
        best = float("inf")
        for name in STEPS:
            after = [moved(free, cell, name) for cell in cells]
            seen: dict[str, list[Cell]] = {}
            for cell in after:
                if cell != goal:
                    seen.setdefault(walls(free, cell), []).append(cell)
            cost = float(len(cells))
            for group in seen.values():
                cost += total(tuple(sorted(group)), left - 1)
                if cost >= best:
                    break
            best = min(best, cost)
        return best

    groups: dict[str, list[Cell]] = {}
    for cell in sorted(free - {goal}):
        groups.setdefault(walls(free, cell), []).append(cell)
    return int(sum(total(tuple(group), limit) for group in groups.values()))


def start(env: Any, cell: Cell, goal: Cell | None = None) -> str:
    observation, _ = env.reset(seed=0, options={"start": cell} | ({"goal": goal} if goal else {}))
    return str(observation)


def start_of(observation: str) -> Cell:
    """The position that a fully observed text names."""
    words = observation.replace(",", " ").replace(".", " ").split()
    here = words.index("You")
    return int(words[here + 4]), int(words[here + 6])


# The default maze


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


def test_distances_and_the_optimum_when_the_position_is_shown() -> None:
    expected = distances(FREE, GOAL)
    maze = maze_game().maze
    assert {cell: int(maze.distance[i]) for i, cell in enumerate(maze.cells)} == expected
    assert sum(expected.values()) / 25 == pytest.approx(7.84)
    seeds = evaluation_seeds("maze", "fully_observed", episodes=25)
    for episode in rollout(make_vec("maze", 25), make_policy("optimal", "maze"), seeds):
        assert episode.num_turns == expected[tuple(episode.info["start"])]
        assert episode.episode_return == 1 - episode.num_turns


def test_the_optimum_when_the_position_is_hidden() -> None:
    plan = solve_beliefs(maze_game("partially_observed"))
    assert len(plan.move) == 44
    assert plan.mean_length == pytest.approx(8.24, abs=1e-9)
    assert least_total(FREE, GOAL) == 206  # 8.24 * 25


@pytest.mark.parametrize(("free", "goal", "layout"), [(FREE, GOAL, "double_t"), (UMAZE, (1, 1), "umaze")])
def test_belief_search_equals_expectimax_and_the_policy_attains_it(free: set[Cell], goal: Cell, layout: str) -> None:
    game = maze_game("partially_observed", layout)
    expected = least_total(free, goal) / (len(free) - 1)
    assert solve_beliefs(game).mean_length == pytest.approx(expected, abs=1e-9)
    seeds = episode_seeds(0, "test", 0, 500)
    played = rollout_game(game, OptimalPolicy(game), seeds)
    by_start = {int(state): int(length) for state, length in zip(played.start, played.length, strict=True)}
    assert len(by_start) == len(free) - 1
    assert sum(by_start.values()) / len(by_start) == pytest.approx(expected)
    assert played.success.all()


@pytest.mark.parametrize("goal", [(1, 1), (5, 6), (3, 9)])
def test_belief_search_with_another_goal(goal: Cell) -> None:
    plan = solve_beliefs(maze_game("partially_observed", goal=goal))
    assert plan.mean_length * 25 == pytest.approx(least_total(FREE, goal))


def test_shown_beliefs_are_cells() -> None:
    plan = solve_beliefs(maze_game())
    assert len(plan.move) == 25
    assert plan.mean_length == pytest.approx(7.84)


# Texts


def test_fully_observed_text_names_goal_position_and_walls() -> None:
    env = make("maze")
    for row, column in FREE - {GOAL}:
        text = f"The goal is at row 8, column 6. You are at row {row}, column {column}. {walls(FREE, (row, column))}"
        assert start(env, (row, column)) == text


def test_partially_observed_text_names_only_the_walls() -> None:
    env = make("maze", config="partially_observed")
    assert all(start(env, cell) == walls(FREE, cell) for cell in FREE - {GOAL})
    game = maze_game("partially_observed")
    assert len(set(game.first_observation.tolist())) == len({walls(FREE, cell) for cell in FREE}) == 8


@pytest.mark.parametrize("config", CONFIGS)
def test_texts_lie_in_the_space_whatever_the_goal(config: str) -> None:
    env = make("maze", config=config)
    for goal in FREE:
        for cell in FREE - {goal}:
            assert start(env, cell, goal) in env.observation_space
            assert env.step("x")[0] in env.observation_space


# Moves and rewards


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


# Options


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
    try:
        assert env.step("move down")[2]
    except Exception as error:
        assert "reset" in str(error)


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


# Data collection


def region_shares(game: MazeGame, region: int) -> tuple[dict[Cell, int], dict[Cell, float]]:
    """Visits of each cell, and how often the move from it went nearer to the goal."""
    seeds = episode_seeds(0, "test", 0, 1500)
    played = rollout_game(game, RegionPolicy(game, region), seeds)
    away = distances(FREE, GOAL)
    visits, nearer = dict.fromkeys(FREE, 0), dict.fromkeys(FREE, 0)
    for row, length in enumerate(played.length):
        cell = game.maze.cells[played.start[row]]
        for action in played.actions[row, :length]:
            after = moved(FREE, cell, list(STEPS)[action])
            visits[cell] += 1
            nearer[cell] += away[after] < away[cell]
            cell = after
    return visits, {cell: nearer[cell] / max(visits[cell], 1) for cell in FREE}


@pytest.mark.parametrize("region", [0, 1, 2])
def test_region_policy_knows_the_way_in_its_third_only(region: int) -> None:
    away = distances(FREE, GOAL)
    visits, share = region_shares(maze_game(), region)
    cells = sorted(FREE - {GOAL}, key=lambda cell: away[cell])
    thirds = [cells[:9], cells[9:17], cells[17:]]
    edges = [(away[third[0]], away[third[-1]]) for third in thirds]
    for cell in cells:
        # At a distance that two thirds share, either may hold the cell.
        holders = [i for i, (low, high) in enumerate(edges) if low <= away[cell] <= high]
        if len(holders) > 1:
            continue
        ways = sum(away[moved(FREE, cell, name)] < away[cell] for name in STEPS)
        expected = 0.85 * ways / 4 + (0.15 if holders == [region] else 0.15 * ways / 4)
        error = (0.25 / visits[cell]) ** 0.5
        assert share[cell] == pytest.approx(expected, abs=5 * error)


def test_region_policies_play_alike_in_both_configs() -> None:
    seeds = episode_seeds(0, "test", 0, 20)
    for region in range(3):
        one, other = (rollout_game(game, RegionPolicy(game, region), seeds) for game in map(maze_game, CONFIGS))
        assert (one.actions == other.actions).all()
