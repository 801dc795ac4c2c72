"""Evaluations on a real Ray cluster that is started on this machine for the run."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lmrl_data.errors import LmrlError
from lmrl_evaluation.evaluate import evaluate, prepare
from lmrl_evaluation.on_ray import play_on_cluster
from lmrl_evaluation.unfinished import kept_episodes

LMRL = Path(sys.executable).with_name("lmrl")
COMMAND = [str(LMRL), *"evaluate wordle --policy python:slow:Slow --episodes 60 --batch-size 6 --out result".split()]
FILES = ("result.json", "episodes.parquet")

# Guesses a word that follows from the seed, the later batches sooner than the earlier ones where it is told to.
POLICY = """
import os, time

WORDS = "crane slate money fight julia bawdy".split()

class Slow:
    name = "slow"

    def reset(self, seeds):
        self.seeds = seeds

    def act(self, conversations):
        time.sleep(float(os.environ.get("NAP", "0")) * (self.seeds[0] % 5))
        return [WORDS[(seed + len(talk)) % 6] for seed, talk in zip(self.seeds, conversations)]
"""


class FakeCluster:
    """Gives out the outcomes of work in an order of its own."""

    def __init__(self, order):
        self.order = order

    def run(self, work, items):
        items = list(items)
        for number in self.order:
            yield items[number], work(items[number])


def test_batches_that_end_in_any_order_make_the_same_result():
    alone = evaluate("wordle", "mixture", episodes=50, batch_size=12)
    turns, returns = [], []
    together = evaluate(
        "wordle",
        "mixture",
        episodes=50,
        batch_size=12,
        cluster=FakeCluster([2, 0, 4, 1, 3]),
        on_turns=turns.append,
        on_returns=returns.extend,
    )
    assert together == alone
    assert sum(turns) == together.run.turns == sum(alone.table["num_turns"].to_pylist())
    assert returns == alone.table["episode_return"].to_pylist()


def test_batches_are_kept_as_soon_as_those_before_them_are():
    evaluation = prepare("wordle", "mixture", episodes=9, batch_size=3)
    given = []

    class Watched(FakeCluster):
        def run(self, work, items):
            for outcome in super().run(work, items):
                yield outcome
                given.append(len(played))

    played = []
    for table, _ in play_on_cluster(Watched([1, 0, 2]), evaluation, range(9)):
        played += table["seed"].to_pylist()
    assert given == [0, 6, 9] and played == list(range(9))


def test_a_policy_without_a_spec_is_refused():
    class Mine:
        name = "mine"

    with pytest.raises(LmrlError, match="give it as a spec"):
        evaluate("wordle", Mine(), episodes=4, cluster=FakeCluster([0]))


@pytest.mark.slow
def test_an_interrupted_run_goes_on_on_ray_and_gives_the_same_bytes(tmp_path, monkeypatch):
    pytest.importorskip("ray")
    monkeypatch.chdir(tmp_path)
    Path("slow.py").write_text(POLICY)
    subprocess.run([*COMMAND[:-1], "alone"], check=True, capture_output=True)
    on_ray = [*COMMAND, "--executor", "ray"]
    playing = subprocess.Popen(on_ray, stderr=subprocess.PIPE, text=True, env={**os.environ, "NAP": "0.2"})
    deadline = time.monotonic() + 120
    while len(list(Path("result/unfinished").glob("episodes-*"))) < 2:
        assert playing.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    playing.send_signal(signal.SIGINT)
    _, said = playing.communicate(timeout=60)
    assert playing.returncode == 130, said
    kept = kept_episodes(Path("result"))
    assert 12 <= kept < 60
    assert said == f"lmrl: stopped; {kept} of 60 episodes are kept in result; run the same command to go on\n"
    output = subprocess.run([*on_ray, "--json"], check=True, capture_output=True).stdout
    assert json.loads(output)["episodes"] == 60
    assert sorted(os.listdir("result")) == ["episodes.parquet", "result.json", "run.json"]
    assert all(Path("result", name).read_bytes() == Path("alone", name).read_bytes() for name in FILES)
