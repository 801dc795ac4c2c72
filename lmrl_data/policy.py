"""What plays: the policy protocol, scripted policies of array games in text, and a person at a terminal."""

from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from lmrl_data.errors import LmrlError
from lmrl_data.game import ArrayPolicy, Game, action_of
from lmrl_data.text import Message


class Policy(Protocol):
    """Anything that plays: scripted, human, language model, value-guided model, remote model.

    `act` is batched. Row i of a call belongs to ``seeds[i]`` of the last `reset`. From call to call a conversation only
    grows; that of an episode that has ended is empty, and the reply to it is not looked at.
    """

    name: str

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed: everything random that the policy does follows from its seed."""
        ...

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """The next action of each conversation, whose last message is the environment's."""
        ...


class GamePolicy:
    """A scripted policy of an array game, playing in text. `rollout_game` uses its `array_policy` without texts."""

    def __init__(self, game: Game, array_policy: ArrayPolicy) -> None:
        self.game = game
        self.array_policy = array_policy
        self.name = array_policy.name
        self.reset([])

    def reset(self, seeds: Sequence[int]) -> None:
        """Begin an episode per seed."""
        count, turns = len(seeds), self.game.max_turns
        self._seeds = np.asarray(seeds, np.int64).astype(np.uint64)
        self._actions = np.zeros((count, turns), np.int32)
        self._observations = np.zeros((count, turns + 1), np.int32)
        self._known = [0] * count

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Read what is new in each conversation into numbers, and play the array policy's action."""
        if len(conversations) != len(self._known):
            raise ValueError(f"{len(conversations)} conversations after reset with {len(self._known)} seeds")
        replies = [""] * len(conversations)
        rows_by_turn: dict[int, list[int]] = defaultdict(list)
        for row, conversation in enumerate(conversations):
            if conversation:
                self._read(row, conversation)
                rows_by_turn[len(conversation) // 2].append(row)
        for turn, rows in rows_by_turn.items():
            chosen = self.array_policy.act(
                self._seeds[rows], self._actions[rows, :turn], self._observations[rows, : turn + 1]
            )
            for row, text in zip(rows, self.game.action_texts[chosen].tolist(), strict=True):
                replies[row] = text
        return replies

    def _read(self, row: int, conversation: list[Message]) -> None:
        """Take in the messages that the row's conversation has gained since the last call."""
        for place in range(self._known[row], len(conversation)):
            text = conversation[place]["content"]
            if place % 2:
                self._actions[row, place // 2] = action_of(self.game, text)
            else:
                self._observations[row, place // 2] = self._observation(text)
        self._known[row] = len(conversation)

    def _observation(self, observation: str) -> int:
        index = self.game.observation_of(observation)
        if index is None:
            raise LmrlError(
                f"policy {self.name!r} cannot read the observation {observation[:80]!r}; "
                "make the policy for the task, config and options of the environment"
            )
        return index


class HumanPolicy:
    """A person: shows the environment's last message and asks for a line."""

    name = "human"

    def __init__(self, show: Callable[[str], None], ask: Callable[[], str]) -> None:
        self.show = show
        self.ask = ask

    def reset(self, seeds: Sequence[int]) -> None:
        """Nothing to prepare: people bring their own randomness."""

    def act(self, conversations: Sequence[list[Message]]) -> list[str]:
        """Ask once per conversation that goes on."""
        replies = []
        for conversation in conversations:
            if conversation:
                self.show(conversation[-1]["content"])
            replies.append(self.ask() if conversation else "")
        return replies
