"""Wordle: colours against a slow reference, sets of words, word lists, stored trees and policies."""

import csv
import json
import math
from collections import Counter
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data import make, make_policy, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.game import GameEpisodes, action_of, rollout_game
from lmrl_data.seeding import episode_seeds
from lmrl_data.starts import evaluation_seeds
from lmrl_data.tasks.wordle import policies, rules
from lmrl_data.tasks.wordle.build_words import EXCLUDED
from lmrl_data.tasks.wordle.game import WordleGame, wordle_game

with (Path(__file__).parent / "cases" / "wordle_feedback.csv").open(encoding="utf-8", newline="") as file:
    GOLDEN = list(csv.DictReader(file))

# Few letters, so that words repeat them.
words = st.text("abc", min_size=5, max_size=5) | st.text("aelrst", min_size=5, max_size=5)


def colours(guess: str, hidden: str) -> str:
    """The real game's colours, letter by letter."""
    marks = ["b"] * 5
    unmatched = []
    for place in range(5):
        if guess[place] == hidden[place]:
            marks[place] = "g"
        else:
            unmatched.append(hidden[place])
    for place in range(5):
        if marks[place] != "g" and guess[place] in unmatched:
            marks[place] = "y"
            unmatched.remove(guess[place])
    return "".join(marks)


def paper_colours(guess: str, hidden: str) -> str:
    """The published rule: yellow whenever the letter occurs anywhere."""
    return "".join("g" if a == b else "y" if a in hidden else "b" for a, b in zip(guess, hidden, strict=True))


REFERENCE = {"game": colours, "paper": paper_colours}


def coloured(guess: str, hidden: str, rule: str = "game") -> str:
    return rules.feedback_letters(int(rules.feedback_matrix([guess], [hidden], rule)[0, 0]))


# Colours


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
    for guess, answer in zip(rng.integers(len(guesses), size=20_000), rng.integers(len(answers), size=20_000), strict=True):
        assert rules.feedback_letters(int(game.matrix[guess, answer])) == REFERENCE[rule](guesses[guess], answers[answer])


def test_the_two_rules_differ_in_about_nine_percent_of_pairs() -> None:
    differ = (wordle_game("default", "game").matrix != wordle_game("default", "paper").matrix).mean()
    assert 0.08 < differ < 0.11


def test_feedback_letters_name_every_feedback() -> None:
    assert len({rules.feedback_letters(number) for number in range(rules.FEEDBACKS)}) == 243
    assert rules.feedback_letters(rules.SOLVED) == "ggggg"
    assert rules.feedback_letters(0) == "bbbbb"


# The environment


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


# Sets of words


