"""The house of TASKS.md written the plain way: dictionaries and sets of words, one case after another."""

import random
from collections import deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from lmrl_data.tasks.text_nav import rules

ROOMS = ["bedroom", "living room", "dining room", "kitchen", "garden", "office", "bathroom", "backyard"]
EXITS = {
    "bedroom": {"west": "living room", "south": "bathroom"},
    "living room": {"east": "bedroom", "west": "dining room", "south": "office"},
    "dining room": {"east": "living room", "west": "kitchen"},
    "kitchen": {"east": "dining room", "north": "garden", "west": "backyard"},
    "garden": {"south": "kitchen"},
    "office": {"north": "living room", "east": "bathroom"},
    "bathroom": {"west": "office", "north": "bedroom"},
    "backyard": {"east": "kitchen"},
}
FURNITURE = {
    "bedroom": "table",
    "living room": "table",
    "dining room": "table",
    "office": "chest",
    "kitchen": "fridge",
}
CONTAINERS = ["chest", "fridge"]
HOME = {
    "stale food": "living room table",
    "fresh food": "living room table",
    "bowl": "bedroom table",
    "coffee cup": "dining room table",
    "plate": "dining room table",
    "utensils": "chest",
    "fruit": "fridge",
}
OBJECTS = list(HOME)
FOODS = ["stale food", "fresh food", "fruit"]
DIRECTIONS = ["north", "south", "east", "west"]
CONFIGS = ["fully_observed", "partially_observed"]


class House(NamedTuple):
    """Where the agent and everything else is."""

    room: str
    places: dict[str, str]
    open: frozenset[str]

    def holds(self, place: str) -> list[str]:
        return [thing for thing in OBJECTS if self.places[thing] == place]

    def with_thing(self, thing: str, place: str) -> "House":
        return House(self.room, {**self.places, thing: place}, self.open)


def begin(room: str) -> House:
    return House(room, dict(HOME), frozenset())


def furniture_place(room: str) -> str:
    """What the things on or in the furniture of a room have for a place: there are three tables, but one fridge."""
    return f"{room} table" if FURNITURE[room] == "table" else FURNITURE[room]


def visible(house: House) -> list[str]:
    """The things in the room that can be seen: on the floor, on a table, in an open container."""
    seen = house.holds(f"floor of {house.room}")
    furniture = FURNITURE.get(house.room)
    if furniture == "table" or furniture in house.open:
        seen += house.holds(furniture_place(house.room))
    return seen


def outcomes(house: House) -> dict[str, House]:
    """Every command that is listed as what can be done now, and the house after it."""
    after = {}
    for direction, room in EXITS[house.room].items():
        after[f"go {direction}"] = House(room, house.places, house.open)
    for thing in house.holds(f"floor of {house.room}"):
        after[f"take {thing}"] = house.with_thing(thing, "inventory")
    for thing in house.holds("inventory"):
        after[f"drop {thing}"] = house.with_thing(thing, f"floor of {house.room}")
        if thing in FOODS:
            after[f"eat {thing}"] = house.with_thing(thing, "eaten")
    furniture = FURNITURE.get(house.room)
    if furniture is None:
        return after
    place = furniture_place(house.room)
    if furniture in CONTAINERS and furniture not in house.open:
        after[f"open {furniture}"] = House(house.room, house.places, house.open | {furniture})
        return after
    if furniture in CONTAINERS:
        after[f"close {furniture}"] = House(house.room, house.places, house.open - {furniture})
    for thing in house.holds(place):
        after[f"take {thing} from {furniture}"] = house.with_thing(thing, "inventory")
    for thing in house.holds("inventory"):
        put = f"put {thing} on table" if furniture == "table" else f"insert {thing} into {furniture}"
        after[put] = house.with_thing(thing, place)
    return after


def done(house: House, command: str) -> House | None:
    """The house after a command, None if it cannot be done. As in TextWorld, what is on a table need not be taken
    "from table", though that is how it is listed."""
    possible = outcomes(house)
    if command in possible:
        return possible[command]
    thing = command.removeprefix("take ")
    return house.with_thing(thing, "inventory") if command == f"take {thing}" and thing in visible(house) else None


