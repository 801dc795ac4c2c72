"""Evaluating a scripted policy of an array game without texts: the same episodes in a small part of the time."""

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TypeGuard

import numpy as np
import pyarrow as pa

from lmrl_data.episode import default_id, game_table
from lmrl_data.game import ArrayPolicy, Ints, rollout_game
from lmrl_data.policy import GamePolicy, Policy
from lmrl_data.registry import Task, evaluation_env_id, make_game
from lmrl_data.seeding import U64
from lmrl_evaluation.meter import Run


def plays_on_arrays(policy: Policy, task: Task, config: str) -> TypeGuard[GamePolicy]:
    """Whether a policy is a scripted one of the very game that evaluation plays."""
    game = make_game(task.name, config, **task.configs[config].evaluation)
    # No class that is derived from it: that one may play otherwise in text.
    return type(policy) is GamePolicy and policy.game is game


def play_on_arrays(
    policy: GamePolicy,
    task: Task,
    config: str,
    seeds: Sequence[int],
    batch_size: int,
    on_turns: Callable[[int], None] | None = None,
) -> Iterator[tuple[pa.Table, Run]]:
    """Play an episode per seed, and give out the episodes of each batch with what they took, in order."""
    env_id = evaluation_env_id(task.configs[config])
    for first in range(0, len(seeds), batch_size):
        started = time.perf_counter()
        batch = np.array(seeds[first : first + batch_size], np.int64)
        timed = _Timed(policy.array_policy)
        episodes = rollout_game(policy.game, timed, batch)
        played = time.perf_counter() - started
        ids = [default_id(env_id, policy.name, seed) for seed in batch.tolist()]
        table = game_table(task, env_id, policy.game, episodes, [policy.name] * len(ids), ids)
        turns = int(episodes.length.sum())
        if on_turns:
            on_turns(turns)
        yield table, Run(turns, time.perf_counter() - started, timed.seconds, played - timed.seconds)


class _Timed:
    """An array policy that is measured."""

    def __init__(self, policy: ArrayPolicy) -> None:
        self.name = policy.name
        self.seconds = 0.0
        self._policy = policy

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        started = time.perf_counter()
        chosen = self._policy.act(seeds, actions, observations)
        self.seconds += time.perf_counter() - started
        return chosen
