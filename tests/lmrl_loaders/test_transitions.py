from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from loader_data import episodes_table

from lmrl_data.episode import Episode, to_table
from lmrl_data.errors import LmrlError
from lmrl_data.registry import get_task
from lmrl_data.text import Message
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.sequences import IGNORED, read_utterances
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.transitions import discounted_sums, transitions
from lmrl_loaders.windows import WindowRule

ENCODER = ChatEncoder(build_tokenizer({}))
REPLY, CONTEXT = 5, 40
TURN = st.tuples(st.integers(0, 20), st.integers(0, REPLY - 1), st.integers(-4, 4).map(float))
EPISODE = st.tuples(st.lists(TURN, min_size=1, max_size=9), st.booleans(), st.integers(0, 20))


def table_of(episodes: list[tuple[list[tuple[int, int, float]], bool, int]]) -> pa.Table:
    """Episodes from the lengths of their messages in tokens (every letter is one), rewards, and whether they ended."""
    made = []
    for number, (turns, terminated, last) in enumerate(episodes):
        messages: list[Message] = []
        for place, (heard, said, _) in enumerate(turns):
            messages.append({"role": "user", "content": "abc"[place % 3] * heard})
            messages.append({"role": "assistant", "content": "xyz"[place % 3] * said})
        messages.append({"role": "user", "content": "e" * last})
        made.append(
            Episode(
                messages=messages,
                rewards=[reward for *_, reward in turns],
                success=False,
                terminated=terminated,
                truncated=not terminated,
                seed=number,
                policy="test",
                env_id="lmrl/Maze-v0",
                info={"start": [1, 1], "goal": [8, 6]},
            )
        )
    return to_table(made, get_task("maze"))


def reference(table: pa.Table, gamma: float, credit: str) -> list[dict[str, Any]]:
    """The agent's tokens of whole episodes, one after another, by the definitions and without any array."""
    rule = WindowRule(CONTEXT, REPLY)
    end = ENCODER.format.end[-1]
    steps = []
    for row in table.to_pylist():
        contents = [message["content"] for message in row["messages"]]
        spoken = [ENCODER.encode(text) for text in contents]
        tokens = []
        for turn, reward in enumerate(row["rewards"]):
            said = [*spoken[2 * turn + 1], end]
            for place, token in enumerate(said):
                ends = place == len(said) - 1
                tokens.append(
                    {
                        "turn": turn,
                        "token": token,
                        "reward": reward if ends else 0.0,
                        "discount": gamma if ends or credit == "token" else 1.0,
                    }
                )
        returned = 0.0
        for step in reversed(tokens):
            returned = step["reward"] + step["discount"] * returned
            step["return"] = returned
        # The prompt of each turn, and of the one after the last.
        prompts = []
        for turn in range(len(row["rewards"]) + 1):
            heard, replies = spoken[: 2 * turn + 1 : 2], spoken[1 : 2 * turn : 2]
            start = rule.starts(ENCODER, [*map(len, heard)], [*map(len, replies)])[-1]
            prompts.append(ENCODER.joined(heard[start:], replies[start:]))
        for step in tokens:
            step["prompt"] = prompts[step["turn"]]
            final = step["turn"] == len(row["rewards"]) - 1
            step["after"] = [] if final and row["terminated"] else prompts[step["turn"] + 1]
        steps += tokens
    return steps


