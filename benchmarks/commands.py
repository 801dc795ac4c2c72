"""What a command costs: time by the clock, time of the processors, memory of its largest process."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryFile

# `ru_maxrss` is in kilobytes, except on macOS.
_UNIT = 1 if sys.platform == "darwin" else 1024


@dataclass(frozen=True)
class Cost:
    """What a command took, its children and their children included.

    Attributes:
        wall: seconds by the clock.
        cpu: seconds of processor time, user and system.
        peak: bytes of memory of the largest process.
    """

    wall: float
    cpu: float
    peak: int


def cost_of(command: Sequence[str | Path]) -> Cost:
    """Run a command to its end; what it prints is thrown away.

    Call it from a small process: a child counts the memory of the process that it was forked from.

    Raises:
        RuntimeError: it fails, with the last line of its errors.
    """
    with TemporaryFile() as errors:
        started = time.perf_counter()
        child = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL, stderr=errors)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.perf_counter() - started
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            errors.seek(0)
            lines = errors.read().decode("utf-8", "replace").strip().splitlines() or ["no output"]
            raise RuntimeError(f"{' '.join(map(str, command))}: {lines[-1]}")
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * _UNIT)
