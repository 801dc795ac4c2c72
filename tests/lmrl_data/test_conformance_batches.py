"""What the batched environment and the scripted policies of every registered task must do; no task is named here."""

import gymnasium
import numpy as np
import pytest
from variants import UNUSABLE, Play, Reciter, Variant, each_variant

from lmrl_data import replay, rollout
from lmrl_data.episode import game_table, to_table
from lmrl_data.game import rollout_game
from lmrl_data.registry import make_game
from lmrl_data.vector import SyncVectorEnv, TextVectorEnv

SEEDS = list(range(100, 107))
AT_THE_END = ("success", "return", "secret")

pytestmark = each_variant


def batches(variant: Variant, rows: int) -> list[TextVectorEnv]:
    """The task's own batched environment, and the one that works for any task."""
    return [variant.make_vec(rows), SyncVectorEnv(variant.make, rows)]


def test_batch_equals_single_environments(variant: Variant) -> None:
    seeds = [3, 4, 5, 6, 6]
    scripts = [variant.actions(variant.best, 3), variant.actions("random", 4), *map(variant.mixed_actions, (5, 6, 7))]
    singles = [variant.make() for _ in seeds]
    plays = [Play(env, seed, script) for env, seed, script in zip(singles, seeds, scripts, strict=True)]
    for env in batches(variant, len(seeds) + 2):
        for _ in range(2):  # the second time in a used environment
            observations, infos = env.reset(seeds)
            assert list(observations) == [*(play.first[0] for play in plays), "", ""]
            assert list(infos["seed"]) == seeds
            for turn in range(max(len(play.steps) for play in plays) + 2):
                said = [script[turn % len(script)] for script in scripts] + [scripts[0][0], ""]
                observations, rewards, terminated, truncated, infos = env.step(said)
                for row, play in enumerate(plays):
                    over = turn >= len(play.steps)
                    text, reward, *flags, info = play.steps[min(turn, len(play.steps) - 1)]
                    assert observations[row] == text
                    assert rewards[row] == np.float32(0 if over else reward)
                    assert [terminated[row], truncated[row]] == flags
                    assert infos["invalid_action"][row] == (None if over else info.get("invalid_action"))
                    if any(flags):
                        assert {key: infos[key][row] for key in AT_THE_END if key in infos} == {
                            key: info[key] for key in AT_THE_END if key in info
                        }
                        assert env.episode_info(row) == singles[row].episode_info()
                    else:
                        assert infos.get("secret", [None] * len(seeds))[row] is None
                assert list(observations[-2:]) == ["", ""]
                assert not rewards[-2:].any()
            assert (terminated | truncated).all()
        env.close()


def test_batch_refuses_what_single_environments_refuse(variant: Variant) -> None:
    action = variant.actions(variant.best, 0)[0]
    expected = [Play(variant.make(), seed, [action]).observations[1] for seed in (1, 2)]
    for env in batches(variant, 2):
        for seeds in ([1, 2, 3], [-1, 2], [0.5, 2]):
            with pytest.raises((ValueError, TypeError)):
                env.reset(seeds)
        env.reset([1, 2])
        for actions in ([action], [action] * 3):
            with pytest.raises(ValueError, match="rows"):
                env.step(actions)
        for nothing in (None, 3):
            with pytest.raises(TypeError, match="str"):
                env.step([action, nothing])
            env.reset([1, 2])
        assert list(env.step([action, action])[0]) == expected


def test_unusable_actions_in_a_batch(variant: Variant) -> None:
    kinds = list(UNUSABLE.values())
    for env in batches(variant, len(kinds)):
        env.reset(range(len(kinds)))
        _, rewards, _, _, infos = env.step(kinds)
        assert all(infos["invalid_action"])
        assert len(set(rewards.tolist())) == 1


def test_batch_takes_action_indices_too(variant: Variant) -> None:
    game = make_game(variant.task_name, variant.config_name)
    if game is None:
        pytest.skip("no array game")
    by_text, by_index = variant.make_vec(3), variant.make_vec(3)
    by_text.reset([1, 2, 3])
    by_index.reset([1, 2, 3])
    for indices in np.random.default_rng(0).integers(len(game.action_texts), size=(game.max_turns, 3)):
        for one, other in zip(by_text.step(list(game.action_texts[indices])), by_index.step(indices), strict=True):
            np.testing.assert_equal(one, other)
    by_index.reset([1, 2])
    for wrong in (len(game.action_texts), -1 - len(game.invalid_reasons)):
        with pytest.raises(ValueError, match="index"):
            by_index.step(np.array([0, wrong, 0]))
    by_index.step(np.array([0, 0, wrong]))  # what a row without an episode is told does not matter


