"""What is to be generated: a plan is a task's config and split, a size, a seed and behaviour policies."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lmrl_data.errors import LmrlError
from lmrl_data.registry import env_id_of, get_task, make
from lmrl_data.seeding import check_seed, episode_seeds, mix_array, stream_of, uniform

# The texts of a shard must fit into an Arrow column of 2 GiB.
MAX_SHARD_SIZE = 200_000
SPLITS = ("train", "validation")


@dataclass(frozen=True)
class Plan:
    """Episodes of one split. They are numbered, and each is a pure function of the plan's seed and its number.

    Attributes:
        task: name of the task.
        config: of the task.
        split: ``"train"`` or ``"validation"``.
        episodes: how many; a smaller plan is the beginning of a larger one.
        shard_size: episodes in a file.
        seed: of the plan.
        policies: (spec, share) of the behaviour policies; shares add up to 1.
        options: (name, value) of the environment's arguments that differ from the config's.
    """

    task: str
    config: str
    split: str
    episodes: int
    shard_size: int
    seed: int
    policies: tuple[tuple[str, float], ...]
    options: tuple[tuple[str, Any], ...] = ()

    @property
    def env_id(self) -> str:
        """The environment that the episodes are played in."""
        return env_id_of(get_task(self.task).configs[self.config], dict(self.options))

    @property
    def shard_count(self) -> int:
        """The number of the plan's files."""
        return -(-self.episodes // self.shard_size)

    @property
    def shards(self) -> list["Shard"]:
        """The plan's files in order."""
        return [Shard(self, index) for index in range(self.shard_count)]


@dataclass(frozen=True)
class Shard:
    """One file of a plan."""

    plan: Plan
    index: int

    @property
    def start(self) -> int:
        """The number of its first episode."""
        return self.index * self.plan.shard_size

    @property
    def stop(self) -> int:
        """One more than the number of its last episode."""
        return min(self.start + self.plan.shard_size, self.plan.episodes)

    @property
    def file(self) -> str:
        """Its path in the dataset folder."""
        total = self.plan.shard_count
        return f"data/{self.plan.config}/{self.plan.split}-{self.index:05d}-of-{total:05d}.parquet"

    @property
    def episode_ids(self) -> list[str]:
        """The ids of its episodes."""
        prefix = f"{self.plan.task}-{self.plan.config}-{self.plan.split}"
        return [f"{prefix}-{number:08d}" for number in range(self.start, self.stop)]

    @property
    def seeds(self) -> NDArray[np.int64]:
        """The seeds of its episodes."""
        stream = f"{self.plan.task}/{self.plan.config}/{self.plan.split}"
        return episode_seeds(self.plan.seed, stream, self.start, self.stop)

    @property
    def policy_index(self) -> NDArray[np.int64]:
        """The number of the behaviour policy that plays each episode: drawn from the episode's seed by the shares."""
        edges = np.cumsum([share for _, share in self.plan.policies])[:-1]
        return np.searchsorted(edges, uniform(mix_array(self.seeds, stream_of("policy"))), side="right")


def make_plans(
    task: str,
    *,
    config: str | None = None,
    size: str = "small",
    episodes: int | None = None,
    validation: int | None = None,
    shard_size: int | None = None,
    seed: int = 0,
    policies: dict[str, float] | None = None,
    options: Mapping[str, Any] | None = None,
) -> list[Plan]:
    """The plans of a dataset: the train and validation splits of one config, or of all.

    Args:
        task: name of the task.
        config: of the task; None for all of them.
        size: a named size of the task's data.
        episodes: of the train split, instead of the size's.
        validation: episodes of the validation split, instead of the size's.
        shard_size: episodes in a file; None is the task's.
        seed: of the plan; 0 is the published data.
        policies: shares of behaviour policies by spec, instead of the config's; they are scaled to add up to 1.
        options: arguments of the environment that differ from the config's, such as another partner.

    Raises:
        LmrlError: a value that cannot be.
    """
    check_seed(seed)
    found = get_task(task)
    shard_size = found.shard_size if shard_size is None else shard_size
    if not 1 <= shard_size <= MAX_SHARD_SIZE:
        raise LmrlError(f"the shard size is {shard_size}; give a number from 1 to {MAX_SHARD_SIZE:,}")
    names = list(found.configs) if config is None else [found.config(config)[0]]
    plans = []
    for name in names:
        chosen = found.configs[name]
        if size not in chosen.sizes:
            raise LmrlError(f"unknown size {size!r}; task {task} has: {', '.join(chosen.sizes)}")
        shares = dict(chosen.collection) if policies is None else policies
        total = sum(shares.values())
        if not shares or min(shares.values()) < 0 or not 0 < total < float("inf"):
            raise LmrlError("the shares of the behaviour policies must be positive numbers, such as mixture=1")
        counts = (episodes, validation)
        for split, default, count in zip(SPLITS, chosen.sizes[size], counts, strict=True):
            number = default if count is None else count
            if number < 0 or (split == "train" and number < 1):
                raise LmrlError(f"{number} episodes in split {split}; give a positive number")
            if number:
                mixture = tuple((spec, share / total) for spec, share in shares.items())
                plans.append(Plan(task, name, split, number, shard_size, seed, mixture, tuple((options or {}).items())))
    return plans


def describe(plan: Plan) -> dict[str, Any]:
    """What the manifest records of a plan's config: everything that its bytes depend on."""
    described = {
        "env_id": plan.env_id,
        "seed": plan.seed,
        "shard_size": plan.shard_size,
        "policies": dict(plan.policies),
    }
    if get_task(plan.task).partner is not None:
        env = make(plan.task, config=plan.config, **dict(plan.options))
        described["partner"] = env.partner
        env.close()
    return described
