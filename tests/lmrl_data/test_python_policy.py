"""Policies of the user's own: found where they are, checked, and blamed for their own errors."""

import pytest

from lmrl_data import make, make_policy, rollout
from lmrl_data.errors import LmrlError

MODULE = """
class Good:
    name = "good"
    def reset(self, seeds):
        self.seeds = seeds
    def act(self, conversations):
        return ["crane" if talk else "" for talk in conversations]

class Nameless(Good):
    name = None

class Takes(Good):
    def __init__(self, config, task):
        self.name = f"{task}/{config}"

class Few(Good):
    def act(self, conversations):
        return []

class Numbers(Good):
    def act(self, conversations):
        return [1 for _ in conversations]

class Broken(Good):
    def act(self, conversations):
        return conversations[0]["content"]

class Unmade(Good):
    def __init__(self):
        raise RuntimeError("no\\nluck")

class Needy(Good):
    def __init__(self, weights):
        pass

class Odd(Good):
    name = 7

class NoReset:
    name = "x"
    act = None

WORD = "crane"

def make_good():
    return Good()
"""


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))  # takes the folder out again, and the module with it
    (tmp_path / "own_policies.py").write_text(MODULE)


def play(name):
    return rollout(make("wordle"), make_policy(f"python:own_policies:{name}", "wordle"), [1])[0]


@pytest.mark.parametrize(
    ("name", "policy"),
    [("Good", "good"), ("Nameless", "Nameless"), ("Takes", "wordle/default"), ("make_good", "good")],
)
def test_it_plays_under_its_name(name, policy):
    episode = play(name)
    assert episode.policy == policy
    assert set(episode.actions) == {"crane"}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("Few", "act gave 0 actions for 1 conversations"),
        ("Numbers", r"act gave a int; actions are texts"),
        ("Broken", r"TypeError: .* \(own_policies\.py, line 26\)"),
        ("Unmade", r"RuntimeError: no luck \(own_policies\.py, line 30\)"),
        ("Needy", "TypeError: .*'weights'$"),
        ("Odd", "has a int for its name"),
        ("NoReset", "has no method reset"),
        ("WORD", "WORD is a str; give a class"),
        ("Nothing", "has no Nothing"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(name, message):
    with pytest.raises(LmrlError, match=message) as caught:
        play(name)
    assert str(caught.value).startswith(f"python:own_policies:{name}")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("spec", ["python:own_policies", "python::Good", "python:nosuchmodule:Good", "python:a.b:"])
def test_what_cannot_be_found_is_said(spec):
    with pytest.raises(LmrlError, match="python:"):
        make_policy(spec, "wordle")
