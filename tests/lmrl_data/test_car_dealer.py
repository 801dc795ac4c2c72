"""Car dealer: buyers, rewards, the end of an episode, what is secret, options, determinism."""

import re
from collections import Counter

import numpy as np
import pytest
from car_dealer_play import HOLDS, a_buyer, begin, say
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data.errors import LmrlError
from lmrl_data.tasks.car_dealer import TASK
from lmrl_data.tasks.car_dealer.cars import (
    BRANDS,
    BUDGETS,
    BUYERS,
    FEATURES,
    PERSONALITIES,
    TYPES,
    Buyer,
    buyer_numbers,
    buyer_of,
    buyer_of_number,
    buyers_of,
)
from lmrl_data.tasks.car_dealer.env import MAX_TURNS, CarDealerEnv, evaluation_starts
from lmrl_data.tasks.car_dealer.tempers import TEMPERS

each_personality = pytest.mark.parametrize("personality", PERSONALITIES)
GOOD = ["It has leather seats and navigation.", "It's very reliable.", "You have great taste."]


# --- Buyers ----------------------------------------------------------------------------------------------------------


def test_numbers_of_the_paper() -> None:
    assert (len(PERSONALITIES), len(BRANDS), len(TYPES), len(FEATURES)) == (10, 13, 6, 8)
    assert BUDGETS == (10_000, 30_000, 50_000, 70_000, 90_000)
    assert MAX_TURNS == 25
    assert BUYERS == 10 * 13 * 6 * 162 * 5


def test_a_column_of_seeds_gives_a_column_of_buyers() -> None:
    seeds = np.array([0, 1, 2**31, 2**63 - 1, *range(100, 200)], np.int64)
    buyers = buyers_of(seeds)
    assert buyers == [buyer_of(seed) for seed in seeds.tolist()]
    assert buyers == [buyer_of_number(number) for number in buyer_numbers(seeds).tolist()]
    env = CarDealerEnv()
    for seed, buyer in zip(seeds.tolist(), buyers, strict=True):
        env.reset(seed=seed)
        assert env.episode_info()["features"] == list(buyer.features)
        assert all(env.episode_info()[name] == value for name, value in buyer.options.items())


def test_buyers_are_numbered_without_gaps_or_doubles() -> None:
    sample = [buyer_of_number(number) for number in range(0, BUYERS, 97)]
    assert len(set(sample)) == len(sample)
    assert {buyer.personality for buyer in sample} == set(PERSONALITIES)
    assert all(1 <= len(buyer.features) <= 4 for buyer in sample)
    assert buyer_of_number(0) != buyer_of_number(BUYERS - 1)
    starts = evaluation_starts()
    assert starts.count == BUYERS
    assert starts.options(starts.of(5)) == {"buyer": buyer_of(5).options}


def test_every_trait_is_as_likely_as_the_others() -> None:
    buyers = buyers_of(np.arange(20_000))
    for name, choices in (("personality", PERSONALITIES), ("brand", BRANDS), ("type", TYPES), ("budget", BUDGETS)):
        counts = Counter(getattr(buyer, name) for buyer in buyers)
        assert counts.keys() == set(choices)
        assert max(counts.values()) < 1.15 * min(counts.values())


def test_sticker_prices_follow_the_price_list() -> None:
    shares = [buyer.msrp / buyer.budget for buyer in buyers_of(np.arange(5000))]
    assert 0.74 < min(shares) < 0.8 and 0.92 < max(shares) < 0.96
    assert a_buyer(brand="Porsche").msrp > a_buyer(brand="Nissan").msrp
    assert a_buyer(type="convertible").msrp > a_buyer(type="hatchback").msrp


# --- Rewards and the end ---------------------------------------------------------------------------------------------


def sell(buyer: Buyer, price: int, **options: str) -> tuple[CarDealerEnv, list[float], dict[str, object]]:
    env = CarDealerEnv(**options)
    env.reset(seed=4, options={"buyer": buyer.options})
    steps = say(env, ["What car are you looking for?", *GOOD, f"I accept ${price:,} for it."])
    return env, [reward for _, reward, *_ in steps], steps[-1][4]


@pytest.mark.parametrize("reward", ["share", "revenue"])
def test_reward_is_the_price_at_the_end(reward: str) -> None:
    buyer = a_buyer()
    price = int(0.8 * buyer.msrp)
    env, rewards, info = sell(buyer, price, reward=reward)
    expected = price / 1000 if reward == "revenue" else price / ((buyer.budget + buyer.msrp) / 2)
    assert rewards[-1] == pytest.approx(expected) and not any(rewards[:-1])
    assert info["success"] is True and info["return"] == pytest.approx(expected)
    assert env.episode_info()["price"] == price


