"""The registry: what it lists, what it refuses, score bounds and evaluation episodes of every registered task."""

import re

import gymnasium
import numpy as np
import pytest
from variants import Variant, each_variant

import lmrl_data
from lmrl_data import list_tasks, make, make_policy, make_vec, replay, rollout
from lmrl_data.episode import evaluation_schema
from lmrl_data.errors import LmrlError
from lmrl_data.game import starts_of
from lmrl_data.registry import (
    Bounds,
    evaluation_env_id,
    find_env,
    get_task,
    make_evaluation_vec,
    make_game,
    make_vec_of,
    options_of,
    own_tasks,
    read_options,
    tasks,
)
from lmrl_data.starts import evaluation_seeds, evaluation_table


def test_ids_are_versioned_and_distinct() -> None:
    ids = [config.env_id for task in tasks().values() for config in task.configs.values()]
    assert len(set(ids)) == len(ids)
    own = [config.env_id for task in own_tasks().values() for config in task.configs.values()]
    assert all(re.fullmatch(r"lmrl/\w+-v\d+", env_id) for env_id in own)
    assert {env_id for env_id in ids if env_id.startswith("lmrl/")} == {*own}


def test_unknown_names_list_the_known_ones() -> None:
    for call in (
        lambda: get_task("nosuch"),
        lambda: make("nosuch"),
        lambda: make_vec("nosuch", 2),
        lambda: make_policy("random", "nosuch"),
    ):
        with pytest.raises(LmrlError) as error:
            call()
        assert all(name in str(error.value) for name in ("nosuch", *list_tasks()))
    with pytest.raises(LmrlError, match="lmrl/"):
        find_env("lmrl/NoSuch-v0")
    with pytest.raises(AttributeError, match="nosuch"):
        _ = lmrl_data.nosuch


@each_variant
def test_unknown_config_option_or_policy_lists_the_known_ones(variant: Variant) -> None:
    name = variant.task_name
    for maker in (lambda **options: make(name, **options), lambda **options: make_vec(name, 2, **options)):
        with pytest.raises(LmrlError) as error:
            maker(config="nosuch")
        assert all(config in str(error.value) for config in ("nosuch", *variant.task.configs))
        with pytest.raises(LmrlError) as error:
            maker(config=variant.config_name, nosuch=1)
        assert all(option in str(error.value) for option in ("nosuch", *variant.config.kwargs))
    for spec in ("nosuch", "", "nosuch:path", "random:path", ":", "hf:"):
        with pytest.raises(LmrlError) as error:
            make_policy(spec, name, config=variant.config_name)
        assert all(policy in str(error.value) for policy in variant.task.policies)
    with pytest.raises(LmrlError, match=variant.config_name):
        make_policy("random", name, config="nosuch")
    for rows in (0, -1):
        with pytest.raises(LmrlError, match="at least 1"):
            make_vec(name, rows)


@each_variant
def test_collection_and_bounds_name_policies_of_the_task(variant: Variant) -> None:
    assert set(variant.config.collection) <= set(variant.task.policies)
    assert sum(variant.config.collection.values()) == pytest.approx(1)
    assert variant.config.bounds.maximum_from in variant.task.policies
    assert "random" in variant.task.policies
    assert set(variant.task.info) == set(variant.task.column_notes)


@each_variant
def test_bounds_normalise(variant: Variant) -> None:
    bounds = variant.config.bounds
    low, mean, high = bounds.minimum, bounds.mean, bounds.maximum
    assert low < mean < high
    assert [bounds.normalise(value) for value in (low, mean, high)] == pytest.approx([0, 50, 100])
    assert bounds.normalise((low + mean) / 2) == pytest.approx(25)
    assert bounds.normalise((mean + high) / 2) == pytest.approx(75)
    assert bounds.normalise(low - 10) == 0
    assert bounds.normalise(high + (high - mean)) == pytest.approx(150)


