from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lmrl_data.errors import LmrlError
from lmrl_data.text import Message
from lmrl_loaders.chat import ChatEncoder
from lmrl_loaders.tokenizer import build_tokenizer
from lmrl_loaders.windows import WindowRule, action_tokens, windows

ENCODER = ChatEncoder(build_tokenizer({}))
REPLY = 6
CONTEXT = 40
LENGTHS = st.lists(st.tuples(st.integers(0, 30), st.integers(0, REPLY - 1)), min_size=1, max_size=25)


def conversation(lengths: list[tuple[int, int]]) -> list[Message]:
    """Messages of given lengths in tokens: every letter is one."""
    messages: list[Message] = []
    for observation, action in lengths:
        messages.append({"role": "user", "content": "x" * observation})
        messages.append({"role": "assistant", "content": "y" * action})
    return messages


def reference_starts(messages: list[Message], rule: WindowRule) -> list[int]:
    """The documented rule, by encoding every prompt from scratch."""
    room = rule.context - rule.reply_tokens
    around = len(ENCODER.format.begin) + len(ENCODER.format.reply)
    starts, start = [], 0
    for turn in range(len(messages) // 2):
        prompt = [len(ENCODER.prompt(messages[2 * first : 2 * turn + 1])) for first in range(turn + 1)]
        if prompt[start] > room:
            half = (room - around) // 2
            fitting = [first for first in range(turn + 1) if prompt[first] - around <= half]
            start = fitting[0] if fitting else turn
        starts.append(start)
    return starts


@given(LENGTHS)
def test_starts_follow_the_rule(lengths: list[tuple[int, int]]) -> None:
    rule = WindowRule(CONTEXT, REPLY)
    starts = rule.starts(ENCODER, *zip(*lengths, strict=True))
    assert starts == reference_starts(conversation(lengths), rule)


@given(LENGTHS)
def test_every_turn_is_trained_once_with_what_it_sees_in_play(lengths: list[tuple[int, int]]) -> None:
    rule = WindowRule(CONTEXT, REPLY)
    observations, actions = zip(*lengths, strict=True)
    cut = windows(rule.starts(ENCODER, observations, actions))
    trained = [turn for window in cut for turn in range(window.first, window.stop)]
    assert trained == list(range(len(lengths)))
    for window in cut:
        for turn in range(window.first, window.stop):
            # In play the replies from this turn on are not there yet.
            played = rule.starts(ENCODER, observations[: turn + 1], actions[:turn])
            assert played[-1] == window.start


@given(LENGTHS)
def test_windows_fit_into_the_context(lengths: list[tuple[int, int]]) -> None:
    rule = WindowRule(CONTEXT, REPLY)
    messages = conversation(lengths)
    for window in windows(rule.starts(ENCODER, *zip(*lengths, strict=True))):
        prompt = ENCODER.prompt(messages[2 * window.start : 2 * window.stop - 1])
        assert len(prompt) + lengths[window.stop - 1][1] + len(ENCODER.format.end) <= CONTEXT


@given(LENGTHS)
def test_starts_only_move_on(lengths: list[tuple[int, int]]) -> None:
    starts = WindowRule(CONTEXT, REPLY).starts(ENCODER, *zip(*lengths, strict=True))
    assert starts[0] == 0
    assert all(before <= after for before, after in pairwise(starts))


def test_a_short_episode_is_one_window() -> None:
    cut = windows(WindowRule(1000, REPLY).starts(ENCODER, [10] * 20, [3] * 20))
    assert cut == [(0, 0, 20)]


def test_an_observation_longer_than_the_context_is_refused() -> None:
    with pytest.raises(LmrlError, match=r"observation of 90 tokens.*max_length"):
        WindowRule(CONTEXT, REPLY).starts(ENCODER, [5, 90], [2, 2])


def test_action_tokens_hold_the_longest_action() -> None:
    assert action_tokens("maze", "fully_observed", ENCODER) == len(ENCODER.encode("move right")) + 1
