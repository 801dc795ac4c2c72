"""Use everything over and over, and see that nothing grows: ``python -m benchmarks.soak [TASK ...] [--minutes 60]``.

A round takes each task in turn, with the round's number as the seed: its data are generated (by two worker processes
in every other round), validated with a share of the episodes replayed, its policy is evaluated, and the result is
checked by playing all of it again. All of that is one process and its workers, whose memory together must stay under
1 GB at every moment; chess engines, of some 90 MB each, are programs of their own and are not counted. After two rounds
of warming up, no round may leave more memory in use than those did, but for some slack, nor any open file, process or
temporary file. It ends with a verdict, and exit code 1 for a bad one.

Run it while other work goes on: it judges sizes, not speed.
"""

import argparse
import gc
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

LIMIT = 1_000_000_000
# What an allocator may hold on to without there being a leak: 5 % of the limit.
SLACK = 50_000_000
WARMING_UP = 2
# Held by who looks: what the watch has open for a moment is not left over.
_LOOKING = threading.Lock()
# Train episodes, policy and evaluation episodes of a round: a second or a few for each task.
WORK = {
    "wordle": (20_000, "mixture", 400),
    "maze": (400, "optimal", 100),
    "text-nav": (800, "optimal", 200),
    "twenty-questions": (400, "person", 158),
    "guess-my-city": (200, "person", 100),
    "car-dealer": (60, "mixture", 40),
    "endgames": (16, "greedy-40", 8),
    "chess": (4, "random", 4),
}


@dataclass(frozen=True)
class Left:
    """What is in use between two rounds.

    Attributes:
        memory: bytes, of this process.
        files: open file descriptors.
        processes: children.
        temporary: files and folders, where this program keeps its own.
    """

    memory: int
    files: int
    processes: int
    temporary: int


class Grown(Exception):
    """More is in use after a round than may be."""


class TooMuch(Exception):
    """More memory is in use than may be."""


class Watch(threading.Thread):
    """Looks at the memory of this process and its Python descendants together; raises `TooMuch` in the main thread.

    Pages that several of them share count once.

    Attributes:
        peak: the most that was seen since it was last set to 0.
        over: ends it when set.
    """

    def __init__(self, limit: int) -> None:
        super().__init__(daemon=True)
        self.peak = 0
        self.over = threading.Event()
        self._limit = limit

    def run(self) -> None:
        while not self.over.wait(0.2):
            with _LOOKING:
                memory = sum(memory_of(member) for member in family(os.getpid()) if is_python(member))
            self.peak = max(self.peak, memory)
            if self.peak > self._limit:
                # Not SIGINT, which is ignored by programs that a script runs in the background.
                os.kill(os.getpid(), signal.SIGUSR1)
                return


def _raise_too_much(*_: object) -> None:
    raise TooMuch


