"""Text-nav: the house and what commands do in it, against rules written another way."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from text_nav_reference import (
    CONFIGS,
    DIRECTIONS,
    EXITS,
    FOODS,
    OBJECTS,
    ROOMS,
    begin,
    commands,
    done,
    ending,
    every_command,
    listed,
    outcomes,
    packed,
    plain,
    played,
    random_play,
)

from lmrl_data import make, make_vec
from lmrl_data.game import starts_of
from lmrl_data.tasks.text_nav import rules
from lmrl_data.tasks.text_nav.game import TextNavGame, text_nav_game

each_config = pytest.mark.parametrize("config", CONFIGS)
each_room = pytest.mark.parametrize("room", ROOMS)
# To the fridge from the living room, food in hand.
FETCH = ["take stale food from table", "go west", "go west"]


# --- The house -----------------------------------------------------------------------------------------------------


def test_rooms_things_and_commands() -> None:
    game = text_nav_game()
    assert list(rules.ROOMS) == ROOMS
    assert list(rules.OBJECTS) == OBJECTS
    assert game.action_texts.tolist() == every_command()
    assert [plain(state) for state in game.starts.tolist()] == [begin(room) for room in ROOMS]


def test_every_room_is_a_start() -> None:
    env = make("text-nav")
    rooms = []
    for seed in range(400):
        env.reset(seed=seed)
        rooms.append(env.episode_info()["room"])
    assert all(rooms.count(room) > 25 for room in ROOMS)
    drawn = starts_of(text_nav_game(), np.arange(400, dtype=np.int64)).tolist()
    assert [ROOMS[start] for start in drawn] == rooms


@each_room
@each_config
def test_room_option_fixes_the_start(config: str, room: str) -> None:
    env = make("text-nav", config=config)
    texts = {env.reset(seed=seed, options={"room": room})[0] for seed in range(5)}
    assert len(texts) == 1
    assert env.episode_info() == {"room": room}
    assert plain(env._state) == begin(room)


@pytest.mark.parametrize("room", ["cellar", "", None, 3, ["kitchen"], "bedroom, office"], ids=repr)
def test_room_that_is_not_there_lists_the_rooms(room: Any) -> None:
    with pytest.raises(ValueError) as error:
        make("text-nav").reset(options={"room": room})
    assert all(name in str(error.value) for name in ROOMS)
    assert "\n" not in str(error.value)


def test_ways_lead_there_and_back() -> None:
    opposite = {"north": "south", "south": "north", "east": "west", "west": "east"}
    env = make("text-nav")
    ways = 0
    for room, direction in product(ROOMS, DIRECTIONS):
        if direction not in EXITS[room]:
            continue
        steps = played(env, room, [f"go {direction}", f"go {opposite[direction]}"])
        assert plain(env._state) == begin(room)
        assert [reward for _, reward, *_ in steps] == [0, 0]
        ways += 1
    assert ways == 2 * 8


# --- Transitions ---------------------------------------------------------------------------------------------------


@each_config
def test_random_play_equals_the_reference(config: str) -> None:
    game = text_nav_game(config)
    ends = {"success": 0, "failure": 0}
    state = None
    for house, command, after in random_play(seed=0, steps=6000):
        if state is None:
            state = int(game.starts[ROOMS.index(house.room)])
        state, observation, reward, terminated, success = game.step_one(state, game.action_index[command])
        assert plain(state) == after
        end = ending(after)
        assert (reward, terminated, success) == (float(end == "success"), end is not None, end == "success")
        assert isinstance(observation, int)
        if end is None:
            assert listed(game.observation_texts[observation]) == commands(after)
        else:
            ends[end] += 1
            state = None
    assert all(ends.values())


@given(st.data())
def test_any_play_equals_the_reference(data: st.DataObject) -> None:
    """Single environments of both configs, with the turns counted and the texts of the reference's commands."""
    room = data.draw(st.sampled_from(ROOMS))
    envs = [make("text-nav", config=config) for config in CONFIGS]
    house, end = begin(room), None
    assert [listed(env.reset(seed=0, options={"room": room})[0]) for env in envs] == [commands(house)] * 2
    for turn in range(1, 16):
        others = ["eat stale food", "take stale food", "take fruit", "sing"]
        command = data.draw(st.sampled_from([*list(outcomes(house)) * 3, *others]))
        impossible = done(house, command) is None
        house = done(house, command) or house
        end = ending(house)
        for env in envs:
            text, reward, terminated, truncated, info = env.step(command)
            assert plain(env._state) == house
            assert (reward, terminated) == (float(end == "success"), end is not None)
            assert truncated == (turn == 15 and end is None)
            assert ("invalid_action" in info) == impossible
            assert text in env.observation_space
            if end is None:
                assert listed(text) == commands(house)
            if terminated or truncated:
                assert info["success"] == (end == "success")
                assert info["return"] == reward
        if end:
            break


def states_met(game: TextNavGame, seed: int = 1, steps: int = 5000) -> list[int]:
    met = {packed(house) for house, *_ in random_play(seed, steps)}
    return sorted({*met, *game.starts.tolist()})


@each_config
def test_array_step_equals_single_step(config: str) -> None:
    game = text_nav_game(config)
    states = states_met(game)[::25]
    actions = [*range(-len(game.invalid_reasons), len(game.action_texts))]
    pairs = list(product(states, actions))
    columns = game.step(np.array([s for s, _ in pairs], np.int64), np.array([a for _, a in pairs], np.int32))
    rows = zip(*(column.tolist() for column in columns), strict=True)
    assert [game.step_one(*pair) for pair in pairs] == list(rows)


