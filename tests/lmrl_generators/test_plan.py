from collections import defaultdict

import numpy as np
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.registry import make_game, make_policy, make_vec, tasks
from lmrl_data.rollouts import rollout
from lmrl_generators.plan import Plan, make_plans
from lmrl_generators.shards import shard_table

MIXED = (("mixture", 0.25), ("consistent", 0.75))


def plan(**changes):
    values = {"task": "wordle", "config": "default", "split": "train", "episodes": 250, "shard_size": 100, "seed": 0}
    return Plan(**{**values, "policies": MIXED, **changes})


def test_shards_cover_the_plan_once():
    shards = plan().shards
    assert [(shard.start, shard.stop) for shard in shards] == [(0, 100), (100, 200), (200, 250)]
    assert [shard.file for shard in shards][-1] == "data/default/train-00002-of-00003.parquet"
    ids = [episode_id for shard in shards for episode_id in shard.episode_ids]
    assert ids == [f"wordle-default-train-{number:08d}" for number in range(250)]


def test_a_smaller_plan_is_the_beginning_of_a_larger_one():
    small = shard_table(plan(episodes=60).shards[0])
    large = shard_table(plan(episodes=100).shards[0])
    assert large.slice(0, 60).equals(small)


def test_shard_size_does_not_change_the_episodes():
    import pyarrow as pa

    whole = shard_table(plan(shard_size=250).shards[0])
    assert pa.concat_tables(shard_table(shard) for shard in plan().shards).equals(whole)


def test_splits_configs_and_seeds_have_no_episode_in_common():
    def seeds(**changes):
        return plan(episodes=5000, shard_size=5000, **changes).shards[0].seeds

    drawn = [seeds(), seeds(split="validation"), seeds(config="full"), seeds(seed=1)]
    assert len(np.unique(np.concatenate(drawn))) == 20_000


def test_policies_play_their_shares():
    table = shard_table(plan(episodes=4000, shard_size=4000).shards[0])
    share = np.mean(table["policy"].to_numpy() == "mixture")
    assert share == pytest.approx(0.25, abs=0.03)


@pytest.mark.parametrize("name", tasks())
def test_every_task_has_the_sizes_small_and_full(name):
    for config in tasks()[name].configs.values():
        assert set(config.sizes) >= {"small", "full"}
        assert sum(config.collection.values()) == pytest.approx(1)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"task": "nosuch"}, f"unknown task 'nosuch'; the tasks are: {', '.join(tasks())}"),
        ({"config": "nosuch"}, "no config 'nosuch'; it has: default, full"),
        ({"size": "huge"}, "unknown size 'huge'; task wordle has: small, full"),
        ({"episodes": 0}, "0 episodes in split train"),
        ({"validation": -1}, "-1 episodes in split validation"),
        ({"shard_size": 0}, "the shard size is 0"),
        ({"seed": 2**63}, "out of range"),
        ({"policies": {"mixture": 0.0}}, "positive numbers"),
        ({"policies": {"mixture": float("nan")}}, "positive numbers"),
    ],
)
def test_plans_that_cannot_be(changes, message):
    with pytest.raises(LmrlError, match=message):
        make_plans(**{"task": "wordle", **changes})


def test_unknown_policy_names_those_there_are():
    with pytest.raises(LmrlError, match="unknown policy 'nosuch' of task wordle; it has: random, mixture"):
        shard_table(plan(policies=(("nosuch", 1.0),)).shards[0])


CONFIGS = [(name, config) for name, task in tasks().items() for config in task.configs]
PLAYED_ON_ARRAYS = [pair for pair in CONFIGS if make_game(*pair) is not None]


@pytest.mark.parametrize(
    "config",
    [pytest.param(pair, marks=[pytest.mark.slow] if pair[0] == "wordle" else []) for pair in PLAYED_ON_ARRAYS],
    ids="-".join,
)
def test_the_stored_mean_is_that_of_the_published_train_split(config):
    name, config_name = config
    train = next(plan for plan in make_plans(name, config=config_name, size="full") if plan.split == "train")
    returns = np.concatenate([shard_table(shard)["episode_return"].to_numpy() for shard in train.shards])
    stored = tasks()[name].configs[config_name].bounds.mean
    assert stored == pytest.approx(returns.astype(np.float64).mean(), abs=5e-5)


@pytest.mark.slow
@pytest.mark.parametrize("config", [pair for pair in CONFIGS if pair not in PLAYED_ON_ARRAYS], ids="-".join)
def test_the_stored_mean_may_be_that_of_the_first_published_train_episodes(config):
    """All of them would take hours of an engine's time; these would show a mean that is of other data."""
    name, config_name = config
    plan = make_plans(name, config=config_name, size="full", episodes=64, validation=0)[0]
    env = make_vec(name, 64, config=config_name)
    spoken = zip(plan.shards[0].seeds.tolist(), plan.shards[0].policy_index.tolist(), strict=True)
    seeds = defaultdict(list)
    for seed, number in spoken:
        seeds[plan.policies[number][0]].append(seed)
    episodes = [
        episode
        for spec, mine in seeds.items()
        for episode in rollout(env, make_policy(spec, name, config=config_name), mine)
    ]
    returns = [episode.episode_return for episode in episodes]
    stored = tasks()[name].configs[config_name].bounds.mean
    assert abs(np.mean(returns) - stored) < 3.5 * np.std(returns) / np.sqrt(len(returns))
