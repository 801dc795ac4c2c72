"""Games on arrays: tasks whose states, actions and observations are numbers with a table of texts.

Such a task writes its rules once, as a pure transition on arrays. The single environment, the batched environment, the
mass generation of data, the replay and the scripted policies all run on that one transition.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from gymnasium.spaces import Text
from numpy.typing import NDArray

from lmrl_data.env import TextEnv
from lmrl_data.seeding import U64, below, mix, mix_array
from lmrl_data.text import normalise

Ints = NDArray[np.int32]
States = NDArray[np.int32] | NDArray[np.int64]
Bools = NDArray[np.bool_]
Texts = NDArray[np.object_]


class Transition(NamedTuple):
    """The outcome of one action in each of N episodes; arrays of length N."""

    state: States
    observation: Ints
    reward: NDArray[np.float32]
    terminated: Bools
    success: Bools


class Game(Protocol):
    """The rules and texts of an array game. Implementations are immutable, so they are shared freely.

    An action is an index into `action_texts`; a negative one is a text that means none, of a kind that the game knows.
    An observation is an index into `observation_texts`. A state is one integer, for the game alone to read. A start is
    a number in `starts`.
    """

    max_turns: int
    limit_is_terminal: bool
    partner: str
    """Who answers the agent, where anybody does (see `TextEnv.partner`); empty where nobody does."""
    action_texts: Texts
    observation_texts: "Texts | LazyTexts"
    invalid_reasons: tuple[str, ...]
    action_index: dict[str, int]
    starts: States
    """The states an episode can start in, each as likely as the others."""
    start_stream: int
    """The stream of the seed that the start state is drawn from."""
    first_observation: Ints
    """The observation that opens an episode, by start."""
    secret_texts: Texts | None
    """What an episode hides, by start; None where the task hides nothing."""

    def step(self, state: States, action: Ints) -> Transition:
        """Play one action in each episode; arrays of length N."""
        ...

    def step_one(self, state: int, action: int) -> tuple[int, int, float, bool, bool]:
        """`step` for one episode, in plain numbers: state, observation, reward, terminated, success."""
        ...

    def invalid(self, observation: Any) -> Any:
        """0 for the reply to a usable action, else 1 + its number in `invalid_reasons`; for one observation or many."""
        ...

    def interpret(self, action: str) -> int:
        """The action that a normalised text means which is not in `action_index`: negative where it means none."""
        ...

    def observation_of(self, text: str) -> int | None:
        """The observation that a text stands for; None for a text of no observation."""
        ...

    def start_options(self, start: int) -> dict[str, Any]:
        """What ``reset(options=…)`` takes to start there."""
        ...

    def episode_info(self, start: int) -> dict[str, Any]:
        """The ``info`` struct of an episode that started there."""
        ...


GameT = TypeVar("GameT", bound=Game)


class LazyTexts:
    """A large table of texts, each made when it is first asked for; indexed like an array of texts."""

    def __init__(self, size: int, make: Callable[[int], str]) -> None:
        self._texts: Texts = np.full(size, None, object)
        self._made = np.zeros(size, np.bool_)
        self._make = make

    def __len__(self) -> int:
        return len(self._texts)

    def __iter__(self) -> Iterator[str]:
        return map(self._make, range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, int):
            if not self._made[index]:
                self._texts[index] = self._make(index)
                self._made[index] = True
            return self._texts[index]
        if not np.all(self._made[index]):
            for number in np.unique(index).tolist():
                if not self._made[number]:
                    self._texts[number] = self._make(number)
                    self._made[number] = True
        return self._texts[index]


def starts_of(game: Game, seeds: NDArray[Any]) -> Ints:
    """The start of each seed, as a number in ``game.starts``."""
    return below(mix_array(seeds, game.start_stream), len(game.starts)).astype(np.int32)


def start_states(game: Game, seeds: NDArray[Any]) -> States:
    """The state that each seed starts in."""
    return game.starts[starts_of(game, seeds)]


def action_of(game: Game, text: str) -> int:
    """The action that a text means: an index, or a negative number for a text that is unusable."""
    index = game.action_index.get(text)
    if index is None:
        if not isinstance(text, str):
            raise TypeError(f"an action is a str, not {type(text).__name__}")
        text = normalise(text)
        index = game.action_index.get(text)
        if index is None:
            return game.interpret(text)
    return index


def text_space(texts: Iterable[str], *, longer: int = 0) -> Text:
    """The smallest gymnasium Text space that holds all the texts, and `longer` more characters."""
    texts = list(texts)
    return Text(max_length=max(map(len, texts)) + longer, charset="".join(sorted(set().union(*texts))))


class GameEnv(TextEnv, Generic[GameT]):
    """The single environment of an array game: text in, text out, one episode at a time."""

    def __init__(self, game: GameT, env_id: str) -> None:
        super().__init__(env_id)
        if isinstance(game.observation_texts, np.ndarray):
            self.observation_space = text_space(game.observation_texts)
        self.action_space = text_space(game.action_texts)
        self._use(game)

    def _use(self, game: GameT) -> None:
        self.game = game
        self.max_turns = game.max_turns
        self.limit_is_terminal = game.limit_is_terminal
        texts = game.observation_texts
        self._texts = texts.tolist() if isinstance(texts, np.ndarray) else texts
        self._first: list[int] = game.first_observation.tolist()
        self._starts: list[int] = game.starts.tolist()

    def _draw(self, seed: int) -> int:
        """The start of a seed."""
        # `starts_of` in plain numbers, which is twenty times faster for a single seed.
        return (mix(seed, self.game.start_stream) >> 32) * len(self._starts) >> 32

    def _begin(self, start: int) -> str:
        """Start an episode."""
        self._start_number = start
        self._state = self._starts[start]
        return str(self._texts[self._first[start]])

    def _play(self, action: str) -> tuple[str, float, bool, bool, dict[str, Any]]:
        index = action_of(self.game, action)
        self._state, observation, reward, terminated, success = self.game.step_one(self._state, index)
        reason = self.game.invalid(observation)
        info: dict[str, Any] = {"invalid_action": self.game.invalid_reasons[reason - 1]} if reason else {}
        return str(self._texts[observation]), reward, terminated, success, info

    @property
    def partner(self) -> str:
        """Who answers the agent, where anybody does."""
        return self.game.partner

    def episode_info(self) -> dict[str, Any]:
        """The ``info`` struct of the episode's record."""
        return self.game.episode_info(self._start_number)

    def _final_info(self) -> dict[str, Any]:
        secrets = self.game.secret_texts
        return {} if secrets is None else {"secret": secrets[self._start_number]}


