"""Text-nav: commands that cannot be done or are not understood, and other words for those that can."""

import pytest
from text_nav_reference import (
    CONFIGS,
    DIRECTIONS,
    begin,
    commands,
    current_text,
    done,
    every_command,
    listed,
    packed,
    plain,
    played,
    random_play,
)

from lmrl_data import make
from lmrl_data.game import action_of
from lmrl_data.tasks.text_nav.game import text_nav_game

each_config = pytest.mark.parametrize("config", CONFIGS)


@each_config
def test_unusable_commands_change_nothing_cost_a_turn_and_are_marked(config: str) -> None:
    env, game = make("text-nav", config=config), text_nav_game(config)
    for number, (house, _, _) in enumerate(random_play(seed=8, steps=150)):
        impossible = [command for command in every_command() if done(house, command) is None]
        for action in [impossible[number % len(impossible)], "dance", "take the moon", ""]:
            env.reset(seed=0)
            env._state = packed(house)
            text, reward, terminated, truncated, info = env.step(action)
            assert plain(env._state) == house
            assert (reward, terminated, truncated) == (0.0, False, False)
            assert isinstance(info["invalid_action"], str) and info["invalid_action"]
            # Helpful: it says that nothing was done, what is here, and what can be done.
            now = current_text(game, house)
            assert text.endswith(now) and len(text) > len(now)


def test_what_is_impossible_and_what_is_not_understood_are_told_apart() -> None:
    env = make("text-nav")
    (impossible, *_, why), (unknown, *_, why_not) = played(env, "garden", ["open fridge", "dance"])
    assert impossible != unknown
    assert why["invalid_action"] != why_not["invalid_action"]


SYNONYMS = {
    "take stale food from table": [
        "get stale food from table",
        "grab stale food from the table",
        "pick up stale food from table",
        "Take The Stale Food From The Table",
        "  take   stale food\tfrom table\n",
    ],
    "take bowl": ["get bowl", "grab the bowl", "pick up bowl", "pick up the bowl", "pick bowl up", "PICK THE BOWL UP"],
    "put plate on table": [
        "place plate on table",
        "put the plate on the table",
        "put plate onto table",
        "Put Plate On The Table",
    ],
    "insert stale food into fridge": [
        "put stale food in fridge",
        "put stale food into the fridge",
        "put the stale food in the fridge",
        "place stale food in fridge",
        "place the stale food into the fridge",
        "insert stale food in fridge",
        "INSERT STALE FOOD INTO FRIDGE",
    ],
    "insert utensils into chest": ["put utensils in chest", "place the utensils into the chest"],
    "drop coffee cup": ["drop the coffee cup", "Drop Coffee Cup", "put down coffee cup", "put coffee cup down"],
    "eat fruit": ["eat the fruit", "EAT FRUIT"],
    "open fridge": ["open the fridge", "Open Fridge"],
    "close fridge": ["shut fridge", "shut the fridge", "close the fridge", "SHUT FRIDGE"],
    "close chest": ["shut chest", "shut the chest"],
    **{
        f"go {way}": [way[0], way, f"walk {way}", f"go {way[0]}", f"Go {way.title()}", way[0].upper(), f" {way} "]
        for way in DIRECTIONS
    },
}


@pytest.mark.parametrize(
    ("command", "text"), [(command, text) for command, texts in SYNONYMS.items() for text in texts], ids=repr
)
def test_synonyms_mean_the_same_command(command: str, text: str) -> None:
    game = text_nav_game()
    assert action_of(game, text) == game.action_index[command]


@pytest.mark.parametrize(
    ("room", "before", "text", "command"),
    [
        ("bedroom", [], "take bowl", "take bowl from table"),
        ("living room", [], "pick the stale food up", "take stale food from table"),
        ("kitchen", ["open fridge"], "get fruit", "take fruit from fridge"),
        ("office", ["open chest"], "grab the utensils", "take utensils from chest"),
        ("bedroom", ["take bowl from table", "drop bowl"], "take bowl", "take bowl"),
    ],
)
def test_taking_needs_no_place_where_the_thing_is_seen(room: str, before: list[str], text: str, command: str) -> None:
    env = make("text-nav")
    long_form = played(env, room, [*before, command])[-1]
    assert plain(env._state).places[command.split(" from ")[0].removeprefix("take ")] == "inventory"
    assert played(env, room, [*before, text])[-1] == long_form
    assert "invalid_action" not in long_form[-1]


def test_what_is_in_a_closed_container_or_elsewhere_is_not_taken() -> None:
    for room, text in (("kitchen", "take fruit"), ("office", "take utensils"), ("garden", "take bowl")):
        env = make("text-nav")
        ((*_, info),) = played(env, room, [text])
        assert info["invalid_action"]
        assert plain(env._state) == begin(room)


def test_every_listed_command_is_accepted_in_any_case() -> None:
    game = text_nav_game()
    for number, command in enumerate(every_command()):
        for text in (command, command.upper(), command.title(), f"\n {command.replace(' ', '  ')} "):
            assert action_of(game, text) == number


AMBIGUOUS = ["take food", "get the food", "drop food", "eat food", "take food from table", "insert food into fridge"]
UNKNOWN = [
    "take",
    "take the",
    "go",
    "go up",
    "go northwest",
    "open",
    "open table",
    "close the table",
    "open door",
    "eat bowl and fruit",
    "take stale food and fresh food",
    "take stale food from garden",
    "insert stale food into table please",
    "don't open fridge",
    "do not close fridge",
    "take bowl go north",
    "go north, take bowl",
    "go north.go south",
    "stale food",
    "the",
    "look",
    "inventory",
    "Commands: go north",
]


@pytest.mark.parametrize("text", [*AMBIGUOUS, *UNKNOWN])
def test_what_is_ambiguous_or_unknown_is_no_command(text: str) -> None:
    env = make("text-nav")
    env.reset(seed=0, options={"room": "living room"})
    for setup in ("take stale food from table", "take fresh food from table"):
        observation, reward, terminated, _, info = env.step(text)
        assert (reward, terminated) == (0.0, False)
        assert info["invalid_action"]
        assert listed(observation) == commands(plain(env._state))
        env.step(setup)
    before = plain(env._state)
    observation, *_, info = env.step(text)
    assert info["invalid_action"]
    assert plain(env._state) == before
    assert listed(observation) == commands(before)
