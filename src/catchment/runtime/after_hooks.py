"""Runs the after hooks of settled tasks, on a connection that is open only while some are due.

Upkeep calls ``ring`` when some are due. A hook that takes too long is cancelled and recorded as a warning. No other
part of the worker waits for a hook. A hook that was cut off with its worker is run again by another worker.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.connection import Link
from catchment.runtime.events import Events
from catchment.store.hooks import run_after_hook

# How long a call may exceed the statement timeout of its hook before the connection is cut.
GRACE = timedelta(seconds=5)
# How long a running hook may continue when the worker stops.
STOP_GRACE = timedelta(seconds=2)


class AfterHooks:
    """``limit`` is the longest run of a hook. ``drains``: before the worker stops, run all hooks that are due."""

    def __init__(self, dsn: str, limit: timedelta, events: Events, *, drains: bool) -> None:
        self._limit = limit
        self._drains = drains
        self._link = Link(dsn, "hooks", events, limit=limit + GRACE)
        self._due = asyncio.Event()
        self._closing = asyncio.Event()
        self._ended = asyncio.Event()

    def ring(self) -> None:
        """Run the hooks that are due."""
        self._due.set()

    @asynccontextmanager
    async def serving(self, group: asyncio.TaskGroup) -> AsyncGenerator[None]:
        """Run hooks inside this block. At its end a hook that does not return soon is cut off."""
        part = group.create_task(self._run())
        try:
            yield
            self._closing.set()
            self._due.set()
            await asyncio.wait([part], timeout=(self._limit if self._drains else STOP_GRACE).total_seconds())
        finally:
            self._ended.set()
            self._link.close(part)

    async def _run(self) -> None:
        while not self._closing.is_set():
            await self._due.wait()
            self._due.clear()
            if self._goes_on:
                await self._link.hold(self._serve, self._ended)

    async def _serve(self, conn: AsyncConnection[Any]) -> None:
        while self._goes_on:
            with self._link.call():
                if not await run_after_hook(conn, self._limit):
                    return

    @property
    def _goes_on(self) -> bool:
        return self._drains or not self._closing.is_set()
