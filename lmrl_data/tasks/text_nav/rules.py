"""The house's rules: rooms, things and commands, and the packing of a state into one integer. No text but the commands.

A state is 33 bits. The low five are the context: room (three bits), chest open, fridge open. Four bits for each object
follow: where it is. In the 15 turns of an episode 9,810,890 states can be reached, too many for a table of transitions.
But what a command needs and does depends on the context and on the place of one object only: a table of 67 commands by
32 contexts says both, and a transition is one addition (`Tables`).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ROOMS = ("bedroom", "living room", "dining room", "kitchen", "garden", "office", "bathroom", "backyard")
DIRECTIONS = ("north", "south", "east", "west")
OBJECTS = ("stale food", "fresh food", "bowl", "coffee cup", "plate", "utensils", "fruit")
FOODS = ("stale food", "fresh food", "fruit")
CONTAINERS = ("chest", "fridge")
FURNITURE = ("table", *CONTAINERS)

# From a room in a direction to another; the way back is in the opposite direction.
_CONNECTIONS = (
    ("bedroom", "west", "living room"),
    ("living room", "west", "dining room"),
    ("dining room", "west", "kitchen"),
    ("kitchen", "north", "garden"),
    ("living room", "south", "office"),
    ("office", "east", "bathroom"),
    ("bedroom", "south", "bathroom"),
    ("kitchen", "west", "backyard"),
)
_OPPOSITE = {"north": "south", "south": "north", "east": "west", "west": "east"}
EXITS: dict[str, dict[str, str]] = {room: {} for room in ROOMS}
for _room, _direction, _other in _CONNECTIONS:
    EXITS[_room][_direction] = _other
    EXITS[_other][_OPPOSITE[_direction]] = _room

# What stands in a room; the rest is empty.
FURNISHED = {
    "bedroom": "table",
    "living room": "table",
    "dining room": "table",
    "office": "chest",
    "kitchen": "fridge",
}
# Where an object can be: on the floor of each room, on or in the furniture, carried, eaten.
PLACES = (
    *(f"floor of {room}" for room in ROOMS),
    "bedroom table",
    "living room table",
    "dining room table",
    "chest",
    "fridge",
    "inventory",
    "eaten",
)
INVENTORY, EATEN, FRIDGE = PLACES.index("inventory"), PLACES.index("eaten"), PLACES.index("fridge")
START_PLACES = {
    "stale food": "living room table",
    "fresh food": "living room table",
    "bowl": "bedroom table",
    "coffee cup": "dining room table",
    "plate": "dining room table",
    "utensils": "chest",
    "fruit": "fridge",
}

CONTEXTS = 32
_CONTEXT_BITS, _PLACE_BITS = 5, 4
CHEST_OPEN, FRIDGE_OPEN = 2, 1


class Context(NamedTuple):
    """The room and the containers."""

    room: int
    chest_open: bool
    fridge_open: bool

    @property
    def furniture(self) -> str | None:
        """What stands in the room."""
        return FURNISHED.get(ROOMS[self.room])

    @property
    def is_open(self) -> bool:
        """Whether things can be put on or into the furniture, and seen there."""
        return {"table": True, "chest": self.chest_open, "fridge": self.fridge_open, None: False}[self.furniture]

    @property
    def furniture_place(self) -> int | None:
        """The place that the furniture is."""
        if self.furniture == "table":
            return PLACES.index(f"{ROOMS[self.room]} table")
        return None if self.furniture is None else PLACES.index(self.furniture)

    @property
    def number(self) -> int:
        """The context's five bits."""
        return self.room << 2 | self.chest_open * CHEST_OPEN | self.fridge_open * FRIDGE_OPEN


def context_of(number: int) -> Context:
    """The context of five bits."""
    return Context(number >> 2, bool(number & CHEST_OPEN), bool(number & FRIDGE_OPEN))


def shift_of(item: int) -> int:
    """The lowest bit of an object's place."""
    return _CONTEXT_BITS + _PLACE_BITS * item


@dataclass(frozen=True)
class House:
    """A state, spelt out.

    Attributes:
        room: where the agent is.
        places: where each object is, in the words of `PLACES`.
        chest_open: whether the chest is open.
        fridge_open: whether the fridge is open.
    """

    room: str
    places: dict[str, str]
    chest_open: bool
    fridge_open: bool


