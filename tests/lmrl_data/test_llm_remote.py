"""Models on a server: what is sent, what comes back, and what a user reads when the server is not well."""

import logging
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from email.utils import formatdate
from typing import Any

import pytest
from llm_server import (
    FakeServer,
    Fault,
    body,
    completion,
    cut,
    cut_in_the_middle,
    hold,
    slow,
    status,
    trickle,
)

from lmrl_data.errors import LmrlError
from lmrl_data.llm import ChatMessage, EmptyReply, Prices, chat_model
from lmrl_data.llm.chat import ChatModel
from lmrl_data.llm.model import LanguageModel
from lmrl_data.llm.remote import RemoteModel

KEY = "sk-very-secret-0123456789"
QUESTION: list[ChatMessage] = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Who?"}]


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def url(server: FakeServer) -> Iterator[str]:
    with server.running() as address:
        yield address


def model_at(url: str, **settings: Any) -> LanguageModel:
    """A model on a server that is asked again after hundredths of a second, without a cache."""
    defaults = {"concurrency": 16, "prices": None, "timeout": 5.0, "retries": 3, "first_pause": 0.01}
    return LanguageModel(RemoteModel("m", url, **{**defaults, **settings}), None)


def ask(model: ChatModel) -> str:
    return model.reply(QUESTION, max_tokens=7)


def refused(model: ChatModel) -> str:
    """The one line of an error that the user can mend."""
    with pytest.raises(LmrlError) as caught:
        ask(model)
    (line,) = str(caught.value).splitlines()
    return line


def test_a_request_says_all_that_was_asked_for(server: FakeServer, url: str) -> None:
    model = model_at(url)
    assert model.reply(QUESTION, max_tokens=7, temperature=0.5, seed=2**62 + 5, stop=["\n", "."]) == "You said: Who?"
    assert server.bodies == [
        {
            "model": "m",
            "messages": QUESTION,
            "max_tokens": 7,
            "temperature": 0.5,
            "seed": 5,
            "stop": ["\n", "."],
        }
    ]


def test_texts_that_json_or_utf8_cannot_hold_are_sent_and_received(server: FakeServer, url: str) -> None:
    server.faults.append(body(b'{"choices": [{"message": {"content": "  caf\\u00e9 \\ud800!\\n"}}]}'))
    model = model_at(url)
    assert model.reply([{"role": "user", "content": "na\u00efve \ud800?"}], max_tokens=7) == "café \ufffd!"
    assert server.asked == ["na\u00efve \ufffd?"]


@pytest.mark.parametrize(
    "fault",
    [
        status(429),
        status(500),
        status(503),
        cut,
        cut_in_the_middle,
        body(b'{"choices": '),
        body(b"\xff\xfe\xff"),
        body(b"[" * 100_000),
        body(b"[]"),
        body(b'{"choices": []}'),
        body(b'{"choices": [{"message": {"content": 5}}]}'),
        body(b'{"error": {"message": "upstream is gone"}}'),
        body(completion("")),
        body(completion(" \n")),
        body(completion(None)),
    ],
)
def test_what_may_pass_is_tried_again(server: FakeServer, url: str, fault: Fault) -> None:
    server.faults.extend([fault, fault])
    assert ask(model_at(url)) == "You said: Who?"
    assert len(server.bodies) == 3
    assert server.bodies[0] == server.bodies[2]


@pytest.mark.parametrize(
    ("fault", "tries", "words"),
    [
        (status(429, "slow down"), 3, ["429", "slow down", "tried 3 times", "lower the concurrency"]),
        (status(429, "no credit", code="insufficient_quota"), 1, ["429", "no credit", "top up"]),
        (status(500, "kaput"), 3, ["500", "kaput", "tried 3 times", "log"]),
        (status(400, "too long"), 1, ["400", "too long"]),
        (status(404, "no model m"), 1, ["404", "no model m", "model's name", "/v1"]),
        (status(401, "wrong key"), 1, ["401", "OPENAI_API_KEY"]),
        (status(403, "wrong key"), 1, ["403", "OPENAI_API_KEY"]),
        (cut, 3, ["cuts the connection", "tried 3 times"]),
        (body(b"<!DOCTYPE html><html></html>", "text/html"), 1, ["web page", "/v1"]),
        (body(b'{"choices": '), 3, ["broken JSON", "tried 3 times"]),
        (body(b'{"error": {"message": "upstream is gone"}}'), 3, ["without a message", "upstream is gone"]),
    ],
)
def test_what_does_not_pass_ends_with_one_clear_line(
    server: FakeServer, url: str, fault: Fault, tries: int, words: list[str]
) -> None:
    server.always = fault
    line = refused(model_at(url, retries=2))
    assert all(word in line for word in [*words, "openai:m"]), line
    assert len(server.bodies) == tries


def test_a_model_that_says_nothing_has_an_error_of_its_own(server: FakeServer, url: str) -> None:
    server.always = body(completion(""))
    model = model_at(url, retries=2, first_pause=60.0)  # there is no reason to pause
    with pytest.raises(EmptyReply, match="max_tokens"):
        ask(model)
    assert (len(server.bodies), model.usage.requests) == (3, 3)


def test_a_server_that_is_down() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        port = closed.getsockname()[1]
    line = refused(model_at(f"http://127.0.0.1:{port}/v1", retries=2))
    assert "cannot be reached" in line and f"127.0.0.1:{port}" in line and "start the server" in line


