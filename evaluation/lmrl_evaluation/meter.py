"""What an evaluation cost: time of the policy and of the simulator, tokens, and the machine.

None of it follows from the episodes, so it is no part of the result, which is the same for everybody: it stands beside
it in `run.json`.
"""

import json
import os
import platform
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from numpy.typing import NDArray

from lmrl_data.game import Texts
from lmrl_data.policy import Policy
from lmrl_data.text import Message
from lmrl_data.vector import Infos, TextVectorEnv, VectorStep


@dataclass(frozen=True)
class Run:
    """What it took to play episodes; the sum of two runs is the run of both.

    Attributes:
        turns: agent turns.
        seconds: from the making of the environment to the last episode, by the clock.
        policy_seconds: of these, spent in the policy.
        simulator_seconds: of these, spent in the environment.
        requests: replies that a policy counted which counts its tokens (a language model).
        cached: replies that it had on disk, at no cost.
        prompt_tokens: that it read.
        completion_tokens: that it wrote.
    """

    turns: int = 0
    seconds: float = 0.0
    policy_seconds: float = 0.0
    simulator_seconds: float = 0.0
    requests: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: "Run") -> "Run":
        return Run(**{field.name: getattr(self, field.name) + getattr(other, field.name) for field in fields(Run)})

    def __str__(self) -> str:
        if not self.turns:
            return "nothing was played"
        tokens = ""
        if self.requests:
            read, written = self.prompt_tokens / self.requests, self.completion_tokens / self.requests
            tokens = f", {read:.0f} tokens read and {written:.0f} written per turn that was asked"
        shares = f"policy {self.policy_seconds:.2f} s, simulator {self.simulator_seconds:.2f} s"
        return f"{self.turns:,} turns in {self.seconds:.2f} s ({shares}){tokens}"

    @property
    def overhead(self) -> float:
        """Time that is neither the policy's nor the simulator's, as a share of theirs."""
        played = self.policy_seconds + self.simulator_seconds
        return (self.seconds - played) / played if played else 0.0

    def to_json(self) -> str:
        """The text of `run.json`."""
        data: dict[str, Any] = {**asdict(self), "overhead": self.overhead}
        if self.turns:
            data["seconds_per_turn"] = self.seconds / self.turns
        if self.requests:
            data["prompt_tokens_per_turn"] = self.prompt_tokens / self.requests
            data["completion_tokens_per_turn"] = self.completion_tokens / self.requests
        return json.dumps({**data, "machine": _machine()}, indent=2) + "\n"


class Meter:
    """Measures a policy and an environment at play.

    Attributes:
        policy: plays as the given one, and is measured.
        env: the same of the environment.
    """

    def __init__(
        self, policy: Policy, make_env: Callable[[], TextVectorEnv], on_turns: Callable[[int], None] | None = None
    ) -> None:
        """Begin to measure.

        Args:
            policy: who plays.
            make_env: makes the environment to play in.
            on_turns: called with a number each time so many more turns have been played.
        """
        self._started = time.perf_counter()
        self.policy = _MeteredPolicy(policy)
        self.env = _MeteredEnv(make_env, on_turns)
        self._usage = getattr(policy, "usage", None)
        # A policy may have counted tokens before.
        self._last = Run(**self._tokens())

    def lap(self) -> Run:
        """What it took since the last lap."""
        total, last = self._total(), self._last
        self._last = total
        return Run(**{field.name: getattr(total, field.name) - getattr(last, field.name) for field in fields(Run)})

    def _total(self) -> Run:
        return Run(
            turns=self.env.turns,
            seconds=time.perf_counter() - self._started,
            policy_seconds=self.policy.seconds,
            simulator_seconds=self.env.seconds,
            **self._tokens(),
        )

    def _tokens(self) -> dict[str, int]:
        return {name: getattr(self._usage, name, 0) for name in _COUNTS}


_COUNTS = ("requests", "cached", "prompt_tokens", "completion_tokens")


class _MeteredPolicy:
    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.seconds = 0.0
        self._policy = policy

    def reset(self, seeds: Sequence[int]) -> None:
        started = time.perf_counter()
        self._policy.reset(seeds)
        self.seconds += time.perf_counter() - started

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        started = time.perf_counter()
        replies = self._policy.act(conversations)
        self.seconds += time.perf_counter() - started
        return replies


class _MeteredEnv(TextVectorEnv):
    def __init__(self, make_env: Callable[[], TextVectorEnv], on_turns: Callable[[int], None] | None) -> None:
        started = time.perf_counter()
        self._env = make_env()
        self.seconds = time.perf_counter() - started
        self.env_id, self.num_envs = self._env.env_id, self._env.num_envs
        self.turns = 0
        self._on_turns = on_turns
        self._playing = 0

    def reset(self, seeds: Sequence[int] | NDArray[Any]) -> tuple[Texts, Infos]:
        started = time.perf_counter()
        begun = self._env.reset(seeds)
        self.seconds += time.perf_counter() - started
        self._playing = len(seeds)
        return begun

    def step(self, actions: Sequence[str] | NDArray[Any]) -> VectorStep:
        started = time.perf_counter()
        step = self._env.step(actions)
        self.seconds += time.perf_counter() - started
        played = self._playing
        self.turns += played
        # The rows without an episode count as finished from the start.
        self._playing = self.num_envs - int((step[2] | step[3]).sum())
        if self._on_turns:
            self._on_turns(played)
        return step

    def episode_info(self, row: int) -> dict[str, Any]:
        return self._env.episode_info(row)

    def close(self) -> None:
        self._env.close()


def _machine() -> dict[str, Any]:
    """The machine, without a name that would tell whose it is."""
    torch = sys.modules.get("torch")
    found = {"system": platform.system(), "processor": platform.machine(), "cores": os.cpu_count()}
    if torch is not None and torch.cuda.is_available():
        found["accelerator"] = torch.cuda.get_device_name()
    return found
