"""What the single environment of every registered task must do; no task is named here."""

import random
import sys
from collections import defaultdict
from collections.abc import Callable
from contextlib import suppress

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env
from variants import UNUSABLE, Play, Variant, each_variant

from lmrl_data.registry import find_env
from lmrl_data.rollouts import rollout
from lmrl_data.starts import evaluation_table

HEADINGS = [
    "Description",
    "Action Space",
    "Observation Space",
    "Starting State",
    "Rewards",
    "Episode End",
    "Information",
    "Arguments",
    "Differences from the paper",
    "Version History",
]

pytestmark = each_variant


# Two warnings of the checker are about how it is called here: on a wrapper, and on an environment without a spec.
@pytest.mark.filterwarnings("error", "ignore:.*different from the unwrapped", "ignore:.*not having a spec")
@pytest.mark.parametrize("through_gymnasium", [False, True])
def test_gymnasium_checker_finds_nothing(variant: Variant, through_gymnasium: bool) -> None:
    check_env(gymnasium.make(variant.config.env_id) if through_gymnasium else variant.make())


def test_gymnasium_makes_the_same_environment(variant: Variant) -> None:
    wrapped = gymnasium.make(variant.config.env_id)
    assert wrapped.unwrapped.env_id == variant.make().env_id == variant.config.env_id
    assert find_env(variant.config.env_id)[:2] == (variant.task, variant.config_name)
    actions = variant.mixed_actions(3)
    assert Play(wrapped, 3, actions) == Play(variant.make(), 3, actions)


def test_same_seed_gives_the_same_episode(variant: Variant) -> None:
    used = variant.make()
    for seed in (0, 1, 2**31, 2**63 - 1):
        actions = variant.mixed_actions(seed)
        assert Play(variant.make(), seed, actions) == Play(used, seed, actions) == Play(used, seed, actions)


def test_different_seeds_give_different_episodes(variant: Variant) -> None:
    env, actions = variant.make(), variant.mixed_actions(0)
    plays = [Play(env, seed, actions) for seed in range(20)]
    assert len({str((play.observations, play.final)) for play in plays}) > 5
    assert len({str(play.generator) for play in plays}) == len(plays)


def test_reset_without_a_seed_draws_one_that_replays(variant: Variant) -> None:
    env, actions = variant.make(), variant.mixed_actions(0)
    drawn = [env.reset() for _ in range(8)]
    seeds = [info["seed"] for _, info in drawn]
    assert len(set(seeds)) == len(seeds)
    assert len({env.reset()[1]["seed"], variant.make().reset()[1]["seed"]}) == 2
    for observation, info in drawn:
        assert Play(env, info["seed"], actions).first == (observation, info)


def test_global_random_state_is_neither_read_nor_written(variant: Variant) -> None:
    torch = sys.modules.get("torch")

    def state() -> str:
        return str((random.getstate(), np.random.get_state(), torch.get_rng_state().tolist() if torch else None))

    def everything() -> list[object]:
        vec, env = variant.make_vec(3), variant.make()
        names = ["random", variant.best, *variant.config.collection]
        played = [rollout(vec, variant.make_policy(name), [5, 6, 7]) for name in names]
        return [*played, Play(env, 5, variant.mixed_actions(5))]

    results = []
    for seed in (1, 2):
        random.seed(seed)
        np.random.seed(seed)
        before = state()
        results.append(everything())
        assert state() == before
    assert results[0] == results[1]


@pytest.mark.parametrize("kind", UNUSABLE)
def test_unusable_action_costs_a_turn_and_is_marked(variant: Variant, kind: str) -> None:
    env = variant.make()
    dues = set()
    for usable_first in (False, True):
        env.reset(seed=1)
        if usable_first:
            env.step(variant.actions(variant.best, 1)[0])
        observation, reward, *_, info = env.step(UNUSABLE[kind])
        dues.add(reward)
        assert observation in env.observation_space
        assert isinstance(info["invalid_action"], str) and info["invalid_action"]
    env.reset(seed=1)
    dues.add(env.step(UNUSABLE["empty"])[1])
    assert len(dues) == 1 and dues.pop() <= 0
    only_these = Play(env, 1, [UNUSABLE[kind]])
    assert len(only_these.steps) == env.max_turns
    assert all("invalid_action" in info for *_, info in only_these.steps)
    assert only_these.final["success"] is False