class ArrayPolicy(Protocol):
    """A scripted policy of an array game: a pure function of seeds and histories, however they are batched."""

    name: str

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """The next action of each episode.

        Args:
            seeds: episode seeds, shape (N,).
            actions: actions so far, shape (N, t); negative ones were unusable.
            observations: observations so far, shape (N, t + 1).

        Returns:
            Action indices, shape (N,).
        """
        ...


class GameEpisodes(NamedTuple):
    """N finished episodes of an array game. T is the game's max_turns; cells past an episode's length are undefined."""

    seeds: NDArray[np.int64]
    """Shape (N,)."""
    start: Ints
    """Numbers in the game's `starts`, shape (N,)."""
    length: Ints
    """Agent turns, shape (N,)."""
    actions: Ints
    """Shape (N, T)."""
    observations: Ints
    """Shape (N, T + 1)."""
    rewards: NDArray[np.float32]
    """Shape (N, T)."""
    terminated: Bools
    truncated: Bools
    success: Bools


def rollout_game(game: Game, policy: ArrayPolicy, seeds: NDArray[np.int64]) -> GameEpisodes:
    """Play an episode per seed on arrays: the same episodes as `lmrl_data.rollout` gives, some hundred times faster."""
    count, turns = len(seeds), game.max_turns
    start = starts_of(game, seeds)
    state = game.starts[start]
    actions = np.zeros((count, turns), np.int32)
    observations = np.zeros((count, turns + 1), np.int32)
    rewards = np.zeros((count, turns), np.float32)
    length = np.full(count, turns, np.int32)
    terminated, success = np.zeros(count, np.bool_), np.zeros(count, np.bool_)
    observations[:, 0] = game.first_observation[start]
    hashes = seeds.astype(np.uint64)
    rows = np.arange(count)
    for turn in range(turns):
        chosen = policy.act(hashes[rows], actions[rows, :turn], observations[rows, : turn + 1])
        played = game.step(state[rows], chosen)
        state[rows] = played.state
        actions[rows, turn] = chosen
        observations[rows, turn + 1] = played.observation
        rewards[rows, turn] = played.reward
        success[rows] = played.success
        ended = rows[played.terminated]
        terminated[ended] = True
        length[ended] = turn + 1
        rows = rows[~played.terminated]
        if not len(rows):
            break
    if game.limit_is_terminal:
        terminated[rows] = True
    return GameEpisodes(seeds, start, length, actions, observations, rewards, terminated, ~terminated, success)
