"""Admission: so many solves run, so many wait, each for so long.

Kernels release the interpreter's lock, so the solves of different requests run beside each other in a
pool of threads, while the event loop goes on reading and answering.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Generic, Self, TypeVar

from wayfare.web.limits import Limits
from wayfare.web.refusals import Refusal

__all__ = ["Gate", "Turn"]

Found = TypeVar("Found")

log = logging.getLogger("wayfare")

# Beyond its time a request is answered with what was found by then; one that found nothing yet may
# go on for so many times as long before it is given up.
GRACE = 2.0
SHORTEST = 2_000.0  # milliseconds of that, whatever the limit


class Turn(Generic[Found]):
    """One request at work: how much time it has left, and the best that it found so far."""

    def __init__(self, milliseconds: float, on_offer: Callable[[], None] = lambda: None) -> None:
        self.started = time.perf_counter()
        self.milliseconds = milliseconds
        self.best: Found | None = None
        self._on_offer = on_offer

    @property
    def spent(self) -> float:
        """Milliseconds since it started."""
        return 1e3 * (time.perf_counter() - self.started)

    @property
    def left(self) -> float:
        """Milliseconds left; not positive once it is late."""
        return self.milliseconds - self.spent

    def offer(self, found: Found) -> None:
        """An answer to give, should the time be over before a better one."""
        self.best = found
        self._on_offer()


class Gate:
    """Lets work in as `limits` allow, and says no to the rest; open while it is entered as a context."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._places = asyncio.Semaphore(limits.running)
        self._pool: ThreadPoolExecutor | None = None
        self.running = self.waiting = 0

    async def __aenter__(self) -> Self:
        self._pool = ThreadPoolExecutor(self._limits.running, thread_name_prefix="wayfare-solve")
        return self

    async def __aexit__(self, *_: object) -> None:
        """Let nobody in any more, and wait for who is inside."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await asyncio.get_running_loop().run_in_executor(None, pool.shutdown)

    async def run(
        self, work: Callable[[Turn[Found]], Found], gone: Callable[[], Awaitable[bool]]
    ) -> Found:
        """The answer of `work`, or its best offer when the time is over.

        Raises `Refusal`: 429 where too many wait already, 503 where no place comes free in time, where
        nothing was found in time, or once the gate is closed. Work whose client has `gone` while it
        waited is not started.
        """
        await self._enter()
        try:
            if self._pool is None:
                raise _closed()
            if await gone():
                raise Refusal(499, "gone", "the client went away")
            loop, offered = asyncio.get_running_loop(), asyncio.Event()
            turn: Turn[Found] = Turn(self._limits.milliseconds, lambda: _wake(loop, offered))
            future = loop.run_in_executor(self._pool, work, turn)
        except BaseException:
            self._leave(None)
            raise
        future.add_done_callback(self._leave)
        return await self._outcome(future, turn, offered)

    async def _enter(self) -> None:
        if self._pool is None:
            raise _closed()
        if self._places.locked() and self.waiting >= self._limits.waiting:
            raise Refusal(
                429,
                "busy",
                f"{self.running} solves run and {self.waiting} wait; try again in a second",
                limit=self._limits.waiting,
                headers={"Retry-After": "1"},
            )
        self.waiting += 1
        try:
            async with asyncio.timeout(self._limits.patience / 1e3):
                await self._places.acquire()
        except TimeoutError:
            raise Refusal(
                503,
                "no_place",
                f"no place came free in {self._limits.patience} ms; try again later",
                limit=self._limits.patience,
                headers={"Retry-After": "5"},
            ) from None
        finally:
            self.waiting -= 1
        self.running += 1

    def _leave(self, future: asyncio.Future[Any] | None) -> None:
        self.running -= 1
        self._places.release()
        # Asked for here, so that an error after the answer went out is not lost.
        if future is not None and not future.cancelled():
            future.exception()

    async def _outcome(
        self, future: asyncio.Future[Found], turn: Turn[Found], offered: asyncio.Event
    ) -> Found:
        await asyncio.wait({future}, timeout=max(turn.left, 0.0) / 1e3)
        if not future.done() and turn.best is None:
            first = asyncio.ensure_future(offered.wait())
            either: set[asyncio.Future[Any]] = {future, first}
            grace = max(GRACE * turn.milliseconds, SHORTEST) / 1e3
            await asyncio.wait(either, timeout=grace, return_when=asyncio.FIRST_COMPLETED)
            first.cancel()
        if future.done():
            return future.result()
        if turn.best is not None:
            return turn.best
        log.warning("a request found nothing in %.0f ms and was given up", turn.spent)
        raise Refusal(
            503,
            "out_of_time",
            f"nothing was proven in {turn.milliseconds:g} ms; send a shorter text, or raise "
            "--milliseconds",
            limit=self._limits.milliseconds,
        )


def _closed() -> Refusal:
    return Refusal(503, "closing", "the server is shutting down; try another")


def _wake(loop: asyncio.AbstractEventLoop, offered: asyncio.Event) -> None:
    try:
        loop.call_soon_threadsafe(offered.set)
    except RuntimeError:  # the server has ended meanwhile, and nobody waits
        log.debug("an answer came after the end")
