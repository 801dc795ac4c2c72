"""The house against TextWorld, the game that it follows: the same commands, played in both, give the same."""

import random
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import pytest
from textworld_house import CONTAINERS, FURNITURE, OBJECTS, OPPOSITE, ROOMS, TextWorldHouse, View, way

from lmrl_data import make
from lmrl_data.tasks.text_nav.game import text_nav_game
from lmrl_data.tasks.text_nav.rules import unpack

# The interpreter has a table of published games, and says that it does not know this one.
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore:Game .* is not fully supported")]

TURNS = 15
CONFIGS = ["fully_observed", "partially_observed"]

Chooser = Callable[[View, random.Random], str]


@pytest.fixture(scope="module")
def peer(tmp_path_factory: pytest.TempPathFactory) -> TextWorldHouse:
    return TextWorldHouse(tmp_path_factory.mktemp("textworld"))


def our_view(env: Any, observation: str, ended: bool, won: bool) -> View:
    house = unpack(env._state)
    commands = set() if ended else re.search(r"Commands: (.+)\.$", observation).group(1).split(", ")
    return View(
        room=house.room,
        places=house.places,
        chest_open=house.chest_open,
        fridge_open=house.fridge_open,
        commands=frozenset(commands),
        won=won,
        lost=ended and not won,
    )


def play(peer: TextWorldHouse, env: Any, room: str, choose: Chooser, draw: random.Random) -> list[View]:
    """Play an episode in both and compare after each step. Returns the views, the first one before any command."""
    views = [peer.begin(room)]
    assert our_view(env, env.reset(options={"room": room})[0], False, False) == views[0]
    played = [f"start in the {room}"]
    for turn in range(1, TURNS + 1):
        before = views[-1]
        played.append(choose(before, draw))
        theirs = peer.step(played[-1])
        views.append(theirs)
        observation, reward, terminated, truncated, info = env.step(played[-1])
        assert our_view(env, observation, terminated, info.get("success", False)) == theirs, played
        assert reward == float(theirs.won), played
        assert truncated == (turn == TURNS and not terminated), played
        assert ("invalid_action" in info) == (theirs == before), played
        if terminated:
            break
    return views


def episodes(config: str, each: int) -> Iterator[tuple[Any, str, random.Random]]:
    """Some episodes from each room: the environment, the room, and a generator of the episode's own."""
    env = make("text-nav", config=config)
    for room in ROOMS:
        for number in range(each):
            yield env, room, random.Random(f"{config} {room} {number}")


def admissible(view: View, draw: random.Random) -> str:
    """Any admissible command."""
    return draw.choice(sorted(view.commands))


def busy(view: View, draw: random.Random) -> str:
    """An admissible command, and mostly one that is about the quest or at least about a thing."""
    about_quest = sorted(command for command in view.commands if re.search("stale|fridge", command))
    about_things = sorted(command for command in view.commands if not command.startswith("go "))
    return draw.choice([draw.choice(group) for group in (about_quest, about_things) if group] or sorted(view.commands))


# Other words that TextWorld knows, too. "get X" and "pick up X" stand for "take X" only, and not for "take X from Y" as
# well: the game takes X from Y then, but TextWorld's logic does not follow.
WORDINGS = [
    (r"go (\w)\w+", r"\1"),
    (r"go (\w+)", r"\1"),
    (r"go (\w+)", r"walk \1"),
    (r"take (.+) from (\w+)", r"get \1 from \2"),
    (r"take (.+) from (\w+)", r"remove the \1 from the \2"),
    (r"take (.+) from \w+", r"take \1"),
    (r"take ((?!.* from ).+)", r"get \1"),
    (r"take ((?!.* from ).+)", r"pick up the \1"),
    (r"put (.+) on table", r"put the \1 onto the table"),
    (r"insert (.+) into (\w+)", r"put \1 in \2"),
    (r"insert (.+) into (\w+)", r"Put the \1 into the \2."),
    (r"drop (.+)", r"put down \1"),
    (r"drop (.+)", r"put the \1 down"),
    (r"eat (.+)", r"eat the \1"),
    (r"open (\w+)", r"OPEN THE \1"),
    (r"close (\w+)", r"shut \1"),
]


def reworded(view: View, draw: random.Random) -> str:
    """An admissible command in other words."""
    command = busy(view, draw)
    return draw.choice([re.sub(words, other, command) for words, other in WORDINGS if re.fullmatch(words, command)])


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("choose", [admissible, busy, reworded])
def test_random_commands(peer: TextWorldHouse, config: str, choose: Chooser) -> None:
    for env, room, draw in episodes(config, each=6):
        play(peer, env, room, choose, draw)


