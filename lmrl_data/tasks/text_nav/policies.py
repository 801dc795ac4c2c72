"""The house's scripted policies. Each is a pure function of seeds and histories (`lmrl_data.game.ArrayPolicy`)."""

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from lmrl_data.game import ArrayPolicy, Bools, Ints, States
from lmrl_data.policy import GamePolicy
from lmrl_data.seeding import U64, below, stream_of, turn_hashes, uniform
from lmrl_data.tasks.text_nav import rules
from lmrl_data.tasks.text_nav.game import TextNavGame, text_nav_game

HALVES = {
    "east": ("bedroom", "living room", "office", "bathroom"),
    "west": ("dining room", "kitchen", "garden", "backyard"),
}
# How often a half-house policy plays the best command in its own half and elsewhere; set so that the data succeed about
# as often as the paper's (.26).
SKILL_AT_HOME, SKILL_AWAY = 0.9, 0.265

_CHOICE = stream_of("text-nav/policy/choice")
_COMMAND = stream_of("text-nav/policy/command")


def state_after(game: TextNavGame, actions: Ints, observations: Ints) -> States:
    """The state after a history. The first observation tells the room, and nothing after it is left to chance."""
    order = np.argsort(game.first_observation)
    start = order[np.searchsorted(game.first_observation[order], observations[:, 0])]
    state = game.starts[start]
    for turn in range(actions.shape[1]):
        state = game.step(state, actions[:, turn]).state
    return state


def _any_admissible(admissible: Bools, hashes: U64) -> Ints:
    """One of the commands that can be done, each as likely as the others."""
    counts = admissible.cumsum(axis=1)
    chosen = below(hashes, counts[:, -1])
    picked: Ints = (counts <= chosen[:, None]).sum(axis=1).astype(np.int32)
    return picked


class RandomPolicy:
    """Any admissible command."""

    name = "random"

    def __init__(self, game: TextNavGame) -> None:
        self.game = game

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A command per episode."""
        state = state_after(self.game, actions, observations)
        return _any_admissible(self.game.admissible(state), turn_hashes(seeds, actions.shape[1], _COMMAND))


class OptimalPolicy:
    """The shortest way to do the quest from any state, found by search over room, containers and place of the food."""

    name = "optimal"

    def __init__(self, game: TextNavGame) -> None:
        self.game = game
        self.best, self.distance = solve(game)

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A command per episode."""
        return self.best[_essence(state_after(self.game, actions, observations))]


class HalfHousePolicy:
    """Collects data: knows what to do in one half of the house, and mostly does any admissible command elsewhere.

    It plays the best command with probability `SKILL_AT_HOME` in its half and `SKILL_AWAY` in the other. So few of its
    episodes show the whole quest done well, and a learner has to put two halves together.
    """

    def __init__(self, game: TextNavGame, half: str) -> None:
        self.game = game
        self.name = f"half-{half}"
        self.best, _ = solve(game)
        self._knows = np.isin(rules.ROOMS, HALVES[half])

    def act(self, seeds: U64, actions: Ints, observations: Ints) -> Ints:
        """A command per episode."""
        turn = actions.shape[1]
        state = state_after(self.game, actions, observations)
        chosen = _any_admissible(self.game.admissible(state), turn_hashes(seeds, turn, _COMMAND))
        skill = np.where(self._knows[(state % rules.CONTEXTS) >> 2], SKILL_AT_HOME, SKILL_AWAY)
        skilled = uniform(turn_hashes(seeds, turn, _CHOICE)) < skill
        return np.where(skilled, self.best[_essence(state)], chosen)


def _essence(state: States) -> NDArray[np.int64]:
    """What of a state matters to the quest: the context and the place of the stale food, as a number below 512."""
    stale = state >> rules.shift_of(rules.OBJECTS.index("stale food")) & 15
    return (stale << 5 | state & (rules.CONTEXTS - 1)).astype(np.int64)


def solve(game: TextNavGame) -> tuple[Ints, NDArray[np.int64]]:
    """The best command in each essential state, and how many commands the quest still takes.

    The other things can be left where they are, so the shortest way in these 480 states is the shortest of all.

    Returns:
        Commands and distances, shape (512,); the distance is 1000 where the quest cannot be done any more.
    """
    item = rules.shift_of(rules.OBJECTS.index("stale food"))
    essence = np.arange(512, dtype=np.int64)
    others = int(game.starts[0]) & ~(15 << item) & ~(rules.CONTEXTS - 1)
    state = others | essence >> 5 << item | essence & (rules.CONTEXTS - 1)
    commands = np.arange(len(rules.COMMANDS), dtype=np.int32)
    played = [game.step(state, np.full(512, command, np.int32)) for command in commands]
    after = np.stack([_essence(outcome.state) for outcome in played])
    done = np.stack([outcome.success for outcome in played])
    # What changes another thing, fails or cannot be done is no step towards the quest.
    useless = ~game.admissible(state).T | np.stack([outcome.terminated & ~outcome.success for outcome in played])
    distance = np.full(512, 1000, np.int64)
    for _ in range(64):
        ahead = 1 + np.where(done, 0, distance[after])
        ahead[useless] = 1000
        distance = np.minimum(ahead.min(axis=0), 1000)
    return ahead.argmin(axis=0).astype(np.int32), distance


_POLICIES: dict[str, Callable[[TextNavGame], ArrayPolicy]] = {
    "random": RandomPolicy,
    "half-east": partial(HalfHousePolicy, half="east"),
    "half-west": partial(HalfHousePolicy, half="west"),
    "optimal": OptimalPolicy,
}


def _make(name: str, observe: str = "fully_observed") -> GamePolicy:
    game = text_nav_game(observe)
    return GamePolicy(game, _POLICIES[name](game))


random, half_east, half_west, optimal = (partial(_make, name) for name in _POLICIES)
