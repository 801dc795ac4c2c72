"""The soak sees what grows, and lmrl-gym passes it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import soak

if not Path("/proc/self/smaps_rollup").exists():
    pytest.skip("the soak reads /proc", allow_module_level=True)

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_every_part_is_used_and_nothing_is_left(tmp_path):
    command = [sys.executable, "-m", "benchmarks.soak", "text-nav", "twenty-questions", "--minutes", "0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    *rounds, verdict = done.stdout.splitlines()
    assert [line.split(":")[0] for line in rounds] == ["round 1", "round 2", "round 3"]
    assert verdict.startswith("PASSED: 3 rounds of 2 tasks")
    assert os.listdir(tmp_path) == []


def play(monkeypatch, folder, use, limit=1 << 40):
    """A soak in this process, whose memory other tests have used; so it has no limit unless one is given."""
    monkeypatch.setattr(soak, "use", use)
    return soak.soak(["a task"], 0, folder, limit=limit)


def test_rounds_that_leave_the_same_pass(tmp_path, monkeypatch, capsys):
    def use(task, seed, folder):
        (folder / "lock").touch()

    assert play(monkeypatch, tmp_path, use)
    assert capsys.readouterr().out.splitlines()[-1].startswith("PASSED: 3 rounds of 1 tasks")


KEPT = []


def keep_memory(folder):
    KEPT.append(b"x" * 2 * soak.SLACK)


def keep_file(folder):
    # Many: meanwhile this process may close what other tests have left open.
    KEPT.extend(open(os.devnull) for _ in range(100))  # noqa: SIM115


def keep_process(folder):
    KEPT.append(subprocess.Popen(["sleep", "60"]))


def keep_temporary_file(folder):
    (folder / str(len(KEPT))).touch()
    KEPT.append(None)


@pytest.fixture
def kept():
    KEPT.clear()
    yield
    for thing in KEPT:
        if isinstance(thing, subprocess.Popen):
            thing.kill()
            thing.wait()
        elif hasattr(thing, "close"):
            thing.close()
    KEPT.clear()


@pytest.mark.usefixtures("kept")
@pytest.mark.parametrize(
    ("keep", "word"),
    [(keep_memory, "memory"), (keep_file, "files"), (keep_process, "processes"), (keep_temporary_file, "temporary")],
)
def test_what_grows_is_named(tmp_path, monkeypatch, capsys, keep, word):
    assert not play(monkeypatch, tmp_path, lambda task, seed, folder: keep(folder))
    verdict = capsys.readouterr().out.splitlines()[-1]
    assert verdict.startswith("FAILED: round 3 left more than the first 2: ")
    assert f"{word} " in verdict


def test_too_much_memory_at_once_ends_it(tmp_path, monkeypatch, capsys):
    started = time.monotonic()
    assert not play(monkeypatch, tmp_path, lambda task, seed, folder: time.sleep(5), limit=1_000_000)
    assert "FAILED" in capsys.readouterr().out
    assert time.monotonic() - started < 12


def test_memory_of_children_counts():
    code = "import time; kept = b'x' * 100_000_000; print('made', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout.readline() == "made\n"
        family = soak.family(os.getpid())
        assert child.pid in family
        assert soak.memory_of(child.pid) > 100_000_000
        child.kill()
    assert soak.memory_of(child.pid) == 0


def test_other_programs_do_not_count():
    with subprocess.Popen(["sleep", "60"]) as engine, subprocess.Popen([sys.executable, "-c", "input()"]) as ours:
        while not os.path.samefile(f"/proc/{ours.pid}/exe", sys.executable):
            time.sleep(0.01)
        assert soak.is_python(ours.pid)
        assert not soak.is_python(engine.pid)
        engine.kill()
        ours.kill()
    assert not soak.is_python(engine.pid)