def test_usable_actions_are_not_marked(variant: Variant) -> None:
    for name in variant.some_policies:
        play = Play(variant.make(), 2, variant.actions(name, 2))
        assert not any("invalid_action" in info for *_, info in play.steps)


def test_unusable_actions_change_nothing_and_the_last_turn_counts(variant: Variant) -> None:
    """The solution, said so late that its last action is the last turn of the limit, still solves the episode."""
    env = variant.make()
    for seed in range(5):
        solution = variant.actions(variant.best, seed)
        solved = Play(env, seed, solution)
        assert solved.final["success"] is True
        wasted = [list(UNUSABLE.values())[i % len(UNUSABLE)] for i in range(env.max_turns - len(solution))]
        late = Play(env, seed, wasted + solution)
        assert len(late.steps) == env.max_turns
        assert late.rewards[-1] == solved.rewards[-1]
        assert late.observations[-len(solution) :] == solved.observations[1:]
        assert (late.terminated, late.truncated, late.final["success"]) == (True, False, True)


def test_limit_ends_the_episode_as_the_task_says(variant: Variant) -> None:
    env = variant.make()
    play = Play(env, 0, list(UNUSABLE.values()))
    assert len(play.steps) == env.max_turns
    assert (play.terminated, play.truncated) == (env.limit_is_terminal, not env.limit_is_terminal)
    assert not any(terminated or truncated for _, _, terminated, truncated, _ in play.steps[:-1])
    assert play.rewards[-1] == play.rewards[0]


def test_step_outside_an_episode_raises(variant: Variant) -> None:
    env, action = variant.make(), variant.actions(variant.best, 0)[0]
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(action)
    for actions in (variant.actions(variant.best, 0), [""]):
        Play(env, 0, actions)
        for _ in range(2):
            with pytest.raises(gymnasium.error.ResetNeeded, match="reset"):
                env.step(action)
    env.reset(seed=0)
    env.step(action)


@pytest.mark.parametrize("action", [None, 3, 0.5, b"move", ["a"]], ids=repr)
def test_action_that_is_no_string_raises_and_costs_nothing(variant: Variant, action: object) -> None:
    env, actions = variant.make(), variant.mixed_actions(4)
    env.reset(seed=4)
    with pytest.raises(TypeError, match="str"):
        env.step(action)
    untouched = Play(variant.make(), 4, actions)
    for action_, expected in zip(actions, untouched.steps, strict=False):
        assert env.step(action_) == expected


@pytest.mark.parametrize(
    "change",
    [
        str.upper,
        str.title,
        lambda text: f"  {text}\n",
        lambda text: text.replace(" ", " \t "),
        lambda text: f"{text}\r\n",
    ],
)
def test_case_and_white_space_do_not_matter(variant: Variant, change: Callable[[str], str]) -> None:
    env = variant.make()
    if env.case_matters and change("aB").strip() != "aB":
        pytest.skip("actions that differ in case are different actions")
    for name in ("random", variant.best):
        actions = variant.actions(name, 6)
        assert Play(env, 6, [change(action) for action in actions]) == Play(env, 6, actions)


def test_nothing_is_left_over_from_the_previous_episode(variant: Variant) -> None:
    used, other = variant.make(), variant.make()
    fresh = Play(variant.make(), 8, variant.mixed_actions(8))
    used.reset(seed=7)
    for turn, action in enumerate(variant.mixed_actions(7)[: used.max_turns - 1]):
        _, _, terminated, truncated, _ = used.step(action)
        other.reset(seed=turn)
        assert Play(other, 8, variant.mixed_actions(8)) == fresh
        if terminated or truncated:
            break
    assert Play(used, 8, variant.mixed_actions(8)) == fresh


def test_two_episodes_at_once_do_not_touch_each_other(variant: Variant) -> None:
    expected = {seed: Play(variant.make(), seed, variant.mixed_actions(seed)) for seed in (10, 11)}
    envs = {seed: variant.make() for seed in expected}
    assert all(env.reset(seed=seed) == expected[seed].first for seed, env in envs.items())
    for turn in range(min(len(play.steps) for play in expected.values())):
        for seed, env in envs.items():
            actions = variant.mixed_actions(seed)
            assert env.step(actions[turn % len(actions)]) == expected[seed].steps[turn]