@each_personality
def test_a_rejection_is_never_rewarded(personality: str) -> None:
    buyer = a_buyer(personality)
    env = begin(buyer)
    steps = say(env, ["Hello.", *(hold.format(ask=f"${1.4 * buyer.msrp:,.0f}") for hold in HOLDS)])
    text, reward, terminated, truncated, info = steps[-1]
    assert text and (reward, terminated, truncated, info["success"]) == (0, True, False, False)
    assert info["return"] == 0 and env.episode_info()["price"] == 0 < env.episode_info()["last_bid"]


def test_the_buyer_decides_with_the_last_line() -> None:
    buyer = a_buyer("indecisive")
    price = f"${buyer.msrp * 9 // 10:,}"
    for asked, sold in ((price, True), (f"${2 * buyer.msrp:,}", False), (None, False)):
        env = begin(buyer)
        lines = ["What car are you looking for?"] + [""] * 22
        steps = say(env, [*lines, f"I need {asked} for it." if asked else "", "I'm waiting."])
        assert len(steps) == 25
        assert steps[-1][2:4] == (True, False)
        assert steps[-1][4]["success"] is sold


def test_a_price_on_the_table_is_decided_on_when_the_last_line_is_noise() -> None:
    buyer = a_buyer("tough")
    for share, sold in ((0.9, True), (1.3, False)):
        env = begin(buyer)
        steps = say(
            env, ["What car are you looking for?", f"I want ${share * buyer.msrp:,.0f} for it."] + ["xyzzy"] * 23
        )
        assert len(steps) == 25 and steps[-1][4]["success"] is sold


def test_no_sale_without_an_offer() -> None:
    env = begin(a_buyer("enthusiastic"))
    steps = say(
        env, ["What car are you looking for?", *GOOD, *(f"Do we have a deal, yes or no, {n}?" for n in range(22))]
    )
    assert steps[-1][2] and not steps[-1][4]["success"]


def test_the_sellers_taking_of_a_bid_is_a_sale() -> None:
    env = begin(a_buyer())
    *_, (text, *_) = say(env, ["What car are you looking for?", "What would you pay?"])
    bid = int(re.sub(r"\D", "", re.search(r"\$[0-9,]+", text)[0]))  # type: ignore[index]
    assert env.episode_info()["last_bid"] == bid
    _, _, ended, _, info = env.step("Deal, I accept your offer.")
    assert ended and info["success"] and env.episode_info()["price"] == bid


# --- What is shown, and what is not ----------------------------------------------------------------------------------


def test_the_scene_tells_nothing() -> None:
    env = CarDealerEnv()
    scenes = Counter(env.reset(seed=seed)[0] for seed in range(400))
    assert len(scenes) > 10
    traits = {*PERSONALITIES, *BRANDS, *TYPES, *FEATURES, *map(str, BUDGETS)}
    assert not any(trait.casefold() in scene.casefold().split() for scene in scenes for trait in traits)
    assert not any(character.isdigit() for scene in scenes for character in scene)


@given(st.integers(0, 2**63 - 1), st.integers(0, 10**6))
def test_the_budget_is_never_told(seed: int, noise: int) -> None:
    buyer = buyer_of(seed)
    env = CarDealerEnv()
    env.reset(seed=seed)
    lines = ["What are you looking for?", "What's your budget?", "How much can you spend?", "Make me an offer.", *GOOD]
    lines += [f"I could do ${(1.45 - 0.01 * n) * buyer.msrp + noise % 97:,.0f}." for n in range(14)]
    for text, *_ in say(env, lines):
        assert f"{buyer.budget:,}" not in text and str(buyer.budget) not in text


@each_personality
def test_wishes_are_told_when_asked_for(personality: str) -> None:
    buyer = a_buyer(personality, features=("heated seats", "navigation", "all-wheel drive"))
    env = begin(buyer)
    told = " ".join(step[0] for step in say(env, ["Nice weather today!", "What do you need?", *["What else?"] * 4]))
    assert all(word.casefold() in told.casefold() for word in (buyer.brand, buyer.type, f"${buyer.msrp:,}"))
    assert all(feature in told.casefold() for feature in buyer.features)


def test_some_tell_all_at_once_and_some_little_by_little() -> None:
    told = {}
    for personality in PERSONALITIES:
        env = begin(a_buyer(personality, features=("heated seats", "navigation", "all-wheel drive")))
        steps = say(env, ["What car are you looking for?", "Which features do you want?"])
        told[personality] = sum(name in steps[-1][0].casefold() for name in ("heated seats", "navigation", "all-wheel"))
    assert (told["enthusiastic"], told["indecisive"], told["skeptical"]) == (3, 1, 0)


