"""Wordle: sets of words as bits, word lists, and vocabularies from files."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from wordle_reference import REFERENCE

from lmrl_data import make, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.tasks.wordle import policies, rules
from lmrl_data.tasks.wordle.build_words import EXCLUDED
from lmrl_data.tasks.wordle.game import wordle_game


@given(st.lists(st.integers(0, 2**130 - 1), min_size=1, max_size=4), st.integers(1, 130))
def test_pack_and_unpack(rows: list[int], size: int) -> None:
    members = np.array([[bool(row >> number & 1) for number in range(size)] for row in rows])
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
