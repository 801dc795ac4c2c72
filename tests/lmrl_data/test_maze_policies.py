"""The maze's exact optima against other searches, and the policies that collect the data."""

import pytest
from maze_reference import CONFIGS, FREE, GOAL, STEPS, UMAZE, Cell, distances, least_total, moved

from lmrl_data import make_policy, make_vec, rollout
from lmrl_data.game import rollout_game
from lmrl_data.seeding import episode_seeds
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.maze.beliefs import solve_beliefs
from lmrl_data.tasks.maze.game import MazeGame, maze_game
from lmrl_data.tasks.maze.policies import OptimalPolicy, RegionPolicy


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
