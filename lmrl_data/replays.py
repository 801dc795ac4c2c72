"""Replay: play recorded actions again and compare every text, reward and flag."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from lmrl_data.episode import Episode, to_table
from lmrl_data.registry import find_env, make_vec
from lmrl_data.vector import TextVectorEnv

_BATCH = 4096


def replay(episodes: Sequence[Episode], env: TextVectorEnv | None = None) -> list[str | None]:
    """Replay episodes of one environment; see `replay_table`."""
    if not episodes:
        return []
    return replay_table(to_table(episodes, find_env(episodes[0].env_id)[0]), env)


def replay_table(table: pa.Table, env: TextVectorEnv | None = None) -> list[str | None]:
    """Play the actions of recorded episodes again.

    Args:
        table: episodes of one environment, in the schema of `lmrl_data.episode.episode_schema`.
        env: the environment to replay in; None makes the one that the rows name.

    Returns:
        For each episode None if it replays to the same texts, rewards, flags and info, else the first difference.

    Raises:
        LmrlError: rows of an environment that this version does not have.
    """
    if not len(table):
        return []
    if env is None:
        task, config, _ = find_env(table["env_id"][0].as_py())
        env = make_vec(task.name, min(_BATCH, len(table)), config=config)
    differences: list[str | None] = []
    for first in range(0, len(table), env.num_envs):
        differences += _replay_batch(table.slice(first, env.num_envs), env)
    return differences


def _replay_batch(table: pa.Table, env: TextVectorEnv) -> list[str | None]:
    count = len(table)
    lengths = pc.list_value_length(table["rewards"]).to_numpy()
    spoken = pc.list_value_length(table["messages"]).to_numpy()
    messages = table["messages"].combine_chunks()
    said = messages.flatten().field("content").to_numpy(zero_copy_only=False)
    paid = table["rewards"].combine_chunks().flatten().to_numpy()
    first_said = np.concatenate([[0], spoken.cumsum()[:-1]])
    first_paid = np.concatenate([[0], lengths.cumsum()[:-1]])
    differences: list[str | None] = [None] * count

    def note(rows: np.ndarray, message: str) -> None:
        for row in rows.tolist():
            differences[row] = differences[row] or message

    note(np.flatnonzero(spoken != 2 * lengths + 1), "messages and rewards do not belong together")
    note(np.flatnonzero(table["env_id"].to_numpy() != env.env_id), f"not an episode of {env.env_id}")
    seeds = table["seed"].to_numpy()
    note(np.flatnonzero(seeds < 0), "the seed is negative")
    observations, _ = env.reset(np.maximum(seeds, 0))
    playing = np.array([difference is None for difference in differences])
    shown = np.flatnonzero(playing)
    note(shown[observations[shown] != said[first_said[shown]]], "the first observation differs")
    ended = np.zeros(env.num_envs, np.bool_)
    infos = None
    for turn in range(int(lengths.max(initial=0))):
        rows = np.flatnonzero(playing & (lengths > turn))
        note(rows[ended[rows]], f"turn {turn + 1}: the episode has already ended")
        actions = np.full(env.num_envs, "", object)
        actions[rows] = said[first_said[rows] + 2 * turn + 1]
        observations, rewards, terminated, truncated, infos = env.step(actions)
        ended = terminated | truncated
        note(rows[observations[rows] != said[first_said[rows] + 2 * turn + 2]], f"turn {turn + 1}: observation differs")
        note(rows[rewards[rows] != paid[first_paid[rows] + turn]], f"turn {turn + 1}: reward differs")
        last = rows[lengths[rows] == turn + 1]
        note(last[~ended[last]], "the episode has not ended")
        for name, value in (("terminated", terminated), ("truncated", truncated), ("success", infos["success"])):
            recorded = table[name].to_numpy()
            note(last[value[last] != recorded[last]], f"{name} differs")
        recorded_returns = table["episode_return"].to_numpy()
        note(last[infos["return"][last].astype(np.float32) != recorded_returns[last]], "episode_return differs")
    recorded_info = table["info"].to_pylist()
    for row in np.flatnonzero(playing & (lengths > 0)).tolist():
        if differences[row] is None and recorded_info[row] != env.episode_info(row):
            differences[row] = "info differs"
    note(np.flatnonzero(lengths == 0), "the episode has no turns")
    return differences
