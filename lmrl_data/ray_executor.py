"""Work on a Ray cluster: one that is there already, or one that is started on this machine for the run.

A process that dies and a node that is lost cost the work that they were at, which is done again elsewhere.
"""

import logging
import os
import platform
import re
import socket
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from lmrl_data.cores import available_cores, use_cores
from lmrl_data.errors import LmrlError
from lmrl_data.registration import registered_tasks, take_tasks

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")

EXECUTORS = ("local", "ray")
# How often the same work may take down its process or its machine.
_RETRIES = 5
# What a cluster of this machine holds in memory of outcomes under way; the rest goes to the disk.
_OBJECT_STORE = 256 << 20


class RayCluster:
    """A connection to a Ray cluster; `ray_cluster` makes it. Ray ends what is under way when the connection ends."""

    def __init__(self, ray: Any, workers: int | None) -> None:
        self._ray = ray
        self._workers = workers

    def run(self, work: Callable[[Item], Outcome], items: Iterable[Item]) -> Iterator[tuple[Item, Outcome]]:
        """Do the work for each item, on a core each, and give out each outcome as it is finished, in any order.

        Args:
            work: a function of a module that every node has.
            items: what to do it for.

        Raises:
            LmrlError: what the work raised, or its process died again and again.
        """
        ray = self._ray
        task = ray.remote(_do).options(name="lmrl", num_cpus=1, max_retries=_RETRIES, retry_exceptions=False)
        tasks = registered_tasks()
        waiting = deque(items)
        running: dict[Any, Item] = {}
        while waiting or running:
            while waiting and len(running) < self._most_at_once():
                item = waiting.popleft()
                running[task.remote(work, item, tasks)] = item
            (done, *_), _ = ray.wait(list(running))
            yield running.pop(done), self._outcome(done)

    def _most_at_once(self) -> int:
        """Enough for every core to have work at hand, and for a cluster that grows with its load to grow."""
        return self._workers or max(8, 2 * int(self._ray.cluster_resources().get("CPU", 0)))

    def _outcome(self, reference: Any) -> Any:
        errors = self._ray.exceptions
        try:
            return self._ray.get(reference)
        except errors.RayTaskError as error:
            if isinstance(error.cause, LmrlError):
                raise error.cause from None
            missing = re.search(r"No module named '[^']*'", str(error))
            if missing:
                raise LmrlError(f"a Ray node lacks a package ({missing[0]}); install there what is here") from error
            raise
        except errors.RayError as error:
            raise LmrlError(
                f"a worker of Ray died {_RETRIES + 1} times at the same work ({_first_line(error)}); if it was out of "
                "memory, give fewer --workers; run the same command to go on"
            ) from error


@contextmanager
def ray_cluster(address: str | None = None, workers: int | None = None) -> Iterator[RayCluster]:
    """Connect to a Ray cluster, or start one on this machine that ends with the block and leaves nothing.

    Args:
        address: of a cluster, as `ray.init` takes it; None starts one.
        workers: most pieces of work at a time; None is all cores.

    Raises:
        LmrlError: Ray is not installed, or there is no cluster.
    """
    # Ray reads these when it is imported: its makers are not told of the run, and its news of dead workers and nodes,
    # which it gets over by itself, do not go to standard output, where a command's JSON goes.
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_DEDUP_LOGS_SKIP_REGEX", ".")
    try:
        import ray
    except ImportError as error:
        raise LmrlError('Ray is not installed; pip install "lmrl-gym[ray]"') from error
    if ray.is_initialized():
        raise LmrlError("this program is connected to Ray already; call ray.shutdown() first")
    if address is not None:
        _check_answer(address)
    logging.getLogger("ray").setLevel(logging.ERROR)
    with tempfile.TemporaryDirectory(prefix="lmrl-ray-", dir=_short_folder(), ignore_cleanup_errors=True) as folder:
        settings: dict[str, Any] = {"log_to_driver": False, "logging_level": logging.ERROR}
        if address is None:
            settings |= {"num_cpus": workers or available_cores(), "object_store_memory": _OBJECT_STORE}
            settings |= {"include_dashboard": False, "_temp_dir": folder}
        try:
            try:
                ray.init(address or "local", **settings)
            except Exception as error:  # Ray has no kind of error for this
                what = f"connect to Ray at {address}" if address else "start Ray on this machine"
                raise LmrlError(f"cannot {what} ({_first_line(error)}); mend that and run it again") from error
            yield RayCluster(ray, workers if address else None)
        finally:
            ray.shutdown()


@contextmanager
def chosen_cluster(executor: str, address: str | None, workers: int | None) -> Iterator[RayCluster | None]:
    """What the options ``--executor`` and ``--address`` name: a Ray cluster, or None for this machine without Ray.

    Raises:
        LmrlError: they name nothing that there is.
    """
    if executor not in EXECUTORS:
        raise LmrlError(f"unknown executor {executor!r}; it is one of: {', '.join(EXECUTORS)}")
    if executor == "local":
        if address is not None:
            raise LmrlError("an address is that of a Ray cluster; give --executor ray with it")
        yield None
        return
    with ray_cluster(address, workers) as cluster:
        yield cluster


def check_node(wanted: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Compare what the results of some work depend on here, on a node, with what it is where the run was started.

    Raises:
        LmrlError: something differs, so that the node would give other results.
    """
    for name, value in wanted.items():
        if found.get(name) != value:
            raise LmrlError(
                f"the Ray node {platform.node()} has {name} {found.get(name)}, but the run was started with {value}; "
                "install the same on all nodes"
            )


def _short_folder() -> str | None:
    """Where Ray's folder goes: its sockets lie there, whose paths may not be longer than about a hundred characters."""
    return os.environ.get("RAY_TMPDIR") or ("/tmp" if os.path.isdir("/tmp") else None)


def _check_answer(address: str) -> None:
    """See that a cluster's port is open, for Ray itself would try for many minutes."""
    scheme, _, place = address.rpartition("://")
    if address == "auto" or scheme not in ("", "ray"):
        return
    host, _, port = place.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError, OverflowError) as error:
        raise LmrlError(f"no Ray cluster answers at {address} ({error}); give auto, or HOST:6379") from error


def _do(work: Callable[[Item], Outcome], item: Item, tasks: bytes) -> Outcome:
    take_tasks(tasks)
    use_cores(1)  # as many as Ray reckons with: a pool of engines is not to have one for each core of the machine
    return work(item)


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
