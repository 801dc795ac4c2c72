"""What the page draws of an episode beside its texts: the colours of a guess, the way through a maze, a house, a board.

A scene has a backdrop, the same for all episodes of a task, and a frame for each turn. The simulators' rules make the
frames, so the drawing does not depend on how a text is worded.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from lmrl_data.game import action_of
from lmrl_data.registry import make_game
from lmrl_data.tasks.maze.game import MazeGame
from lmrl_data.tasks.text_nav import rules as house

Row = Mapping[str, Any]
Frames = list[Any]

_COLOURS = re.compile("[gyb]{5}")
_STEPS = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}


def kind_of(task: str) -> str:
    """How the episodes of a task are drawn; ``dialogue`` is the texts alone."""
    return {"wordle": "wordle", "maze": "maze", "text-nav": "house", "chess": "chess", "endgames": "chess"}.get(
        task, "dialogue"
    )


def backdrop(task: str, config: str) -> dict[str, Any] | None:
    """What stays the same in all episodes of a config."""
    if kind_of(task) == "maze":
        game = make_game(task, config)
        assert isinstance(game, MazeGame)
        return {"cells": game.maze.cells, "goal": game.maze.goal}
    if kind_of(task) == "house":
        return {
            "rooms": _floor_plan(),
            "doors": [[room, other] for room, exits in house.EXITS.items() for other in exits.values() if room < other],
            "furniture": house.FURNISHED,
        }
    return None


def frames(task: str, config: str, row: Row) -> Frames:
    """A frame per turn of an episode; of maze and house one more, for the start.

    wordle: ``[letters, colours]``, both empty where the guess was unusable. maze: number of the cell. house: ``[room,
    chest is open, fridge is open, {thing: place}]``. chess: the moves of both sides in UCI. Otherwise none.
    """
    makers: dict[str, Callable[[str, str, Row], Frames]] = {
        "wordle": _guesses,
        "maze": _cells,
        "house": _houses,
        "chess": _moves,
    }
    maker = makers.get(kind_of(task))
    return maker(task, config, row) if maker else []


def _guesses(task: str, config: str, row: Row) -> Frames:
    texts = [message["content"] for message in row["messages"]]
    found: Frames = []
    for action, reply in zip(texts[1::2], texts[2::2], strict=True):
        colours = reply.replace(" ", "")
        usable = _COLOURS.fullmatch(colours)
        found.append(["".join(action.split()).lower(), colours] if usable else ["", ""])
    return found


def _cells(task: str, config: str, row: Row) -> Frames:
    return _states(task, config, row)


def _houses(task: str, config: str, row: Row) -> Frames:
    houses = map(house.unpack, _states(task, config, row))
    return [[state.room, state.chest_open, state.fridge_open, state.places] for state in houses]


def _states(task: str, config: str, row: Row) -> list[int]:
    """The state before the first turn of an array game, and after each turn."""
    game = make_game(task, config)
    assert game is not None
    start = next(i for i in range(len(game.starts)) if game.episode_info(i) == row["info"])
    states = [int(game.starts[start])]
    for message in row["messages"][1::2]:
        states.append(int(game.step_one(states[-1], action_of(game, message["content"]))[0]))
    return states


def _moves(task: str, config: str, row: Row) -> Frames:
    info = row["info"]
    return [list(moves) for moves in zip(info["agent_moves"], info["opponent_moves"], strict=True)]


def _floor_plan() -> dict[str, tuple[int, int]]:
    """The (column, row) of each room on a plan, found by walking through the house."""
    plan = {house.ROOMS[0]: (0, 0)}
    waiting = [house.ROOMS[0]]
    while waiting:
        room = waiting.pop()
        for direction, other in house.EXITS[room].items():
            if other not in plan:
                (column, row), (right, down) = plan[room], _STEPS[direction]
                plan[other] = (column + right, row + down)
                waiting.append(other)
    left, top = (min(place[axis] for place in plan.values()) for axis in (0, 1))
    return {room: (column - left, row - top) for room, (column, row) in plan.items()}
