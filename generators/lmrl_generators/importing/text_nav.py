"""The layout of text navigation: ``text_history``, ``rewards``, ``dones``."""

from typing import Any

from lmrl_data.game import action_of
from lmrl_data.tasks.text_nav.game import MAX_TURNS, text_nav_game
from lmrl_data.tasks.text_nav.rules import DIRECTIONS, EXITS
from lmrl_generators.importing.plays import Play, Reading, Unreadable, fields_of, play_of_history, reading

FIELDS = ("text_history", "rewards", "dones")
_LISTED = "Admissible commands: "


def read(value: Any, config: str, env_id: str) -> Reading:
    """An episode of a record, played again in our house from the room that its first commands tell."""
    texts, rewards, dones = fields_of(value, FIELDS)
    if not isinstance(texts, list):
        raise Unreadable("the text_history is no list")
    play = play_of_history(texts, rewards, dones)
    if len(play.actions) > MAX_TURNS:
        play.faults.append(f"longer than {MAX_TURNS} turns")
    room = _room(play.observations[0])
    right, success, terminated = _replayed(play, room) if room else _believed(play)
    differences = [
        "the command that ends the quest, worth 1" if rule else "another command, worth 0"
        for found, rule in zip(play.rewards, right, strict=True)
        if found != rule
    ]
    return reading(
        play, success=success, terminated=terminated, info={"room": room}, env_id=env_id, differences=differences
    )


def _room(text: str) -> str | None:
    """The room whose exits are those that a text lists; no two rooms have the same."""
    listed = {command.strip(" .") for command in text.rpartition(_LISTED)[2].split(",")}
    exits = {direction for direction in DIRECTIONS if f"go {direction}" in listed}
    return next((room for room, ways in EXITS.items() if set(ways) == exits), None)


def _replayed(play: Play, room: str) -> tuple[list[float], bool, bool]:
    """The rewards by the rules, and whether the quest was done and the game over."""
    game = text_nav_game()
    state = int(game.starts[game.start_of(room)])
    right: list[float] = []
    success = over = False
    for action in play.actions:
        if over:
            play.faults.append("goes on after the end of the game")
            right += [0.0] * (len(play.actions) - len(right))
            break
        state, _, reward, over, success = game.step_one(state, action_of(game, action))
        right.append(reward)
    return right, success, over


def _believed(play: Play) -> tuple[list[float], bool, bool]:
    """The published rewards, where nothing tells the room."""
    play.faults.append("the first text lists no exits of a room of the house: its rewards are not checked")
    success = play.rewards[-1] > 0
    return play.rewards, success, success
