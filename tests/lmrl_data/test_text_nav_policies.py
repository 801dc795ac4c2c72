"""Text-nav: the exact optimum against a search of its own, and the policies that collect the data."""

from functools import cache
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from text_nav_reference import CONFIGS, ROOMS, House, begin, ending, outcomes, plain, shortest

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.game import ArrayPolicy, GameEpisodes, rollout_game
from lmrl_data.policy import GamePolicy
from lmrl_data.registry import get_task
from lmrl_data.seeding import episode_seeds, mix
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.text_nav.env import TextNavEnv
from lmrl_data.tasks.text_nav.game import TextNavGame, text_nav_game
from lmrl_data.tasks.text_nav.policies import HALVES, SKILL_AT_HOME, SKILL_AWAY
from lmrl_data.text import Message

each_config = pytest.mark.parametrize("config", CONFIGS)
SHORTEST = {
    "bedroom": 7,
    "living room": 6,
    "dining room": 7,
    "kitchen": 8,
    "garden": 9,
    "office": 7,
    "bathroom": 8,
    "backyard": 9,
}


def array_policy(name: str, config: str) -> ArrayPolicy:
    policy = make_policy(name, "text-nav", config=config)
    assert isinstance(policy, GamePolicy)
    return policy.array_policy


_FOUND: dict[Any, int] = {}


def left(house: House) -> int:
    """The least number of commands that are left to do: `shortest`, remembered."""
    if ending(house) == "success":
        return 0
    key = house.room, house.places["stale food"], house.open
    if key not in _FOUND:
        _FOUND[key] = shortest(house)
    return _FOUND[key]


# --- The optimum ---------------------------------------------------------------------------------------------------


def test_shortest_plans() -> None:
    assert {room: shortest(begin(room)) for room in ROOMS} == SHORTEST
    assert sum(SHORTEST.values()) / 8 == 7.625


def test_task_page_tells_the_lengths() -> None:
    page = " ".join((TextNavEnv.__doc__ or "").split())
    assert "(mean 7.625)" in page
    for room, length in SHORTEST.items():
        assert f"{length} from the {room}" in page or f"{length} commands from the {room}" in page


@each_config
def test_optimal_policy_takes_the_shortest_way_from_every_room(config: str) -> None:
    seeds = evaluation_seeds("text-nav", config, episodes=16)
    policy = make_policy("optimal", "text-nav", config=config)
    episodes = rollout(make_vec("text-nav", 16, config=config), policy, seeds)
    assert sorted(episode.info["room"] for episode in episodes) == sorted(ROOMS * 2)
    for episode in episodes:
        assert (episode.success, episode.episode_return) == (True, 1.0)
        assert episode.num_turns == SHORTEST[episode.info["room"]]


