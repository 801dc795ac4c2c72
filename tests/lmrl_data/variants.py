"""What the conformance tests share: every (task, config) of the registry, and texts that no task can use."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, cycle
from typing import Any

import pytest

from lmrl_data import make, make_policy, make_vec
from lmrl_data.env import TextEnv
from lmrl_data.errors import LmrlError
from lmrl_data.policy import Policy
from lmrl_data.registry import Config, Task, evaluation_env_id, get_task, tasks
from lmrl_data.rollouts import rollout
from lmrl_data.starts import evaluation_table
from lmrl_data.text import Message
from lmrl_data.vector import TextVectorEnv

UNUSABLE = {
    "empty": "",
    "blanks": " \t\r\n ",
    "100 kB": "x" * 100_000,
    "100 kB of lines": "no such move\n" * 8_000,
    "Cyrillic": "абракадабра",
    "Arabic": "\u202eلاشيء",
    "Chinese": "乱七八糟",
    "emoji": "🙃🙃🙃",
    "full width": "ｘｘｘｘｘ",
    "combining marks": "z̷̢̛a̴͠l̵͝g̸o̶",
    "control": "\x00\x01\x02\x7f\x1b[2J",
    "byte order mark": "\ufeff\ufeff",
    "lone surrogate": "\ud83d",
    "surrogates": "\udc80\udcff \ud800",
}


@dataclass(frozen=True)
class Variant:
    """One config of one task."""

    task_name: str
    config_name: str

    def __str__(self) -> str:
        return f"{self.task_name}-{self.config_name}"

    @property
    def task(self) -> Task:
        return get_task(self.task_name)

    @property
    def config(self) -> Config:
        return self.task.configs[self.config_name]

    @property
    def best(self) -> str:
        """The policy that attains the best known return."""
        return self.config.bounds.maximum_from

    @property
    def some_policies(self) -> list[str]:
        """All scripted policies, but where an engine or a dialogue takes its time only the ends of the scale."""
        if self.task.game is not None:
            return list(self.task.policies)
        return list(dict.fromkeys(["random", next(iter(self.config.collection)), self.best]))

    def make(self) -> TextEnv:
        return make(self.task_name, config=self.config_name)

    def make_evaluation(self) -> TextEnv:
        return make(self.task_name, config=self.config_name, **self.config.evaluation)

    @property
    def evaluation_rows(self) -> list[dict[str, Any]]:
        """What to reset the environment with for each evaluation episode."""
        env_id = evaluation_env_id(self.config)
        return [row for row in evaluation_table(self.task_name).to_pylist() if row["env_id"] == env_id]

    def make_vec(self, num_envs: int) -> TextVectorEnv:
        return make_vec(self.task_name, num_envs, config=self.config_name)

    def make_policy(self, name: str) -> Policy:
        return make_policy(name, self.task_name, config=self.config_name)

    @cache  # noqa: B019 - some policies remember what they have worked out, and a variant lives as long as the run
    def policy(self, name: str) -> Policy:
        return self.make_policy(name)

    @cache  # noqa: B019
    def actions(self, policy: str, seed: int) -> list[str]:
        """What a scripted policy says in the episode of a seed."""
        (episode,) = rollout(self.make(), self.policy(policy), [seed])
        return episode.actions

    def mixed_actions(self, seed: int) -> list[str]:
        """Actions of the random policy and unusable ones in turn."""
        usable = self.actions("random", seed)
        unusable = list(UNUSABLE.values())
        return list(chain.from_iterable(zip(usable, cycle(unusable[seed % len(unusable) :] + unusable), strict=False)))


def _missing(variant: Variant) -> str | None:
    """What this machine lacks for a task, such as Stockfish; in CI nothing may be missing."""
    try:
        variant.make().close()
    except LmrlError as error:
        if os.environ.get("LMRL_TEST_ALL"):
            raise
        return str(error)
    return None


VARIANTS = [Variant(task.name, config) for task in tasks().values() for config in task.configs]
_MISSING = {variant: _missing(variant) for variant in VARIANTS}
each_variant = pytest.mark.parametrize(
    "variant",
    [
        pytest.param(variant, marks=[pytest.mark.skip(reason=missing)] if missing else [], id=str(variant))
        for variant, missing in _MISSING.items()
    ],
)


class Play:
    """One episode of an environment, played with the actions over and over until it ends."""

    def __init__(self, env: Any, seed: int, actions: Sequence[str], options: dict[str, Any] | None = None) -> None:
        self.first = env.reset(seed=seed, options=options)
        self.steps: list[tuple[str, float, bool, bool, dict[str, Any]]] = []
        for action in cycle(actions):
            self.steps.append(env.step(action))
            if self.steps[-1][2] or self.steps[-1][3]:
                break
        self.rewards = [reward for _, reward, *_ in self.steps]
        self.observations = [self.first[0], *(observation for observation, *_ in self.steps)]
        _, _, self.terminated, self.truncated, self.final = self.steps[-1]
        self.generator = env.unwrapped.np_random.bit_generator.state

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Play) and vars(self) == vars(other)

    __hash__ = None


class Reciter:
    """A policy that says the given actions over and over, in every episode from the first one on."""

    name = "reciter"

    def __init__(self, actions: Sequence[str]) -> None:
        self.said = actions

    def reset(self, seeds: Sequence[int]) -> None:
        """Nothing is drawn."""

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        return [self.said[len(messages) // 2 % len(self.said)] for messages in conversations]
