"""The batched environment of any task: threads, and what happens when one of its environments fails."""

import threading
import time

import gymnasium
import pytest

from lmrl_data.env import TextEnv
from lmrl_data.vector import SyncVectorEnv


class Echo(TextEnv):
    """Repeats what it is told; fails at `boom`, and takes its time."""

    max_turns = 3
    threads: set[str] = set()  # noqa: RUF012 - shared on purpose

    def __init__(self, concurrency: int = 1) -> None:
        super().__init__("test/Echo-v0")
        self.concurrency = concurrency

    def _start(self, seed, options):
        return "begin"

    def _play(self, action):
        if action == "boom":
            raise RuntimeError("boom")
        time.sleep(0.01)
        self.threads.add(threading.current_thread().name)
        return action, -1.0, False, False, {}

    def episode_info(self):
        return {}


def test_environments_that_wait_step_in_threads():
    Echo.threads.clear()
    with SyncVectorEnv(lambda: Echo(concurrency=3), 6) as env:
        env.reset(range(6))
        assert list(env.step(list("abcdef"))[0]) == list("abcdef")
    assert len(Echo.threads) == 3
    assert threading.main_thread().name not in Echo.threads


def test_others_step_in_the_callers_thread():
    Echo.threads.clear()
    with SyncVectorEnv(Echo, 3) as env:
        env.reset(range(3))
        env.step(list("abc"))
    assert Echo.threads == {threading.current_thread().name}


@pytest.mark.parametrize("concurrency", [1, 2])
def test_after_a_failure_no_row_steps_twice(concurrency):
    with SyncVectorEnv(lambda: Echo(concurrency), 2) as env:
        env.reset([1, 2])
        with pytest.raises(RuntimeError, match="boom"):
            env.step(["fine", "boom"])
        with pytest.raises(gymnasium.error.ResetNeeded, match="failed in the last step"):
            env.step(["fine", "fine"])
        env.reset([1, 2])
        for _ in range(3):
            _, _, terminated, truncated, infos = env.step(["fine", "fine"])
        assert truncated.all() and not terminated.any()
        assert infos["return"].tolist() == [-3, -3]