@pytest.mark.parametrize("config", CONFIGS)
def test_commands_that_cannot_be_done_now(peer: TextWorldHouse, config: str) -> None:
    every = sorted(peer.every_command)

    def meddling(view: View, draw: random.Random) -> str:
        """A third of them admissible, a third about a thing that is at hand, a third any."""
        near = [name for name, place in view.places.items() if place == "inventory" or view.room in place]
        about_near = [command for command in every if any(name in command for name in near)]
        return draw.choice(draw.choice([sorted(view.commands), about_near or every, every]))

    refused = 0
    for env, room, draw in episodes(config, each=6):
        views = play(peer, env, room, meddling, draw)
        refused += sum(before == after for before, after in pairwise(views))
    assert refused > 100


def test_the_commands_are_the_same(peer: TextWorldHouse) -> None:
    assert set(text_nav_game().action_texts) == peer.every_command


def put_away(room: str) -> list[str]:
    fetch = [*way(room, "living room"), "take stale food from table"]
    return [*fetch, *way("living room", "kitchen"), "open fridge", "insert stale food into fridge", "close fridge"]


def put_away_fridge_first(room: str) -> list[str]:
    fetch = [*way("kitchen", "living room"), "take stale food from table", *way("living room", "kitchen")]
    return [*way(room, "kitchen"), "open fridge", *fetch, "insert stale food into fridge", "close fridge"]


def put_away_by_way_of_the_chest(room: str) -> list[str]:
    hide = ["open chest", "insert stale food into chest", "close chest", "open chest", "take stale food from chest"]
    fetch = [*way(room, "living room"), "take stale food from table", *way("living room", "office"), *hide]
    return [*fetch, *way("office", "kitchen"), "open fridge", "insert stale food into fridge", "close fridge"]


def eat(room: str) -> list[str]:
    fresh = ["take fresh food from table", "eat fresh food"]
    return [*way(room, "living room"), *fresh, "take stale food from table", "eat stale food"]


PLANS = [put_away, put_away_fridge_first, put_away_by_way_of_the_chest, eat]


def following(plan: list[str], detours: float) -> Chooser:
    """Do the commands of a plan, then any. Before each, with the given probability, do another and take it back."""
    waiting = list(plan)

    def choose(view: View, draw: random.Random) -> str:
        if draw.random() < detours:
            aside = draw.choice([command for command in sorted(view.commands) if not command.startswith("eat ")])
            waiting.insert(0, undo(aside))
            return aside
        return waiting.pop(0) if waiting else admissible(view, draw)

    return choose


def undo(command: str) -> str:
    """The command that takes an admissible one back."""
    words = command.split()
    match words:
        case ["go", direction]:
            return f"go {OPPOSITE[direction]}"
        case ["open" | "close" as verb, container]:
            return f"{'close' if verb == 'open' else 'open'} {container}"
        case ["put" | "insert", *name, "on" | "into", place]:
            return f"take {' '.join(name)} from {place}"
        case ["take", *name, "from", "table"]:
            return f"put {' '.join(name)} on table"
        case ["take", *name, "from", container]:
            return f"insert {' '.join(name)} into {container}"
        case ["take", *name]:
            return f"drop {' '.join(name)}"
        case ["drop", *name]:
            return f"take {' '.join(name)}"
    raise AssertionError(f"{command} cannot be taken back")


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("plan", PLANS)
def test_plans(peer: TextWorldHouse, config: str, plan: Callable[[str], list[str]]) -> None:
    env = make("text-nav", config=config)
    for room in ROOMS:
        commands = plan(room)
        end = play(peer, env, room, following(commands, detours=0), random.Random(0))[-1]
        in_time = len(commands) <= TURNS
        assert (end.won, end.lost) == (in_time and plan is not eat, in_time and plan is eat)


def errand(thing: str, place: str) -> list[str]:
    """Bring a thing from where it is to some furniture, put it there, take it again, drop it and take it again."""
    home, there = OBJECTS[thing].split()[-1], place.split()[-1]
    fetch = [*([f"open {home}"] if home in CONTAINERS else []), f"take {thing} from {home}"]
    bring = [*way(FURNITURE[OBJECTS[thing]], FURNITURE[place]), *([f"open {there}"] if there in CONTAINERS else [])]
    put = f"insert {thing} into {there}" if there in CONTAINERS else f"put {thing} on table"
    return [*fetch, *bring, put, f"take {thing} from {there}", f"drop {thing}", f"take {thing}"]


@pytest.mark.parametrize("config", CONFIGS)
def test_each_thing_on_and_in_all_furniture(peer: TextWorldHouse, config: str) -> None:
    env = make("text-nav", config=config)
    for thing, home in OBJECTS.items():
        for place in FURNITURE:
            commands = errand(thing, place)
            views = play(peer, env, FURNITURE[home], following(commands, detours=0), random.Random(f"{thing} {place}"))
            assert views[len(commands)].places[thing] == "inventory"


@pytest.mark.parametrize("config", CONFIGS)
def test_plans_with_detours(peer: TextWorldHouse, config: str) -> None:
    ends = set()
    for plan in PLANS:
        for env, room, draw in episodes(config, each=2):
            end = play(peer, env, room, following(plan(room), detours=0.15), draw)[-1]
            ends.add((end.won, end.lost))
    assert ends == {(True, False), (False, True), (False, False)}
