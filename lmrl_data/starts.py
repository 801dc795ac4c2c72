"""The fixed evaluation episodes: seeds under which every start state comes equally often."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from lmrl_data.episode import evaluation_schema
from lmrl_data.game import Game, starts_of
from lmrl_data.registry import get_task, make_game
from lmrl_data.seeding import episode_seeds


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
    game = make_game(task, config)
    stream = f"{task}/evaluation"
    if game is None:
        return episode_seeds(seed, stream, 0, episodes)
    return _balanced(game, stream, episodes, seed)


def _balanced(game: Game, stream: str, episodes: int, seed: int) -> NDArray[np.int64]:
    rounds = -(-episodes // len(game.starts))
    drawn = 2 * rounds * len(game.starts)
    while True:
        seeds = episode_seeds(seed, stream, 0, drawn)
        starts = starts_of(game, seeds)
        if np.bincount(starts, minlength=len(game.starts)).min() >= rounds:
            break
        drawn *= 2
    # The round of a seed: how often its start state has come before.
    order = np.argsort(starts, kind="stable")
    first = np.searchsorted(starts[order], starts[order], side="left")
    round_of = np.empty(drawn, np.int64)
    round_of[order] = np.arange(drawn) - first
    return seeds[np.argsort(round_of, kind="stable")[:episodes]]


def evaluation_table(task: str) -> pa.Table:
    """The published evaluation episodes of all configs of a task, one row each: what to reset the environment with."""
    found = get_task(task)
    rows: list[dict[str, Any]] = []
    for name, config in found.configs.items():
        seeds = evaluation_seeds(task, name, episodes=config.evaluation_episodes)
        game = make_game(task, name)
        starts = [None] * len(seeds) if game is None else starts_of(game, seeds).tolist()
        for number, (seed, start) in enumerate(zip(seeds.tolist(), starts, strict=True)):
            rows.append(
                {
                    "episode_id": f"{task}-{name}-test-{number:08d}",
                    "env_id": config.env_id,
                    "seed": seed,
                    "options": {} if game is None else game.start_options(start),
                }
            )
    return pa.Table.from_pylist(rows, evaluation_schema(found))
