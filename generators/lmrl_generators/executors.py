"""Running shards: in this process, or in a pool of worker processes. The results do not depend on which."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.connection import wait
from typing import TypeVar

from lmrl_data.errors import LmrlError
from lmrl_data.registration import registered_tasks, take_tasks

Item = TypeVar("Item")
Outcome = TypeVar("Outcome")


def run_all(work: Callable[[Item], Outcome], items: Iterable[Item], workers: int) -> Iterator[tuple[Item, Outcome]]:
    """Do the work for each item and give out each outcome as it is finished, in any order.

    Args:
        work: a function of a module, so that it can be sent to another process.
        items: what to do it for.
        workers: processes; with 1 the work is done in this one.

    Raises:
        LmrlError: a worker process died.
    """
    items = list(items)
    if workers == 1 or len(items) <= 1:
        for item in items:
            yield item, work(item)
        return
    # "spawn": workers hold no copy of this process's threads and locks.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(items)), context, _begin_worker, (registered_tasks(),))
    try:
        futures = {pool.submit(work, item): item for item in items}
        for future in as_completed(futures):
            yield futures[future], future.result()
    except BrokenProcessPool as error:
        raise LmrlError(
            "a worker process died (out of memory, or killed); run the same command to go on, with fewer --workers "
            "(a script of your own must call it under `if __name__ == '__main__':`)"
        ) from error
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _begin_worker(tasks: bytes) -> None:
    """Leave Ctrl-C to the parent, which lets the shards at work finish; end with the parent, however it ends.

    Args:
        tasks: those that were registered in the parent.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent.sentinel,), daemon=True).start()
    take_tasks(tasks)


def _end_with(sentinel: int) -> None:
    wait([sentinel])
    os._exit(1)
