"""The starts of a task, and the fixed evaluation episodes: seeds under which every start comes equally often."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lmrl_data.episode import evaluation_schema
from lmrl_data.registry import evaluation_env_id, get_task, locate, make_game
from lmrl_data.seeding import below, episode_seeds, mix, mix_array

# With more starts than this, evaluation seeds are drawn as they come: no set could hold each start equally often.
_FEW = 100_000


@dataclass(frozen=True)
class Starts:
    """The starts that evaluation episodes of a config can have, each as likely as the others.

    Attributes:
        count: how many there are.
        stream: the stream of the seed that a start is drawn from.
        options: what ``reset(options=…)`` takes to begin at the start of a number.
    """

    count: int
    stream: int
    options: Callable[[int], dict[str, Any]]

    @property
    def few(self) -> bool:
        """Whether a set of evaluation episodes can hold each start equally often, and more than one."""
        return 1 < self.count <= _FEW

    def of(self, seed: int) -> int:
        """The number of a seed's start."""
        return (mix(seed, self.stream) >> 32) * self.count >> 32

    def of_all(self, seeds: NDArray[Any]) -> NDArray[np.int64]:
        """The number of each seed's start."""
        return below(mix_array(seeds, self.stream), self.count)


def make_starts(task: str, config: str | None = None) -> Starts:
    """The starts of the evaluation episodes of a task's config."""
    found = get_task(task)
    name, chosen = found.config(config)
    if found.starts is not None:
        starts: Starts = locate(found.starts)(**{**chosen.kwargs, **chosen.evaluation})
        return starts
    game = make_game(task, name, **chosen.evaluation)
    if game is None:
        raise TypeError(f"task {task} has neither array rules nor starts")
    return Starts(len(game.starts), game.start_stream, game.start_options)


def evaluation_seeds(task: str, config: str | None = None, *, episodes: int, seed: int = 0) -> NDArray[np.int64]:
    """The seeds of the first evaluation episodes of a task.

    Where a task has few start states, the seeds come in rounds that hold each start state once, so any prefix is as
    balanced as can be: a score does not depend on which starts were drawn, and the seed alone still fixes an episode.

    Args:
        task: name of a task.
        config: of the task.
        episodes: how many.
        seed: 0 is the published set; others give other sets, for repeated evaluation.

    Returns:
        Different non-negative seeds, shape (episodes,).
    """
    starts = make_starts(task, config)
    stream = f"{task}/evaluation"
    if not starts.few:
        return episode_seeds(seed, stream, 0, episodes)
    return _balanced(starts, stream, episodes, seed)


def _balanced(starts: Starts, stream: str, episodes: int, seed: int) -> NDArray[np.int64]:
    rounds = -(-episodes // starts.count)
    drawn = 2 * rounds * starts.count
    while True:
        seeds = episode_seeds(seed, stream, 0, drawn)
        numbers = starts.of_all(seeds)
        if np.bincount(numbers, minlength=starts.count).min() >= rounds:
            break
        drawn *= 2
    # The round of a seed: how often its start has come before.
    order = np.argsort(numbers, kind="stable")
    first = np.searchsorted(numbers[order], numbers[order], side="left")
    round_of = np.empty(drawn, np.int64)
    round_of[order] = np.arange(drawn) - first
    return seeds[np.argsort(round_of, kind="stable")[:episodes]]


def evaluation_table(task: str) -> pa.Table:
    """The published evaluation episodes of all configs of a task, one row each: what to reset the environment with."""
    found = get_task(task)
    rows: list[dict[str, Any]] = []
    for name, config in found.configs.items():
        seeds = evaluation_seeds(task, name, episodes=config.evaluation_episodes)
        starts = make_starts(task, name)
        for number, (seed, start) in enumerate(zip(seeds.tolist(), starts.of_all(seeds).tolist(), strict=True)):
            rows.append(
                {
                    "episode_id": f"{task}-{name}-test-{number:08d}",
                    "env_id": evaluation_env_id(config),
                    "seed": seed,
                    "options": starts.options(start),
                }
            )
    return pa.Table.from_pylist(rows, evaluation_schema(found))
