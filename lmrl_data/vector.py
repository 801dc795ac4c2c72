"""Batched environments: N episodes side by side, finished ones frozen until the next reset."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from typing import Any, Self

import gymnasium
import numpy as np
from numpy.typing import NDArray

from lmrl_data.env import TextEnv
from lmrl_data.game import Game, Texts, action_of, starts_of

Infos = dict[str, NDArray[Any]]
VectorStep = tuple[Texts, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], Infos]

_UNKNOWN = np.iinfo(np.int32).min


class TextVectorEnv(ABC):
    """N episodes of one task. Row i gives the texts, rewards and flags of a single environment reset with seed i.

    Infos are arrays of length N: ``invalid_action`` (str or None, of this step), and, meaningful where an episode has
    ended, ``success`` (bool), ``return`` (float64) and, where the task hides something, ``secret`` (object).
    """

    num_envs: int
    env_id: str

    @abstractmethod
    def reset(self, seeds: Sequence[int] | NDArray[Any]) -> tuple[Texts, Infos]:
        """Start an episode per seed; with fewer seeds than rows, the other rows count as finished.

        Returns:
            First observations, shape (N,), and ``{"seed": …}``.
        """

    @abstractmethod
    def step(self, actions: Sequence[str] | NDArray[Any]) -> VectorStep:
        """Play one turn in every row that is not finished; the actions of finished rows are not looked at.

        Returns:
            Observations (str), rewards (float32), terminated, truncated (bool), infos; arrays of shape (N,). A finished
            row keeps its last observation and flags, with reward 0.
        """

    @abstractmethod
    def episode_info(self, row: int) -> dict[str, Any]:
        """The ``info`` struct of the finished episode in a row."""

    @property
    def partner(self) -> str:
        """Who answers the agent, where anybody does (see `TextEnv.partner`)."""
        return ""

    @property
    def reproducible(self) -> bool:
        """Whether the partner answers the same again (see `TextEnv`)."""
        return True

    def follow(self, row: int, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started in a row, take the partner's part from a record (see `TextEnv.follow`)."""
        raise NotImplementedError

    def close(self) -> None:  # noqa: B027 - only tasks with engines or servers have anything to close
        """Release what the environment holds; leaving a ``with`` block does it too."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _checked(self, seeds: Sequence[int] | NDArray[Any]) -> NDArray[np.int64]:
        if len(seeds) > self.num_envs:
            raise ValueError(f"{len(seeds)} seeds for {self.num_envs} rows; give make_vec more num_envs")
        given = np.asarray(seeds)
        if given.size and (given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= 2**63):
            raise ValueError("seeds are integers from 0 to 2^63 - 1")
        return given.astype(np.int64)

    def _check_actions(self, actions: Sequence[str] | NDArray[Any]) -> None:
        if len(actions) != self.num_envs:
            raise ValueError(f"{len(actions)} actions for {self.num_envs} rows; give one per row")


class GameVectorEnv(TextVectorEnv):
    """The batched environment of an array game. `step` also takes an integer array of action indices."""

    def __init__(self, game: Game, env_id: str, num_envs: int) -> None:
        self.game = game
        self.env_id = env_id
        self.num_envs = num_envs
        self._reasons: Texts = np.array([None, *game.invalid_reasons], object)
        self._turn = 0
        self.reset([])

    def reset(self, seeds: Sequence[int] | NDArray[Any]) -> tuple[Texts, Infos]:
        """Start an episode per seed."""
        seeds = self._checked(seeds)
        count, total = len(seeds), self.num_envs
        self._start = np.zeros(total, np.int32)
        self._start[:count] = starts_of(self.game, seeds)
        self._state = self.game.starts[self._start]
        self._observation = self.game.first_observation[self._start]
        self._active = np.arange(total) < count
        self._started = self._active.copy()
        self._terminated = ~self._active
        self._truncated = np.zeros(total, np.bool_)
        self._success = np.zeros(total, np.bool_)
        self._return = np.zeros(total, np.float64)
        self._turn = 0
        return self._shown(), {"seed": seeds}

    def step(self, actions: Sequence[str] | NDArray[Any]) -> VectorStep:
        """Play one turn in every row that is not finished."""
        self._check_actions(actions)
        indices = self._indices(actions)
        rewards = np.zeros(self.num_envs, np.float32)
        self._turn += 1
        # A slice where every row plays: plain views instead of gathers and scatters.
        rows = slice(None) if self._active.all() else np.flatnonzero(self._active)
        played = self.game.step(self._state[rows], indices[rows])
        self._state[rows] = played.state
        self._observation[rows] = played.observation
        rewards[rows] = played.reward
        self._return[rows] += played.reward
        self._success[rows] = played.success
        self._terminated[rows] = played.terminated
        self._active[rows] = ~played.terminated
        if self._turn >= self.game.max_turns:
            limit = self._terminated if self.game.limit_is_terminal else self._truncated
            limit |= self._active
            self._active[:] = False
        infos: Infos = {"success": self._success.copy(), "return": self._return.copy()}
        reasons = np.full(self.num_envs, None, object)
        reasons[rows] = self._reasons[self.game.invalid(played.observation)]
        infos["invalid_action"] = reasons
        if self.game.secret_texts is not None:
            ended = self._started & ~self._active
            infos["secret"] = np.full(self.num_envs, None, object)
            infos["secret"][ended] = self.game.secret_texts[self._start[ended]]
        return self._shown(), rewards, self._terminated.copy(), self._truncated.copy(), infos

    def _shown(self) -> Texts:
        texts: Texts = self.game.observation_texts[self._observation]
        texts[~self._started] = ""
        return texts

    def episode_info(self, row: int) -> dict[str, Any]:
        """The ``info`` struct of the finished episode in a row."""
        return self.game.episode_info(int(self._start[row]))

    @property
    def partner(self) -> str:
        """Who answers the agent, where anybody does."""
        return self.game.partner

    def _indices(self, actions: Sequence[str] | NDArray[Any]) -> NDArray[np.int32]:
        if isinstance(actions, np.ndarray) and actions.dtype.kind in "iu":
            known = (actions >= -len(self.game.invalid_reasons)) & (actions < len(self.game.action_texts))
            if not (known | ~self._active).all():
                raise ValueError(f"an action index is below {len(self.game.action_texts)}")
            return np.where(known, actions, 0).astype(np.int32)
        found = map(self.game.action_index.get, actions, repeat(_UNKNOWN))
        indices = np.fromiter(found, np.int32, len(actions))
        for row in np.flatnonzero((indices == _UNKNOWN) & self._active).tolist():
            indices[row] = action_of(self.game, actions[row])
        return indices


class SyncVectorEnv(TextVectorEnv):
    """The batched environment of any task: single environments, stepped one after another.

    Environments that wait for another process in a step are stepped in threads, as many as are of use.
    """

    def __init__(self, make_env: Callable[[], TextEnv], num_envs: int) -> None:
        self.envs: list[TextEnv] = []
        self._threads: ThreadPoolExecutor | None = None
        try:
            for _ in range(num_envs):
                self.envs.append(make_env())
        except BaseException:
            self.close()
            raise
        self.env_id = self.envs[0].env_id
        self.num_envs = num_envs
        if min(self.envs[0].concurrency, num_envs) > 1:
            self._threads = ThreadPoolExecutor(min(self.envs[0].concurrency, num_envs), "lmrl-env")
        self.reset([])

    def reset(self, seeds: Sequence[int] | NDArray[Any]) -> tuple[Texts, Infos]:
        """Start an episode per seed."""
        seeds = self._checked(seeds)
        self._failed = False
        self._observation: Texts = np.full(self.num_envs, "", object)
        for row, seed in enumerate(seeds.tolist()):
            self._observation[row], _ = self.envs[row].reset(seed=seed)
        self._terminated = np.arange(self.num_envs) >= len(seeds)
        self._truncated = np.zeros(self.num_envs, np.bool_)
        self._final: Infos = {"success": np.zeros(self.num_envs, np.bool_), "return": np.zeros(self.num_envs)}
        return self._observation.copy(), {"seed": seeds}

    def step(self, actions: Sequence[str] | NDArray[Any]) -> VectorStep:
        """Play one turn in every row that is not finished.

        Raises:
            gymnasium.error.ResetNeeded: an environment failed in the last step, in which others had moved on.
        """
        self._check_actions(actions)
        if self._failed:
            raise gymnasium.error.ResetNeeded("an environment failed in the last step; call reset() before step()")
        self._failed = True
        rewards = np.zeros(self.num_envs, np.float32)
        reasons = np.full(self.num_envs, None, object)
        rows, said = np.flatnonzero(~(self._terminated | self._truncated)).tolist(), list(actions)
        steps = self._threads.map if self._threads else map
        for row, step in zip(rows, steps(lambda row: self.envs[row].step(said[row]), rows), strict=True):
            self._observation[row], rewards[row], terminated, truncated, info = step
            self._terminated[row], self._truncated[row] = terminated, truncated
            reasons[row] = info.get("invalid_action")
            if terminated or truncated:
                for key in ("success", "return", "secret"):
                    if key in info:
                        self._final.setdefault(key, np.full(self.num_envs, None, object))[row] = info[key]
        self._failed = False
        infos = {key: values.copy() for key, values in self._final.items()} | {"invalid_action": reasons}
        return self._observation.copy(), rewards, self._terminated.copy(), self._truncated.copy(), infos

    def episode_info(self, row: int) -> dict[str, Any]:
        """The ``info`` struct of the finished episode in a row."""
        return self.envs[row].episode_info()

    @property
    def partner(self) -> str:
        """Who answers the agent, where anybody does (see `TextEnv.partner`)."""
        return self.envs[0].partner

    @property
    def reproducible(self) -> bool:
        """Whether the partner answers the same again (see `TextEnv`)."""
        return self.envs[0].reproducible

    def follow(self, row: int, replies: Sequence[str], info: dict[str, Any]) -> None:
        """In the episode just started in a row, take the partner's part from a record (see `TextEnv.follow`)."""
        self.envs[row].follow(replies, info)

    def close(self) -> None:
        """Close every single environment."""
        if self._threads:
            self._threads.shutdown()
        for env in self.envs:
            env.close()