def test_scripted_policies_do_not_depend_on_the_batch(variant: Variant) -> None:
    max_turns = variant.make().max_turns
    for name in variant.some_policies:
        policy = variant.policy(name)
        together = rollout(variant.make_vec(len(SEEDS)), policy, SEEDS)
        assert [episode.seed for episode in together] == SEEDS
        assert {episode.policy for episode in together} == {name}
        assert all(0 < episode.num_turns <= max_turns for episode in together)
        assert rollout(variant.make_vec(4), policy, SEEDS) == together
        assert rollout(variant.make(), variant.make_policy(name), SEEDS[:2][::-1]) == together[:2][::-1]


def test_random_policy_draws_anew_with_every_seed_and_turn(variant: Variant) -> None:
    episodes = rollout(variant.make_vec(40), variant.policy("random"), list(range(40)))
    assert len({episode.actions[0] for episode in episodes}) > 1
    assert any(len(set(episode.actions)) > 1 for episode in episodes)


def test_array_rollout_equals_text_rollout(variant: Variant) -> None:
    game = make_game(variant.task_name, variant.config_name)
    if game is None:
        pytest.skip("no array game")
    for name in variant.some_policies:
        policy = variant.policy(name)
        in_text = to_table(rollout(variant.make_vec(len(SEEDS)), policy, SEEDS), variant.task)
        on_arrays = rollout_game(game, policy.array_policy, np.array(SEEDS))
        ids = in_text["episode_id"].to_pylist()
        table = game_table(variant.task, variant.config.env_id, game, on_arrays, [name] * len(SEEDS), ids)
        table.validate(full=True)
        assert table.equals(in_text)


def test_rollout_plays_whatever_a_policy_says(variant: Variant) -> None:
    reported: list[int] = []
    policy = Reciter(list(UNUSABLE.values()))
    episodes = rollout(variant.make_vec(3), policy, SEEDS[:7], on_episodes=reported.append)
    assert [episode.seed for episode in episodes] == SEEDS[:7]
    assert reported == [3, 3, 1]
    assert {episode.num_turns for episode in episodes} == {variant.make().max_turns}
    assert episodes == rollout(variant.make(), policy, SEEDS[:7])
    assert rollout(variant.make_vec(3), policy, []) == []


def test_rollout_takes_the_environment_of_gymnasium_too(variant: Variant) -> None:
    policy = variant.policy("random")
    wrapped = gymnasium.make(variant.config.env_id)
    assert rollout(wrapped, policy, SEEDS[:3]) == rollout(variant.make(), policy, SEEDS[:3])
    with pytest.raises(TypeError, match="no bare environment of lmrl-gym"):
        rollout(gymnasium.make("CartPole-v1"), policy, SEEDS[:1])


def test_rows_without_an_episode_have_no_secret(variant: Variant) -> None:
    for env in batches(variant, 3):
        env.reset([1])
        infos = env.step(["", "", ""])[4]
        assert "secret" not in infos or not any(infos["secret"])


def test_a_policy_cannot_spoil_the_record(variant: Variant) -> None:
    class Shouting:
        name = "shouting"

        def reset(self, seeds: object) -> None: ...

        def act(self, conversations: list[list[dict[str, str]]]) -> list[str]:
            for conversation in conversations:
                for message in conversation:
                    message["content"] = message["content"].upper()
            return ["" for _ in conversations]

    class Appending(Shouting):
        def act(self, conversations: list[list[dict[str, str]]]) -> list[str]:
            for conversation in conversations:
                conversation.append({"role": "assistant", "content": ""})
            return ["" for _ in conversations]

    assert replay(rollout(variant.make_vec(2), Shouting(), [1, 2])) == [None, None]
    with pytest.raises(TypeError, match="changed the conversations"):
        rollout(variant.make_vec(2), Appending(), [1, 2])


def test_a_policy_must_reply_with_text(variant: Variant) -> None:
    class Mute:
        name = "mute"

        def reset(self, seeds: object) -> None: ...

        def act(self, conversations: list[object]) -> list[None]:
            return [None for _ in conversations]

    with pytest.raises(TypeError, match="'mute' replied with a NoneType"):
        rollout(variant.make(), Mute(), [1])


def test_wrappers_that_would_be_passed_over_are_refused(variant: Variant) -> None:
    wrapped = gymnasium.wrappers.TransformReward(gymnasium.make(variant.config.env_id), lambda reward: 2 * reward)
    with pytest.raises(TypeError, match="wrappers"):
        rollout(wrapped, variant.policy("random"), [1])
