"""Replies kept on disk: nothing is asked twice, whoever asks and whatever ended the run before."""

import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
from llm_server import FakeServer, body, completion, hold

from lmrl_data.errors import LmrlError
from lmrl_data.llm import ChatMessage, ChatModel, chat_model
from lmrl_data.llm.cache import ReplyCache, cache_folder, request_key
from lmrl_data.llm.chat import Request


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path / "cache"))
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "cache"


@pytest.fixture
def server() -> FakeServer:
    return FakeServer()


@pytest.fixture
def url(server: FakeServer) -> Iterator[str]:
    with server.running() as address:
        yield address


def ask(model: ChatModel, text: str = "Who?", **settings: float) -> str:
    messages: list[ChatMessage] = [{"role": "user", "content": text}]
    return model.reply(messages, max_tokens=7, **settings)  # type: ignore[arg-type]


def test_a_second_run_asks_nothing(server: FakeServer, url: str) -> None:
    first = chat_model(f"openai:m@{url}")
    replies = [ask(first, f"question {number}") for number in range(5)]
    first.close()
    again = chat_model(f"openai:m@{url}")
    assert [ask(again, f"question {number}") for number in range(5)] == replies
    assert len(server.bodies) == 5
    assert (first.usage.requests, first.usage.cached) == (5, 0)
    assert (again.usage.requests, again.usage.cached, again.usage.prompt_tokens) == (0, 5, 0)


def test_without_the_cache_every_request_is_sent(server: FakeServer, url: str, folder: Path) -> None:
    model = chat_model(f"openai:m@{url}", cache=False)
    ask(model)
    ask(model)
    assert len(server.bodies) == 2
    assert not folder.exists()


def test_all_that_a_reply_depends_on_tells_requests_apart(server: FakeServer, url: str) -> None:
    server.reply = lambda body: f"reply {len(server.bodies)}"
    model, other = chat_model(f"openai:m@{url}"), chat_model(f"openai:n@{url}")
    question: list[ChatMessage] = [{"role": "user", "content": "Who?"}]
    system: ChatMessage = {"role": "system", "content": "Who?"}
    replies = [
        model.reply(question, max_tokens=7),
        model.reply(question, max_tokens=8),
        model.reply(question, max_tokens=7, stop=["."]),
        model.reply(question, max_tokens=7, temperature=0.5),
        model.reply(question, max_tokens=7, temperature=1.0),
        model.reply(question, max_tokens=7, temperature=1.0, seed=1),
        model.reply([system, *question], max_tokens=7),
        model.reply([system], max_tokens=7),
        other.reply(question, max_tokens=7),
    ]
    assert replies == [f"reply {number + 1}" for number in range(len(replies))]


def test_greedy_replies_are_shared_by_all_seeds(server: FakeServer, url: str) -> None:
    model = chat_model(f"openai:m@{url}")
    assert {ask(model, seed=seed) for seed in range(9)} == {"You said: Who?"}
    assert [body["seed"] for body in server.bodies] == [0]


def test_the_server_tells_requests_apart() -> None:
    request = Request([{"role": "user", "content": "Who?"}], 7, 0.0, 0, ())
    one, other = ({"backend": "openai", "model": "m", "url": url} for url in ("http://a/v1/", "http://b/v1/"))
    assert request_key(one, request) != request_key(other, request)
    assert request_key(one, request) == request_key(dict(reversed(one.items())), replace(request))


def test_threads_that_ask_the_same_ask_once(server: FakeServer, url: str) -> None:
    opened = threading.Event()
    server.always = hold(opened)
    model = chat_model(f"openai:m@{url}")
    with ThreadPoolExecutor(16) as pool:
        replies = [pool.submit(ask, model) for _ in range(16)]
        time.sleep(0.2)
        opened.set()
        assert {reply.result() for reply in replies} == {"late"}
    assert len(server.bodies) == 1
    assert (model.usage.requests, model.usage.cached) == (1, 15)


def test_threads_with_many_questions_ask_each_once(server: FakeServer, url: str) -> None:
    model = chat_model(f"openai:m@{url}")
    questions = [f"question {number % 40}" for number in range(400)]
    with ThreadPoolExecutor(16) as pool:
        replies = list(pool.map(lambda text: ask(model, text), questions))
    assert replies == [f"You said: {text}" for text in questions]
    assert sorted(server.asked) == sorted(set(questions))
    assert (model.usage.requests, model.usage.cached) == (40, 360)


