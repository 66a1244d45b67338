"""Records ended attempts, in batches by need: whatever has ended while the last batch was written goes into the next.

A slot is free only when the end is durable. A batch whose commit is in doubt is sent again: the fences make that safe.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.connection import Link
from catchment.runtime.deferred import Deferred
from catchment.runtime.doorbell import wait_for
from catchment.runtime.recorder import Batch, Recorder
from catchment.store.attempt import Ending

# Beyond this a larger batch saves nothing (40,000 no-ops/s at 250, 47,000 at 1,000) and delays what waits behind it.
MAX_BATCH = 1_000
# A batch has less text than this, unless it is one ending: a slow network must be able to carry it within a call.
MAX_BATCH_BYTES = 4 * 1024 * 1024
# An idle session that holds the lock of a scope or a lane must not delay the endings of other tasks.
LOCK_TIMEOUT = "500ms"


class Completer:
    """Records the endings that are submitted, in the event loop. ``is_lazy``: connect only while there is something to
    write. ``is_direct``: there is no pooler in between, so the session can be configured.
    """

    def __init__(
        self, link: Link, make_recorder: Callable[[Link], Recorder], *, is_lazy: bool = False, is_direct: bool = True
    ) -> None:
        self._link = link
        self._is_direct = is_direct
        self._recorder = make_recorder(link)
        self._is_lazy = is_lazy
        self._waiting: list[Ending] = []
        self._in_doubt: list[Ending] = []
        self._deferred = Deferred()
        self._since: float | None = None
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._ending = asyncio.Event()

    def submit(self, ending: Ending) -> None:
        """Record this ending soon."""
        if not self._waiting:
            self._since = time.monotonic()
            self._news.set()
        self._waiting.append(ending)

    @property
    def age(self) -> float:
        """How many seconds the oldest ended attempt has been waiting for its record."""
        since = min((s for s in (self._since, self._deferred.since) if s is not None), default=None)
        return 0.0 if since is None else time.monotonic() - since

    @property
    def is_empty(self) -> bool:
        return not (self._waiting or self._in_doubt or self._deferred)

    def close(self) -> None:
        """Write what is there, then end; with nothing to write it does not wait for a lost connection."""
        self._closing.set()
        self._news.set()
        if self.is_empty:
            self._ending.set()

    def abandon(self, runner: asyncio.Task[None]) -> None:
        """End now, with what could not be written."""
        self._ending.set()
        self._link.close(runner)

    async def run(self) -> None:
        while self._is_lazy and not self._ending.is_set() and not self._closing.is_set():
            await self._news.wait()
            await self._link.hold(self._serve, self._ending)
        if not self._is_lazy:
            await self._link.hold(self._serve, self._ending)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        if self._is_direct:
            with self._link.call():
                await conn.execute("select set_config('lock_timeout', %s, false)", [LOCK_TIMEOUT])
        while not self._ending.is_set():
            self._news.clear()
            await self._write_all(conn)
            if self.is_empty and (self._closing.is_set() or self._is_lazy):
                return
            pause = self._deferred.pause()
            if pause is None:
                await self._news.wait()
            else:
                await wait_for(self._news, timedelta(seconds=pause))

    async def _write_all(self, conn: AsyncConnection[Any]) -> None:
        while self._in_doubt or self._waiting or self._deferred.due():
            batch = Batch(conn, is_again=bool(self._in_doubt))
            if not batch.is_again:
                self._in_doubt = self._deferred.due() or self._take_waiting()
            try:
                await self._recorder.write(batch, self._in_doubt)
            finally:
                # An ending that was deferred is not in doubt, even if the connection was lost after that.
                later = {put.ending.attempt.fence for put in batch.later}
                self._in_doubt = [e for e in self._in_doubt if e.attempt.fence not in later]
                self._recorder.report_deferred([put for put in batch.later if put.ending not in self._deferred])
                hopeless = [p for p in batch.later if not self._deferred.add(p.ending, p.error, was_tried=p.was_tried)]
            self._forget(self._in_doubt)
            for put in hopeless:
                # Removed only afterwards: if the connection is lost here, it is still to be recorded.
                await self._recorder.give_up(batch, put.ending, put.error)
                self._deferred.remove(put.ending)
            self._since = time.monotonic() if self._waiting else None

    def _forget(self, recorded: list[Ending]) -> None:
        if recorded:
            self._deferred.recorded()
            if len(self._deferred):
                for ending in recorded:
                    self._deferred.remove(ending)
        self._in_doubt = []

    def _take_waiting(self) -> list[Ending]:
        size = 0
        count = 0
        for ending in self._waiting[:MAX_BATCH]:
            size += ending.size
            if count and size > MAX_BATCH_BYTES:
                break
            count += 1
        taken, self._waiting = self._waiting[:count], self._waiting[count:]
        return taken
