"""A pool of engine processes that a Python process shares, as many as it has cores."""

import asyncio
import multiprocessing
import os
import signal
import threading
import weakref
import zlib
from collections.abc import Coroutine, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import cached_property
from subprocess import DEVNULL
from typing import Any, TypeVar

import chess
from chess.engine import EngineError, EngineTerminatedError, UciProtocol

from lmrl_data.cores import available_cores
from lmrl_data.errors import LmrlError
from lmrl_data.stockfish.binary import VARIABLE, find_stockfish
from lmrl_data.stockfish.search import Found, Request, Search

T = TypeVar("T")

TIMEOUT = 30.0
_FINGERPRINT = Request(chess.Board("r1bq1rk1/pp2bppp/2n1pn2/3p4/3P4/2NB1N2/PP3PPP/R1BQ1RK1 w - - 0 10"), 3000, lines=4)
_CLOSED = "the engines have been closed; make the environment or policy again"


class _Engine:
    """A running engine and the UCI options that it has been set to."""

    def __init__(self, protocol: UciProtocol) -> None:
        self.protocol = protocol
        self.options: dict[str, str] = {}


class EnginePool:
    """Engine processes that answer requests, each started when it is first needed.

    A process that dies, hangs or talks nonsense is killed, its request raises an error, and the next request gets a new
    one. All processes end with `close`, with the garbage collection of the pool, and with this Python process.
    """

    def __init__(self, path: str, size: int | None = None, timeout: float = TIMEOUT) -> None:
        """A pool without processes yet.

        Args:
            path: of the engine's program.
            size: most processes at a time; None is the number of cores, and 1 in a worker process.
            timeout: seconds that a search may take beyond its own limit of time, and that a process may take to start.
        """
        self.path = path
        self.size = size or (1 if multiprocessing.parent_process() else available_cores())
        self.timeout = timeout
        self._name = ""
        self._owner = os.getpid()
        self._free: list[_Engine] = []
        self._all: list[_Engine] = []
        self._slots = asyncio.Semaphore(self.size)
        self._loop = asyncio.new_event_loop()
        # A daemon: one of python-chess's own threads would keep a program from ending that forgot to close the pool.
        thread = threading.Thread(target=_serve, args=[self._loop], name="lmrl-stockfish", daemon=True)
        thread.start()
        self.close = weakref.finalize(self, _shut_down, self._loop, thread, self._all)

    @cached_property
    def build(self) -> str:
        """The engine's name and a hash of what it finds in a position: builds of one behaviour have one text."""
        found = " ".join(f"{line.move} {line.value}" for line in self.search(_FINGERPRINT).lines)
        return f"{self._name} {zlib.crc32(found.encode()):08x}"

    def search(self, request: Request) -> Found:
        """Carry out a search; from several threads, as many at a time as the pool has processes.

        Raises:
            LmrlError: the engine cannot be started, died, did not answer in time, or answered with what cannot be read.
        """
        return self._run(self._search(request))

    def search_all(self, requests: Sequence[Request]) -> list[Found]:
        """`search` for many requests, side by side.

        Raises:
            LmrlError: one of them failed; the others are given up.
        """
        return self._run(self._search_all(requests))

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if os.getpid() != self._owner or not self.close.alive:
            work.close()
            forked = "the engines are the parent's of this forked process; make the environment or policy in the child"
            raise LmrlError(_CLOSED if os.getpid() == self._owner else forked)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise LmrlError(_CLOSED) from None
        finally:
            future.cancel()  # after Ctrl-C nothing goes on that nobody waits for

    async def _search_all(self, requests: Sequence[Request]) -> list[Found]:
        searches = [asyncio.create_task(self._search(request)) for request in requests]
        try:
            return await asyncio.gather(*searches)
        except BaseException:
            for search in searches:
                search.cancel()
            await asyncio.wait(searches)
            raise

    async def _search(self, request: Request) -> Found:
        async with self._slots:
            engine = await self._take()
            seconds = self.timeout + (request.milliseconds or 0) / 1000
            try:
                work = engine.protocol.communicate(lambda protocol: Search(protocol, request, engine.options))
                found = await asyncio.wait_for(work, seconds)
            except BaseException as error:
                await self._drop(engine)
                asked = f"{request.go!r} on {request.position[:200]!r}"
                if isinstance(error, TimeoutError):
                    raise LmrlError(f"{self.path} did not answer {asked} in {seconds:g} s; try again") from None
                if isinstance(error, EngineTerminatedError):
                    raise LmrlError(f"{self.path} died in {asked} ({error}); try again") from None
                if isinstance(error, EngineError):
                    raise LmrlError(f"{self.path} gave no usable answer to {asked}: {error}") from None
                raise
            self._free.append(engine)
            return found

    async def _take(self) -> _Engine:
        """A process that is free, or else a new one; those that died while nothing was asked of them are left out."""
        while self._free:
            engine = self._free.pop()
            if not engine.protocol.returncode.done():
                return engine
            await self._drop(engine)
        return await self._start()

    async def _start(self) -> _Engine:
        try:
            # A group of its own: Ctrl-C is for us, and we close the engine. It ends by itself if we are killed.
            _, protocol = await UciProtocol.popen(self.path, setpgrp=True, stderr=DEVNULL)
        except OSError as error:
            raise self._unusable(error.strerror or error) from None
        engine = _Engine(protocol)
        self._all.append(engine)
        try:
            await asyncio.wait_for(protocol.initialize(), self.timeout)
            if "MultiPV" not in protocol.options:
                raise EngineError("it has no option MultiPV")
        except BaseException as error:
            await self._drop(engine)
            if isinstance(error, TimeoutError):
                raise self._unusable(f"no answer to 'uci' in {self.timeout:g} s") from None
            if isinstance(error, EngineError):
                raise self._unusable(error) from None
            raise
        self._name = protocol.id.get("name", os.path.basename(self.path))
        return engine

    def _unusable(self, reason: object) -> LmrlError:
        return LmrlError(f"{self.path} is no Stockfish that can be used ({reason}); set {VARIABLE} to the path of one")

    async def _drop(self, engine: _Engine) -> None:
        self._all.remove(engine)
        await _kill(engine)


