"""Twenty Questions: the game, its environment, its askers, its bound, and language models as oracles."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.game import rollout_game
from lmrl_data.seeding import episode_seeds
from lmrl_data.tasks.twenty_questions import game as rules
from lmrl_data.tasks.twenty_questions import oracle, policies
from lmrl_data.tasks.twenty_questions.env import TwentyQuestionsEnv
from lmrl_data.tasks.twenty_questions.game import FREE_ROWS, knowledge_game, twenty_questions_game
from lmrl_data.tasks.twenty_questions.oracle import ModelOracle, read_reply
from lmrl_data.tasks.twenty_questions.search import best_tree, least_cost
from lmrl_data.tasks.twenty_questions.understand import ANSWER_WIN, understand

GAME = knowledge_game()
NAMES = GAME.table.names
ASKERS = ["random", "person", "forgetful", "repetitive", "early-guesser", "optimal"]


def asker(name: str) -> policies.ArrayPolicy:
    policy: policies.ArrayPolicy = getattr(policies, name.replace("-", "_"))().array_policy
    return policy


# --- The game ------------------------------------------------------------------------------------------------------


def test_a_game_in_words() -> None:
    env = TwentyQuestionsEnv()
    opening, _ = env.reset(seed=0, options={"object": "Cat"})
    assert "20 questions" in opening
    for question, expected in [
        ("Is it alive?", rules.YES_TEXT),
        ("is it bigger than a car", rules.NO_TEXT),
        ("Is it a dog?", rules.NO_TEXT),
        ("Does it not have a tail?", rules.NO_TEXT),
        ("Is it not a cat?", rules.NO_TEXT),
    ]:
        observation, reward, terminated, _, info = env.step(question)
        assert (observation, reward, terminated, info["understood"]) == (expected, -1.0, False, True)
    observation, _, _, _, info = env.step("Where does it live?")
    assert observation == rules.NOT_ASKED[info["invalid_action"]] and info["understood"] is False
    observation, reward, terminated, truncated, info = env.step("I think it's a kitty!")
    assert (observation, reward, terminated, truncated) == (rules.WIN_TEXT, 0.0, True, False)
    assert (info["success"], info["return"], info["secret"]) == (True, -6.0, "Cat")
    assert env.episode_info() == {"object": "Cat", "category": "Animals", "oracle": "knowledge-1"}


def test_twenty_questions_end_the_game() -> None:
    env = TwentyQuestionsEnv()
    env.reset(seed=1, options={"object": "Cat"})
    steps = [env.step("Is it a dog?") for _ in range(20)]
    assert [step[2] for step in steps] == [False] * 19 + [True]
    assert steps[-1][4]["return"] == -20 and steps[-1][4]["success"] is False


def test_objects_are_drawn_evenly() -> None:
    starts = np.bincount(rules_starts(20_000), minlength=158)
    assert starts.min() > 80 and starts.max() < 180


def rules_starts(count: int) -> np.ndarray:
    from lmrl_data.game import starts_of

    return starts_of(GAME, np.arange(count))


def test_unknown_object_lists_those_there_are() -> None:
    with pytest.raises(LmrlError, match="'Catt' is none of the objects; they are: Basketball, Football"):
        TwentyQuestionsEnv().reset(options={"object": "Catt"})


def test_no_answer_names_an_object() -> None:
    said = " ".join(
        [rules.OPENING_TEXT, rules.NO_TEXT, rules.YES_TEXT, rules.WIN_TEXT, *rules.NOT_ASKED.values()]
    ).lower()
    assert not any(
        f" {alias} " in f" {said} " for aliases in GAME.table.aliases for alias in aliases if alias != "object"
    )


def test_fixed_wordings_are_answered_by_their_attribute() -> None:
    assert len(set(GAME.action_texts.tolist())) == len(GAME.action_texts)
    for action in range(0, len(GAME.action_texts), 7):
        attribute, guess = GAME.asked[action], GAME.guessed[action]
        row = GAME.answers[action]
        if attribute >= 0:
            assert ((row > 0) == (GAME.table.values[attribute] > 0)).all() and row.max() <= 1
        else:
            assert row[guess] == ANSWER_WIN and row.sum() == ANSWER_WIN
            assert (understand(str(GAME.action_texts[action])).row == ANSWER_WIN).nonzero()[0].tolist() == [guess]


def test_free_questions_share_a_row_by_their_answers() -> None:
    first = GAME.interpret("would my granny keep it in a kitchen drawer")
    assert GAME.interpret("would my granny keep it in a kitchen drawer") == first
    assert (GAME.answers[first] == understand("would my granny keep it in a kitchen drawer").row).all()
    assert GAME.interpret("is it a cat or something") == GAME.action_index["Is it a cat?"]
    assert [GAME.interpret(text) for text in ("", "why?", "qwe rtz uio pas dfg")] == [-1, -2, -3]


def test_old_rows_make_room_for_new_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "FREE_ROWS", 3)
    small = rules.TwentyQuestionsGame(GAME.table)
    questions = [f"does it weigh more than {number} grams" for number in (3, 30, 300, 3000, 30_000)]
    for _ in range(2):
        for question in questions:
            number = small.interpret(question)
            assert number < len(small.answers)
            assert (small.answers[number] == understand(question).row).all()
    assert len(GAME.answers) == len(GAME.action_texts) + FREE_ROWS


# --- Askers and bound ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ASKERS)
def test_askers_vary_their_words_and_hold_to_the_rules(name: str) -> None:
    episodes = rollout_game(GAME, asker(name), episode_seeds(3, "test", 0, 300))
    assert (episodes.length <= 20).all() and (episodes.actions >= 0).all()
    assert len(np.unique(episodes.actions[:, 0])) > 1
    again = rollout_game(GAME, asker(name), episode_seeds(3, "test", 0, 300))
    assert (again.actions == episodes.actions).all()


def returns(name: str, count: int) -> tuple[float, float]:
    episodes = rollout_game(GAME, asker(name), episode_seeds(5, "test", 0, count))
    played = np.arange(20) < episodes.length[:, None]
    return float(np.where(played, episodes.rewards, 0).sum(axis=1).mean()), float(episodes.success.mean())


def test_better_askers_do_better() -> None:
    order = ["optimal", "person", "early-guesser", "repetitive", "random"]
    found = [returns(name, 400)[0] for name in order]
    assert found == sorted(found, reverse=True)
    assert returns("optimal", 400)[1] == 1


def test_no_plan_for_a_few_objects_costs_less_than_the_bound() -> None:
    """By hand: one is guessed at once; two cost 1; three are guessed one after the other; four are best split."""
    assert [least_cost(count) for count in range(6)] == [0, 0, 1, 3, 6, 9]


def test_the_bound_is_attained() -> None:
    everything = np.ones(158, np.bool_)
    assert best_tree().cost(everything) == least_cost(158)


def test_the_last_question_is_a_guess() -> None:
    assert best_tree().plan(np.ones(158, np.bool_), last=True) == -1


# --- Language models -----------------------------------------------------------------------------------------------


class Model:
    """A language model that says what it is told to say."""

    name, concurrency = "openai:scripted", 4

    def __init__(self, replies: Sequence[str]) -> None:
        self.replies, self.asked = list(replies), []

    def reply(self, messages: Sequence[dict[str, str]], **_: Any) -> str:
        self.asked.append(messages)
        return self.replies.pop(0)

    def close(self) -> None:
        self.closed = True


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Model:
    model = Model([])
    monkeypatch.setattr(oracle, "chat_model", lambda spec: model)
    return model


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        *[(text, "yes") for text in ("Yes", "yes.", " YES!", "Yes, it is.", "**Yes**", "Yes, a cat purrs")],
        *[(text, "no") for text in ("No", "no.", "No, it does not.", "No it is found in")],
        ("Unclear.", "unclear"),
        *[(text, None) for text in ("It is a cat", "", "maybe", "Yes and no", "Not sure", "No idea", "Unclear to me")],
    ],
)
def test_only_a_yes_or_no_counts(reply: str, word: str | None) -> None:
    assert read_reply(reply) == word


def test_model_answers_and_we_decide_the_win(scripted: Model) -> None:
    assert twenty_questions_game("openai:m@http://localhost:1") is None
    env = TwentyQuestionsEnv(oracle="openai:m@http://localhost:1")
    assert (env.partner, env.concurrency) == ("openai:scripted", 4)
    env.reset(seed=0, options={"object": "Cat"})
    scripted.replies = ["No.", "It is a cat.", "Yes", "A cat!", "The cat is it", "Unclear"]
    assert env.step("Is it alive?")[0] == rules.NO_TEXT
    assert env.step("Does it purr?")[0] == rules.YES_TEXT  # asked once more after a leak
    assert [message["role"] for message in scripted.asked[-1]] == ["system", "user"]
    observation, *_, info = env.step("Is it big?")
    assert observation == rules.NOT_ASKED["not understood"] and info["understood"] is False
    assert env.step("Is it blue today?")[0] == rules.NOT_ASKED["not understood"]
    assert env.step("Is it a dog?")[0] == rules.NO_TEXT and not scripted.replies
    assert env.step(" ")[0] == rules.NOT_ASKED["nothing was asked"]
    assert env.step("Is it a cat?")[:3] == (rules.WIN_TEXT, 0.0, True)
    assert env.episode_info()["oracle"] == "openai:scripted"
    env.close()
    assert scripted.closed


def test_records_of_other_oracles_are_followed() -> None:
    env = TwentyQuestionsEnv()
    env.reset(seed=0, options={"object": "Cat"})
    env.follow([rules.NO_TEXT, rules.NO_TEXT, "Meow.", rules.WIN_TEXT], {"oracle": "openai:other"})
    assert env.step("Is it alive?")[0] == rules.NO_TEXT
    assert env.step("Is it a cat or a dog?")[0] == rules.NO_TEXT
    assert "no possible answer" in env.step("Does it purr?")[0]
    assert env.step("Is it a cat?")[0] == rules.WIN_TEXT
    assert env.episode_info()["oracle"] == "openai:other"
    env.reset(seed=0, options={"object": "Cat"})
    assert env.step("Is it alive?")[0] == rules.YES_TEXT


def test_unknown_oracle_is_refused() -> None:
    with pytest.raises(LmrlError, match="unknown language model"):
        ModelOracle("nosuch")
