"""Records ended attempts, in batches by need: whatever has ended while the last batch was written goes into the next.

A slot is free only when the end is durable. A batch whose commit is in doubt is sent again: the fences make that safe.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import psycopg
from psycopg import AsyncConnection
from pydantic_core import to_json

from catchment.errors import CatchmentError, ClaimLost, TaskCancelled
from catchment.runtime.connection import LOST, hold_connection
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Holdings
from catchment.runtime.journal import Journal
from catchment.runtime.options import WorkerOptions
from catchment.store import attempt as store
from catchment.store.attempt import Ending
from catchment.task.failure import describe_error

# Beyond this a larger batch saves nothing (40,000 no-ops/s at 250, 47,000 at 1,000) and delays what waits behind it.
MAX_BATCH = 1_000
# Going on with a lane saves it a claim. Of many lanes at once, claims on the other connection run beside this one.
GO_ON_MOST = 32


class Completer:
    """``go_on`` starts the tasks that are next in lanes, as many as ``room(n)`` says when ``n`` slots come free.

    ``on_retry`` hears that a task will be tried again soon, ``on_loss`` that an answer may have been lost.
    """

    def __init__(
        self,
        dsn: str,
        worker_id: int,
        options: WorkerOptions,
        *,
        holdings: Holdings,
        journal: Journal,
        events: Events,
        go_on: Callable[[list[Held]], None],
        room: Callable[[int], int],
        on_retry: Callable[[], None],
        on_loss: Callable[[], None],
    ) -> None:
        self._dsn = dsn
        self._worker_id = worker_id
        self._go_on = go_on
        self._room = room
        self._on_retry = on_retry
        self._on_loss = on_loss
        self._options = options
        self._holdings = holdings
        self._journal = journal
        self._events = events
        self._waiting: list[Ending] = []
        self._in_doubt: list[Ending] = []
        self._since: float | None = None
        self._news = asyncio.Event()
        self._closing = asyncio.Event()
        self._ending = asyncio.Event()

    def submit(self, ending: Ending) -> None:
        """Hand an ended attempt over."""
        if not self._waiting:
            self._since = time.monotonic()
            self._news.set()
        self._waiting.append(ending)

    @property
    def age(self) -> float:
        """How many seconds the oldest ended attempt has been waiting for its record."""
        return 0.0 if self._since is None else time.monotonic() - self._since

    def close(self) -> None:
        """Write what is there, then end; with nothing to write it does not wait for a lost connection."""
        self._closing.set()
        self._news.set()
        if not self._waiting and not self._in_doubt:
            self._ending.set()

    async def run(self) -> None:
        await hold_connection(
            self._dsn,
            "completer",
            self._serve,
            stopping=self._ending,
            events=self._events,
            on_loss=self._on_loss,
        )

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        self._news.set()  # a batch may be in doubt since the last connection
        while True:
            await self._news.wait()
            self._news.clear()
            while self._in_doubt or self._waiting:
                is_again = bool(self._in_doubt)
                if not is_again:
                    self._in_doubt, self._waiting = self._waiting[:MAX_BATCH], self._waiting[MAX_BATCH:]
                async with asyncio.timeout(self._options.call_timeout.total_seconds()):
                    await self._write(conn, self._in_doubt, is_again=is_again)
                self._in_doubt = []
                self._since = time.monotonic() if self._waiting else None
            if self._closing.is_set():
                return

    async def _write(self, conn: AsyncConnection[Any], endings: Sequence[Ending], *, is_again: bool) -> None:
        loose: list[Ending] = []
        lined: list[Ending] = []
        others: list[Ending] = []
        for ending in endings:
            if not ending.attempt.is_plain or ending.asked != "completed" or ending.has_offspring:
                others.append(ending)
            else:
                (loose if ending.attempt.lane is None else lined).append(ending)
        for plain in (loose, lined):
            if plain:
                await self._write_plain(conn, plain, is_again=is_again)
        simple = [e for e in others if not e.has_offspring]
        if simple:
            await self._write_settled(conn, simple, is_again=is_again)
        for ending in others:
            if ending.has_offspring:
                await self._write_one(conn, ending, is_again=is_again)

    async def _write_plain(self, conn: AsyncConnection[Any], endings: Sequence[Ending], *, is_again: bool) -> None:
        following: list[Held] = []
        try:
            if endings[0].attempt.lane is None or len(endings) > GO_ON_MOST:
                done = await store.complete(conn, endings)
            else:
                limit = min(len(endings), self._room(len(endings)))
                done, following = await store.complete_and_go_on(conn, self._worker_id, endings, limit, Held)
        except LOST:
            raise
        except psycopg.Error:
            await self._write_singly(conn, endings, is_again=is_again)
            return
        if len(done) < len(endings):
            # Some are not plain any more, or not ours: the thorough way tells which.
            await self._write_settled(conn, [e for e in endings if e.attempt.id not in done], is_again=is_again)
        completed = [e for e in endings if e.attempt.id in done]
        self._journal.completed(completed)
        self._settled(completed)
        if following:
            self._go_on(following)

    async def _write_settled(self, conn: AsyncConnection[Any], endings: Sequence[Ending], *, is_again: bool) -> None:
        try:
            states = await store.settle(conn, endings)
        except LOST:
            raise
        except (psycopg.Error, CatchmentError):
            await self._write_singly(conn, endings, is_again=is_again)
            return
        if any(e.asked == "failed" and states.get(e.attempt.id) == "pending" for e in endings):
            self._on_retry()
        await self._record(conn, endings, states, is_again=is_again)
        self._settled(endings)

    async def _write_singly(self, conn: AsyncConnection[Any], endings: Sequence[Ending], *, is_again: bool) -> None:
        """One of these is refused: find out which, and let the others pass."""
        for ending in endings:
            await self._write_one(conn, ending, is_again=is_again)

    async def _write_one(self, conn: AsyncConnection[Any], ending: Ending, *, is_again: bool) -> None:
        try:
            states: dict[int, str]
            if ending.has_offspring:
                states = {ending.attempt.id: await store.complete_one(conn, ending)}
            else:
                states = await store.settle(conn, [ending])
            await self._record(conn, [ending], states, is_again=is_again)
        except LOST:
            raise
        except ClaimLost:
            await self._record(conn, [ending], {}, is_again=is_again)
        except (psycopg.Error, CatchmentError) as error:
            await self._write_refused(conn, ending, error)
        self._settled([ending])

    async def _write_refused(self, conn: AsyncConnection[Any], ending: Ending, error: Exception) -> None:
        """The database does not take this end (a result that jsonb cannot hold, a scope that is cancelled): fail it."""
        asked = "cancelled" if isinstance(error, TaskCancelled) else "failed"
        described = describe_error(error)
        self._events.emit(
            "task.refused",
            f"{ending.attempt.command} {ending.attempt.id}: its end was refused: {described['message']}",
            level=logging.ERROR,
            id=ending.attempt.id,
            command=ending.attempt.command,
        )
        refused = Ending(ending.attempt, asked, error=to_json(described).decode(), failure=described)
        await self._record(conn, [refused], await store.settle(conn, [refused]), is_again=True)

    async def _record(
        self, conn: AsyncConnection[Any], endings: Sequence[Ending], states: Mapping[int, str], *, is_again: bool
    ) -> None:
        """Count what is durable. Of a batch sent again, what is not ours any more may have been recorded before."""
        missing = [e for e in endings if e.attempt.id not in states]
        if missing and is_again:
            fates = await store.fates(conn, missing)
            known = {i: "completed" for i, fate in fates.items() if fate == "ended"}
            # How a failure was recorded the first time cannot be seen any more: it is counted as it was asked.
            states = {**states, **known, **{e.attempt.id: e.asked for e in missing if e.asked != "completed"}}
            missing = [e for e in endings if e.attempt.id not in states]
        if missing:
            self._journal.fenced(missing)
        self._journal.settled([e for e in endings if e.attempt.id in states], states)

    def _settled(self, endings: Sequence[Ending]) -> None:
        self._holdings.drop(e.attempt for e in endings if isinstance(e.attempt, Held))
