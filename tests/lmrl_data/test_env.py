"""What the base class of the environments does for every task, on a task made for the test."""

from typing import Any

import numpy as np

from lmrl_data.env import TextEnv


class Thirds(TextEnv):
    """Pays a third of a point a turn, which no float32 holds exactly."""

    max_turns = 7

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        return "go"

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        return "on", 1 / 3, False, False, {}


def test_rewards_and_their_sum_are_those_that_a_record_holds() -> None:
    env = Thirds("toy")
    env.reset(seed=0)
    rewards, info = [], {}
    for _ in range(7):
        _, reward, _, truncated, info = env.step("x")
        rewards.append(reward)
    assert truncated
    assert rewards == np.array(rewards, np.float32).tolist()
    assert info["return"] == sum(rewards)