def test_secret_shows_only_at_the_end_and_only_in_info(variant: Variant) -> None:
    env = variant.make()
    secrets_behind: dict[str, set[str]] = defaultdict(set)
    for seed in range(40):
        play = Play(env, seed, variant.mixed_actions(seed))
        assert "secret" not in play.first[1]
        assert not any("secret" in info for *_, info in play.steps[:-1])
        if "secret" in play.final:
            for text in play.observations:
                secrets_behind[text].add(play.final["secret"])
    for text, secrets in secrets_behind.items():
        # A text that episodes with other secrets show too tells nothing, whatever words are in it.
        assert len(secrets) > 1 or not any(secret.casefold() in text.casefold() for secret in secrets)


def test_success_and_return_come_at_the_end(variant: Variant) -> None:
    env = variant.make()
    for name in ("random", variant.best):
        play = Play(env, 9, variant.actions(name, 9))
        assert type(play.final["success"]) is bool
        assert play.final["return"] == pytest.approx(sum(play.rewards))
        assert type(play.terminated) is type(play.truncated) is bool
        assert all(type(reward) is float for reward in play.rewards)
        assert not any({"success", "return"} & info.keys() for *_, info in play.steps[:-1])


def test_texts_lie_in_the_spaces(variant: Variant) -> None:
    env = variant.make()
    for name in variant.some_policies:
        actions = variant.actions(name, 12)
        assert all(action in env.action_space for action in actions)
        play = Play(env, 12, actions)
        assert all(text in env.observation_space for text in play.observations)
    assert all(text in env.observation_space for text in Play(env, 12, variant.mixed_actions(12)).observations)
    env.action_space.seed(0)
    for _ in range(20):  # anything from the space is an action, usable or not
        Play(env, 12, [env.action_space.sample()])


@pytest.mark.parametrize(
    "value", [None, "no such start", 10**9, -1, 0.5, ["a", 1], {"a": 1}, (1, 2, 3, 4, 5)], ids=repr
)
def test_start_that_cannot_be_raises_and_lists_what_can(variant: Variant, value: object) -> None:
    env, actions = variant.make(), variant.mixed_actions(1)
    rows = evaluation_table(variant.task_name)["options"].to_pylist()
    for option in env.start_options:
        with pytest.raises(ValueError) as error:
            env.reset(seed=0, options={option: value})
        values = [row[option] for row in rows]
        possible = {str(tuple(value) if isinstance(value, list) else value) for value in values}
        possible |= {str(part) for value in values if isinstance(value, dict) for part in value.values()}
        assert any(choice in str(error.value) for choice in possible)
        assert "\n" not in str(error.value)
    assert Play(env, 1, actions) == Play(variant.make(), 1, actions)


def test_unknown_start_option_raises_and_lists_the_known_ones(variant: Variant) -> None:
    env = variant.make()
    with pytest.raises(ValueError) as error:
        env.reset(options={"no such option": 1})
    assert all(option in str(error.value) for option in ("no such option", *env.start_options))


def test_failed_reset_leaves_no_mixture_of_two_episodes(variant: Variant) -> None:
    """After a reset that fails, the old episode goes on as if nothing had been, or none is being played."""
    env, actions = variant.make(), variant.actions("random", 1)
    rows = variant.evaluation_rows
    for bad in (*env.start_options, "no such option"):
        expected = Play(env, 1, actions).steps[0]
        env.reset(seed=1)
        with pytest.raises(ValueError):
            env.reset(seed=2, options={**rows[-1]["options"], bad: "impossible"})
        with suppress(gymnasium.error.ResetNeeded):
            assert env.step(actions[0]) == expected


def test_start_options_give_the_episode_that_the_seed_gives(variant: Variant) -> None:
    rows = variant.evaluation_rows
    assert len(rows) == variant.config.evaluation_episodes
    env = variant.make_evaluation()
    for row in rows[:20]:
        assert row["options"].keys() == set(env.start_options)
        actions = variant.mixed_actions(row["seed"])
        by_seed = Play(env, row["seed"], actions)
        info = env.episode_info()
        assert Play(env, row["seed"], actions, row["options"]) == by_seed
        assert env.episode_info() == info


def test_docstring_is_the_page_of_the_environment(variant: Variant) -> None:
    lines = (type(variant.make()).__doc__ or "").splitlines()
    assert [line.strip()[3:] for line in lines if line.strip().startswith("## ")] == HEADINGS
    assert lines[0].strip()
