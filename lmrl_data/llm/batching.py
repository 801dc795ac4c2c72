"""Calls from many threads, run together: what waits while a batch runs is the next batch."""

import queue
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")
R = TypeVar("R")

# Callers that were answered together ask again together, if they are waited for, in seconds; a batch takes far longer.
_GATHER = 0.003


class Batcher(Generic[T, R]):
    """Gives the items of concurrent calls to one function in batches, from a thread of its own."""

    def __init__(self, run: Callable[[Sequence[T]], Sequence[R]], size: int) -> None:
        """Begin to wait for calls.

        Args:
            run: called with 1 to `size` items; gives a result for each, in their order.
            size: of the largest batch.
        """
        self._run = run
        self._size = size
        self._waiting: queue.SimpleQueue[tuple[T, Future[R]] | None] = queue.SimpleQueue()
        self._closed = False
        self._thread = threading.Thread(target=self._serve, name="lmrl-batches", daemon=True)
        self._thread.start()

    def call(self, item: T) -> R:
        """The result for an item; an error of its batch is raised to each caller."""
        if self._closed:
            raise RuntimeError("it is closed")
        future: Future[R] = Future()
        self._waiting.put((item, future))
        return future.result()

    def close(self) -> None:
        """Finish the calls that have been made, and stop."""
        self._closed = True
        self._waiting.put(None)
        self._thread.join()

    def _serve(self) -> None:
        while (first := self._waiting.get()) is not None:
            batch = [first]
            while len(batch) < self._size:
                try:
                    call = self._waiting.get(timeout=_GATHER)
                except queue.Empty:
                    break
                if call is None:  # put back for the loop outside, which ends with it
                    self._waiting.put(None)
                    break
                batch.append(call)
            self._finish(batch)

    def _finish(self, batch: Sequence[tuple[T, "Future[R]"]]) -> None:
        try:
            results = self._run([item for item, _ in batch])
        except BaseException as error:
            for _, future in batch:
                future.set_exception(error)
        else:
            for (_, future), result in zip(batch, results, strict=True):
                future.set_result(result)
