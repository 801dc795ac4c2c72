"""Wordle: stored trees, and what each scripted policy says that it does."""

import json
import math
from collections import Counter
from importlib.resources import files

import numpy as np
import pytest
from wordle_reference import colours

from lmrl_data import make_policy
from lmrl_data.errors import LmrlError
from lmrl_data.game import GameEpisodes, rollout_game
from lmrl_data.registry import get_task
from lmrl_data.seeding import episode_seeds
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.wordle import policies
from lmrl_data.tasks.wordle.game import WordleGame, wordle_game


def every_answer(name: str, policy: str) -> tuple[WordleGame, GameEpisodes]:
    """A policy's game for every answer once."""
    game = wordle_game(name)
    seeds = evaluation_seeds("wordle", name, episodes=len(game.starts))
    played = rollout_game(game, getattr(policies, policy)(vocabulary=name).array_policy, seeds)
    assert sorted(played.start.tolist()) == game.starts.tolist()
    return game, played


TREES = sorted(path.name for path in (files("lmrl_data.tasks.wordle") / "trees").iterdir())


def test_there_is_a_tree_of_the_default_vocabulary() -> None:
    assert "default.json" in TREES


@pytest.mark.parametrize("name", [tree.removesuffix(".json") for tree in TREES])
def test_stored_tree(name: str) -> None:
    stored = json.loads((files("lmrl_data.tasks.wordle") / "trees" / f"{name}.json").read_text("ascii"))
    game, played = every_answer(name, "optimal")
    assert played.success.all()
    mean = float(-(played.length - 1).mean())
    assert stored["mean_return"] == pytest.approx(mean, abs=1e-12)
    assert stored["answers"] == len(game.starts)
    assert get_task("wordle").configs[name].bounds.maximum == pytest.approx(mean, abs=5e-5)


# The greedy search of the full vocabulary takes seconds.
@pytest.mark.parametrize("name", ["default", pytest.param("full", marks=pytest.mark.slow)])
def test_stored_tree_is_as_good_as_greed(name: str) -> None:
    trees, greedy = every_answer(name, "optimal")[1], every_answer(name, "entropy")[1]
    assert trees.rewards.sum() >= greedy.rewards.sum()


def test_tree_is_refused_where_it_does_not_fit() -> None:
    with pytest.raises(LmrlError, match="entropy"):
        policies.optimal(feedback="paper")
    policy = make_policy("optimal", "wordle")
    policy.reset([1])
    begun = [{"role": "user", "content": "Guess the five-letter word. You have 6 tries."}]
    opening = policy.act([begun])[0]
    with pytest.raises(LmrlError, match="entropy"):
        policy.act([[*begun, {"role": "assistant", "content": "about"}, {"role": "user", "content": "b b b b b"}]])
    policy.reset([1])
    with pytest.raises(LmrlError, match="cannot read the observation"):
        policy.act([[*begun, {"role": "assistant", "content": opening}, {"role": "user", "content": "Warmer!"}]])


def test_mixture_plays_like_the_published_data() -> None:
    game = wordle_game()
    played = rollout_game(game, make_policy("mixture", "wordle").array_policy, episode_seeds(0, "test", 0, 20_000))
    assert played.success.mean() == pytest.approx(0.70, abs=0.03)
    assert played.length.mean() == pytest.approx(4.82, abs=0.15)


def consistent_so_far(game: WordleGame, played: GameEpisodes) -> list[list[bool]]:
    """For each guess of each episode, whether all feedback before it allowed it (by the reference)."""
    verdicts = []
    for row, length in enumerate(played.length):
        hidden = game.vocabulary.answers[played.start[row]]
        guesses = [game.vocabulary.guesses[action] for action in played.actions[row, :length]]
        said = [colours(guess, hidden) for guess in guesses]
        verdicts.append(
            [all(colours(guesses[j], guesses[i]) == said[j] for j in range(i)) for i in range(len(guesses))]
        )
    return verdicts


def played_by(name: str, episodes: int = 400) -> tuple[WordleGame, GameEpisodes]:
    game = wordle_game()
    return game, rollout_game(game, make_policy(name, "wordle").array_policy, episode_seeds(1, "test", 0, episodes))


@pytest.mark.parametrize("name", ["mixture", "consistent", "repeat", "never-consistent"])
def test_policies_of_the_data_guess_answers_only(name: str) -> None:
    game, played = played_by(name)
    assert played.actions.max() < len(game.vocabulary.answers)


def test_random_policy_guesses_any_word_of_the_list() -> None:
    game, played = played_by("random", 3000)
    assert len(np.unique(played.actions)) > 0.8 * len(game.vocabulary.guesses)


def test_consistent_policy_is_consistent() -> None:
    game, played = played_by("consistent")
    assert all(map(all, consistent_so_far(game, played)))


def test_never_consistent_policy_is_not() -> None:
    game, played = played_by("never-consistent")
    assert not any(verdict for verdicts in consistent_so_far(game, played) for verdict in verdicts[1:])


def test_start_word_policy_opens_with_it_and_goes_on_consistently() -> None:
    game, played = played_by("start-word")
    assert {game.vocabulary.guesses[action] for action in played.actions[:, 0]} == {policies.OPENING_WORD}
    assert all(map(all, consistent_so_far(game, played)))


def test_repeat_policy_repeats_half_of_the_time() -> None:
    game, played = played_by("repeat")
    repeated = []
    for row, verdicts in enumerate(consistent_so_far(game, played)):
        guesses = played.actions[row, : len(verdicts)].tolist()
        for turn in range(1, len(guesses)):
            repeated.append(guesses[turn] in guesses[:turn])
            assert repeated[-1] or verdicts[turn]
    assert np.mean(repeated) == pytest.approx(0.5, abs=0.05)


def test_mixture_policy_is_consistent_a_third_of_the_time() -> None:
    game, played = played_by("mixture", 1500)
    # At the third turn hardly any answer is consistent by chance: 4 % over all, by the reference.
    verdicts = [verdicts[2] for verdicts in consistent_so_far(game, played) if len(verdicts) > 2]
    assert np.mean(verdicts) == pytest.approx(1 / 3 + 0.04, abs=0.05)


def test_entropy_policy_plays_a_guess_of_highest_entropy() -> None:
    game, played = played_by("entropy", 30)
    guesses, answers = game.vocabulary.guesses, game.vocabulary.answers
    for row in range(6):
        left = list(range(len(answers)))
        for turn in range(played.length[row] - 1):
            if turn and len(left) > 2:
                entropies = []
                for feedbacks in game.matrix[:, left].tolist():
                    shares = [count / len(left) for count in Counter(feedbacks).values()]
                    entropies.append(-sum(share * math.log2(share) for share in shares))
                assert entropies[played.actions[row, turn]] == pytest.approx(max(entropies), abs=1e-4)
            guess = played.actions[row, turn]
            left = [i for i in left if game.matrix[guess, i] == played.observations[row, turn + 1]]
        assert guesses[played.actions[row, played.length[row] - 1]] == answers[played.start[row]]
