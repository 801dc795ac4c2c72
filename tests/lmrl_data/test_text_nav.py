"""Text-nav: the house, its commands and its texts, against rules written another way."""

import re
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
    FURNITURE,
    HOME,
    OBJECTS,
    ROOMS,
    House,
    begin,
    commands,
    done,
    ending,
    every_command,
    outcomes,
    random_play,
    visible,
)

from lmrl_data import make, make_vec
from lmrl_data.env import TextEnv
from lmrl_data.game import action_of, starts_of
from lmrl_data.tasks.text_nav import rules
from lmrl_data.tasks.text_nav.env import TextNavEnv
from lmrl_data.tasks.text_nav.game import TextNavGame, text_nav_game

each_config = pytest.mark.parametrize("config", CONFIGS)
each_room = pytest.mark.parametrize("room", ROOMS)
# To the fridge from the living room, food in hand.
FETCH = ["take stale food from table", "go west", "go west"]


def plain(state: int) -> House:
    """A state of the game in the reference's words."""
    house = rules.unpack(state)
    opened = {"chest": house.chest_open, "fridge": house.fridge_open}
    return House(house.room, house.places, frozenset(name for name, is_open in opened.items() if is_open))


def listed(observation: str) -> list[str]:
    """The commands that a text lists."""
    line = observation.splitlines()[-1]
    assert line.startswith("Commands: ") and line.endswith(".")
    return line.removeprefix("Commands: ").removesuffix(".").split(", ")


def description(observation: str) -> str:
    """A text without its list of commands."""
    return "\n".join(observation.splitlines()[:-1])


def played(env: TextEnv, room: str, actions: list[str]) -> list[tuple[str, float, bool, bool, dict[str, Any]]]:
    env.reset(seed=0, options={"room": room})
    return [env.step(action) for action in actions]


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


def test_task_page_says_how_long_the_quest_takes() -> None:
    """The mean of the shortest plans (see the policies' tests), 7.625, rounded or not."""
    assert re.search(r"6 to 9\s+commands \(mean 7\.6(25|3)\)", TextNavEnv.__doc__ or "")


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
    met = {rules.pack(as_rules(house)) for house, *_ in random_play(seed, steps)}
    return sorted({*met, *game.starts.tolist()})


def as_rules(house: House) -> rules.House:
    return rules.House(house.room, house.places, "chest" in house.open, "fridge" in house.open)


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


# --- What is said --------------------------------------------------------------------------------------------------


def words(text: str) -> list[str]:
    return re.findall(r"[a-z]+", text.lower())


def names(text: str, name: str) -> bool:
    return f" {name} " in f" {' '.join(words(text))} "


def current_text(game: TextNavGame, house: House) -> str:
    """What is said of a house after a usable command: there and back again, from and to the same state."""
    state = rules.pack(as_rules(house))
    for command, back in (("open", "close"), ("close", "open")):
        for container in ("chest", "fridge"):
            if f"{command} {container}" in outcomes(house):
                state = game.step_one(state, game.action_index[f"{command} {container}"])[0]
                return str(game.observation_texts[game.step_one(state, game.action_index[f"{back} {container}"])[1]])
    direction, room = next(iter(EXITS[house.room].items()))
    back = next(way for way, to in EXITS[room].items() if to == house.room)
    state = game.step_one(state, game.action_index[f"go {direction}"])[0]
    return str(game.observation_texts[game.step_one(state, game.action_index[f"go {back}"])[1]])


@each_config
def test_texts_show_what_is_seen_and_nothing_else(config: str) -> None:
    game = text_nav_game(config)
    for house, command, after in random_play(seed=5, steps=1500):
        if ending(after) or done(house, command) is None:
            continue
        state = rules.pack(as_rules(house))
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
            observation = game.step_one(rules.pack(as_rules(house)), game.action_index[command])[1]
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
        state = rules.pack(as_rules(house))
        for action in (game.action_index[command], *(-1 - reason for reason in range(len(game.invalid_reasons)))):
            indices.add(game.step_one(state, action)[1])
    assert len(indices) > 1000
    texts = {index: str(game.observation_texts[index]) for index in indices}
    assert len(set(texts.values())) == len(indices)
    for index, text in texts.items():
        assert text in env.observation_space
        assert game.observation_of(text) == index


PIECES = [
    "You are in the kitchen.",
    "Exits: south, west.",
    "On the table: bowl.",
    "There is a closed fridge.",
    "\n",
    " ",
    "Commands: ",
    "\nCommands: go south, go west",
    ", ".join(["", *every_command()]),
    *(f", {command}" for command in [*every_command(), "open table", "close table"]),
    ", ",
    ".",
]


@given(st.lists(st.sampled_from(PIECES), max_size=9).map("".join))
def test_texts_that_no_observation_has_have_no_number(text: str) -> None:
    for game in map(text_nav_game, CONFIGS):
        number = game.observation_of(text)
        assert number is None or game.observation_texts[number] == text


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
            state = rules.pack(as_rules(house))
            for reason in range(len(game.invalid_reasons)):
                text = game.observation_texts[game.step_one(state, -1 - reason)[1]]
                assert text in env.observation_space
                assert listed(text) == commands(house)


# --- What cannot be done, and other words for what can ---------------------------------------------------------------


@each_config
def test_unusable_commands_change_nothing_cost_a_turn_and_are_marked(config: str) -> None:
    env, game = make("text-nav", config=config), text_nav_game(config)
    for number, (house, _, _) in enumerate(random_play(seed=8, steps=150)):
        impossible = [command for command in every_command() if done(house, command) is None]
        for action in [impossible[number % len(impossible)], "dance", "take the moon", ""]:
            env.reset(seed=0)
            env._state = rules.pack(as_rules(house))
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
