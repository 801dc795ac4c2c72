"""What all layouts have in common: a play is the texts of an episode with the published rewards, turn by turn."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from lmrl_data.episode import Episode
from lmrl_data.text import Message, storable

POLICY = "published"
# No published file says what its environment was seeded with.
NO_SEED = -1


class Unreadable(Exception):
    """A record that is no episode; the message says why."""


@dataclass
class Play:
    """An episode as a file tells it.

    Attributes:
        observations: of the environment, one more than there are turns; the last is empty where the file ends before.
        actions: of the agent.
        rewards: of each turn.
        done: whether the file calls the last turn the end.
        faults: known faults of the published data that it has.
    """

    observations: list[str]
    actions: list[str]
    rewards: list[float]
    done: bool
    faults: list[str] = field(default_factory=list)


@dataclass
class Reading:
    """An episode with what was noticed about it.

    Attributes:
        episode: in our schema.
        differences: for each reward that the rules would not give, of what kind it is.
        faults: known faults of the published data, by name.
    """

    episode: Episode
    differences: list[str]
    faults: list[str]


def reading(
    play: Play,
    *,
    success: bool,
    terminated: bool,
    info: Mapping[str, Any],
    env_id: str,
    differences: Sequence[str] = (),
) -> Reading:
    """A play as an episode in our schema."""
    faults = list(play.faults)
    if play.done and not terminated:
        faults.append("a time limit is flagged as the end of the game")
    messages = [Message(role="user", content=play.observations[0])]
    for action, observation in zip(play.actions, play.observations[1:], strict=True):
        messages.append(Message(role="assistant", content=action))
        messages.append(Message(role="user", content=observation))
    episode = Episode(
        messages=messages,
        rewards=play.rewards,
        success=success,
        terminated=terminated,
        truncated=not terminated,
        seed=NO_SEED,
        policy=POLICY,
        env_id=env_id,
        info=dict(info),
    )
    return Reading(episode, list(differences), faults)


def play_of_history(texts: Sequence[Any], rewards: Any, dones: Any, opening: str = "") -> Play:
    """A play from alternating texts, the environment's first.

    Rewards and dones count the actions, or all texts, or all but the first: the published files do each of these.

    Args:
        texts: the environment's and the agent's by turns.
        rewards: numbers.
        dones: truth values, or one for the whole episode.
        opening: what the environment says first where the texts begin with the agent.
    """
    texts = [text_of(text, "a text") for text in texts]
    count = len(texts) // 2
    if count == 0:
        raise Unreadable("no turn in it")
    flags = [dones] if not isinstance(dones, list) else dones
    observations, actions = texts[0::2], texts[1::2]
    if len(observations) == len(actions):
        observations.append("")
    paid = [number_of(value, "a reward") for value in _of_actions(rewards, count, len(texts), "rewards")]
    if not flags:
        raise Unreadable("no dones in it")
    return Play(observations, actions, paid, flag_of(flags[-1], "a done"))


def _of_actions(values: Any, count: int, texts: int, what: str) -> list[Any]:
    """The values that belong to the actions."""
    if isinstance(values, list):
        if len(values) == count:
            return values
        if len(values) == texts:
            return values[1::2]
        if len(values) == texts - 1:
            return values[0::2]
    found = f"{len(values)} of them" if isinstance(values, list) else "no list"
    raise Unreadable(f"the {what} do not fit {count} actions: {found}")


def play_of_transitions(transitions: Sequence[Any], state: str) -> Play:
    """A play from transitions: a state, the action in it, its reward, and whether that was the last.

    A last transition that is there twice, as in the chains that the published code makes, is taken once.

    Args:
        transitions: dicts with the state, ``action``, ``reward`` and ``done``.
        state: the name of the state's field.
    """
    if not transitions:
        raise Unreadable("no transition in it")
    for transition in transitions:
        if not isinstance(transition, dict) or not {state, "action", "reward", "done"} <= transition.keys():
            raise Unreadable(f"a transition without one of {state}, action, reward, done")
    kept, faults = list(transitions), []
    if len(kept) > 1 and kept[-1] == kept[-2] and kept[-1]["done"]:
        kept.pop()
        faults.append("the last transition is there twice")
    play = Play(
        observations=[*(text_of(each[state], "a state") for each in kept), ""],
        actions=[text_of(each["action"], "an action") for each in kept],
        rewards=[number_of(each["reward"], "a reward") for each in kept],
        done=flag_of(kept[-1]["done"], "a done"),
        faults=faults,
    )
    if any(flag_of(each["done"], "a done") for each in kept[:-1]):
        play.faults.append("goes on after a turn that is flagged done")
    return play


def fields_of(value: Any, names: Sequence[str]) -> list[Any]:
    """The fields of a record.

    Raises:
        Unreadable: it has not all of them.
    """
    if not isinstance(value, dict):
        raise Unreadable(f"not an object with the fields {', '.join(names)}")
    missing = [name for name in names if name not in value]
    if missing:
        raise Unreadable(f"no field {', '.join(missing)}; it has: {', '.join(map(str, value))[:200] or 'none'}")
    return [value[name] for name in names]


def text_of(value: Any, what: str) -> str:
    """A text that a file can hold, without the white space around it, which the published texts end with."""
    if not isinstance(value, str):
        raise Unreadable(f"{what} is {str(value)[:40]!r}, not a text")
    return storable(value.strip())


def number_of(value: Any, what: str) -> float:
    """A finite number that a record can hold."""
    # JSON as Python reads it has NaN and integers without end.
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9:
        return float(value)
    raise Unreadable(f"{what} is {str(value)[:40]!r}, not a number")


def whole_number_of(value: Any, what: str) -> int:
    """A number from 0 without a fraction."""
    number = number_of(value, what)
    if number < 0 or not math.isclose(number, round(number)):
        raise Unreadable(f"{what} is {number:g}, not a whole number")
    return round(number)


def flag_of(value: Any, what: str) -> bool:
    """A truth value, which some files write as 0 and 1."""
    if isinstance(value, bool) or value in (0, 1):
        return bool(value)
    raise Unreadable(f"{what} is {str(value)[:40]!r}, not true or false")