def test_understood_is_told_of_each_line() -> None:
    env = begin(a_buyer())
    for line, understood, invalid in (("Hello!", True, False), ("qwx zxq", False, True), ("", False, True)):
        info = env.step(line)[4]
        assert (info["understood"], "invalid_action" in info) == (understood, invalid)
    assert env.step("It's yours for $3.")[4] == {"understood": False}
    assert env.step(" ".join(f"${n},000" for n in range(20, 40)))[4] == {"understood": False}


def test_secret_and_record_at_the_end() -> None:
    env, _, info = sell(a_buyer(), 30_000)
    assert info["secret"] == "practical, wants Nissan hatchback with leather seats, navigation, budget $50,000"
    assert env.episode_info().keys() == TASK.info.keys()


# --- Options ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        {"personality": "sleepy"},
        {"brand": "Trabant"},
        {"type": "tank"},
        {"features": []},
        {"features": ["leather seats", "leather seats"]},
        {"features": ["wings"]},
        {"features": "leather seats"},
        {"features": list(FEATURES[:5])},
        {"budget": 20_000},
        {"budget": "10000"},
        {"extra": 1},
    ],
    ids=str,
)
def test_buyers_that_cannot_be_are_refused_with_all_that_can(change: dict[str, object]) -> None:
    env = CarDealerEnv()
    with pytest.raises(LmrlError) as error:
        env.reset(seed=0, options={"buyer": {**a_buyer().options, **change}})
    assert "\n" not in str(error.value)
    assert all(name in str(error.value) for name in (*PERSONALITIES, *BRANDS, *TYPES, *FEATURES, "10000", "90000"))
    for key in a_buyer().options:
        with pytest.raises(LmrlError):
            env.reset(seed=0, options={"buyer": {k: v for k, v in a_buyer().options.items() if k != key}})


def test_features_may_come_in_any_order() -> None:
    env = CarDealerEnv()
    env.reset(seed=0, options={"buyer": {**a_buyer().options, "features": ["navigation", "leather seats"]}})
    assert env.episode_info()["features"] == ["leather seats", "navigation"]


def test_unknown_buyers_and_rewards_are_refused() -> None:
    with pytest.raises(LmrlError, match="model"):
        CarDealerEnv(buyer="nosuch")
    with pytest.raises(LmrlError, match="share, revenue"):
        CarDealerEnv(reward="nosuch")


# --- Determinism and words -------------------------------------------------------------------------------------------

TALK = ["Hello!", "What car do you want?", "What should it have?", *GOOD, "I'm asking $46,000.", "How about $45,500?"]


@each_personality
def test_same_seed_and_lines_give_the_same_words(personality: str) -> None:
    buyer = a_buyer(personality)
    assert say(begin(buyer), TALK) == say(begin(buyer), TALK)
    assert say(begin(buyer), TALK) != say(begin(buyer, seed=5), TALK)


def test_every_letter_of_a_line_counts() -> None:
    """So a changed line in a dataset shows up when it is replayed: the words of the answer depend on it."""
    line = "It is standing in the second row, by the way."
    answers = Counter(say(begin(a_buyer()), ["Hello!", line.replace("row", f"r{n}w")])[-1][0] for n in range(40))
    assert len(answers) > 4


def test_personalities_have_words_of_their_own() -> None:
    def sentences(personality: str) -> Counter[str]:
        """What a personality says in many conversations, sums aside."""
        spoken = [step[0] for seed in range(30) for step in say(begin(a_buyer(personality), seed), TALK)]
        return Counter(re.sub(r"\$[0-9,.]+", "$", part) for text in spoken for part in re.split(r"(?<=[.!?]) ", text))

    said = {personality: sentences(personality) for personality in PERSONALITIES}
    for personality in PERSONALITIES:
        others = {sentence for other in PERSONALITIES if other != personality for sentence in said[other]}
        own = sum(times for sentence, times in said[personality].items() if sentence not in others)
        assert own > said[personality].total() / 3


def test_it_does_not_repeat_itself() -> None:
    for personality in PERSONALITIES:
        env = begin(a_buyer(personality))
        lines = [f"I could do ${60_000 - 700 * number:,}." for number in range(12)]
        said = [re.sub(r"\$[0-9,.]+", "$", sentence) for text, *_ in say(env, lines) for sentence in text.split(". ")]
        assert max(Counter(said).values()) <= 2


def test_task_page_gives_the_tempers() -> None:
    page = CarDealerEnv.__doc__ or ""
    for personality, temper in TEMPERS.items():
        numbers = [temper.base, temper.features, temper.reasons, temper.rapport, temper.honesty, temper.extras]
        numbers += [temper.concessions, temper.pressure, temper.patience]
        assert f"| {personality} | {' | '.join(f'{number:g}' for number in numbers)} |" in page
