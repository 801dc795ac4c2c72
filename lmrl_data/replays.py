"""Replay: play recorded actions again and compare every text, reward and flag.

Episodes whose partner (an engine's build, a language model) is not the one that is here, or does not answer the same
again, cannot be answered anew. In
them the partner's words are taken from the record, and everything else is checked: that what the partner did is
possible, and the texts, rewards, flags and infos that follow.
"""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from lmrl_data.episode import Episode, missing_values, to_table
from lmrl_data.registry import find_env, make_vec_of
from lmrl_data.vector import GameVectorEnv, TextVectorEnv


def replay(episodes: Sequence[Episode], env: TextVectorEnv | None = None) -> list[str | None]:
    """Replay episodes of one environment; see `replay_table`."""
    if not episodes:
        return []
    task, _, _ = find_env(episodes[0].env_id)
    return replay_table(to_table(episodes, task), env)


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
        env_id = table["env_id"][0].as_py()
        task, _, _ = find_env(env_id)
        with make_vec_of(env_id, min(task.batch_size, len(table))) as env:
            return replay_table(table, env)
    whole = ~np.logical_or.reduce(list(missing_values(table).values()))
    chosen = table.filter(pa.array(whole))
    found: list[str | None] = []
    for first in range(0, len(chosen), env.num_envs):
        found += _replay_batch(chosen.slice(first, env.num_envs), env)
    differences: list[str | None] = ["a value is missing"] * len(table)
    for row, difference in zip(np.flatnonzero(whole).tolist(), found, strict=True):
        differences[row] = difference
    return differences


def followed(table: pa.Table, env: TextVectorEnv) -> list[str | None]:
    """The partner of each recorded episode that a replay in this environment takes the partner's part of; else None."""
    task, _, _ = find_env(env.env_id)
    if task.partner is None:
        return [None] * len(table)
    recorded: list[str | None] = pc.struct_field(table["info"], task.partner).to_pylist()
    return [partner if partner != env.partner or not env.reproducible else None for partner in recorded]


class _Recorded:
    """A batch of recorded episodes as flat arrays, with where each episode begins in them."""

    def __init__(self, table: pa.Table) -> None:
        self.length = pc.list_value_length(table["rewards"]).to_numpy()
        self.spoken = pc.list_value_length(table["messages"]).to_numpy()
        messages = table["messages"].combine_chunks().flatten()
        self.content = messages.field("content").to_numpy(zero_copy_only=False)
        self.reward = table["rewards"].combine_chunks().flatten().to_numpy()
        self.first_message = np.concatenate([[0], self.spoken.cumsum()]).astype(np.int64)[:-1]
        self.first_reward = np.concatenate([[0], self.length.cumsum()]).astype(np.int64)[:-1]
        # The environment speaks first, then they take turns.
        place = np.arange(len(messages)) - np.repeat(self.first_message, self.spoken)
        wrong = messages.field("role").to_numpy(zero_copy_only=False) != np.where(place % 2 == 0, "user", "assistant")
        episode = np.repeat(np.arange(len(table)), self.spoken)
        self.wrong_roles = np.bincount(episode, weights=wrong, minlength=len(table)) > 0


def _replay_batch(table: pa.Table, env: TextVectorEnv) -> list[str | None]:
    recorded = _Recorded(table)
    length, content = recorded.length, recorded.content
    differences: list[str | None] = [None] * len(table)

    def note(rows: NDArray[np.int64], message: str) -> None:
        for row in rows.tolist():
            differences[row] = differences[row] or message

    seeds = table["seed"].to_numpy()
    note(np.flatnonzero(length == 0), "the episode has no turns")
    note(np.flatnonzero(recorded.spoken != 2 * length + 1), "messages and rewards do not belong together")
    note(np.flatnonzero(recorded.wrong_roles), "the roles do not alternate")
    note(np.flatnonzero(table["num_turns"].to_numpy() != length), "num_turns differs")
    note(np.flatnonzero(table["env_id"].to_numpy() != env.env_id), f"not an episode of {env.env_id}")
    note(np.flatnonzero(seeds < 0), "the seed is negative")
    playing = np.array([difference is None for difference in differences], np.bool_)
    observations, _ = env.reset(np.maximum(seeds, 0))
    infos_recorded = table["info"].to_pylist()
    for row, partner in enumerate(followed(table, env)):
        if playing[row] and partner is not None:
            if isinstance(env, GameVectorEnv):
                note(np.array([row]), f"answered by {partner!r}, which this version cannot follow on arrays")
                playing[row] = False
                continue
            first = recorded.first_message[row]
            env.follow(row, content[first + 2 : first + recorded.spoken[row] : 2].tolist(), infos_recorded[row])
    shown = np.flatnonzero(playing)
    note(shown[observations[shown] != content[recorded.first_message[shown]]], "the first observation differs")
    ended = np.zeros(env.num_envs, np.bool_)
    for turn in range(int(length[playing].max(initial=0))):
        rows = np.flatnonzero(playing & (length > turn))
        note(rows[ended[rows]], f"turn {turn + 1}: the episode has already ended")
        said = recorded.first_message[rows] + 2 * turn + 1
        actions = np.full(env.num_envs, "", object)
        actions[rows] = content[said]
        observations, rewards, terminated, truncated, infos = env.step(actions)
        ended = terminated | truncated
        note(rows[observations[rows] != content[said + 1]], f"turn {turn + 1}: observation differs")
        paid = recorded.reward[recorded.first_reward[rows] + turn]
        note(rows[rewards[rows] != paid], f"turn {turn + 1}: reward differs")
        last = rows[length[rows] == turn + 1]
        note(last[~ended[last]], "the episode has not ended")
        outcome = {"terminated": terminated, "truncated": truncated, "success": infos["success"]}
        outcome["episode_return"] = infos["return"].astype(np.float32)
        for name, values in outcome.items():
            note(last[values[last] != table[name].to_numpy()[last]], f"{name} differs")
    for row in np.flatnonzero(playing).tolist():
        if differences[row] is None:
            played = env.episode_info(row)
            # None stands for what a label fills in, which is no part of the play.
            if any(infos_recorded[row][name] != value for name, value in played.items() if value is not None):
                differences[row] = "info differs"
    return differences
