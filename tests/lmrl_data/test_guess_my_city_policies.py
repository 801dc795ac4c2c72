"""The scripted askers of Guess My City, their questions, and the bound of the return."""

import pytest

from lmrl_data import make, make_vec, rollout
from lmrl_data.episode import Episode
from lmrl_data.registry import get_task, make_policy
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.guess_my_city.bank import bank, every_city, meaning, members, narrowed, split_of
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.policies import STYLES, Asker
from lmrl_data.tasks.guess_my_city.understand import NOTHING, understand
from lmrl_data.text import Message, normalise

EVERY_WORDING = [wording for wordings in (*bank().open.values(), *bank().tests) for wording in wordings]


def play(policy: str, seeds: list[int]) -> list[Episode]:
    return rollout(make_vec("guess-my-city", len(seeds)), make_policy(policy, "guess-my-city"), seeds)


def test_every_question_of_the_bank_is_understood_as_written() -> None:
    for wording in EVERY_WORDING:
        query = understand(normalise(wording))
        assert query.sure and query.facet != NOTHING and query.kind in ("open", "test"), wording


@pytest.mark.parametrize("facet", bank().open)
def test_open_questions_ask_for_their_facet(facet: str) -> None:
    facets = {understand(normalise(wording)).facet for wording in bank().open[facet]}
    assert facets == {"name" if facet in ("first_letter", "length") else facet}


def test_all_wordings_of_a_question_divide_the_cities_alike() -> None:
    for wordings in (*bank().open.values(), *bank().tests):
        assert len({split_of([wording]) for wording in wordings}) == 1, wordings[0]


def test_every_guess_of_the_bank_names_its_city() -> None:
    for wording in bank().guess:
        for name in cities():
            assert understand(normalise(wording.replace("{}", name))).guess == name, (wording, name)


@pytest.mark.parametrize("question", ["What do people eat there?", "Is it the capital?", "Which continent is it on?"])
def test_meaning_lists_what_the_oracle_may_answer(question: str) -> None:
    env = make("guess-my-city")
    listed = meaning(question)
    for number, name in enumerate(cities()):
        for seed in range(4):
            env.reset(seed=seed, options={"city": name})
            assert listed[env.step(question)[0]] >> number & 1
    assert members(narrowed(every_city(), question, "Who knows?")) == list(range(100))


def test_the_greedy_asker_attains_the_bound() -> None:
    """One question cannot be saved: of the first questions at most one in a hundred wins."""
    config = get_task("guess-my-city").configs["default"]
    seeds = evaluation_seeds("guess-my-city", episodes=100).tolist()
    episodes = play("greedy", seeds)
    assert {episode.info["city"] for episode in episodes} == cities().keys()
    assert config.bounds.maximum == -1
    assert config.bounds.maximum_from == "greedy"
    assert [episode.episode_return for episode in episodes] == [-1.0] * 100


def test_no_answer_to_a_first_guess_tells_anything() -> None:
    """What the bound rests on: after a wrong guess, every other city is as likely as before."""
    env = make("guess-my-city")
    for seed in range(5):
        said = set()
        for name in cities():
            if name != "Lima":
                env.reset(seed=seed, options={"city": name})
                said.add(env.step("Is it Lima?")[0])
        assert len(said) == 1


@pytest.mark.parametrize("policy", STYLES)
def test_askers_end_with_a_guess_and_ask_what_is_understood(policy: str) -> None:
    for episode in play(policy, list(range(30))):
        assert all(episode.info["usable"])
        assert understand(normalise(episode.actions[-1])).kind == "guess"
        assert episode.success == (episode.rewards[-1] == 0)


@pytest.mark.parametrize(
    ("policy", "success", "mean_return"),
    [
        ("random", (0.0, 0.15), (-20, -19)),
        ("yes-no", (1.0, 1.0), (-4, -1.5)),
        ("expert", (0.95, 1.0), (-7, -3)),
        ("person", (0.5, 0.8), (-19.7, -18)),
        ("hasty", (0.5, 0.9), (-18, -13)),
        ("repetitive", (0.4, 0.75), (-19.8, -18)),
        ("curious", (0.5, 0.85), (-19.5, -17.5)),
    ],
)
def test_askers_are_as_good_as_they_should_be(
    policy: str, success: tuple[float, float], mean_return: tuple[float, float]
) -> None:
    episodes = play(policy, list(range(200)))
    rate = sum(episode.success for episode in episodes) / 200
    returns = sum(episode.episode_return for episode in episodes) / 200
    assert success[0] <= rate <= success[1]
    assert mean_return[0] <= returns <= mean_return[1]


def test_styles_show() -> None:
    yes_no = {wording for wordings in bank().tests for wording in wordings}
    for episode in play("yes-no", list(range(20))):
        assert set(episode.actions[:-1]) <= yes_no
    starts = [
        {understand(normalise(said)).facet for said in game.actions[:4]} for game in play("person", list(range(20)))
    ]
    assert sum("continent" in facets or "region" in facets for facets in starts) > 15
    repeats = [
        20 - len({understand(normalise(action)) for action in episode.actions})
        for episode in play("repetitive", [1, 2])
    ]
    assert min(repeats) >= 4
    assert len({episode.actions[0] for episode in play("person", list(range(40)))}) > 8


def test_a_person_uses_what_was_said() -> None:
    """A guess is never on a continent that the answers rule out."""
    for episode in play("person", list(range(60))):
        told = [
            name
            for action, answer in zip(episode.actions, episode.messages[2::2], strict=True)
            if understand(normalise(action)).facet == "continent"
            for name in {city.continent for city in cities().values()}
            if name in answer["content"]
        ]
        for action in episode.actions if told else ():
            guess = understand(normalise(action)).guess
            assert guess is None or cities()[guess].continent == told[-1]


def test_askers_go_on_with_an_oracle_that_they_do_not_know() -> None:
    asker = Asker("greedy", STYLES["greedy"])
    asker.reset([1])
    conversation: list[Message] = [{"role": "user", "content": "Hello."}]
    for _ in range(20):
        (said,) = asker.act([conversation])
        conversation += [{"role": "assistant", "content": said}, {"role": "user", "content": "I could not say."}]
    assert understand(normalise(said)).kind == "guess"
    with pytest.raises(ValueError, match="conversations"):
        asker.act([conversation, conversation])
