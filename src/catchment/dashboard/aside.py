"""Queries that need a separate connection: outside the transaction of a request, and shared by all requests.

They are read-only, and run as the login of the dashboard itself: a role of the engine would not see the sessions of the
server. So they are for figures of the server alone.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any, TypeVar

from psycopg import Connection

from catchment.store.answer import ClientConnection
from catchment.store.connect import OURS, connect_as
from catchment.store.errors import translated

T = TypeVar("T")

_BEGIN = """
select set_config('statement_timeout', %(limit)s::text, false),
       set_config('default_transaction_read_only', 'on', false)
"""


class Aside:
    """Runs a function with a read-only connection in autocommit mode, in a thread, at most once in some seconds."""

    def __init__(self, dsn: Callable[[], Awaitable[str]], limit: int) -> None:
        self._dsn = dsn
        self._limit = limit
        self._looks: dict[str, tuple[float, asyncio.Task[Any]]] = {}

    async def look(self, name: str, seconds: float, look: Callable[[Connection[Any]], T]) -> T:
        """What ``look`` returns, or returned for this name within the last seconds. A look that failed is repeated."""
        at, looking = self._looks.get(name, (0.0, None))
        is_old = monotonic() - at > seconds
        if looking is None or (looking.done() and (is_old or looking.cancelled() or looking.exception() is not None)):
            looking = asyncio.ensure_future(self._run(look))
            self._looks[name] = (monotonic(), looking)
        # A client that disconnects does not cancel the look of the others.
        return await asyncio.shield(looking)

    async def _run(self, look: Callable[[Connection[Any]], T]) -> T:
        dsn = await self._dsn()
        return await asyncio.to_thread(self._run_in_thread, dsn, look)

    def _run_in_thread(self, dsn: str, look: Callable[[Connection[Any]], T]) -> T:
        with connect_as(ClientConnection, dsn, name="catchment dashboard", settings=OURS) as conn, translated():
            # A server that gives no answer must not keep this thread, and all who wait for the look.
            conn.dsn, conn.is_look = dsn, True
            conn.execute(_BEGIN, {"limit": str(self._limit)})
            return look(conn)
