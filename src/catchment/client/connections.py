"""The connections of an app: none until the first use, then a few, kept for each event loop and for threads."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.client.result import Results
from catchment.errors import RequestRefused
from catchment.model.check import check_count
from catchment.store.connect import check_dsn, find_dsn
from catchment.store.pool import AsyncPool, Pool

NAME = "catchment client"


class LoopSide:
    """What belongs to one event loop: connections, and the callers that wait for results."""

    def __init__(self, dsn: str, size: int) -> None:
        self.pool = AsyncPool(dsn, size, name=NAME)
        self.results = Results(self.pool)


class Connections:
    """Finds the database at first use and hands out connections."""

    def __init__(self, dsn: str | None, size: int) -> None:
        check_count(size, name="pool_size")
        check_dsn(dsn)
        self._dsn = dsn
        self._size = size
        self._lock = threading.Lock()
        self._found: str | None = None
        # By strong reference: connections of a loop that has ended are dropped here, not by the garbage collector.
        self._sides: dict[asyncio.AbstractEventLoop, LoopSide] = {}
        self._threads: Pool | None = None

    def dsn(self) -> str:
        """The DSN given, or that of the environment, or of the embedded server, which is started."""
        with self._lock:
            if self._found is None:
                self._found = find_dsn(self._dsn)
            return self._found

    async def side(self) -> LoopSide:
        """What belongs to the running event loop."""
        loop = asyncio.get_running_loop()
        side = self._sides.get(loop)
        if side is None:
            dsn = self._found or await asyncio.to_thread(self.dsn)
            self._drop_ended()
            side = self._sides.setdefault(loop, LoopSide(dsn, self._size))
        return side

    @asynccontextmanager
    async def use_async(self, conn: AsyncConnection[Any] | None) -> AsyncGenerator[AsyncConnection[Any]]:
        """The caller's connection, or one of ours."""
        if conn is None:
            async with (await self.side()).pool.connection() as own:
                yield own
        else:
            if not isinstance(conn, AsyncConnection):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
                raise _wrong_kind(conn, "AsyncConnection", "app.sync takes a psycopg.Connection: app.sync.enqueue(…).")
            yield conn

    @contextmanager
    def use(self, conn: Connection[Any] | None) -> Generator[Connection[Any]]:
        """As ``use_async``, for threads."""
        if conn is None:
            with self.threads().connection() as own:
                yield own
        else:
            if not isinstance(conn, Connection):  # pyright: ignore[reportUnnecessaryIsInstance] - callers are not all typed
                raise _wrong_kind(conn, "Connection", "The app itself takes an AsyncConnection: await app.enqueue(…).")
            yield conn

    def threads(self) -> Pool:
        """The connections for threads."""
        if self._threads is None:
            self._threads = Pool(self.dsn(), self._size, name=NAME)
        return self._threads

    def _drop_ended(self) -> None:
        for loop, side in list(self._sides.items()):
            if loop.is_closed():
                side.pool.abandon()
                del self._sides[loop]

    async def close(self) -> None:
        """Close the connections of the running event loop and of threads."""
        side = self._sides.pop(asyncio.get_running_loop(), None)
        if side is not None:
            await side.pool.close()
        self._drop_ended()
        self.close_threads()

    def close_threads(self) -> None:
        """Close the connections of threads."""
        if self._threads is not None:
            self._threads.close()


def _wrong_kind(conn: object, expected: str, remedy: str) -> RequestRefused:
    kind = type(conn)
    return RequestRefused(f"conn is a {kind.__module__}.{kind.__name__}, expected a psycopg {expected}", hint=remedy)
