"""The figures of a split: what `lmrl_cards.statistics` counts and the page and its pictures show."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from lmrl_cards.distribution import Distribution
from lmrl_data.episode import Episode


@dataclass(frozen=True)
class GroupStatistics:
    """Figures of a set of episodes.

    Attributes:
        length: agent turns per episode.
        returns: undiscounted return per episode.
        successes: episodes that solved the task.
        terminated: episodes that the game ended.
        truncated: episodes that a time limit ended.
    """

    length: Distribution
    returns: Distribution
    successes: int
    terminated: int
    truncated: int

    @classmethod
    def merged(cls, parts: Iterable["GroupStatistics"]) -> "GroupStatistics":
        """The figures of all parts together."""
        parts = list(parts)
        return cls(
            length=Distribution.merged(part.length for part in parts),
            returns=Distribution.merged(part.returns for part in parts),
            successes=sum(part.successes for part in parts),
            terminated=sum(part.terminated for part in parts),
            truncated=sum(part.truncated for part in parts),
        )

    @property
    def episodes(self) -> int:
        """How many episodes there are."""
        return self.returns.count

    @property
    def turns(self) -> int:
        """Agent turns in all."""
        return int(self.length.values @ self.length.counts)

    @property
    def success_rate(self) -> float:
        """Share of episodes that solved the task, from 0 to 1."""
        return self._share(self.successes)

    @property
    def terminated_rate(self) -> float:
        """Share of episodes that the game ended, from 0 to 1."""
        return self._share(self.terminated)

    @property
    def truncated_rate(self) -> float:
        """Share of episodes that a time limit ended, from 0 to 1."""
        return self._share(self.truncated)

    def _share(self, part: int) -> float:
        return part / self.episodes if self.episodes else math.nan


@dataclass(frozen=True)
class SplitStatistics:
    """Figures of a split.

    Attributes:
        overall: of all episodes.
        policies: of the episodes of each behaviour policy, by name in alphabetical order.
        agent_characters: Unicode characters per message of the agent.
        environment_characters: Unicode characters per message of the environment.
        seeds: how many different seeds there are.
        starts: a key for each different start (see `lmrl_cards.statistics.start_keys`); empty where a task's episodes
            do not record it.
        unusable_actions: agent turns that the environment could not use, as its replies tell; None for tasks whose
            replies are not numbered.
        env_ids: the environments that the episodes name, in alphabetical order.
        partners: who answered in the episodes, in alphabetical order; empty for tasks in which nobody does.
        rewards: of all agent turns.
        agent_texts: how many different messages of the agent there are.
        unseen: share of the probe's observations that no episode has; None without a probe.
        example: an episode to show (see `lmrl_cards.example`).
        num_bytes: size of the columns in memory (Arrow), as ``dataset_info`` counts it.
    """

    overall: GroupStatistics
    policies: dict[str, GroupStatistics]
    agent_characters: Distribution
    environment_characters: Distribution
    seeds: int
    starts: frozenset[str]
    unusable_actions: int | None
    env_ids: tuple[str, ...]
    partners: tuple[str, ...]
    rewards: Distribution
    agent_texts: int
    unseen: float | None
    example: Episode | None
    num_bytes: int

    @property
    def ranked(self) -> dict[str, GroupStatistics]:
        """The behaviour policies, that of the highest mean return first."""
        return dict(sorted(self.policies.items(), key=lambda item: -item[1].returns.mean))
