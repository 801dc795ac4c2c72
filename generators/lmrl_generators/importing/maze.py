"""The layouts of the maze: a list of ``state``, ``action``, ``reward``, ``done``, or a text history."""

import re
from typing import Any

from lmrl_data.game import action_of
from lmrl_data.tasks.maze.game import MAX_MOVES, MazeGame, maze_game
from lmrl_generators.importing.plays import (
    Play,
    Reading,
    Unreadable,
    fields_of,
    play_of_history,
    play_of_transitions,
    reading,
)

TRANSITION = ("state", "action", "reward", "done")
HISTORY = ("text_history", "rewards", "dones")
# The published texts write 10 as "1 0".
_NUMBER = r"([0-9](?: ?[0-9]){0,2})"
_POSITION = re.compile(rf"current position is at position {_NUMBER}, {_NUMBER}")
_GOAL = re.compile(rf"goal is at position {_NUMBER}, {_NUMBER}")
_REACHED, _SWALLOWED = "Success", "Failure"


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a record; what its rewards should be is known where it tells the position."""
    if isinstance(value, list):
        play = play_of_transitions(value, "state")
    else:
        texts, rewards, dones = fields_of(value, HISTORY)
        if not isinstance(texts, list):
            raise Unreadable("the text_history is no list")
        play = play_of_history(texts, rewards, dones)
    told = _POSITION.search(play.observations[0]) is not None
    if told != (config == "fully_observed"):
        other = "fully_observed" if told else "partially_observed"
        raise Unreadable(f"it {'tells' if told else 'does not tell'} the position; give --config {other}")
    if _SWALLOWED in play.observations:
        play.faults.append("the last action is not executed")
    if len(play.actions) > MAX_MOVES:
        play.faults.append(f"longer than {MAX_MOVES} turns")
    return _with_positions(play, env_id) if told else _without_positions(play, env_id)


def _with_positions(play: Play, env_id: str) -> Reading:
    goal = _cell(_GOAL, play.observations[0])
    try:
        game = maze_game(goal=goal)
        cells = [game.maze.number(_cell(_POSITION, text), "position") for text in play.observations[:-1]]
    except ValueError as error:
        raise Unreadable(f"another maze than the published one: {error}") from error
    differences, success = [], False
    for turn, (cell, action, reward) in enumerate(zip(cells, play.actions, play.rewards, strict=True)):
        after, _, right, success, _ = game.step_one(cell, action_of(game, action))
        differences += _difference(reward, right)
        if turn + 1 < len(cells) and cells[turn + 1] != after and _NOT_FOLLOWING not in play.faults:
            play.faults.append(_NOT_FOLLOWING)
    info = {"start": list(game.maze.cells[cells[0]]), "goal": None if goal is None else list(goal)}
    return reading(play, success=success, terminated=success, info=info, env_id=env_id, differences=differences)


_NOT_FOLLOWING = "a position does not follow from the move before"


def _without_positions(play: Play, env_id: str) -> Reading:
    """Only the end tells whether the goal was reached: by its text, or else by its reward."""
    game = maze_game("partially_observed")
    end = play.observations[-1]
    success = end == _REACHED or (not end and play.rewards[-1] == 0)
    right = [_move_reward(game, action) for action in play.actions]
    if success:
        right[-1] = 0.0
    differences = [kind for found, rule in zip(play.rewards, right, strict=True) for kind in _difference(found, rule)]
    info = {"start": None, "goal": list(game.maze.cells[game.maze.goal])}
    return reading(play, success=success, terminated=success, info=info, env_id=env_id, differences=differences)


def _move_reward(game: MazeGame, action: str) -> float:
    return -1.0 if action_of(game, action) >= 0 else -4.0


def _difference(found: float, right: float) -> list[str]:
    kinds = {0.0: "the move that reaches the goal, worth 0", -1.0: "another move, worth -1"}
    return [] if found == right else [kinds.get(right, "an unusable action, worth -4")]


def _cell(pattern: re.Pattern[str], text: str) -> tuple[int, int] | None:
    found = pattern.search(text)
    if found is None:
        return None
    row, column = (part.replace(" ", "") for part in found.groups())
    return int(row), int(column)