@pytest.mark.parametrize("fault", [slow(2.0), trickle(0.05)])
def test_a_slow_server_is_left_in_time(server: FakeServer, url: str, fault: Fault) -> None:
    server.always = fault
    before = time.monotonic()
    line = refused(model_at(url, timeout=0.3, retries=1))
    assert time.monotonic() - before < 10
    assert "0.3 s" in line and "tried 2 times" in line


def test_pauses_double_and_do_not_vary(server: FakeServer, url: str) -> None:
    server.faults.extend([status(500)] * 3)
    ask(model_at(url, first_pause=0.1))
    pauses = [later - earlier for earlier, later in zip(server.times, server.times[1:], strict=False)]
    assert all(least < pause < least + 0.5 for pause, least in zip(pauses, (0.1, 0.2, 0.4), strict=True)), pauses


@pytest.mark.parametrize("value", [lambda: "1", lambda: formatdate(time.time() + 2, usegmt=True)])
def test_the_server_says_how_long_to_wait(server: FakeServer, url: str, value: Callable[[], str]) -> None:
    server.faults.append(lambda handler: status(429, Retry_After=value())(handler))
    assert ask(model_at(url)) == "You said: Who?"
    assert server.times[1] - server.times[0] > 0.9


def test_a_server_that_wants_a_long_pause_ends_the_run(server: FakeServer, url: str) -> None:
    server.always = status(429, Retry_After="3600")
    assert "3600 s" in refused(model_at(url))
    assert len(server.bodies) == 1


def test_long_pauses_are_shown(server: FakeServer, url: str, caplog: pytest.LogCaptureFixture) -> None:
    server.faults.extend([status(500), status(429, Retry_After="2")])
    with caplog.at_level(logging.WARNING):
        ask(model_at(url))
    (record,) = caplog.records
    assert "429" in record.getMessage() and "2 s" in record.getMessage()


@pytest.mark.parametrize(
    "fault",
    [
        None,  # the server's own refusal, which repeats the whole header
        status(400, f"the key {KEY} is not for this"),
        status(500, f"Bearer {KEY}", Retry_After="3600"),
        body(f'{{"error": {{"message": "{KEY}"}}}}'.encode()),
    ],
)
def test_the_key_is_nowhere_but_in_the_request(
    server: FakeServer,
    url: str,
    fault: Fault | None,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    server.key, server.always = "another", fault
    model = model_at(url)
    with caplog.at_level(logging.DEBUG), pytest.raises(LmrlError) as caught:
        ask(model)
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    shown = [str(caught.value), model.name, str(vars(model.usage)), str(model._backend.identity), caplog.text]
    assert not [text for text in shown if KEY in text]
    assert caught.value.__cause__ is None and caught.value.__context__ is None


def test_a_key_with_a_line_end_is_trimmed_and_a_broken_one_is_refused(
    server: FakeServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\n")
    server.key = KEY
    assert ask(model_at(url)) == "You said: Who?"
    monkeypatch.setenv("OPENAI_API_KEY", "ключ")
    with pytest.raises(LmrlError, match="OPENAI_API_KEY") as caught:
        model_at(url)
    assert "ключ" not in str(caught.value)


def test_only_servers_on_this_machine_need_no_key() -> None:
    with pytest.raises(LmrlError, match="OPENAI_API_KEY"):
        model_at("http://192.0.2.1:8000/v1")
    model_at("http://localhost:8000/v1")
    model_at("http://[::1]:8000/v1")


def test_proxies_are_not_asked_for_servers_on_this_machine(
    server: FakeServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert ask(model_at(url, retries=0)) == "You said: Who?"


def test_the_address_may_come_from_the_environment(
    server: FakeServer, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", url)
    assert ask(chat_model("openai:some/model:8b", cache=False)) == "You said: Who?"
    assert server.bodies[0]["model"] == "some/model:8b"


def test_tokens_and_cost_are_counted(server: FakeServer, url: str) -> None:
    model = model_at(url, prices=Prices(prompt=3.0, completion=15.0))
    assert model.usage.cost == 0
    server.faults.extend([status(500), body(completion("", prompt_tokens=100, completion_tokens=0))])
    ask(model)
    ask(model)
    usage = model.usage
    assert (usage.requests, usage.prompt_tokens, usage.completion_tokens) == (3, 120, 4)
    assert usage.cost == pytest.approx((120 * 3 + 4 * 15) / 1_000_000)
    assert model_at(url).usage.cost is None


def test_there_is_no_cost_where_the_server_does_not_count(server: FakeServer, url: str) -> None:
    server.faults.append(body(b'{"choices": [{"message": {"content": "hi"}}], "usage": null}'))
    model = model_at(url, prices=Prices(1.0, 1.0))
    assert ask(model) == "hi"
    assert (model.usage.requests, model.usage.uncounted, model.usage.cost) == (1, 1, None)


def test_threads_ask_at_once_and_no_more_than_allowed(server: FakeServer, url: str) -> None:
    opened = threading.Event()
    server.always = hold(opened)
    model = model_at(url, concurrency=5)
    with ThreadPoolExecutor(16) as pool:
        replies = [pool.submit(ask, model) for _ in range(16)]
        deadline = time.monotonic() + 5
        while len(server.bodies) < 5 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.1)
        held = len(server.bodies)
        opened.set()
        assert [reply.result() for reply in replies] == ["late"] * 16
    assert (held, len(server.bodies), model.usage.requests) == (5, 16, 16)


def test_a_closed_model_leaves_no_connection(server: FakeServer, url: str) -> None:
    backend = RemoteModel("m", url, concurrency=1, prices=None, timeout=5.0, retries=0)
    model = LanguageModel(backend, None)
    ask(model)
    model.close()
    assert backend._client.is_closed()
