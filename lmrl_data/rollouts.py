"""The one loop that plays episodes in text: generation, evaluation, online training and play all use it."""

import operator
from collections.abc import Callable, Iterator, Sequence

import gymnasium
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from lmrl_data.env import TextEnv
from lmrl_data.episode import Episode
from lmrl_data.policy import Policy
from lmrl_data.text import Message, storable
from lmrl_data.vector import SyncVectorEnv, TextVectorEnv

AnyEnv = gymnasium.Env[str, str] | TextVectorEnv


def rollout(
    env: AnyEnv,
    policy: Policy,
    seeds: Sequence[int],
    *,
    on_episodes: Callable[[int], None] | None = None,
) -> list[Episode]:
    """Play an episode per seed.

    Args:
        env: a single environment, of `lmrl_data.make` or `gymnasium.make`, or a batched one of `lmrl_data.make_vec`,
            which plays ``num_envs`` episodes at a time.
        policy: who plays.
        seeds: non-negative, one per episode.
        on_episodes: called with the number of episodes each time some have been finished.

    Returns:
        The finished episodes, in the order of the seeds.

    Raises:
        TypeError: the environment is no bare one of lmrl-gym, or the policy gives replies that are no texts or changes
            the number of messages in a conversation.
    """
    episodes: list[Episode] = []
    for batch in rollout_batches(env, policy, seeds):
        episodes += batch
        if on_episodes:
            on_episodes(len(batch))
    return episodes


def rollout_batches(env: AnyEnv, policy: Policy, seeds: Sequence[int]) -> Iterator[list[Episode]]:
    """`rollout`, giving out each batch of episodes as it is finished."""
    batched = env if isinstance(env, TextVectorEnv) else SyncVectorEnv(lambda: _unwrapped(env), 1)
    seeds = [operator.index(seed) for seed in seeds]
    for first in range(0, len(seeds), batched.num_envs):
        yield _play(batched, policy, seeds[first : first + batched.num_envs])


def _unwrapped(env: gymnasium.Env[str, str]) -> TextEnv:
    """The environment inside the wrappers that `gymnasium.make` adds, which check its use and change nothing."""
    while isinstance(env, PassiveEnvChecker | OrderEnforcing):
        env = env.env
    if not isinstance(env, TextEnv):
        raise TypeError(f"{env} is no bare environment of lmrl-gym; a rollout would pass over its wrappers")
    return env


def _messages(spoken: list[str]) -> list[Message]:
    return [{"role": "assistant" if place % 2 else "user", "content": text} for place, text in enumerate(spoken)]


def _checked(reply: str, policy: Policy) -> str:
    if not isinstance(reply, str):
        raise TypeError(f"policy {policy.name!r} replied with a {type(reply).__name__}; replies are str")
    return storable(reply)


def _play(env: TextVectorEnv, policy: Policy, seeds: list[int]) -> list[Episode]:
    count = len(seeds)
    observations, _ = env.reset(seeds)
    policy.reset(seeds)
    # The record is kept apart from what the policy is shown: a policy that changes that spoils only its own play.
    spoken: list[list[str]] = [[text] for text in observations[:count]]
    conversations: list[list[Message]] = [[{"role": "user", "content": text}] for text in observations[:count]]
    rewards: list[list[float]] = [[] for _ in seeds]
    episodes: dict[int, Episode] = {}
    idle = [""] * (env.num_envs - count)
    while len(episodes) < count:
        going_on = [[] if row in episodes else conversation for row, conversation in enumerate(conversations)]
        replies = [_checked(reply, policy) for reply in policy.act(going_on)]
        observations, reward, terminated, truncated, infos = env.step(replies + idle)
        ended = terminated | truncated
        for row in range(count):
            if row in episodes:
                continue
            if len(conversations[row]) != len(spoken[row]):
                raise TypeError(f"policy {policy.name!r} changed the conversations that it was given; let it copy them")
            spoken[row] += [replies[row], observations[row]]
            conversations[row].append({"role": "assistant", "content": replies[row]})
            conversations[row].append({"role": "user", "content": observations[row]})
            rewards[row].append(float(reward[row]))
            if ended[row]:
                episodes[row] = Episode(
                    messages=_messages(spoken[row]),
                    rewards=rewards[row],
                    success=bool(infos["success"][row]),
                    terminated=bool(terminated[row]),
                    truncated=bool(truncated[row]),
                    seed=seeds[row],
                    policy=policy.name,
                    env_id=env.env_id,
                    info=env.episode_info(row),
                )
    return [episodes[row] for row in range(count)]
