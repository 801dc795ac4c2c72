"""Car dealer: the scripted sellers, the data that they make, and the bound on every return."""

from collections import Counter, defaultdict
from functools import cache

import numpy as np
import pytest

from lmrl_data import rollout
from lmrl_data.episode import Episode
from lmrl_data.registry import locate
from lmrl_data.tasks.car_dealer import TASK
from lmrl_data.tasks.car_dealer.bound import ceiling
from lmrl_data.tasks.car_dealer.cars import PERSONALITIES, buyer_of
from lmrl_data.tasks.car_dealer.env import CarDealerEnv
from lmrl_data.tasks.car_dealer.language import read
from lmrl_data.tasks.car_dealer.notes import Notes
from lmrl_data.tasks.car_dealer.policies import SellerPolicy
from lmrl_data.tasks.car_dealer.sellers import estimated_limit
from lmrl_data.vector import SyncVectorEnv

CONFIG = TASK.configs["default"]
EPISODES = 240

each_policy = pytest.mark.parametrize("name", TASK.policies)


def policy(name: str) -> SellerPolicy:
    made = locate(TASK.policies[name])()
    assert isinstance(made, SellerPolicy) and made.name == name
    return made


@cache
def episodes(name: str) -> list[Episode]:
    return rollout(SyncVectorEnv(CarDealerEnv, 60), policy(name), range(EPISODES))


def mean_return(name: str, personality: str | None = None) -> float:
    returns = [e.episode_return for e in episodes(name) if personality in (None, e.info["personality"])]
    return float(np.mean(returns))


def said(name: str) -> list[str]:
    return [action for episode in episodes(name) for action in episode.actions]


# --- Sellers ---------------------------------------------------------------------------------------------------------


@each_policy
def test_sellers_depend_on_seed_and_conversation_only(name: str) -> None:
    some = [7, 3, 11, 5]
    together = rollout(SyncVectorEnv(CarDealerEnv, 4), policy(name), some)
    assert together == rollout(SyncVectorEnv(CarDealerEnv, 3), policy(name), some)
    assert together == [episodes(name)[seed] for seed in some]


@each_policy
def test_sellers_are_understood_and_vary_their_words(name: str) -> None:
    env = CarDealerEnv()
    for episode in episodes(name)[:40]:
        env.reset(seed=episode.seed)
        infos = [env.step(action)[4] for action in episode.actions]
        assert not any("invalid_action" in info for info in infos)
        assert name == "random" or all(info["understood"] for info in infos)  # it also names absurd prices
    lines = said(name)
    assert all(line in env.action_space for line in lines)
    assert not any(read(line).acts & {"rude", "injection"} for line in lines)
    openings = Counter(episode.actions[0] for episode in episodes(name))
    assert len(openings) >= 4 and max(openings.values()) < EPISODES / 2


def test_strategies_are_what_they_are_called() -> None:
    def asks(episode: Episode) -> list[float]:
        prices = [read(action).prices.offer for action in episode.actions]
        return [price for price in prices if price is not None]

    def offered(name: str) -> float:
        return float(np.mean([len(read(action).features) + len(read(action).reasons) > 0 for action in said(name)]))

    for name in ("features", "concise"):
        # The buyer's bid may be taken in the end; else the price never moves.
        assert all(len(set(asks(episode)[:-1])) <= 1 for episode in episodes(name))
    falls = [asks(episode)[-1] < asks(episode)[0] for episode in episodes("discounts") if len(asks(episode)) > 3]
    assert np.mean(falls) > 0.95
    assert offered("features") > 0.4 > 0.1 > offered("discounts")
    words = {name: np.mean([len(line.split()) for line in said(name)]) for name in ("features", "discounts", "concise")}
    assert words["concise"] < 4 < words["discounts"] < words["features"]


def test_good_selling_pays() -> None:
    assert mean_return("optimal") > mean_return("skilled") > mean_return("mixture") > mean_return("features")
    assert mean_return("features") > mean_return("discounts") > mean_return("concise")
    assert mean_return("skilled") > 1
    assert min(mean_return("skilled", personality) for personality in PERSONALITIES) > 0.9


def test_what_sells_depends_on_the_buyer() -> None:
    for personality in ("enthusiastic", "practical", "analytical"):
        assert mean_return("features", personality) > mean_return("discounts", personality) + 0.1
    for personality in ("tough", "indecisive"):
        assert mean_return("discounts", personality) > mean_return("features", personality)
    for name in ("features", "discounts", "concise"):
        by_personality = [mean_return(name, personality) for personality in PERSONALITIES]
        assert max(by_personality) - min(by_personality) > 0.4


def test_three_bids_tell_how_far_a_buyer_will_go() -> None:
    notes = Notes(0)
    notes.msrp = 30_000
    bids, limit = [24_000.0], 33_000
    for _ in range(4):
        bids.append(bids[-1] + 0.2 * (limit - bids[-1]))
    notes.bids = bids[:2]
    assert estimated_limit(notes) == pytest.approx(1.08 * 30_000)
    for count in (3, 4, 5):
        notes.bids = bids[:count]
        assert estimated_limit(notes) == pytest.approx(limit)


# --- The bound -------------------------------------------------------------------------------------------------------


@each_policy
def test_no_seller_gets_more_than_the_ceiling(name: str) -> None:
    for episode in episodes(name):
        buyer = buyer_of(episode.seed)
        assert episode.info["price"] <= ceiling(buyer, episode.seed) <= buyer.budget
        assert episode.info["price"] == 0 or episode.success


def test_informed_seller_attains_the_ceiling_in_every_episode() -> None:
    for episode in episodes("optimal"):
        assert episode.info["price"] == ceiling(buyer_of(episode.seed), episode.seed)
        assert episode.success and episode.num_turns < 25


def test_bound_of_the_task_is_that_of_its_buyers() -> None:
    seeds = np.arange(10**6, 10**6 + 4000).tolist()
    returns = [ceiling(buyer, seed) / buyer.scale for seed in seeds for buyer in [buyer_of(seed)]]
    assert CONFIG.bounds.maximum == pytest.approx(np.mean(returns), abs=0.004)
    assert CONFIG.bounds.minimum == 0


# --- The data --------------------------------------------------------------------------------------------------------


def test_data_are_like_the_papers() -> None:
    """In the mixture that is published; the return is as the paper's though a rejection is worth nothing here."""

    def mean(value: dict[str, float]) -> float:
        return sum(share * value[name] for name, share in CONFIG.collection.items())

    success = {name: float(np.mean([e.success for e in episodes(name)])) for name in CONFIG.collection}
    length = {name: float(np.mean([e.num_turns for e in episodes(name)])) for name in CONFIG.collection}
    returns = {name: mean_return(name) for name in CONFIG.collection}
    assert mean(success) == pytest.approx(TASK.paper["success_rate"], abs=0.05)
    assert mean(returns) == pytest.approx(TASK.paper["mean_return"], abs=0.06)
    assert mean(returns) == pytest.approx(CONFIG.bounds.mean, abs=0.05)
    assert mean(length) == pytest.approx(TASK.paper["mean_length"], abs=1)
    assert CONFIG.sizes["full"][0] == TASK.paper["episodes"]


def test_conversations_differ() -> None:
    by_text = Counter(tuple(m["content"] for m in e.messages) for name in CONFIG.collection for e in episodes(name))
    assert max(by_text.values()) == 1
    lines: dict[str, set[str]] = defaultdict(set)
    for name in CONFIG.collection:
        for episode in episodes(name):
            lines[name] |= {message["content"] for message in episode.messages[::2]}
    assert all(len(found) > 1000 for found in lines.values())