def pack(house: House) -> int:
    """A state as an integer."""
    state = Context(ROOMS.index(house.room), house.chest_open, house.fridge_open).number
    for item, name in enumerate(OBJECTS):
        state |= PLACES.index(house.places[name]) << shift_of(item)
    return state


def unpack(state: int) -> House:
    """The inverse of `pack`."""
    context = context_of(int(state) % CONTEXTS)
    places = {name: PLACES[int(state) >> shift_of(item) & 15] for item, name in enumerate(OBJECTS)}
    return House(ROOMS[context.room], places, context.chest_open, context.fridge_open)


class Command(NamedTuple):
    """A command: its verb, and what it is about."""

    verb: str
    item: str | None = None
    target: str | None = None

    @property
    def text(self) -> str:
        """As it is listed."""
        if self.item is None:
            return f"{self.verb} {self.target}"
        joint = {"take": "from", "put": "on", "insert": "into"}.get(self.verb)
        return f"{self.verb} {self.item}" + (f" {joint} {self.target}" if self.target else "")


COMMANDS = (
    *(Command("go", target=direction) for direction in DIRECTIONS),
    *(Command("take", item) for item in OBJECTS),
    *(Command("take", item, furniture) for item in OBJECTS for furniture in FURNITURE),
    *(Command("put", item, "table") for item in OBJECTS),
    *(Command("insert", item, container) for item in OBJECTS for container in CONTAINERS),
    *(Command("drop", item) for item in OBJECTS),
    *(Command("eat", item) for item in FOODS),
    *(Command("open", target=container) for container in CONTAINERS),
    *(Command("close", target=container) for container in CONTAINERS),
)


class Tables:
    """What each command needs and does in each context.

    Attributes:
        shift: the lowest bit of the place of the command's object, shape (commands,).
        needed: the place that the object must be in, shape (commands, contexts); -1 where the command is about no
            object and can be done, -2 where it cannot be done at all.
        change: what is added to the state, shape (commands, contexts).
    """

    def __init__(self) -> None:
        self.shift = np.array([shift_of(OBJECTS.index(c.item)) if c.item else 0 for c in COMMANDS], np.int64)
        self.needed = np.full((len(COMMANDS), CONTEXTS), -2, np.int64)
        self.change = np.zeros((len(COMMANDS), CONTEXTS), np.int64)
        for number, command in enumerate(COMMANDS):
            for context in range(CONTEXTS):
                effect = _object_effect(command, context_of(context))
                if effect is not None:
                    self.needed[number, context] = effect[0]
                    self.change[number, context] = (effect[1] - effect[0]) << self.shift[number]
                after = _context_effect(command, context_of(context))
                if after is not None:
                    self.needed[number, context] = -1
                    self.change[number, context] = after.number - context

    def possible(self, state: NDArray[Any], command: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Whether a command can be done in a state; arrays of shapes that go together."""
        needed = self.needed.ravel().take(command * np.int64(CONTEXTS) + (state & (CONTEXTS - 1)))
        possible: NDArray[np.bool_] = (needed == -1) | (needed == (state >> self.shift.take(command) & 15))
        return possible


def _object_effect(command: Command, context: Context) -> tuple[int, int] | None:
    """Where a command takes its object from and puts it; None where it cannot be done, or moves nothing."""
    floor = context.room
    there = context.furniture_place if context.is_open and context.furniture == command.target else None
    match command.verb:
        case "take" if command.target is None:
            return floor, INVENTORY
        case "take" if there is not None:
            return there, INVENTORY
        case "put" | "insert" if there is not None:
            return INVENTORY, there
        case "drop":
            return INVENTORY, floor
        case "eat":
            return INVENTORY, EATEN
    return None


def _context_effect(command: Command, context: Context) -> Context | None:
    """The context after a command that goes somewhere, opens or closes something; None where it cannot be done."""
    if command.verb == "go" and command.target in EXITS[ROOMS[context.room]]:
        return context._replace(room=ROOMS.index(EXITS[ROOMS[context.room]][command.target]))
    opening = command.verb == "open"
    if command.verb in ("open", "close") and command.target == context.furniture and context.is_open != opening:
        return context._replace(**{f"{command.target}_open": opening})
    return None
