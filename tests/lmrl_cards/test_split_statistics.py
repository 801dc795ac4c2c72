import statistics as plain

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from card_folders import EPISODES, GAME_TASKS, write_parquet

from lmrl_cards import split_statistics
from lmrl_cards.statistics import observations, start_keys
from lmrl_data import load_episodes, make_policy, make_vec, rollout
from lmrl_data.episode import to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task

CONFIGS = [(task, config) for task in GAME_TASKS for config in get_task(task).configs]


def check_group(found, episodes):
    assert found.episodes == len(episodes)
    assert found.turns == sum(episode.num_turns for episode in episodes)
    for distribution, values in (
        (found.length, [episode.num_turns for episode in episodes]),
        (found.returns, [episode.episode_return for episode in episodes]),
    ):
        assert distribution.mean == pytest.approx(plain.fmean(values))
        assert distribution.std == pytest.approx(plain.pstdev(values), abs=1e-9)
        assert (distribution.minimum, distribution.maximum) == (min(values), max(values))
        assert distribution.quantile(50) == plain.median_low(values)
    assert found.success_rate == sum(episode.success for episode in episodes) / len(episodes)
    assert found.terminated_rate == sum(episode.terminated for episode in episodes) / len(episodes)
    assert found.truncated_rate == sum(episode.truncated for episode in episodes) / len(episodes)


def check_characters(found, texts):
    lengths = [len(text) for text in texts]
    assert (found.count, found.mean, found.maximum) == (len(texts), pytest.approx(plain.fmean(lengths)), max(lengths))


@pytest.mark.parametrize(("task", "config"), CONFIGS)
def test_statistics_are_those_of_the_episodes_one_by_one(carded, task, config):
    folder = carded / "lmrl-gym" / task
    episodes = load_episodes(folder, task, config=config)
    found = split_statistics(folder, task, config=config, workers=2)
    check_group(found.overall, episodes)
    assert list(found.policies) == sorted({episode.policy for episode in episodes})
    for name, group in found.policies.items():
        check_group(group, [episode for episode in episodes if episode.policy == name])
    check_characters(found.agent_characters, [action for episode in episodes for action in episode.actions])
    texts = [message["content"] for episode in episodes for message in episode.messages[::2]]
    check_characters(found.environment_characters, texts)
    assert found.seeds == len({episode.seed for episode in episodes})
    assert len(found.starts) == len({str(episode.info) for episode in episodes})
    assert found.env_ids == (get_task(task).configs[config].env_id,)
    assert found.unusable_actions == 0
    rewards = [reward for episode in episodes for reward in episode.rewards]
    assert (found.rewards.count, found.rewards.mean) == (len(rewards), pytest.approx(plain.fmean(rewards)))
    assert found.agent_texts == len({action for episode in episodes for action in episode.actions})
    partner = get_task(task).partner
    assert set(found.partners) == {episode.info[partner] for episode in episodes if partner}
    assert found.unseen is None
    means = [group.returns.mean for group in found.ranked.values()]
    assert means == sorted(means, reverse=True) and set(found.ranked) == set(found.policies)


class Odd:
    """Says what no table of actions holds."""

    name = "odd"
    replies = ("MOVE  up", "move left", "größer | <b>", "", "\U0001f600" * 3, "no *idea*")

    def reset(self, seeds):
        self.seeds = seeds

    def act(self, conversations):
        turns = zip(self.seeds, map(len, conversations), strict=True)
        return [self.replies[(seed + said) % len(self.replies)] for seed, said in turns]


def test_odd_texts_are_measured_in_characters_and_unusable_actions_counted(tmp_path):
    episodes = rollout(make_vec("maze", 4), Odd(), range(8))
    write_parquet(to_table(episodes, get_task("maze")), tmp_path / "data/fully_observed/train-00000-of-00001.parquet")
    found = split_statistics(tmp_path, "maze")
    actions = [action for episode in episodes for action in episode.actions]
    check_characters(found.agent_characters, actions)
    assert found.unusable_actions == sum(action not in ("MOVE  up", "move left") for action in actions) > 0