def memory_of(process: int) -> int:
    """Bytes of memory of a process, a part of each shared page; 0 if it has ended."""
    try:
        text = Path(f"/proc/{process}/smaps_rollup").read_text("ascii")
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((1024 * int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)


def is_python(process: int) -> bool:
    """Whether a process runs the same program as this one; False if it has ended."""
    try:
        return os.path.samefile(f"/proc/{process}/exe", "/proc/self/exe")
    except OSError:
        return False


def family(process: int) -> list[int]:
    """A process and its descendants."""
    found = [process]
    for member in found:
        try:
            for children in Path(f"/proc/{member}/task").glob("*/children"):
                found += map(int, children.read_text("ascii").split())
        except (FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            continue
    return found


def left(folder: Path) -> Left:
    """What is in use now."""
    gc.collect()
    me = os.getpid()
    with _LOOKING:
        return Left(memory_of(me), len(os.listdir("/proc/self/fd")), len(family(me)) - 1, len([*folder.rglob("*")]))


def use(task: str, seed: int, folder: Path) -> None:
    """Generate, validate, evaluate and check a task's episodes; the folder is empty again afterwards."""
    from lmrl_evaluation.evaluate import evaluate
    from lmrl_evaluation.verify import check_result
    from lmrl_generators.generate import generate
    from lmrl_generators.plan import make_plans
    from lmrl_generators.validate import validate

    episodes, policy, evaluated = WORK[task]
    plans = make_plans(task, episodes=episodes, validation=episodes // 4, seed=seed, shard_size=-(-episodes // 2))
    generate(plans, folder / task, workers=1 + seed % 2)
    problems = validate(folder / task, replay=0.1).problems
    evaluate(task, policy, episodes=evaluated, seed=seed, folder=folder / "result")
    problems += check_result(folder / "result").summary()
    if problems:
        raise AssertionError(f"{task}, seed {seed}: {problems[0]}")
    shutil.rmtree(folder / task)
    shutil.rmtree(folder / "result")


def grown(before: Left, after: Left) -> list[str]:
    """What there is more of than there was, in words."""
    words = [
        f"{name} {getattr(before, name)} → {getattr(after, name)}"
        for name in ("files", "processes", "temporary")
        if getattr(after, name) > getattr(before, name)
    ]
    if after.memory > before.memory + SLACK:
        words.append(f"memory {before.memory / 1e6:.0f} → {after.memory / 1e6:.0f} MB")
    return words


def soak(tasks: Sequence[str], minutes: float, folder: Path, limit: int = LIMIT) -> bool:
    """Rounds until the time is over, at least one after the warming up; says what each left, and the verdict.

    Args:
        tasks: that each round takes in turn.
        minutes: how long.
        folder: empty; temporary files go there too, where they can be told from those of other programs.
        limit: bytes of memory.
    """
    working = folder / "working"
    working.mkdir()
    signal.signal(signal.SIGUSR1, _raise_too_much)
    watch = Watch(limit)
    watch.start()
    try:
        most, number = _rounds(tasks, minutes, folder, working, watch)
    except TooMuch:
        print(f"FAILED: {watch.peak / 1e6:,.0f} MB of memory at once; the limit is {limit / 1e6:,.0f} MB")
        return False
    except Grown as error:
        print(f"FAILED: {error}")
        return False
    finally:
        watch.over.set()
    print(f"PASSED: {number} rounds of {len(tasks)} tasks, at most {most / 1e6:.0f} MB of memory, and nothing grew")
    return True


def _rounds(tasks: Sequence[str], minutes: float, folder: Path, working: Path, watch: Watch) -> tuple[int, int]:
    """The most memory, and how many rounds there were."""
    began, most, number = time.monotonic(), 0, 0
    base = Left(0, 0, 0, 0)
    while time.monotonic() - began < 60 * minutes or number <= WARMING_UP:
        started, peaks = time.monotonic(), list[int]()
        for task in tasks:
            watch.peak = 0
            use(task, number, working)
            peaks.append(watch.peak)
        now, peak = left(folder), max(peaks)
        most, number = max(most, peak), number + 1
        print(
            f"round {number}: {time.monotonic() - started:.0f} s, {now.memory / 1e6:.0f} MB of memory after it and at "
            f"most {peak / 1e6:.0f} MB during it ({tasks[peaks.index(peak)]}), {now.files} open files, "
            f"{now.processes} processes, {now.temporary} files and folders",
            flush=True,
        )
        if number <= WARMING_UP:
            base = Left(*map(max, astuple(base), astuple(now)))
        elif more := grown(base, now):
            raise Grown(f"round {number} left more than the first {WARMING_UP}: {', '.join(more)}")
    return most, number


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("tasks", nargs="*", metavar="TASK", help="one of them; all if left out", default=list(WORK))
    parser.add_argument("--minutes", type=float, default=60, help="how long (60); the last round is finished")
    arguments = parser.parse_args()
    for task in arguments.tasks:
        if task not in WORK:
            parser.error(f"unknown task {task!r}; there are: {', '.join(WORK)}")
    if not Path("/proc/self/smaps_rollup").exists():
        parser.error("this system does not tell the memory of processes; run it on Linux")
    with TemporaryDirectory(prefix=".soak-", dir=".") as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = str(Path(folder).absolute())
        passed = soak(arguments.tasks, arguments.minutes, Path(folder).absolute())
    sys.exit(not passed)


if __name__ == "__main__":
    main()
