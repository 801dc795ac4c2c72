"""Timing on one core: pinning, warm-up, several runs, median and spread."""

import gc
import math
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# A run shorter than this is repeated until it lasts as long: clocks and caches then matter little.
SHORTEST_RUN = 0.2
# With less of the core than this, time by the clock says as much about the other processes as about ours.
QUIET = 0.9


@dataclass(frozen=True)
class Work:
    """A piece of work that can be done again and again.

    Attributes:
        play: does it; returns how many units it did or, where the seconds of a child process are measured, those by
            the clock and those of processor time.
        inputs: what `play` is given, made afresh each time and not timed: a string that has been looked up before
            carries its hash, which the actions of a policy do not.
    """

    play: Callable[[Any], Any]
    inputs: Callable[[], Any] = lambda: None


@dataclass(frozen=True)
class Measurement:
    """The values of several runs, in units per second or in seconds.

    Attributes:
        values: one per run, of processor time: what other processes do does not change it, but for shared caches.
        by_clock: the same by the clock.
        busy: the share of the time by the clock that our process, or its children where they did the work, had the
            core.
    """

    values: tuple[float, ...]
    by_clock: tuple[float, ...]
    busy: float

    @property
    def median(self) -> float:
        return statistics.median(self.values)

    @property
    def quiet(self) -> bool:
        """Whether the core was ours for nearly all of the time."""
        return self.busy >= QUIET

    @property
    def spread(self) -> float:
        """Half the range of the runs, relative to the median."""
        return (max(self.values) - min(self.values)) / 2 / self.median


def pin() -> int | None:
    """Keep this process and its children on one core with one thread each; to be called before numpy is imported.

    Returns:
        The number of the core; None on systems that cannot pin a process.
    """
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_NUM_THREADS"):
        os.environ[name] = "1"
    if not hasattr(os, "sched_setaffinity"):
        return None
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    return core


def rate(work: Work, runs: int) -> Measurement:
    """Units per second of a piece of work, in several runs after one that warms up."""
    _run(work, 1)
    _, _, shortest = _run(work, 1)
    repeats = math.ceil(SHORTEST_RUN / max(shortest, 1e-6))
    gc.collect()
    results = [_run(work, repeats) for _ in range(runs)]
    units, wall, cpu = zip(*results, strict=True)
    by_clock, values = (
        tuple(done / elapsed for done, elapsed in zip(units, times, strict=True)) for times in (wall, cpu)
    )
    return Measurement(values, by_clock, sum(cpu) / sum(wall))


def _run(work: Work, repeats: int) -> tuple[float, float, float]:
    """Units done, wall time and processor time."""
    done, wall, cpu = 0.0, 0.0, 0.0
    for _ in range(repeats):
        inputs = work.inputs()
        started, cpu_started = time.perf_counter(), time.process_time()
        done += work.play(inputs)
        wall += time.perf_counter() - started
        cpu += time.process_time() - cpu_started
    return done, wall, cpu


def duration(work: Work, runs: int) -> Measurement:
    """Seconds that a piece of work takes in a child process, in several runs after one that warms up."""
    work.play(work.inputs())
    by_clock, values = zip(*(work.play(work.inputs()) for _ in range(runs)), strict=True)
    return Measurement(values, by_clock, sum(values) / sum(by_clock))