def every_command() -> list[str]:
    """All that can ever be done, in the order in which commands are listed."""
    return [
        *(f"go {direction}" for direction in DIRECTIONS),
        *(f"take {thing}" for thing in OBJECTS),
        *(f"take {thing} from {furniture}" for thing in OBJECTS for furniture in ["table", *CONTAINERS]),
        *(f"put {thing} on table" for thing in OBJECTS),
        *(f"insert {thing} into {container}" for thing in OBJECTS for container in CONTAINERS),
        *(f"drop {thing}" for thing in OBJECTS),
        *(f"eat {food}" for food in FOODS),
        *(f"open {container}" for container in CONTAINERS),
        *(f"close {container}" for container in CONTAINERS),
    ]


def commands(house: House) -> list[str]:
    """What is listed, in order."""
    possible = outcomes(house)
    return [command for command in every_command() if command in possible]


def ending(house: House) -> str | None:
    """How the episode has ended, if it has."""
    if house.places["stale food"] == "eaten":
        return "failure"
    if house.places["stale food"] == "fridge" and "fridge" not in house.open:
        return "success"
    return None


def shortest(house: House) -> int:
    """The least number of commands to success, breadth first.

    Where the other things are, and whether the chest is open while the stale food is not in it, neither opens nor bars
    any way; houses that differ only in the other things are visited once.
    """

    def key(house: House) -> tuple[str, str, frozenset[str]]:
        return house.room, house.places["stale food"], house.open

    found, waiting = {key(house): 0}, deque([house])
    while waiting:
        here = waiting.popleft()
        for after in outcomes(here).values():
            if ending(after) == "success":
                return found[key(here)] + 1
            if ending(after) is None and key(after) not in found:
                found[key(after)] = found[key(here)] + 1
                waiting.append(after)
    raise AssertionError("the stale food can always be put away")


def random_play(seed: int, steps: int, unusual: float = 0.2) -> Iterator[tuple[House, str, House]]:
    """Random commands, some of which cannot be done: the house before, the command, the house after.

    A new episode starts where one ends. A command that moves things is as likely as one that walks, so that the things
    get about.
    """
    draw = random.Random(seed)
    house = begin(draw.choice(ROOMS))
    for _ in range(steps):
        possible = outcomes(house)
        if draw.random() < unusual:
            command = draw.choice(every_command())
        else:
            ways = [command for command in possible if command.startswith("go ")]
            deeds = [command for command in possible if command not in ways and command != "eat stale food"]
            command = draw.choice(deeds if deeds and draw.random() < 0.5 else ways)
        after = done(house, command) or house
        yield house, command, after
        house = begin(draw.choice(ROOMS)) if ending(after) else after


# How the package's states, texts and environments read in these words.


def plain(state: int) -> House:
    """A state of the package."""
    house = rules.unpack(state)
    opened = {"chest": house.chest_open, "fridge": house.fridge_open}
    return House(house.room, house.places, frozenset(name for name, is_open in opened.items() if is_open))


def packed(house: House) -> int:
    """The inverse of `plain`."""
    return rules.pack(rules.House(house.room, house.places, "chest" in house.open, "fridge" in house.open))


def listed(observation: str) -> list[str]:
    """The commands that a text lists."""
    line = observation.splitlines()[-1]
    assert line.startswith("Commands: ") and line.endswith(".")
    return line.removeprefix("Commands: ").removesuffix(".").split(", ")


def description(observation: str) -> str:
    """A text without its list of commands."""
    return "\n".join(observation.splitlines()[:-1])


def played(env: Any, room: str, actions: list[str]) -> list[tuple[str, float, bool, bool, dict[str, Any]]]:
    """The steps of an episode that starts in a room."""
    env.reset(seed=0, options={"room": room})
    return [env.step(action) for action in actions]


def current_text(game: Any, house: House) -> str:
    """What is said of a house after a usable command: from the same state to another and back again."""

    def text_after(*actions: str) -> str:
        state, observation = packed(house), 0
        for action in actions:
            state, observation, *_ = game.step_one(state, game.action_index[action])
        assert plain(state) == house
        return str(game.observation_texts[observation])

    for container in CONTAINERS:
        for command, back in (("open", "close"), ("close", "open")):
            if f"{command} {container}" in outcomes(house):
                return text_after(f"{command} {container}", f"{back} {container}")
    way, room = next(iter(EXITS[house.room].items()))
    (back,) = [way for way, to in EXITS[room].items() if to == house.room]
    return text_after(f"go {way}", f"go {back}")
