"""Every difference between recorded episodes and what their actions give in the simulator.

`lmrl_data.replays.replay_table` says quickly whether episodes replay; this says of those that do not where and how.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from lmrl_data.vector import TextVectorEnv, VectorStep
from lmrl_evaluation.findings import Finding, differing_fields, differs

Row = Mapping[str, Any]


def differences(
    rows: Sequence[Row], env: TextVectorEnv, *, follow: Collection[int] = (), ignore: Collection[str] = ()
) -> list[list[Finding]]:
    """Play the actions of recorded episodes again and compare everything.

    Args:
        rows: at most ``env.num_envs`` episodes, as the rows of a table in the schema of episodes.
        env: the environment to replay in.
        follow: the places in `rows` of the episodes whose partner's part is taken from the record.
        ignore: fields of ``info`` that are not compared.

    Returns:
        For each episode what differs, its number left out.
    """
    found = [_malformed(row) for row in rows]
    playing = [place for place, problems in enumerate(found) if not problems]
    texts = [[message["content"] for message in row["messages"]] for row in rows]
    opening, _ = env.reset([row["seed"] if place in playing else 0 for place, row in enumerate(rows)])
    for place in playing:
        if place in follow:
            env.follow(place, texts[place][2::2], rows[place]["info"])
        if opening[place] != texts[place][0]:
            problem = differs(texts[place][0], opening[place], "replayed")
            found[place].append(Finding("opening observation", problem))
    ended = np.zeros(env.num_envs, np.bool_)
    for turn in range(max((rows[place]["num_turns"] for place in playing), default=0)):
        going = [place for place in playing if turn < rows[place]["num_turns"]]
        actions = np.full(env.num_envs, "", object)
        actions[going] = [texts[place][2 * turn + 1] for place in going]
        had_ended = ended
        played = env.step(actions)
        ended = played[2] | played[3]
        for place in going:
            if had_ended[place]:
                found[place].append(Finding("turn", "recorded, but the episode had ended", turn=turn + 1))
                playing.remove(place)
                continue
            found[place] += _turn(rows[place], texts[place], turn, played[0][place], float(played[1][place]))
            if turn + 1 == rows[place]["num_turns"]:
                found[place] += _outcome(rows[place], place, env, played, ignore)
    return found


def _turn(row: Row, texts: Sequence[str], turn: int, observation: str, reward: float) -> Iterator[Finding]:
    """The differences in a turn, numbered from 0."""
    if texts[2 * turn + 2] != observation:
        yield Finding("observation", differs(texts[2 * turn + 2], observation, "replayed"), turn=turn + 1)
    if row["rewards"][turn] != reward:
        yield Finding("reward", differs(row["rewards"][turn], reward, "replayed"), turn=turn + 1)


def _outcome(row: Row, place: int, env: TextVectorEnv, last: VectorStep, ignore: Collection[str]) -> Iterator[Finding]:
    """The differences in what is recorded of a whole episode, whose last recorded turn has been played."""
    _, _, terminated, truncated, infos = last
    if not (terminated[place] or truncated[place]):
        yield Finding("messages", "stop before the episode has ended")
        return
    # None stands for what a label fills in, which is no part of the play.
    facts = {name: value for name, value in env.episode_info(place).items() if value is not None and name not in ignore}
    played = {
        "episode_return": float(np.float32(infos["return"][place])),
        "success": bool(infos["success"][place]),
        "terminated": bool(terminated[place]),
        "truncated": bool(truncated[place]),
        "info": facts,
    }
    recorded = {**row, "info": {name: row["info"][name] for name in facts}}
    for name, value in played.items():
        for path, one, other in differing_fields(recorded[name], value, name):
            yield Finding(path, differs(one, other, "replayed"))


def _malformed(row: Row) -> list[Finding]:
    """What is wrong with an episode that cannot be played again."""
    turns = len(row["rewards"])
    if row["seed"] < 0:
        return [Finding("seed", f"{row['seed']} is negative")]
    if turns == 0:
        return [Finding("rewards", "are none: the episode has no turns")]
    if row["num_turns"] != turns:
        return [Finding("num_turns", f"{row['num_turns']} recorded, but there are {turns} rewards")]
    if len(row["messages"]) != 2 * turns + 1:
        return [Finding("messages", f"are {len(row['messages'])}, but {turns} turns have {2 * turns + 1}")]
    for place, message in enumerate(row["messages"]):
        right = ("user", "assistant")[place % 2]
        if message["role"] != right:
            return [Finding("role", differs(message["role"], right, "expected"), turn=(place + 1) // 2 or None)]
    return []
