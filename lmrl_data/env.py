"""The base class of the eight environments: seeding, turns, the end of an episode, and the final information."""

from collections.abc import Sequence
from typing import Any, ClassVar

import gymnasium
import numpy as np

from lmrl_data.errors import LmrlError
from lmrl_data.seeding import check_seed


class TextEnv(gymnasium.Env[str, str]):
    """A text game for one agent. A task implements `_start` and `_play`; this class does what all tasks share.

    The seed alone fixes the episode. ``reset()`` without a seed draws one from the environment's own generator, so that
    an episode always has a seed, reported as ``info["seed"]``, and can be played again.

    Attributes:
        env_id: the registered id with version, such as ``"lmrl/Wordle-v0"``.
        max_turns: agent turns in an episode; the last one is still executed and scored.
        limit_is_terminal: whether the last turn is the game's own end (six tries of Wordle: ``terminated``) or a time
            limit put on top of it (``truncated``).
        case_matters: whether actions that differ in case only are different actions.
        start_options: the keys that ``reset(options=…)`` takes.
        reproducible: whether the partner answers the same words in the same way again.
        concurrency: how many environments of this kind can usefully step at once, each in a thread: more than one
            where a step waits for another process.
    """

    metadata: dict[str, Any] = {"render_modes": []}  # noqa: RUF012 - gymnasium's own declaration
    max_turns: int
    limit_is_terminal: bool = False
    case_matters: bool = False
    start_options: ClassVar[tuple[str, ...]] = ()
    reproducible: bool = True
    concurrency: int = 1

    def __init__(self, env_id: str) -> None:
        self.env_id = env_id
        self._turn = 0
        self._return = 0.0
        self._playing = False
        self._ended = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: non-negative; the same seed gives the same episode. None draws one.
            options: start values that replace the seed's, by the names in `start_options`.

        Returns:
            The first observation, and ``{"seed": …}``.

        Raises:
            LmrlError: an option that is unknown or cannot be; the message lists what can.
        """
        options = options or {}
        for key in options:
            if key not in self.start_options:
                known = ", ".join(self.start_options)
                raise LmrlError(f"unknown start option {key!r} of {self.env_id}; it takes: {known}")
        seed = int(self.np_random.integers(2**63 - 1)) if seed is None else check_seed(seed)
        # From here on the old episode is gone, also where the new one cannot be started.
        self._playing = self._ended = False
        super().reset(seed=seed)
        observation = self._start(seed, options)
        self._turn = 0
        self._return = 0.0
        self._playing = True
        return observation, {"seed": seed}

    def step(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Play one turn.

        Args:
            action: any text. One that cannot be used costs what the task says, and ``info["invalid_action"]`` says why.

        Returns:
            Observation, reward, terminated, truncated, info. At the end of the episode info also has ``success``
            (bool), ``return`` (undiscounted sum) and, where the task hides something, ``secret``.

        Raises:
            gymnasium.error.ResetNeeded: before the first reset and after the end of an episode.
            TypeError: the action is no string.
        """
        if not self._playing:
            why = "the episode has ended" if self._ended else "no episode has been started"
            raise gymnasium.error.ResetNeeded(f"{why}; call reset() before step()")
        if not isinstance(action, str):
            raise TypeError(f"an action is a str, not {type(action).__name__}")
        observation, reward, terminated, success, info = self._play(action)
        self._turn += 1
        if not float(reward).is_integer():
            reward = float(np.float32(reward))  # what a record can hold; the return is the sum of these
        self._return += reward
        truncated = False
        if self._turn >= self.max_turns and not terminated:
            terminated = self.limit_is_terminal
            truncated = not terminated
        if terminated or truncated:
            self._playing, self._ended = False, True
            info["success"] = success
            info["return"] = self._return
            info |= self._final_info()
        return observation, reward, terminated, truncated, info

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record, typed as the task's schema says; complete once it has ended."""
        raise NotImplementedError

    @property
    def partner(self) -> str:
        """Who answers the agent, where anybody does: an engine's build, an oracle, a model.

        A record names it, and is replayed with the partner's recorded part where the partner that is here is another,
        or is not `reproducible`.
        """
        return ""

    def follow(self, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started, take the partner's part from a record instead of from the partner.

        Args:
            replies: the environment's recorded texts, after the first.
            info: the record's ``info``.
        """
        raise NotImplementedError

    def _start(self, seed: int, options: dict[str, Any]) -> str:
        """Set the start state and return the first observation."""
        raise NotImplementedError

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Execute one action; returns observation, reward, terminated, success, info."""
        raise NotImplementedError

    def _final_info(self) -> dict[str, Any]:
        """What is added to info at the end of the episode, such as ``{"secret": …}``."""
        return {}
