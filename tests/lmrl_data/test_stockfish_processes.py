"""Stockfish's processes: none outlives us, none is left as a zombie, and none is shared with a forked child."""

import asyncio
import gc
import multiprocessing
import os
import signal
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import resource_tracker
from pathlib import Path
from typing import Any

import chess
import pytest
from engines import DIE, HANG, fake_engine, needs_stockfish, processes_below, start_program, wait_for_end

from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import find_stockfish
from lmrl_data.stockfish.pool import EnginePool, shared_pool
from lmrl_data.stockfish.search import Request

START = Request(chess.Board(), nodes=100)
LONG = Request(chess.Board(), nodes=10**10)
MOVES = ["e4", "d4", "Nf3", "Nc3", "h3"]

pytestmark = pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc")


@pytest.fixture
def own_pool(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Environments and policies of this test share a pool with nobody else: it goes by the path of the program."""
    link = tmp_path / "stockfish"
    link.symlink_to(find_stockfish())
    monkeypatch.setenv("STOCKFISH_PATH", str(link))


def play(env: Any, seed: int = 5) -> list[str]:
    """The observations of the first moves of a game."""
    return [env.reset(seed=seed)[0], *(env.step(move)[0] for move in MOVES)]


@needs_stockfish
@pytest.mark.usefixtures("own_pool")
@pytest.mark.parametrize("ending", ["close", "garbage collection", "exception"])
def test_engines_end_with_the_last_who_uses_them(ending: str) -> None:
    before = processes_below()
    env, vec, policy = make("chess"), make_vec("chess", 3), make_policy("level-1", "chess")
    play(env)
    observations, _ = vec.reset([1, 2, 3])
    policy.reset([1, 2, 3])
    vec.step(policy.act([[{"role": "user", "content": text}] for text in observations]))
    assert 1 <= len(processes_below() - before) <= shared_pool().size
    del policy
    if ending == "close":
        env.close()
        env.close()
        assert processes_below() - before
        vec.close()
        vec.close()
        with pytest.raises(LmrlError, match="closed; make another"):
            env.reset(seed=1)
    elif ending == "exception":
        with pytest.raises(RuntimeError), vec:
            del env
            raise RuntimeError
        env = make("chess", opponent="random")
    del env, vec
    gc.collect()
    assert processes_below() <= before


@needs_stockfish
def test_a_pool_that_is_given_up_during_a_search_ends_it() -> None:
    before = processes_below()
    pool = EnginePool(find_stockfish(), size=1)
    errors: list[Exception] = []

    def search(request: Request) -> None:
        try:
            pool.search(request)
        except LmrlError as error:
            errors.append(error)

    threads = [threading.Thread(target=search, args=[LONG]) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)  # one is searching, two are waiting
    pool.close()
    for thread in threads:
        thread.join(timeout=10)
    assert ["closed" in str(error) for error in errors] == [True] * 3
    assert processes_below() <= before


@pytest.mark.parametrize("trouble", [DIE, HANG, "say('bestmove e2e5')"])
def test_failed_engines_are_waited_for(tmp_path: Path, trouble: str) -> None:
    before = processes_below()
    pool = EnginePool(fake_engine(tmp_path, go=trouble), size=2, timeout=0.5)
    for _ in range(2):
        with pytest.raises(LmrlError):
            pool.search_all([START] * 3)
        assert processes_below() <= before
    pool.close()


def test_a_script_that_starts_the_engine_is_killed_with_it(tmp_path: Path) -> None:
    """Such a child would hold the pipes open, and waiting for their end would take for ever."""
    before = processes_below()
    inner = fake_engine(tmp_path, go=HANG)
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\n{inner}\n{inner}\n")
    script.chmod(0o755)
    pool = EnginePool(str(script), size=1, timeout=2)
    with ThreadPoolExecutor(1) as thread:
        searching = thread.submit(pool.search, START)
        while len(processes := processes_below() - before) < 2:
            time.sleep(0.01)
        with pytest.raises(LmrlError, match="did not answer"):
            searching.result()
    wait_for_end(processes)
    pool.close()


def test_a_process_that_keeps_the_pipes_open_does_not_keep_us(tmp_path: Path) -> None:
    """The program ends and leaves a child of another group behind: its end cannot be seen from the pipes."""
    leave = "child = subprocess.Popen(['sleep', '30'], start_new_session=True); "
    note = f"open({str(tmp_path / 'pid')!r}, 'w').write(str(child.pid))"
    pool = EnginePool(fake_engine(tmp_path, go=f"{leave}{note}; os._exit(0)"), size=1, timeout=1)
    began = time.monotonic()
    with pytest.raises(LmrlError):
        pool.search(START)
    pool.close()
    assert time.monotonic() - began < 10
    os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)


PROGRAM = """
import os, sys, gc, threading
sys.path.insert(0, {folder!r})
from engines import processes_below
from lmrl_data import make, make_policy, make_vec, rollout
from lmrl_data.stockfish.pool import shared_pool
from test_stockfish_processes import LONG, START, play
env, vec, policy = make("chess"), make_vec("chess", 2), make_policy("level-1", "chess")
play(env)
rollout(vec, policy, [1])
print(*processes_below(), flush=True)
"""


def run(code: str) -> tuple[Any, list[int]]:
    """A program that has played some chess and now does the rest of its code; with its engines' processes."""
    program = start_program(PROGRAM.format(folder=str(Path(__file__).parent)) + code)
    assert program.stdout is not None and program.stderr is not None
    engines = [int(pid) for pid in program.stdout.readline().split()]
    assert engines, program.stderr.read()
    return program, engines


@needs_stockfish
def test_a_program_that_closes_nothing_ends_at_once_and_well() -> None:
    program, engines = run("print('the end', flush=True)")
    assert program.stdout.readline() == "the end\n"
    began = time.monotonic()
    output, errors = program.communicate(timeout=30)
    assert (program.returncode, output, errors) == (0, "", "")
    assert time.monotonic() - began < 5
    wait_for_end(engines)


@needs_stockfish
def test_engines_end_when_we_are_killed_in_the_middle_of_a_search() -> None:
    program, engines = run(
        "threading.Timer(0.3, print, ['searching'], {'flush': True}).start(); shared_pool().search(LONG)"
    )
    program.stdout.readline()
    program.kill()
    program.wait()
    wait_for_end(engines)
    program.communicate()


@needs_stockfish
def test_ctrl_c_ends_a_rollout_and_the_engines() -> None:
    program, engines = run(
        "threading.Timer(0.3, print, ['playing'], {'flush': True}).start(); rollout(vec, policy, range(10**6))"
    )
    program.stdout.readline()
    os.killpg(program.pid, signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert program.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt") and errors.count("Traceback") == 1
    wait_for_end(engines)


@needs_stockfish
def test_after_ctrl_c_the_search_is_given_up_and_the_engines_work_on() -> None:
    program, engines = run(
        """
import signal
threading.Timer(0.5, os.kill, [os.getpid(), signal.SIGINT]).start()
try:
    shared_pool().search_all([LONG] * 50)
except KeyboardInterrupt:
    print(*play(env), sep="|")
"""
    )
    output, errors = program.communicate(timeout=30)
    assert (output.rstrip("\n").split("|"), errors) == (play(make("chess")), "")
    wait_for_end(engines)


FORK = """
first = play(env)
child = os.fork()
if not child:
    try:
        env.step("a3")
    except ValueError as error:
        print(error, flush=True)
    del env, vec, policy
    gc.collect()  # what the child lets go of is the parent's, and must not be disturbed
    print(play(make("chess")) == first, flush=True)
    sys.exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
print(play(env) == first, sorted(processes_below()) == engines)
"""


@needs_stockfish
def test_a_forked_child_uses_engines_of_its_own() -> None:
    program, engines = run("engines = sorted(processes_below())" + FORK)
    output, errors = program.communicate(timeout=60)
    refusal, *rest = output.splitlines()
    assert "forked" in refusal and "in the child" in refusal
    assert (rest, errors) == (["True", "0", "True True"], "")
    wait_for_end(engines)


def play_alone(seed: int) -> list[str]:
    """A game in a process of its own."""
    return play(make("chess"), seed)


@needs_stockfish
def test_spawned_workers_play_the_same_games_and_leave_nothing() -> None:
    resource_tracker.ensure_running()  # Python's own, which stays
    before = processes_below()
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as executor:
        games = list(executor.map(play_alone, [1, 2, 3]))
        engines = processes_below() - before
    assert games == [play(make("chess"), seed) for seed in (1, 2, 3)]
    wait_for_end(engines)


@needs_stockfish
def test_engines_work_inside_a_running_event_loop() -> None:
    """As in Jupyter, whose cells run inside one."""

    async def cell() -> list[str]:
        return play(make("chess"))

    assert asyncio.run(cell()) == play(make("chess"))


@needs_stockfish
def test_rollouts_in_threads_share_the_engines() -> None:
    policy = make_policy("level-1", "chess")
    expected = rollout(make("chess"), policy, [4, 5])
    assert rollout(make_vec("chess", 2), policy, [4, 5]) == expected