def test_files_and_batches_make_no_difference_and_progress_adds_up(tmp_path, monkeypatch):
    seeds = range(40)
    episodes = [
        episode
        for name in ("random", "region-0")
        for episode in rollout(make_vec("maze", 40), make_policy(name, "maze"), seeds)
    ]
    order = np.random.default_rng(0).permutation(len(episodes))
    table = to_table([episodes[row] for row in order], get_task("maze"))
    write_parquet(table, tmp_path / "one/data/fully_observed/train-00000-of-00001.parquet")
    for shard, (start, stop) in enumerate(((0, 7), (7, 60), (60, 80))):
        write_parquet(
            table.slice(start, stop - start), tmp_path / f"many/data/fully_observed/train-{shard:05d}-of-00003.parquet"
        )
    whole = split_statistics(tmp_path / "one", "maze")
    monkeypatch.setattr("lmrl_cards.statistics._ROWS", 11)
    read = []
    parts = split_statistics(tmp_path / "many", "maze", on_episodes=read.append)
    assert sum(read) == 80 and len(read) > 3
    for name in ("random", "region-0"):
        for field in ("length", "returns"):
            a, b = (getattr(found.policies[name], field) for found in (whole, parts))
            assert (a.values.tolist(), a.counts.tolist()) == (b.values.tolist(), b.counts.tolist())
    assert (whole.seeds, whole.starts, whole.agent_texts) == (parts.seeds, parts.starts, parts.agent_texts)
    assert whole.example == parts.example is not None
    # The same seeds were played twice.
    assert whole.seeds == 40


def test_observations_that_the_split_lacks_are_a_share_of_the_probe(carded):
    folder = carded / "lmrl-gym/wordle"
    probe = observations(folder, "wordle", config="default", split="validation")
    episodes = load_episodes(folder, "wordle", split="validation")
    assert probe.to_pylist() == [message["content"] for episode in episodes for message in episode.messages[::2]]
    here = {message["content"] for episode in load_episodes(folder, "wordle") for message in episode.messages[::2]}
    probe = pa.concat_arrays([probe, pa.array(["unheard of"] * 7)])
    new = sum(text not in here for text in probe.to_pylist())
    found = split_statistics(folder, "wordle", probe=probe).unseen
    assert found == pytest.approx(new / len(probe)) and found > 0


def test_a_start_is_all_of_its_fields_and_nulls_record_none():
    kind = pa.struct([("start", pa.list_(pa.int32())), ("word", pa.string())])
    rows = [([1, 2], "a"), ([1, 2], "b"), ([12], "a"), ([1, 2], "a"), (None, "a"), ([1], None), (None, None)]
    values = pa.array([dict(zip(("start", "word"), row, strict=True)) for row in rows], kind)
    assert len(start_keys(values, ["start", "word"])) == 3
    assert len(start_keys(values, ["word"])) == 2
    assert start_keys(values, []) == set()
    assert start_keys(pa.array([None, {}], kind), ["word"]) == set()


def test_the_validation_split_has_figures_of_its_own(carded):
    folder = carded / "lmrl-gym/maze"
    assert split_statistics(folder, "maze", split="validation").overall.episodes == EPISODES["validation"]


@pytest.mark.parametrize("column", ["seed", "policy", "success", "messages", "episode_return"])
def test_missing_values_are_refused(fresh, column):
    path = fresh("maze") / "data/fully_observed/validation-00000-of-00001.parquet"
    table = pq.read_table(path)
    values = table[column].to_pylist()
    values[3] = None
    index = table.column_names.index(column)
    write_parquet(table.set_column(index, table.schema.field(index), pa.array(values, table.schema.types[index])), path)
    with pytest.raises(LmrlError, match=f"episode 3 has a missing value in column '{column}'"):
        split_statistics(path.parents[2], "maze", split="validation")


def test_a_return_that_is_no_number_is_refused(fresh):
    path = fresh("maze") / "data/fully_observed/validation-00000-of-00001.parquet"
    table = pq.read_table(path)
    returns = table["episode_return"].to_numpy().copy()
    returns[0] = np.nan
    index = table.column_names.index("episode_return")
    write_parquet(table.set_column(index, "episode_return", pa.array(returns)), path)
    with pytest.raises(LmrlError, match="no numbers"):
        split_statistics(path.parents[2], "maze", split="validation")


@pytest.mark.parametrize("column", ["policy", "episode_id"])
def test_text_that_is_not_utf8_is_refused(fresh, column):
    path = fresh("maze") / "data/fully_observed/validation-00000-of-00001.parquet"
    table = pq.read_table(path)
    broken = pa.array([b"\xff\xfe"] * len(table), pa.binary()).view(pa.string())
    write_parquet(table.set_column(table.column_names.index(column), column, broken), path)
    with pytest.raises(LmrlError, match=r"(?i)utf-?8"):
        split_statistics(path.parents[2], "maze", split="validation")
