"""Text-nav: what is said of the house, and what is not."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_nav_reference import (
    CONFIGS,
    DIRECTIONS,
    EXITS,
    FURNITURE,
    HOME,
    OBJECTS,
    ROOMS,
    House,
    commands,
    current_text,
    description,
    done,
    ending,
    listed,
    packed,
    plain,
    random_play,
    visible,
)

from lmrl_data import make
from lmrl_data.tasks.text_nav.game import text_nav_game

each_config = pytest.mark.parametrize("config", CONFIGS)


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def names(text: str, name: str) -> bool:
    return f" {name} " in f" {' '.join(words(text))} "


@each_config
def test_texts_show_what_is_seen_and_nothing_else(config: str) -> None:
    game = text_nav_game(config)
    for house, command, after in random_play(seed=5, steps=1500):
        if ending(after) or done(house, command) is None:
            continue
        state = packed(house)
        text = str(game.observation_texts[game.step_one(state, game.action_index[command])[1]])
        assert listed(text) == commands(after)
        said = description(text)
        carried = after.holds("inventory")
        shown = visible(after) + (carried if config == "fully_observed" else [])
        assert [thing for thing in OBJECTS if names(said, thing)] == sorted(shown, key=OBJECTS.index)
        assert [way for way in DIRECTIONS if names(said, way)] == [
            way for way in DIRECTIONS if way in EXITS[after.room]
        ]
        furniture = FURNITURE.get(after.room)
        assert [name for name in ("table", "chest", "fridge") if names(said, name)] == (
            [furniture] if furniture else []
        )
        if furniture in ("chest", "fridge"):
            is_open = furniture in after.open
            assert (names(said, "open"), names(said, "closed")) == (is_open, not is_open)
        else:
            assert not (names(said, "open") or names(said, "closed"))
        # The room is named where it is shown; "kitchen" and the like occur in no other way.
        rooms = [room for room in ROOMS if names(said, room)]
        assert rooms == ([after.room] if config == "fully_observed" else [])


def test_furniture_and_floor_are_told_apart() -> None:
    for config in CONFIGS:
        env = make("text-nav", config=config)
        on_table = env.reset(seed=0, options={"room": "bedroom"})[0]
        env.step("take bowl from table")
        on_floor = env.step("drop bowl")[0]
        assert description(on_table) != description(on_floor)


@each_config
def test_same_state_same_text(config: str) -> None:
    """Nothing of how a state was reached is in its text."""
    game = text_nav_game(config)
    for house, command, after in random_play(seed=6, steps=800):
        if ending(after) is None and done(house, command):
            observation = game.step_one(packed(house), game.action_index[command])[1]
            assert game.observation_texts[observation] == current_text(game, after)
    for start, state in zip(game.first_observation, game.starts, strict=True):
        assert game.observation_texts[start] == current_text(game, plain(int(state)))


def test_partially_observed_texts_hide_room_and_inventory_only() -> None:
    """Two states that differ in what is carried look alike but for the commands; nothing else tells them apart."""
    env = make("text-nav", config="partially_observed")
    env.reset(seed=0, options={"room": "bathroom"})
    empty = [env.step(command)[0] for command in ("go north", "go south")][1]
    env.reset(seed=0, options={"room": "bedroom"})
    env.step("take bowl from table")
    carrying = env.step("go south")[0]
    assert description(empty) == description(carrying)
    assert listed(carrying) == [*listed(empty), "drop bowl"]


@each_config
def test_closed_containers_show_nothing(config: str) -> None:
    env = make("text-nav", config=config)
    for room, container, thing in (("office", "chest", "utensils"), ("kitchen", "fridge", "fruit")):
        closed = env.reset(seed=0, options={"room": room})[0]
        assert not names(closed, thing)
        opened = env.step(f"open {container}")[0]
        assert names(description(opened), thing)
        assert env.step(f"close {container}")[0] == closed


@each_config
def test_first_observations_differ(config: str) -> None:
    """So an agent that has learnt the house knows from the first observation where it is."""
    env = make("text-nav", config=config)
    texts = [env.reset(seed=0, options={"room": room})[0] for room in ROOMS]
    assert len(set(texts)) == len(ROOMS)
    game = text_nav_game(config)
    assert texts == [game.observation_texts[index] for index in game.first_observation]


@each_config
def test_texts_lie_in_the_space_and_have_one_number(config: str) -> None:
    env, game = make("text-nav", config=config), text_nav_game(config)
    indices = set(game.first_observation.tolist())
    for house, command, _ in random_play(seed=7, steps=2000):
        state = packed(house)
        for action in (game.action_index[command], *(-1 - reason for reason in range(len(game.invalid_reasons)))):
            indices.add(game.step_one(state, action)[1])
    assert len(indices) > 1000
    texts = {index: str(game.observation_texts[index]) for index in indices}
    assert len(set(texts.values())) == len(indices)
    for index, text in texts.items():
        assert text in env.observation_space
        assert game.observation_of(text) == index


# What an observation may list, and what none does.
MADE_UP = [
    "open chest",
    "open fridge",
    "close fridge",
    "open table",
    "close table",
    "go up",
    "",
    "drop bowl",
    "take bowl",
]


@given(
    st.sampled_from(ROOMS),
    st.sampled_from(["", "You cannot do that now.\n", "You are in the kitchen. ", "Exits: south, west.", "\n"]),
    st.lists(st.sampled_from(MADE_UP), max_size=6),
    st.sampled_from([".", "", "\n", ". "]),
)
def test_texts_made_up_of_parts_of_observations_have_no_number(
    room: str, head: str, more: list[str], tail: str
) -> None:
    ways = [f"go {way}" for way in DIRECTIONS if way in EXITS[room]]
    text = f"{head}\nCommands: {', '.join([*ways, *more])}{tail}"
    for game in map(text_nav_game, CONFIGS):
        assert game.observation_of(text) is None


@each_config
def test_changed_observations_have_no_number(config: str) -> None:
    game, other = text_nav_game(config), text_nav_game(CONFIGS[config == CONFIGS[0]])
    for house, *_ in random_play(seed=9, steps=200):
        text = current_text(game, house)
        shuffled = f"{description(text)}\nCommands: {', '.join(reversed(listed(text)))}."
        longer = text.replace("Commands: ", "Commands: open table, ")
        for changed in (text[1:], text[:-1], text + " ", text.upper(), longer, description(text), f"{text}\n{text}"):
            assert game.observation_of(changed) is None
        assert game.observation_of(shuffled) is None or len(listed(text)) == 1
        assert other.observation_of(text) is None


@each_config
def test_longest_texts_lie_in_the_space(config: str) -> None:
    """Everything carried, or everything in one place."""
    env, game = make("text-nav", config=config), text_nav_game(config)
    for room in ROOMS:
        for place in {"inventory", f"floor of {room}", *HOME.values()}:
            house = House(room, dict.fromkeys(OBJECTS, place), frozenset({"chest", "fridge"}))
            state = packed(house)
            for reason in range(len(game.invalid_reasons)):
                text = game.observation_texts[game.step_one(state, -1 - reason)[1]]
                assert text in env.observation_space
                assert listed(text) == commands(house)