def read_back(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The agent's tokens as `transitions` gives them."""
    steps = []
    for row in rows:
        spoken = [place for place, label in enumerate(row["labels"]) if label != IGNORED]
        assert all(
            row["rewards"][place] == row["returns"][place] == 0
            for place in set(range(len(row["labels"]))) - set(spoken)
        )
        begins = [place for before, place in pairwise([-2, *spoken]) if place != before + 1]
        for place in spoken:
            begin = max(first for first in begins if first <= place)
            following = [other for other in spoken if other > place]
            steps.append(
                {
                    "token": row["labels"][place],
                    "reward": row["rewards"][place],
                    "return": row["returns"][place],
                    "prompt": row["input_ids"][:begin],
                    "after": row["successor_ids"] if not following else None,
                }
            )
    return steps


@settings(max_examples=60, deadline=None)
@given(
    st.lists(EPISODE, min_size=1, max_size=4),
    st.sampled_from([0.0, 0.5, 0.99, 1.0]),
    st.sampled_from(["turn", "token"]),
)
def test_transitions_are_those_of_the_definitions(
    episodes: list[tuple[list[tuple[int, int, float]], bool, int]], gamma: float, credit: Literal["turn", "token"]
) -> None:
    table = table_of(episodes)
    rows = transitions(
        table, read_utterances(table), ENCODER, WindowRule(CONTEXT, REPLY), gamma=gamma, credit=credit
    ).to_pylist()
    expected, found = reference(table, gamma, credit), read_back(rows)
    assert [step["token"] for step in found] == [step["token"] for step in expected]
    for name in ("reward", "return"):
        np.testing.assert_allclose([s[name] for s in found], [s[name] for s in expected], rtol=1e-5, atol=1e-5)
    assert [step["prompt"] for step in found] == [step["prompt"] for step in expected]
    for mine, right in zip(found, expected, strict=True):
        assert mine["after"] is None or mine["after"] == right["after"]


def test_every_window_but_a_terminal_one_has_a_successor() -> None:
    table = table_of([([(10, 3, -1.0)] * 9, True, 5), ([(10, 3, -1.0)] * 9, False, 5), ([(1, 1, 1.0)], True, 1)])
    rows = transitions(table, read_utterances(table), ENCODER, WindowRule(CONTEXT, REPLY), gamma=1, credit="turn")
    ends = [not row["successor_ids"] for row in rows.to_pylist()]
    assert len(ends) > 7 and ends.count(True) == 2 and ends[-1]


def test_a_last_message_beyond_the_context_is_refused_only_where_it_is_bootstrapped_from() -> None:
    rule = WindowRule(CONTEXT, REPLY)
    for terminated in (True, False):
        table = table_of([([(5, 2, 1.0)], terminated, 90)])
        if terminated:
            transitions(table, read_utterances(table), ENCODER, rule, gamma=1, credit="turn")
        else:
            with pytest.raises(LmrlError, match="last message of a truncated episode"):
                transitions(table, read_utterances(table), ENCODER, rule, gamma=1, credit="turn")


@pytest.mark.parametrize(("gamma", "credit", "message"), [(1.5, "turn", "gamma is 1.5"), (1, "day", "credit is 'day'")])
def test_settings_that_cannot_be(gamma: float, credit: Any, message: str) -> None:
    table = table_of([([(1, 1, 1.0)], True, 1)])
    with pytest.raises(LmrlError, match=message):
        transitions(table, read_utterances(table), ENCODER, WindowRule(CONTEXT, REPLY), gamma=gamma, credit=credit)


def test_rewards_that_do_not_go_with_the_turns_are_refused() -> None:
    table = episodes_table("maze", "optimal", 2)
    rewards = pa.array([[-1.0], [0.0]], table.schema.field("rewards").type)
    table = table.set_column(table.schema.get_field_index("rewards"), "rewards", rewards)
    with pytest.raises(LmrlError, match="rewards than turns"):
        transitions(table, read_utterances(table), ENCODER, WindowRule(200, 10), gamma=1, credit="turn")


def test_discounted_sums_stay_within_their_sequence() -> None:
    sums = discounted_sums(np.array([1.0, 2.0, 4.0, 8.0]), np.array([3, 1]), np.array([0.5, 0.5, 9.0, 9.0]))
    assert sums.tolist() == [1 + 0.5 * (2 + 0.5 * 4), 2 + 0.5 * 4, 4, 8]