def test_admissible_commands_equal_the_reference() -> None:
    game = text_nav_game()
    states = states_met(game)
    assert len(states) > 1500
    admissible = game.admissible(np.array(states, np.int64))
    assert admissible.shape == (len(states), len(game.action_texts))
    for row, state in zip(admissible, states, strict=True):
        assert game.action_texts[row].tolist() == commands(plain(state))


@each_config
def test_batched_environment_plays_as_single_ones(config: str) -> None:
    seeds = list(range(12))
    batched, envs = make_vec("text-nav", 12, config=config), [make("text-nav", config=config) for _ in seeds]
    texts, _ = batched.reset(seeds)
    assert texts.tolist() == [env.reset(seed=seed)[0] for env, seed in zip(envs, seeds, strict=True)]
    said = [command for _, command, _ in random_play(seed=3, steps=15 * 12)]
    going = dict(enumerate(envs))
    for turn in range(15):
        actions = ["The " + text if turn % 5 == 4 else text for text in said[12 * turn : 12 * turn + 12]]
        texts, rewards, terminated, truncated, _ = batched.step(actions)
        for row, env in list(going.items()):
            one = env.step(actions[row])
            assert (texts[row], rewards[row], terminated[row], truncated[row]) == one[:4]
            if one[2] or one[3]:
                del going[row]
    assert not going


# --- Ends ----------------------------------------------------------------------------------------------------------


@each_config
def test_success_is_the_fridge_closed_on_the_stale_food(config: str) -> None:
    env = make("text-nav", config=config)
    *before, last = played(env, "living room", [*FETCH, "open fridge", "insert stale food into fridge", "close fridge"])
    assert [step[1:4] for step in before] == [(0.0, False, False)] * 5
    assert last[1:] == (1.0, True, False, {"success": True, "return": 1.0})
    assert last[0] in env.observation_space


def test_the_fridge_must_be_closed_after_the_food_is_in() -> None:
    env = make("text-nav")
    steps = played(env, "living room", [*FETCH, "open fridge", "close fridge", "open fridge"])
    steps += [env.step(c) for c in ("insert stale food into fridge", "take stale food from fridge", "close fridge")]
    assert all(step[1:4] == (0.0, False, False) for step in steps)
    env.step("open fridge")
    env.step("insert stale food into fridge")
    assert env.step("go north")[1:4] == (0.0, False, False)
    env.step("go south")
    assert env.step("close fridge")[1:4] == (1.0, True, False)


def test_only_the_stale_food_and_only_the_fridge_count() -> None:
    env = make("text-nav")
    other = ["take fresh food from table", "go west", "go west", "open fridge", "insert fresh food into fridge"]
    assert all(step[1:4] == (0.0, False, False) for step in played(env, "living room", [*other, "close fridge"]))
    chest = ["take stale food from table", "go south", "open chest", "insert stale food into chest", "close chest"]
    assert all(step[1:4] == (0.0, False, False) for step in played(env, "living room", chest))
    assert plain(env._state).places["stale food"] == "chest"


@each_config
def test_eating_the_stale_food_fails(config: str) -> None:
    env = make("text-nav", config=config)
    steps = played(env, "living room", ["take stale food from table", "eat stale food"])
    assert steps[-1][1:] == (0.0, True, False, {"success": False, "return": 0.0})
    assert steps[-1][0] in env.observation_space
    success = played(env, "living room", [*FETCH, "open fridge", "insert stale food into fridge", "close fridge"])
    assert steps[-1][0] != success[-1][0]


def test_other_food_is_gone_once_eaten() -> None:
    env = make("text-nav")
    for room, actions in {
        "living room": ["take fresh food from table", "eat fresh food"],
        "kitchen": ["open fridge", "take fruit from fridge", "eat fruit"],
    }.items():
        food = actions[-1].removeprefix("eat ")
        text, *rest = played(env, room, actions)[-1]
        assert rest == [0.0, False, False, {}]
        assert plain(env._state).places[food] == "eaten"
        assert food not in text


def test_what_is_no_food_is_not_eaten() -> None:
    assert set(OBJECTS) - set(FOODS) == {"bowl", "coffee cup", "plate", "utensils"}
    env = make("text-nav")
    *_, info = played(env, "bedroom", ["take bowl from table", "eat bowl"])[-1]
    assert info["invalid_action"]
    assert plain(env._state).places["bowl"] == "inventory"


@each_config
def test_fifteen_turns(config: str) -> None:
    env = make("text-nav", config=config)
    wait = ["go east", "go west"] * 4 + ["sing"]
    end = [*FETCH, "open fridge", "insert stale food into fridge", "close fridge"]
    steps = played(env, "living room", [*wait, *end])
    assert all(step[2:4] == (False, False) for step in steps[:-1])
    assert steps[-1][1:] == (1.0, True, False, {"success": True, "return": 1.0})
    steps = played(env, "living room", [*wait, "sing", *end[:-1]])
    assert all(step[2:4] == (False, False) for step in steps[:-1])
    assert steps[-1][1:] == (0.0, False, True, {"success": False, "return": 0.0})
    steps = played(env, "garden", ["sing"] * 15)
    assert steps[-1][1:4] == (0.0, False, True)
    assert steps[-1][4].keys() == {"invalid_action", "success", "return"}