def test_an_error_is_not_kept(server: FakeServer, url: str) -> None:
    server.faults.append(body(b"<html>"))
    model = chat_model(f"openai:m@{url}")
    with pytest.raises(LmrlError):
        ask(model)
    assert ask(model) == "You said: Who?"


RUN = """
import sys
from lmrl_data.llm import chat_model
model = chat_model(sys.argv[1])
for number in range(20):
    print(model.reply([{"role": "user", "content": f"question {number}"}], max_tokens=7), flush=True)
"""


def test_a_killed_run_goes_on_where_it_was(server: FakeServer, url: str) -> None:
    stuck = threading.Event()
    server.faults.extend([body(completion(f"early {number}")) for number in range(8)])
    server.faults.append(hold(stuck))
    command = [sys.executable, "-c", RUN, f"openai:m@{url}"]
    running = subprocess.Popen(command, stdout=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while len(server.bodies) < 9 and time.monotonic() < deadline:
        time.sleep(0.01)
    running.send_signal(signal.SIGKILL)
    running.communicate()
    stuck.set()
    assert len(server.bodies) == 9
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    late = [f"question {number}" for number in range(8, 20)]
    assert done.stdout.splitlines() == [f"early {number}" for number in range(8)] + [f"You said: {x}" for x in late]
    assert server.asked[9:] == late


def test_processes_share_the_file(folder: Path) -> None:
    code = """
import sys
from lmrl_data.llm.cache import ReplyCache
cache = ReplyCache()
for number in range(200):
    key = number.to_bytes(32, "big")
    print(cache.get(key) or cache.put(key, f"{number} of {sys.argv[1]}"))
"""
    commands = [[sys.executable, "-c", code, str(process)] for process in range(6)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) for command in commands]
    results = [process.communicate() for process in running]
    assert [errors for _, errors in results] == [b""] * 6
    (shown,) = {output for output, _ in results}
    assert len(shown.splitlines()) == 200


def test_the_first_reply_stays(folder: Path) -> None:
    one, other = ReplyCache(folder), ReplyCache(folder)
    assert one.put(b"key", "first") == "first"
    assert other.put(b"key", "second") == "first"
    assert other.get(b"key") == "first" and other.get(b"new") is None


def test_the_file_holds_no_prompts(server: FakeServer, url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    server.reply = lambda body: "a reply"
    model = chat_model(f"openai:m@{url}")
    ask(model, "a private question")
    model.close()
    stored = b"".join(path.read_bytes() for path in folder.iterdir())
    assert b"a reply" in stored
    assert b"private" not in stored and b"secret" not in stored and b"127.0.0.1" not in stored


def damage_start(path: Path) -> None:
    path.write_bytes(b"this is no database at all" * 100)


def damage_tables(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:4096] + b"\xff" * 8192)


@pytest.mark.parametrize("damage", [damage_start, damage_tables])
def test_a_damaged_file_is_named_with_the_remedy(server: FakeServer, url: str, folder: Path, damage: object) -> None:
    model = chat_model(f"openai:m@{url}")
    for number in range(50):
        ask(model, f"question {number}")
    model.close()
    assert callable(damage)
    damage(folder / "replies.sqlite")
    with pytest.raises(LmrlError) as caught:
        ask(chat_model(f"openai:m@{url}"))
    (line,) = str(caught.value).splitlines()
    assert str(folder / "replies.sqlite") in line and "damaged" in line and "remove it" in line
    (folder / "replies.sqlite").unlink()
    assert ask(chat_model(f"openai:m@{url}")) == "You said: Who?"


def test_a_file_of_something_else_is_refused(folder: Path) -> None:
    folder.mkdir()
    with sqlite3.connect(folder / "replies.sqlite") as other:
        other.execute("CREATE TABLE replies (name TEXT)")
    other.close()
    with pytest.raises(LmrlError, match="LMRL_CACHE"):
        ReplyCache().get(b"key")


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path / "file" / "below"))
    with pytest.raises(LmrlError, match="LMRL_CACHE") as caught:
        ReplyCache()
    assert str(tmp_path / "file") in str(caught.value)


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="other folders there")
def test_where_replies_are_kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache"
    monkeypatch.delenv("LMRL_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    assert cache_folder() == tmp_path / "xdg" / "lmrl-gym"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", os.fspath(tmp_path))
    assert cache_folder() == tmp_path / ".cache" / "lmrl-gym"