@given(st.lists(st.lists(st.booleans(), min_size=130, max_size=130), min_size=1, max_size=4), st.integers(1, 130))
def test_pack_and_unpack(rows: list[list[bool]], size: int) -> None:
    members = np.array(rows)[:, :size]
    bits = rules.pack(members)
    assert bits.shape == (len(rows), -(-size // 64))
    assert (rules.unpack(bits, size) == members).all()
    assert np.bitwise_count(bits).sum() == members.sum()
    for number in range(size):
        assert ((bits[:, number // 64] >> np.uint64(number % 64)) & np.uint64(1) == members[:, number]).all()


@given(st.lists(st.sets(st.integers(0, 199), min_size=1), min_size=1, max_size=5), st.data())
def test_nth_member(sets: list[set[int]], data: st.DataObject) -> None:
    members = np.zeros((len(sets), 200), np.bool_)
    for row, chosen in enumerate(sets):
        members[row, list(chosen)] = True
    n = [data.draw(st.integers(0, len(chosen) - 1)) for chosen in sets]
    expected = [sorted(chosen)[i] for chosen, i in zip(sets, n, strict=True)]
    assert rules.nth_member(rules.pack(members), np.array(n)).tolist() == expected


@pytest.mark.parametrize("rule", REFERENCE)
def test_consistent_sets_equal_brute_force(rule: str) -> None:
    game = wordle_game("default", rule)
    answers, guesses = game.vocabulary.answers, game.vocabulary.guesses
    rng = np.random.default_rng(1)
    for turns in range(5):
        hidden = rng.integers(len(answers), size=12)
        actions = rng.integers(len(guesses), size=(12, turns)).astype(np.int32)
        actions[::2] %= len(answers)  # answers as guesses are looked up in another way than other guesses
        actions[rng.random(actions.shape) < 0.2] = -1
        observations = np.zeros((12, turns + 1), np.int32)
        for turn in range(turns):
            observations[:, turn + 1] = game.step(hidden.astype(np.int32), actions[:, turn]).observation
        found = rules.unpack(game.consistent(actions, observations), len(answers))
        for row in range(12):
            known = [guesses[action] for action in actions[row] if action >= 0]
            said = [REFERENCE[rule](guess, answers[hidden[row]]) for guess in known]
            expected = [[REFERENCE[rule](guess, word) for guess in known] == said for word in answers]
            assert found[row].tolist() == expected


# Word lists


def test_word_lists() -> None:
    folder = files("lmrl_data.tasks.wordle") / "words"
    lists = {name: (folder / f"{name}.txt").read_text("utf-8") for name in ("answers", "answers_full", "guesses")}
    some, full, guesses = (text.split("\n")[:-1] for text in lists.values())
    for listed in (some, full, guesses):
        assert listed == sorted(set(listed))
        assert all(len(word) == 5 and word.isascii() and word.isalpha() and word.islower() for word in listed)
    assert (len(some), len(full)) == (400, 2300)
    assert len(guesses) >= 5000
    assert set(some) < set(full) < set(guesses)
    assert not EXCLUDED & set(full)


@pytest.mark.parametrize("name", ["default", "full"])
def test_vocabularies_put_the_answers_first(name: str) -> None:
    vocabulary = rules.load_vocabulary(name)
    assert vocabulary.guesses[: len(vocabulary.answers)] == vocabulary.answers
    assert len(set(vocabulary.guesses)) == len(vocabulary.guesses) == 6748
    assert vocabulary.guesses[len(vocabulary.answers) :] == tuple(sorted(vocabulary.guesses[len(vocabulary.answers) :]))


def test_vocabulary_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(b"Crane\r\nslate\r\n\r\nTRACE\nstare")
    env = make("wordle", vocabulary=str(path))
    assert env.game.vocabulary == rules.Vocabulary(*[("crane", "slate", "trace", "stare")] * 2)
    env.reset(seed=0, options={"word": "trace"})
    assert env.step("about")[4] == {"invalid_action": "not in the word list"}
    assert env.step("crane")[0] == "y g g b g"
    for name in ("random", "consistent", "repeat", "never-consistent", "start-word", "entropy", "mixture"):
        policy = getattr(policies, name.replace("-", "_"))(vocabulary=str(path))
        assert all(1 <= episode.num_turns <= 6 for episode in rollout(env, policy, range(8)))
    with pytest.raises(LmrlError, match="entropy"):
        policies.optimal(vocabulary=str(path))


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"", "at least two"),
        (b"\n \n", "at least two"),
        (b"crane\n", "at least two"),
        (b"crane\nslate\ncrane\n", "twice"),
        (b"crane\nslate\nCRANE\n", "twice"),
        (b"crane\ntree\n", "'tree'"),
        (b"crane\nshrubs\n", "'shrubs'"),
        (b"crane\ndon't\n", "five letters"),
        ("crane\nétait\n".encode(), "five letters"),
        (b"crane\n" + b"x" * 10**6, "five letters"),
        (b"crane\n\xff\xfe\xfa\xfb\xfc\n", "UTF-8"),
        ("crane\nslate\n".encode("utf-16"), "UTF-8"),
    ],
)
def test_bad_vocabulary_file(tmp_path: Path, content: bytes, complaint: str) -> None:
    path = tmp_path / "words.txt"
    path.write_bytes(content)
    with pytest.raises(LmrlError, match=complaint) as error:
        make("wordle", vocabulary=str(path))
    assert str(path) in str(error.value)
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("path", ["nosuch.txt", ".", "nul\0byte", "x" * 5000])
def test_vocabulary_that_is_no_file(tmp_path: Path, path: str) -> None:
    with pytest.raises(LmrlError, match="cannot read the vocabulary"):
        make("wordle", vocabulary=f"{tmp_path}/{path}")


# Policies and trees


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
    mean = -(played.length - 1).mean()
    assert stored["mean_return"] == pytest.approx(mean, abs=1e-12)
    assert stored["answers"] == len(game.starts)
    greedy = every_answer(name, "entropy")[1]
    assert mean >= -(greedy.length - greedy.success).mean()


def test_tree_is_refused_where_it_does_not_fit() -> None:
    with pytest.raises(LmrlError, match="entropy"):
        policies.optimal(feedback="paper")
    policy = make_policy("optimal", "wordle")
    policy.reset([1])
    begun = [{"role": "user", "content": "Guess the five-letter word. You have 6 tries."}]
    opening = policy.act([begun])[0]
    with pytest.raises(LmrlError, match="entropy"):
        policy.act([[*begun, {"role": "assistant", "content": "about"}, {"role": "user", "content": "b b b b b"}]])
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
