"""The house of TASKS.md built with TextWorld's GameMaker, compiled and played there.

A state is seen three ways in TextWorld: as facts (its logic, kept beside the game from the game's own report of each
action), as the commands that its rules make of the facts, and as what the game prints. `TextWorldHouse` reads all three
and demands that they agree, so a command that the logic failed to follow cannot pass for one that changed nothing.

All three tables are called "table" there as here. TextWorld tells things apart by its own names for them ("s_0"), and
`_names` maps those to ours, so no command is renamed.
"""

import re
from collections import deque
from pathlib import Path
from typing import Any, NamedTuple

import textworld
from textworld.generator.game import Event, GameOptions, Quest

Paths = dict[str, dict[str, str]]

OPPOSITE = {"north": "south", "south": "north", "west": "east", "east": "west"}
_CONNECTIONS = [
    ("bedroom", "west", "living room"),
    ("living room", "west", "dining room"),
    ("dining room", "west", "kitchen"),
    ("kitchen", "north", "garden"),
    ("living room", "south", "office"),
    ("office", "east", "bathroom"),
    ("bedroom", "south", "bathroom"),
    ("kitchen", "west", "backyard"),
]
ROOMS = ["bedroom", "living room", "dining room", "kitchen", "garden", "office", "bathroom", "backyard"]
# Where the furniture stands; tables, and containers that are closed at the start.
FURNITURE = {
    "bedroom table": "bedroom",
    "living room table": "living room",
    "dining room table": "dining room",
    "chest": "office",
    "fridge": "kitchen",
}
CONTAINERS = ["chest", "fridge"]
# Where the objects are at the start.
OBJECTS = {
    "stale food": "living room table",
    "fresh food": "living room table",
    "bowl": "bedroom table",
    "coffee cup": "dining room table",
    "plate": "dining room table",
    "utensils": "chest",
    "fruit": "fridge",
}
_FOODS = ["stale food", "fresh food", "fruit"]
# Commands that look at something and change nothing. They are no actions of ours.
_LOOKING = re.compile(r"look|inventory|examine .*")


class View(NamedTuple):
    """A state of the house and its standing, in the words of `lmrl_data.tasks.text_nav.rules.House`."""

    room: str
    places: dict[str, str]
    chest_open: bool
    fridge_open: bool
    commands: frozenset[str]
    """The admissible ones; none once the game has ended."""
    won: bool
    lost: bool


def way(start: str, end: str) -> list[str]:
    """The shortest walk between two rooms."""
    exits: Paths = {room: {} for room in ROOMS}
    for room, direction, other in _CONNECTIONS:
        exits[room][direction] = other
        exits[other][OPPOSITE[direction]] = room
    walks: dict[str, list[str]] = {start: []}
    waiting = deque([start])
    while end not in walks:
        room = waiting.popleft()
        for direction, other in exits[room].items():
            if other not in walks:
                walks[other] = [*walks[room], f"go {direction}"]
                waiting.append(other)
    return walks[end]


class TextWorldHouse:
    """One compiled game for every start room: the player walks there first, which changes nothing else."""

    def __init__(self, folder: Path) -> None:
        options = GameOptions()
        options.seeds = 0  # of the descriptions of the rooms
        maker = textworld.GameMaker(options)
        rooms = {name: maker.new_room(name) for name in ROOMS}
        for room, direction, other in _CONNECTIONS:
            maker.connect(rooms[room].exits[direction], rooms[other].exits[OPPOSITE[direction]])
        maker.set_player(rooms[ROOMS[0]])
        furniture, objects = {}, {}
        for place, room in FURNITURE.items():
            if place in CONTAINERS:
                furniture[place] = maker.new("c", place)
                furniture[place].add_property("closed")
            else:
                furniture[place] = maker.new("s", "table")
            rooms[room].add(furniture[place])
        for name, place in OBJECTS.items():
            objects[name] = maker.new("f" if name in _FOODS else "o", name)
            if name in _FOODS:
                objects[name].add_property("edible")
            furniture[place].add(objects[name])
        stale, fridge = objects["stale food"], furniture["fridge"]
        put_away = Event(conditions={maker.new_fact("in", stale, fridge), maker.new_fact("closed", fridge)})
        eaten = Event(conditions={maker.new_fact("eaten", stale)})
        maker.quests = [Quest(win_events=[put_away], fail_events=[eaten])]
        asked = ("facts", "admissible_commands", "possible_admissible_commands", "inventory", "won", "lost", "feedback")
        game = maker.compile(str(folder / "house.z8"))
        self._env = textworld.start(game, textworld.EnvInfos(**dict.fromkeys(asked, True)))
        self._names = {entity.id: name for name, entity in {**rooms, **furniture, **objects}.items()}
        self._names |= {maker.inventory.id: "inventory", maker.player.id: "player"}
        self.every_command = _actions(self._env.reset().possible_admissible_commands)

    def begin(self, room: str) -> View:
        """A new game from a room."""
        state = self._env.reset()
        for command in way(ROOMS[0], room):
            state = self._env.step(command)[0]
        return self._view(state)

    def step(self, command: str) -> View:
        """Do a command."""
        return self._view(self._env.step(command)[0])

    def _view(self, state: Any) -> View:
        room, places, opened = "", {}, set()
        for fact in state["_facts"]:
            match fact.name, [self._names[argument.name] for argument in fact.arguments]:
                case "at", ["player", name]:
                    room = name
                case "at", [name, where] if name in OBJECTS:
                    places[name] = f"floor of {where}"
                case "in" | "on", [name, where]:
                    places[name] = where
                case "eaten", [name]:
                    places[name] = "eaten"
                case "open", [name]:
                    opened.add(name)
        ended = state.won or state.lost
        assert re.findall(r"-= (.+?) =-", state.feedback)[-1].lower() == room
        if not ended:  # the game prints no inventory once it has ended
            printed = {name for name in OBJECTS if name in state.inventory}
            assert printed == {name for name, where in places.items() if where == "inventory"}
        commands = frozenset() if ended else _actions(state.admissible_commands)
        return View(room, places, "chest" in opened, "fridge" in opened, commands, state.won, state.lost)


def _actions(commands: list[str]) -> frozenset[str]:
    return frozenset(command for command in commands if not _LOOKING.fullmatch(command))
