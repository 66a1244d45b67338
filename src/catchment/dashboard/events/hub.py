"""Tells browsers that something has changed.

One connection of this process listens, and asks for the pulse of the engine once a second. All changes of that second
make one event, on which browsers read their page again. A standby has no notifications, and the figures of the pulse
come to it late: its pages are read again every few seconds. The connection is open while there are clients. A client
that does not take its events is dropped; its browser connects again and reads everything.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.sql import SQL, Identifier

from catchment.dashboard.database import Database
from catchment.dashboard.samples import EVERY_SECONDS, Sample
from catchment.errors import CatchmentError
from catchment.runtime.connection import Link
from catchment.runtime.events import Events
from catchment.store.connect import OURS
from catchment.store.migrate import find_misfit
from catchment.store.notify import Heard, listen

PULSE_SECONDS = 1.0
STANDBY_SECONDS = 3.0
LIMIT = timedelta(seconds=10)
# One a second at most, so this is a client that has not read for a quarter of a minute.
MOST_WAITING = 16
MOST_CLIENTS = 500

_FIGURES = "select queue, ready, processing from worker.queue_figures(worker.now())"


class Client:
    """The events that one browser has not read yet."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[str] = asyncio.Queue(MOST_WAITING)
        self.is_dropped = False

    def put(self, event: str) -> None:
        try:
            self._waiting.put_nowait(event)
        except asyncio.QueueFull:
            self.is_dropped = True

    async def get(self) -> str:
        return await self._waiting.get()


def message(kind: str, **fields: Any) -> str:
    """An event as it is sent."""
    return f"event: {kind}\ndata: {json.dumps(fields)}\n\n"


class Hub:
    """All browsers of this process, and the one connection that serves them."""

    def __init__(self, database: Database, *, channels: tuple[str, ...] = ()) -> None:
        self._database = database
        self._channels = channels
        self._clients: set[Client] = set()
        self._users = 0
        self._runner: asyncio.Task[None] | None = None
        self._stopping = asyncio.Event()
        self.closing = asyncio.Event()
        self.lost_since: datetime | None = None
        self.changed_at: datetime | None = None
        # Why this version cannot work with the schema any more, which was migrated while it runs.
        self.outdated: str | None = None
        self._link: Link | None = None
        self._pulse: tuple[Any, ...] | None = None
        self.on_change: Callable[[], None] = lambda: None

    def __len__(self) -> int:
        return len(self._clients)

    @property
    def is_full(self) -> bool:
        return len(self._clients) >= MOST_CLIENTS

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """Listen as long as the block lasts."""
        self._users += 1
        if self._runner is None:
            self._stopping = asyncio.Event()
            self._runner = asyncio.create_task(self._run(), name="catchment dashboard events")
        try:
            yield
        finally:
            self._users -= 1
            if self._users == 0:
                await self._end()

    async def _end(self) -> None:
        runner, self._runner = self._runner, None
        self._stopping.set()
        if runner is not None:
            runner.cancel()
            with suppress(asyncio.CancelledError):
                await runner

    @asynccontextmanager
    async def client(self) -> AsyncGenerator[Client]:
        """A browser: it gets a snapshot, then every event."""
        async with self.held():
            client = Client()
            client.put(self.snapshot())
            self._clients.add(client)
            try:
                yield client
            finally:
                self._clients.discard(client)

    def snapshot(self) -> str:
        """What a browser has to know when it connects."""
        return message(
            "hello",
            at=_text(datetime.now(UTC)),
            changed=_text(self.changed_at),
            lost=_text(self.lost_since),
            outdated=self.outdated,
        )

    def close(self) -> None:
        """Let every browser go; they may connect to the next process."""
        self.closing.set()

    def change(self) -> None:
        """Tell everybody that something is new."""
        self.changed_at = datetime.now(UTC)
        self.on_change()
        self._send(message("change", at=_text(self.changed_at)))

    def _send(self, event: str) -> None:
        for client in self._clients:
            client.put(event)

    async def _run(self) -> None:
        while not self._stopping.is_set():
            try:
                dsn = await self._database.dsn()
                self._link = Link(
                    dsn,
                    "dashboard events",
                    Events(),
                    limit=LIMIT,
                    on_loss=self._lose,
                    on_gone=lambda _: self._lose(),
                    settings=OURS,
                )
                await self._link.hold(self._serve, self._stopping)
            except (CatchmentError, psycopg.Error, OSError):
                self._lose()
                await asyncio.sleep(PULSE_SECONDS)

    def _lose(self) -> None:
        if self.lost_since is None:
            self.lost_since = datetime.now(UTC)
            self._send(message("lost", since=_text(self.lost_since)))

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        link = self._link
        assert link is not None  # noqa: S101 - it is what calls this
        asked = sampled = 0.0
        is_new = False
        async for heard in self._hear(conn, link):
            is_new = is_new or heard is not None
            if monotonic() - asked < PULSE_SECONDS * 0.9:
                continue
            asked = monotonic()
            with link.call():
                cursor = await conn.execute("select made, started, is_running, trouble_at, joined from worker.pulse()")
                pulse: tuple[Any, ...] | None = await cursor.fetchone()
            if self.lost_since is not None:
                self.lost_since = None
                self._send(message("found", at=_text(datetime.now(UTC))))
                is_new = True
            if pulse is None:
                continue
            if monotonic() - sampled >= EVERY_SECONDS:
                sampled = monotonic()
                with link.call():
                    await self._sample(conn, pulse)
                    await self._check_schema(conn)
            # Attempts in flight make progress, which the pulse does not show.
            if is_new or pulse != self._pulse or pulse[2]:
                self.change()
            self._pulse, is_new = pulse, False

    async def _hear(self, conn: AsyncConnection[Any], link: Link) -> AsyncGenerator[Heard | None]:
        """Notifications, and ``None`` whenever it is time to look. A standby is looked at until it is promoted."""
        looks = 0
        while await _is_standby(conn, link):
            looks += 1
            yield Heard("standby", "") if looks % round(STANDBY_SECONDS / PULSE_SECONDS) == 0 else None
            await asyncio.sleep(PULSE_SECONDS)
        for channel in self._channels:
            with link.call():
                await conn.execute(SQL("listen {}").format(Identifier(channel)))
        async for heard in listen(conn, quiet=timedelta(seconds=PULSE_SECONDS)):
            yield heard

    async def _check_schema(self, conn: AsyncConnection[Any]) -> None:
        misfit = await find_misfit(conn)
        words = None if misfit is None else f"{misfit}. {misfit.hint}"
        if words != self.outdated:
            self.outdated = words
            self._send(message("schema", outdated=words))

    async def _sample(self, conn: AsyncConnection[Any], pulse: tuple[Any, ...]) -> None:
        rows = await (await conn.execute(_FIGURES)).fetchall()
        self._database.samples.add(
            Sample(datetime.now(UTC), pulse[0], pulse[1], {r[0]: r[1] for r in rows}, {r[0]: r[2] for r in rows})
        )


async def _is_standby(conn: AsyncConnection[Any], link: Link) -> bool:
    with link.call():
        row = await (await conn.execute("select pg_catalog.pg_is_in_recovery()")).fetchone()
    return row is not None and row[0]


def _text(moment: datetime | None) -> str | None:
    return None if moment is None else moment.isoformat(timespec="milliseconds")