@pytest.mark.parametrize(
    ("raw", "score"), [(-2.81, 79.9), (-2.85, 79.1), (-2.16, 94.9), (-2.04, 97.7), (-2.63, 84.2), (-7, 0)]
)
def test_normalise_gives_the_published_wordle_scores(raw: float, score: float) -> None:
    published = Bounds(minimum=-6, mean=-4.12, maximum=-1.94, maximum_from="", exact=False)
    assert published.normalise(raw) == pytest.approx(score, abs=0.2)


@each_variant
def test_policy_of_the_maximum_attains_it(variant: Variant) -> None:
    config = variant.config
    # Where an engine answers, some of the episodes must do.
    waits = variant.make().concurrency > 1
    count = 48 if waits else config.evaluation_episodes
    seeds = evaluation_seeds(variant.task_name, variant.config_name, episodes=count)
    env = make_evaluation_vec(variant.task_name, min(count, 256), config=variant.config_name)
    episodes = rollout(env, variant.policy(config.bounds.maximum_from), seeds)
    attained = np.mean([episode.episode_return for episode in episodes])
    # Without a proof the bound may be of another sample of episodes; some of the episodes are further off than all.
    tolerance = 1e-9 if config.bounds.exact else 0.1 if waits else 1e-4
    assert attained == pytest.approx(config.bounds.maximum, abs=tolerance)


@each_variant
def test_evaluation_seeds_are_balanced_distinct_and_prefix_stable(variant: Variant) -> None:
    def drawn(episodes: int, seed: int = 0) -> np.ndarray:
        return evaluation_seeds(variant.task_name, variant.config_name, episodes=episodes, seed=seed)

    few, many, others = drawn(37), drawn(1000), drawn(1000, seed=1)
    assert many.dtype == np.int64
    assert (many >= 0).all()
    assert len({*many.tolist(), *others.tolist()}) == 2000
    assert (many[:37] == few).all()
    assert len(drawn(0)) == 0
    game = make_game(variant.task_name, variant.config_name)
    if game is not None:
        for seeds in (few, many, others):
            times = np.bincount(starts_of(game, seeds), minlength=len(game.starts))
            assert times.max() - times.min() <= 1


@pytest.mark.parametrize("name", list_tasks())
def test_evaluation_table_holds_every_config(name: str) -> None:
    table, task = evaluation_table(name), get_task(name)
    assert table.schema == evaluation_schema(task)
    assert len(set(table["episode_id"].to_pylist())) == len(table)
    for config_name, config in task.configs.items():
        seeds = [row["seed"] for row in table.to_pylist() if row["env_id"] == evaluation_env_id(config)]
        assert seeds == evaluation_seeds(name, config_name, episodes=config.evaluation_episodes).tolist()


def test_an_id_holds_the_options_of_the_environment() -> None:
    env = make_vec("maze", 2, reward="illegal_penalty", config="partially_observed")
    assert env.env_id == "lmrl/MazePartiallyObserved-v0?reward=illegal_penalty"
    assert find_env(env.env_id)[:2] == (get_task("maze"), "partially_observed")
    episodes = rollout(
        env, make_policy("random", "maze", config="partially_observed", reward="illegal_penalty"), [1, 2, 3]
    )
    assert replay(episodes) == [None, None, None]
    assert (
        gymnasium.make("lmrl/Maze-v0", reward="illegal_penalty").unwrapped.env_id
        == "lmrl/Maze-v0?reward=illegal_penalty"
    )
    assert options_of("lmrl/Chess-v0?opponent=random&spaced=true") == {"opponent": "random", "spaced": True}


def test_an_option_that_an_id_cannot_hold_is_named() -> None:
    env = make_vec("maze", 1, layout=[[1, 1, 1, 1], [1, 0, 0, 1], [1, 1, 1, 1]], goal=(1, 1))
    with pytest.raises(LmrlError, match="option 'goal', whose value an id cannot hold"):
        make_vec_of(env.env_id, 1)


def test_options_of_the_command_line() -> None:
    assert read_options(["a=1", "b=text", "c=true", "d=x=y", "e="]) == {
        "a": 1,
        "b": "text",
        "c": True,
        "d": "x=y",
        "e": "",
    }
    with pytest.raises(LmrlError, match="write NAME=VALUE"):
        read_options(["opponent"])