@each_config
@pytest.mark.parametrize("room", ROOMS)
def test_optimal_policy_knows_the_room_from_the_first_text_not_from_the_seed(config: str, room: str) -> None:
    env, policy = make("text-nav", config=config), make_policy("optimal", "text-nav", config=config)
    policy.reset([12345])
    messages: list[Message] = [{"role": "user", "content": env.reset(seed=12345, options={"room": room})[0]}]
    ended, reward = False, 0.0
    while not ended:
        (said,) = policy.act([messages])
        text, reward, terminated, truncated, _ = env.step(said)
        ended = terminated or truncated
        messages += [{"role": "assistant", "content": said}, {"role": "user", "content": text}]
    assert (len(messages) // 2, reward) == (SHORTEST[room], 1.0)


def detours(game: TextNavGame, count: int, turns: int) -> tuple[NDArray[np.int64], Any, Any]:
    """Random commands, a quarter of them not to be done or not understood: states, actions, observations."""
    generator = np.random.default_rng(turns)
    states = np.tile(game.starts, count // 8)
    observations = [np.tile(game.first_observation, count // 8)]
    actions: list[Any] = []
    for _ in range(turns):
        noise = generator.random((count, len(game.action_texts)))
        # Commands that move things or open something are taken as often as those that walk.
        noise[:, 4:] += 0.25
        admissible = np.where(game.admissible(states), noise, -1).argmax(axis=1)
        anything = generator.integers(-len(game.invalid_reasons), len(game.action_texts), count)
        actions.append(np.where(generator.random(count) < 0.25, anything, admissible).astype(np.int32))
        played = game.step(states, actions[-1])
        # An episode that would end is told to do what cannot be done instead.
        actions[-1][played.terminated] = -1
        played = game.step(states, actions[-1])
        assert not played.terminated.any()
        states = played.state
        observations.append(played.observation)
    return states, actions, observations


@each_config
@pytest.mark.parametrize("turns", [1, 2, 4, 7, 12, 25])
def test_optimal_policy_takes_the_shortest_way_from_any_detour(config: str, turns: int) -> None:
    game, policy = text_nav_game(config), array_policy("optimal", config)
    count = 400
    states, actions, observations = detours(game, count, turns)
    needed = [left(plain(state)) for state in states.tolist()]
    if turns >= 12:
        assert len({plain(state).places["stale food"] for state in states.tolist()}) > 6
    taken, rows = np.zeros(count, np.int32), np.arange(count)
    for _ in range(max(needed)):
        chosen = policy.act(
            rows.astype(np.uint64), np.stack(actions, axis=1)[rows], np.stack(observations, axis=1)[rows]
        )
        said, seen = np.zeros(count, np.int32), np.zeros(count, np.int32)
        played = game.step(states[rows], chosen)
        states[rows], said[rows], seen[rows] = played.state, chosen, played.observation
        actions.append(said)
        observations.append(seen)
        taken[rows] += 1
        rows = rows[~played.terminated]
        if not len(rows):
            break
    assert not len(rows)
    assert taken.tolist() == needed


@each_config
def test_bounds_are_the_optimum_and_the_least(config: str) -> None:
    bounds = get_task("text-nav").configs[config].bounds
    assert (bounds.minimum, bounds.maximum, bounds.maximum_from, bounds.exact) == (0, 1, "optimal", True)


# --- The policies that collect ---------------------------------------------------------------------------------------


@cache
def collected(name: str, config: str, count: int = 2000) -> GameEpisodes:
    return rollout_game(text_nav_game(config), array_policy(name, config), episode_seeds(0, "test", 0, count))


def behaviours(config: str) -> list[str]:
    return list(get_task("text-nav").configs[config].collection)


def steps_of(episodes: GameEpisodes, count: int) -> list[tuple[House, str, House]]:
    """House before, command and house after of every turn of the first episodes."""
    game, steps = text_nav_game(), []
    for row in range(count):
        house = begin(ROOMS[episodes.start[row]])
        for action in episodes.actions[row, : episodes.length[row]]:
            command = str(game.action_texts[action])
            after = outcomes(house)[command]
            steps.append((house, command, after))
            house = after
    return steps


def test_random_policy_plays_any_admissible_command_alike() -> None:
    steps = steps_of(collected("random", "fully_observed"), 1500)
    counts: dict[str, int] = {}
    for house, command, _ in steps:
        assert command in outcomes(house)
        if house.room == "bathroom" and not house.holds("inventory") and len(outcomes(house)) == 2:
            counts[command] = counts.get(command, 0) + 1
    total = sum(counts.values())
    assert counts.keys() == {"go west", "go north"}
    assert total > 300
    assert counts["go west"] / total == pytest.approx(0.5, abs=5 * (0.25 / total) ** 0.5)
    first = [(command, house.room) for house, command, _ in steps if house == begin("living room")]
    share = [sum(command == wanted for command, _ in first) / len(first) for wanted in outcomes(begin("living room"))]
    assert share == pytest.approx([1 / 5] * 5, abs=5 * (0.16 / len(first)) ** 0.5)


def test_halves_are_four_rooms_each_and_skill_is_at_home() -> None:
    assert sorted(room for half in HALVES.values() for room in half) == sorted(ROOMS)
    assert [len(half) for half in HALVES.values()] == [4, 4]
    assert SKILL_AT_HOME >= 0.8 and SKILL_AWAY <= 0.3
    assert behaviours("fully_observed") == [f"half-{half}" for half in HALVES]


@pytest.mark.parametrize("half", HALVES)
def test_half_house_policy_is_good_in_its_four_rooms_and_mostly_random_elsewhere(half: str) -> None:
    """In each room, how often a best command is taken: by skill, or by chance where any admissible one is."""
    shares: dict[str, list[float]] = {room: [] for room in ROOMS}
    expected: dict[str, list[float]] = {room: [] for room in ROOMS}
    for house, command, _ in steps_of(collected(f"half-{half}", "fully_observed"), 2000):
        possible = outcomes(house)
        best = [text for text, after in possible.items() if ending(after) != "failure" and left(after) < left(house)]
        skill = SKILL_AT_HOME if house.room in HALVES[half] else SKILL_AWAY
        shares[house.room].append(command in best)
        expected[house.room].append(skill + (1 - skill) * len(best) / len(possible))
    for room in ROOMS:
        turns = len(shares[room])
        assert turns > 150
        assert np.mean(shares[room]) == pytest.approx(np.mean(expected[room]), abs=5 * (0.25 / turns) ** 0.5)


@each_config
def test_behaviour_policies_say_only_admissible_commands(config: str) -> None:
    for name in [*behaviours(config), "random", "optimal"]:
        for house, command, _ in steps_of(collected(name, config), 200):
            assert command in outcomes(house)


def test_policies_play_alike_in_both_configs() -> None:
    for name in get_task("text-nav").policies:
        one, other = (collected(name, config) for config in CONFIGS)
        assert (one.length == other.length).all()
        played = np.arange(one.actions.shape[1]) < one.length[:, None]
        assert (one.actions[played] == other.actions[played]).all()


@each_config
def test_collection_has_the_statistics_of_the_paper(config: str) -> None:
    """Mean length 12.2 and success .26 (paper, table 1), within what sampling and tuning allow."""
    shares = get_task("text-nav").configs[config].collection
    assert sum(shares.values()) == pytest.approx(1)
    lengths, successes = 0.0, 0.0
    for name, share in shares.items():
        episodes = collected(name, config)
        lengths += share * episodes.length.mean()
        successes += share * episodes.success.mean()
        assert episodes.length.max() == 15
        assert (episodes.truncated == ~episodes.terminated).all()
        assert (episodes.length[episodes.truncated] == 15).all()
        # Every ending occurs in the data: success, failure, and the limit.
        assert episodes.success.any() and (episodes.terminated & ~episodes.success).any() and episodes.truncated.any()
    assert lengths == pytest.approx(12.2, abs=0.6)
    assert successes == pytest.approx(0.26, abs=0.05)


def test_each_half_alone_is_worse_than_the_optimum() -> None:
    """What there is to learn: no behaviour policy knows the whole way."""
    for name in behaviours("fully_observed"):
        assert collected(name, "fully_observed").success.mean() < 0.5


def test_policies_are_functions_of_seed_and_history() -> None:
    """However episodes are batched: one by one and in another order."""
    game = text_nav_game()
    seeds = np.array([mix(number, 7) >> 1 for number in range(40)], np.int64)
    for name in get_task("text-nav").policies:
        policy = array_policy(name, "fully_observed")
        together = rollout_game(game, policy, seeds)
        for row in (0, 17, 39):
            alone = rollout_game(game, policy, seeds[row : row + 1])
            length = int(together.length[row])
            assert alone.length[0] == length
            assert (alone.actions[0, :length] == together.actions[row, :length]).all()
