"""Wordle: colours against a slow reference, and the environment."""

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordle_reference import REFERENCE

from lmrl_data import make
from lmrl_data.errors import LmrlError
from lmrl_data.game import action_of
from lmrl_data.tasks.wordle import rules
from lmrl_data.tasks.wordle.game import wordle_game

with (Path(__file__).parent / "cases" / "wordle_feedback.csv").open(encoding="utf-8", newline="") as file:
    GOLDEN = list(csv.DictReader(file))

# Few letters, so that words repeat them.
words = st.text("abc", min_size=5, max_size=5) | st.text("aelrst", min_size=5, max_size=5)


def coloured(guess: str, hidden: str, rule: str = "game") -> str:
    return rules.feedback_letters(int(rules.feedback_matrix([guess], [hidden], rule)[0, 0]))


@pytest.mark.parametrize("case", GOLDEN, ids=lambda case: f"{case['guess']}-{case['hidden']}")
def test_golden_colours(case: dict[str, str]) -> None:
    assert coloured(case["guess"], case["hidden"]) == case["feedback"]
    assert coloured(case["guess"], case["hidden"], "paper") == case["paper_feedback"]


@given(words, words)
def test_colours_equal_the_reference(guess: str, hidden: str) -> None:
    for rule, reference in REFERENCE.items():
        assert coloured(guess, hidden, rule) == reference(guess, hidden)


@pytest.mark.parametrize("rule", REFERENCE)
def test_matrix_equals_the_reference(rule: str) -> None:
    game = wordle_game("default", rule)
    answers, guesses = game.vocabulary.answers, game.vocabulary.guesses
    assert game.matrix.shape == (len(guesses), len(answers))
    rng = np.random.default_rng(0)
    for guess, answer in zip(
        rng.integers(len(guesses), size=20_000), rng.integers(len(answers), size=20_000), strict=True
    ):
        assert rules.feedback_letters(int(game.matrix[guess, answer])) == REFERENCE[rule](
            guesses[guess], answers[answer]
        )


def test_the_two_rules_differ_in_about_nine_percent_of_pairs() -> None:
    differ = (wordle_game("default", "game").matrix != wordle_game("default", "paper").matrix).mean()
    assert 0.08 < differ < 0.11


def test_feedback_letters_name_every_feedback() -> None:
    assert len({rules.feedback_letters(number) for number in range(rules.FEEDBACKS)}) == 243
    assert rules.feedback_letters(rules.SOLVED) == "ggggg"
    assert rules.feedback_letters(0) == "bbbbb"


@pytest.mark.parametrize("rule", REFERENCE)
def test_environment_answers_with_spaced_colours_of_a_fixed_word(rule: str) -> None:
    env = make("wordle", feedback=rule)
    env.reset(seed=0, options={"word": "there"})
    for guess in ("eerie", "e e r i e", "EERIE", " E e\tr I e\n"):
        observation, reward, terminated, _, info = env.step(guess)
        assert observation == " ".join(REFERENCE[rule]("eerie", "there"))
        assert (reward, terminated, info) == (-1.0, False, {})
    observation, reward, terminated, truncated, info = env.step("t h e r e")
    assert (observation, reward, terminated, truncated) == ("g g g g g", 0.0, True, False)
    assert info == {"success": True, "return": -4.0, "secret": "there"}
    assert env.episode_info() == {"word": "there"}


def test_six_wrong_guesses_end_the_game() -> None:
    env = make("wordle")
    env.reset(seed=0, options={"word": "there"})
    steps = [env.step(action) for action in ("about", "zzzzz", "", "about", "other", "other")]
    assert [reward for _, reward, *_ in steps] == [-1.0] * 6
    assert [terminated for _, _, terminated, *_ in steps] == [False] * 5 + [True]
    assert steps[-1][3] is False
    assert steps[-1][4] == {"success": False, "return": -6.0, "secret": "there"}


@pytest.mark.parametrize(
    ("action", "reason"),
    [
        ("zzzzz", "not in the word list"),
        ("z z z z z", "not in the word list"),
        ("ZZZZZ", "not in the word list"),
        ("", "not a word of five letters a-z"),
        ("tree", "not a word of five letters a-z"),
        ("trees and shrubs", "not a word of five letters a-z"),
        ("ab cde", "not a word of five letters a-z"),
        ("st are", "not a word of five letters a-z"),
        ("the re", "not a word of five letters a-z"),
        ("there!", "not a word of five letters a-z"),
        ("th3re", "not a word of five letters a-z"),
        ("thérè", "not a word of five letters a-z"),
        ("там же", "not a word of five letters a-z"),
        ("東京東京東", "not a word of five letters a-z"),
    ],
)
def test_reasons_of_unusable_guesses(action: str, reason: str) -> None:
    env = make("wordle")
    opening, _ = env.reset(seed=0, options={"word": "there"})
    observation, reward, terminated, truncated, info = env.step(action)
    assert info == {"invalid_action": reason}
    assert (reward, terminated, truncated) == (-1.0, False, False)
    assert ("list" in observation) == ("list" in reason)
    assert observation != opening


def test_every_word_is_a_guess_in_both_spellings() -> None:
    game = wordle_game()
    for number, word in enumerate(game.vocabulary.guesses):
        assert action_of(game, word) == action_of(game, " ".join(word)) == number
        assert game.action_texts[number] == " ".join(word)


def test_hidden_words_of_seeds_do_not_change_by_accident() -> None:
    env = make("wordle")
    hidden = []
    for seed in range(4):
        env.reset(seed=seed)
        hidden.append(env.episode_info()["word"])
        assert env.step(hidden[-1])[2]
    assert hidden == ["share", "sharp", "speed", "storm"]


@pytest.mark.parametrize("word", ["zzzzz", "THERE ", "eerie", "", None, 7, ["there"]], ids=repr)
def test_hidden_word_must_be_an_answer(word: object) -> None:
    with pytest.raises(ValueError, match="400 answers: about, above"):
        make("wordle").reset(options={"word": word})


def test_unknown_feedback_rule() -> None:
    with pytest.raises(LmrlError, match="game, paper"):
        make("wordle", feedback="nosuch")
