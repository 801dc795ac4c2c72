"""Engines for tests: Stockfish with trouble on demand, fakes that need no Stockfish, and a look at the processes."""

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import pytest

from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import find_stockfish


def _missing() -> str:
    try:
        find_stockfish()
    except LmrlError as error:
        return str(error)
    return ""


# In CI nothing may be missing.
needs_stockfish = pytest.mark.skipif(bool(_missing()) and not os.environ.get("LMRL_TEST_ALL"), reason=_missing())

HANG = "time.sleep(1000)"
DIE = "os.kill(os.getpid(), signal.SIGKILL)"

_COMMON = """
import os, signal, subprocess, sys, time

def say(*lines):
    for line in lines:
        sys.stdout.buffer.write(line if isinstance(line, bytes) else line.encode() + b"\\n")
    sys.stdout.buffer.flush()

def once():
    try:
        os.unlink(TROUBLE)
    except FileNotFoundError:
        return False
    return True
"""

_FAKE = """
OPTIONS = ["MultiPV type spin default 1 min 1 max 500", "Threads type spin default 1 min 1 max 512",
    "Hash type spin default 16 min 1 max 512", "UCI_LimitStrength type check default false",
    "UCI_Elo type spin default 1350 min 1350 max 2850"]
asked = []
for line in sys.stdin:
    asked.append(line.strip())
    if line == "uci\\n":
        asked.clear()
        UCI
        say("id name Fake 1", *("option name " + option for option in OPTIONS), "uciok")
    elif line.startswith("go "):
        GO
        say("info depth 1 multipv 1 score cp 20 nodes 9 pv e2e4 e7e5", "bestmove e2e4 ponder e7e5")
    elif line == "quit\\n":
        break
"""

_BEHIND = """
engine = subprocess.Popen([STOCKFISH], stdin=subprocess.PIPE)
for line in sys.stdin.buffer:
    if line.startswith(b"go "):
        GO
    engine.stdin.write(line)
    engine.stdin.flush()
"""


def fake_engine(folder: Path, uci: str = "pass", go: str = "pass") -> str:
    """A program that says what Stockfish would to the start position, after the given Python statements.

    Args:
        folder: where the program is put. With a file named ``trouble`` in it, the statements' ``once()`` is true, once.
        uci: statements before the answer to ``uci``.
        go: statements before the answer to ``go``; ``asked`` has the lines since ``uci`` or its ``clear()``.
    """
    return _program(folder, _FAKE.replace("UCI\n", f"{uci}\n", 1).replace("GO\n", f"{go}\n", 1))


def stockfish_behind(folder: Path, go: str = "pass") -> str:
    """A program that passes everything on to Stockfish; the given statements see (and may change) each ``go`` first."""
    return _program(folder, _BEHIND.replace("STOCKFISH", repr(find_stockfish())).replace("GO\n", f"{go}\n", 1))


def _program(folder: Path, code: str) -> str:
    script = folder / "engine.py"
    script.write_text(f"TROUBLE = {str(folder / 'trouble')!r}{_COMMON}{code}", encoding="utf-8")
    program = folder / "engine"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -IS {shlex.quote(str(script))} "$@"\n')
    program.chmod(0o755)
    return str(program)


def processes_below(root: int | None = None) -> set[int]:
    """The ids of the children of a process (None: of this one) and of theirs, zombies among them."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue  # ended in the meantime
    found: set[int] = set()
    level = {root or os.getpid()}
    while level:
        level = {pid for pid, parent in parents.items() if parent in level}
        found |= level
    return found


def kill(pids: Iterable[int]) -> None:
    """End processes, as the kernel does when memory runs out."""
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


def running(pids: Iterable[int]) -> set[int]:
    """Those of the processes that have not ended; a zombie has, and is its new parent's business."""
    return {pid for pid in pids if _state(pid) not in "ZX"}


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "X"


def wait_for_end(pids: Iterable[int], seconds: float = 10) -> None:
    """Fail when some of the processes run on."""
    pids, deadline = set(pids), time.monotonic() + seconds
    while left := running(pids):
        assert time.monotonic() < deadline, f"still running: {left}"
        time.sleep(0.02)


def start_program(code: str) -> subprocess.Popen[str]:
    """A Python program in a process group of its own, as a shell would start it."""
    command = [sys.executable, "-W", "ignore", "-c", code]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.Popen(command, **pipes, text=True, start_new_session=True)
