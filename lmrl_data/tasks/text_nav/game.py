"""The house on arrays: states and commands as `rules` has them, and the texts of what is seen."""

from functools import cache
from typing import Any

import numpy as np

from lmrl_data.errors import LmrlError
from lmrl_data.game import Bools, Ints, LazyTexts, States, Texts, Transition
from lmrl_data.seeding import stream_of
from lmrl_data.tasks.text_nav import rules
from lmrl_data.tasks.text_nav.language import interpret

MAX_TURNS = 15
OBSERVE = ("fully_observed", "partially_observed")

SUCCESS_TEXT = "You close the fridge on the stale food. The quest is done."
FAILURE_TEXT = "You have eaten the stale food. The quest has failed."
# Before the description, by kind: a usable command; one that cannot be done now; a text that is no command.
PREFIXES = ("", "You cannot do that now.\n", "That is no command that is known here.\n")
_IMPOSSIBLE = 1

# What an object looks like from where the agent is.
_ELSEWHERE, _CARRIED, _ON_FLOOR, _ON_FURNITURE = range(4)
_STATUSES = 1 << 2 * len(rules.OBJECTS)
_STALE = rules.shift_of(rules.OBJECTS.index("stale food"))


class TextNavGame:
    """The array game of the house (see `lmrl_data.game.Game`). Make it with `text_nav_game`.

    An observation is numbered by its kind (see `PREFIXES`), by the room with its container open or closed (10 of
    these), and by what each of the seven objects looks like (4^7): each text is made when it first occurs. Within the
    15 turns of an episode 9,810,890 states and 51,896 different descriptions can be reached.
    """

    max_turns = MAX_TURNS
    limit_is_terminal = False
    partner = ""
    invalid_reasons: tuple[str, ...] = ("cannot be done now", "not a command that is known here")
    start_stream = stream_of("text-nav/start")
    secret_texts: Texts | None = None

    def __init__(self, observed: bool) -> None:
        self._observed = observed
        self.tables = rules.Tables()
        self.action_texts: Texts = np.array([command.text for command in rules.COMMANDS], object)
        self.action_index = {text: number for number, text in enumerate(self.action_texts)}
        self._change = self.tables.change.ravel()
        # "take X" also takes X from the furniture, though only "take X from Y" is listed (as in TextWorld).
        self._instead = _take_instead()
        self._instead_list: list[int] = self._instead.ravel().tolist()
        # Contexts that look alike: a container is seen in its own room only.
        contexts = [rules.context_of(number) for number in range(rules.CONTEXTS)]
        self._views = list(dict.fromkeys((context.room, context.is_open) for context in contexts))
        self._view = np.array([self._views.index((c.room, c.is_open)) for c in contexts], np.int64)
        self._status = np.array(
            [[_status(context, place) for place in range(16)] for context in contexts], np.int64
        ).ravel()
        # The same tables as lists, which are faster for a single house.
        self._needed_list: list[int] = self.tables.needed.ravel().tolist()
        self._change_list: list[int] = self._change.tolist()
        self._shift_list: list[int] = self.tables.shift.tolist()
        self._view_list: list[int] = self._view.tolist()
        self._status_list: list[int] = self._status.tolist()
        self._descriptions = len(self._views) * _STATUSES
        self._success = len(PREFIXES) * self._descriptions
        self.observation_texts: Texts | LazyTexts = LazyTexts(self._success + 2, self._text)
        start = rules.House(rules.ROOMS[0], rules.START_PLACES, False, False)
        houses = [rules.House(room, start.places, False, False) for room in rules.ROOMS]
        self.starts: States = np.array([rules.pack(house) for house in houses], np.int64)
        self.first_observation: Ints = self._seen(self.starts).astype(np.int32)

    def step(self, state: States, action: Ints) -> Transition:
        """Do a command in each house."""
        command, context = np.maximum(action, 0), state & (rules.CONTEXTS - 1)
        possible = self.tables.possible(state, command)
        if not possible.all():
            command = np.where(possible, command, self._instead[command, context])
            possible = self.tables.possible(state, command)
        possible &= action >= 0
        cell = command * np.int64(rules.CONTEXTS) + context
        after = state + np.where(possible, self._change.take(cell), 0)
        stale = after >> _STALE & 15
        success = (stale == rules.FRIDGE) & (after & rules.FRIDGE_OPEN == 0)
        failure = stale == rules.EATEN
        kind = np.where(possible, 0, np.where(action >= 0, _IMPOSSIBLE, -action))
        observation = self._seen(after) + kind * self._descriptions
        observation = np.where(success, self._success, np.where(failure, self._success + 1, observation))
        return Transition(after, observation.astype(np.int32), success.astype(np.float32), success | failure, success)

    def step_one(self, state: int, action: int) -> tuple[int, int, float, bool, bool]:
        """Do a command in one house."""
        kind = -action
        if action >= 0:
            context = state % rules.CONTEXTS
            place = state >> self._shift_list[action] & 15
            cell = action * rules.CONTEXTS + context
            if self._needed_list[cell] not in (-1, place):
                cell = self._instead_list[cell] * rules.CONTEXTS + context
            kind = 0 if self._needed_list[cell] in (-1, place) else _IMPOSSIBLE
            if not kind:
                state += self._change_list[cell]
                stale = state >> _STALE & 15
                if stale == rules.EATEN:
                    return state, self._success + 1, 0.0, True, False
                if stale == rules.FRIDGE and not state & rules.FRIDGE_OPEN:
                    return state, self._success, 1.0, True, True
        return state, self._seen_one(state) + kind * self._descriptions, 0.0, False, False

    def admissible(self, state: States) -> Bools:
        """Which commands can be done in each state, shape (N, commands)."""
        return self.tables.possible(state[:, None], np.arange(len(rules.COMMANDS), dtype=np.int32))

    def interpret(self, action: str) -> int:
        """The command that a text means; -2 for one that is not known."""
        number = self.action_index.get(interpret(action))
        return -2 if number is None else number

    def invalid(self, observation: Any) -> Any:
        """0 after a usable command, else 1 + the number of the reason."""
        return (observation < self._success) * (observation // self._descriptions)

    def observation_of(self, text: str) -> int | None:
        """The observation that a text stands for."""
        if text in (SUCCESS_TEXT, FAILURE_TEXT):
            return self._success + (text == FAILURE_TEXT)
        head, _, listed = text.rpartition("\nCommands: ")
        kind = max(kind for kind, prefix in enumerate(PREFIXES) if head.startswith(prefix))
        commands = set(listed.removesuffix(".").split(", "))
        # The commands tell everything: the exits the room, the rest what there is.
        exits = {direction for direction in rules.DIRECTIONS if f"go {direction}" in commands}
        rooms = [number for number, room in enumerate(rules.ROOMS) if set(rules.EXITS[room]) == exits]
        if not rooms:
            return None
        furniture = rules.FURNISHED.get(rules.ROOMS[rooms[0]])
        is_open = furniture is not None and f"open {furniture}" not in commands
        if (rooms[0], is_open) not in self._views:
            return None
        number = self._views.index((rooms[0], is_open)) * _STATUSES
        for item, name in enumerate(rules.OBJECTS):
            signs = (f"drop {name}", f"take {name}", f"take {name} from {furniture}")
            number |= next((status for status, sign in enumerate(signs, 1) if sign in commands), 0) << 2 * item
        number += kind * self._descriptions
        return number if self.observation_texts[number] == text else None

    def start_options(self, start: int) -> dict[str, Any]:
        """The room."""
        return {"room": rules.ROOMS[start]}

    episode_info = start_options

    def start_of(self, room: object) -> int:
        """The start in a room.

        Raises:
            LmrlError: there is no such room.
        """
        if room not in rules.ROOMS:
            raise LmrlError(f"{room!r} is no room of the house; the rooms are: {', '.join(rules.ROOMS)}")
        return rules.ROOMS.index(str(room))

    def sample_texts(self) -> list[str]:
        """Texts with all the characters that occur, about as long as any can be: all things are here or carried."""
        carried = sum(_CARRIED << 2 * item for item in range(len(rules.OBJECTS)))
        shown = sum(_ON_FURNITURE << 2 * item for item in range(len(rules.OBJECTS)))
        descriptions = [view * _STATUSES + status for view in range(len(self._views)) for status in (carried, shown)]
        kinds = [kind * self._descriptions for kind in range(len(PREFIXES))]
        return [SUCCESS_TEXT, FAILURE_TEXT, *(self._text(kind + seen) for kind in kinds for seen in descriptions)]

    def _seen(self, state: States) -> States:
        """The description of each state."""
        context = state & (rules.CONTEXTS - 1)
        number = self._view.take(context) * _STATUSES
        for item in range(len(rules.OBJECTS)):
            place = state >> rules.shift_of(item) & 15
            number += self._status.take(context << 4 | place) << 2 * item
        return number

    def _seen_one(self, state: int) -> int:
        context = state % rules.CONTEXTS
        number = self._view_list[context] * _STATUSES
        places, row = state >> rules.shift_of(0), context << 4
        for item in range(len(rules.OBJECTS)):
            number |= self._status_list[row | places & 15] << 2 * item
            places >>= 4
        return number

    def _text(self, observation: int) -> str:
        if observation >= self._success:
            return (SUCCESS_TEXT, FAILURE_TEXT)[observation - self._success]
        kind, description = divmod(observation, self._descriptions)
        view, statuses = divmod(description, _STATUSES)
        room, is_open = self._views[view]
        by_status: dict[int, list[str]] = {status: [] for status in range(4)}
        for item, name in enumerate(rules.OBJECTS):
            by_status[statuses >> 2 * item & 3].append(name)
        lines = [f"Exits: {', '.join(d for d in rules.DIRECTIONS if d in rules.EXITS[rules.ROOMS[room]])}."]
        if self._observed:
            lines.insert(0, f"You are in the {rules.ROOMS[room]}.")
        lines += _furniture_lines(rules.FURNISHED.get(rules.ROOMS[room]), is_open, by_status[_ON_FURNITURE])
        if by_status[_ON_FLOOR]:
            lines.append(f"On the floor: {', '.join(by_status[_ON_FLOOR])}.")
        if self._observed:
            lines.append(f"You carry: {', '.join(by_status[_CARRIED]) or 'nothing'}.")
        commands = ", ".join(_listed(room, is_open, by_status))
        return f"{PREFIXES[kind]}{' '.join(lines)}\nCommands: {commands}."


def _take_instead() -> Ints:
    """For each command and context the command that it can stand for: itself, or "take X from Y" for "take X"."""
    instead = np.repeat(np.arange(len(rules.COMMANDS), dtype=np.int32)[:, None], rules.CONTEXTS, axis=1)
    for number, command in enumerate(rules.COMMANDS):
        for context in map(rules.context_of, range(rules.CONTEXTS)):
            if command.verb == "take" and command.target is None and context.furniture:
                instead[number, context.number] = rules.COMMANDS.index(command._replace(target=context.furniture))
    return instead


def _status(context: rules.Context, place: int) -> int:
    """What an object in a place looks like in a context."""
    if place == rules.INVENTORY:
        return _CARRIED
    if place == context.room:
        return _ON_FLOOR
    return _ON_FURNITURE if context.is_open and place == context.furniture_place else _ELSEWHERE


def _furniture_lines(furniture: str | None, is_open: bool, things: list[str]) -> list[str]:
    listed = ", ".join(things)
    if furniture is None:
        return []
    if furniture == "table":
        return [f"On the table: {listed}." if things else "There is an empty table."]
    if not is_open:
        return [f"There is a closed {furniture}."]
    return [f"In the open {furniture}: {listed}." if things else f"There is an open, empty {furniture}."]


def _listed(room: int, is_open: bool, by_status: dict[int, list[str]]) -> list[str]:
    """The admissible commands, in the order of `rules.COMMANDS`."""
    furniture = rules.FURNISHED.get(rules.ROOMS[room])
    sources = {"take": _ON_FLOOR, "drop": _CARRIED, "eat": _CARRIED, "put": _CARRIED, "insert": _CARRIED}
    commands = []
    for command in rules.COMMANDS:
        if command.item is None:
            if command.verb == "go":
                possible = command.target in rules.EXITS[rules.ROOMS[room]]
            else:
                possible = command.target == furniture and is_open == (command.verb == "close")
        else:
            there = command.target is None or (command.target == furniture and is_open)
            source = _ON_FURNITURE if command.verb == "take" and command.target else sources[command.verb]
            possible = there and command.item in by_status[source]
        if possible:
            commands.append(command.text)
    return commands


def text_nav_game(observe: str = "fully_observed") -> TextNavGame:
    """The array game of the house.

    Args:
        observe: ``"fully_observed"`` or ``"partially_observed"``.

    Raises:
        LmrlError: another value.
    """
    if observe not in OBSERVE:
        raise LmrlError(f"unknown value {observe!r} of observe; it is one of: {', '.join(OBSERVE)}")
    return _cached(observe == "fully_observed")


@cache
def _cached(observed: bool) -> TextNavGame:
    return TextNavGame(observed)