async def _kill(engine: _Engine) -> None:
    """End a process, whatever it is doing, and wait for it: no zombie is left."""
    transport = engine.protocol.transport
    assert transport is not None
    if transport.get_returncode() is None:
        with suppress(ProcessLookupError, PermissionError):  # it has just ended
            os.killpg(transport.get_pid(), signal.SIGKILL)  # the group: a script may have started the engine
    # The end comes when the pipes are closed too, and something that the program started could hold them open.
    for number in (0, 1):
        pipe = transport.get_pipe_transport(number)
        if pipe is not None:
            pipe.close()
    while not engine.protocol.returncode.done():
        with suppress(asyncio.CancelledError):  # nobody gives up a kill half-way: it takes no time
            await asyncio.shield(engine.protocol.returncode)
    transport.close()


async def _stop(engine: _Engine) -> None:
    with suppress(EngineError, TimeoutError):
        await asyncio.wait_for(engine.protocol.quit(), 1)
    await _kill(engine)


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _shut_down(loop: asyncio.AbstractEventLoop, thread: threading.Thread, engines: Sequence[_Engine]) -> None:
    """End the processes of a pool and its thread; searches under way raise an error."""

    async def stop_all() -> None:
        searches = asyncio.all_tasks() - {asyncio.current_task()}
        for search in searches:
            search.cancel()
        await asyncio.gather(*searches, return_exceptions=True)
        await asyncio.gather(*map(_stop, engines))
        loop.stop()

    asyncio.run_coroutine_threadsafe(stop_all(), loop)
    if threading.current_thread() is not thread:  # the garbage collector runs in any thread
        thread.join(timeout=10)


_POOLS: "weakref.WeakValueDictionary[tuple[int, str], EnginePool]" = weakref.WeakValueDictionary()
_POOLS_LOCK = threading.Lock()


def shared_pool() -> EnginePool:
    """The pool of this process, made when nobody holds one and gone when nobody does any more.

    Raises:
        LmrlError: there is no Stockfish.
    """
    # By process, because a forked one has the object but not its thread.
    key = (os.getpid(), find_stockfish())
    with _POOLS_LOCK:
        pool = _POOLS.get(key)
        if pool is None:
            pool = _POOLS[key] = EnginePool(key[1])
        return pool
