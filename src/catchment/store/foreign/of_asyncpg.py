"""asyncpg: its own connections, and those of its pool."""

from __future__ import annotations

from typing import Any, LiteralString

import asyncpg  # pyright: ignore[reportMissingTypeStubs] - it has none

from catchment.store.foreign.refuse import closed, refused
from catchment.store.foreign.sender import AsyncSender, Rows, Values, check_loop, foreign_errors, numbered


def of(conn: object) -> AsyncSender:
    """The sender for a connection."""
    if isinstance(conn, asyncpg.Pool):
        raise refused(conn, "A pool has no transaction. Pass a connection of it: async with pool.acquire() as conn.")
    given: Any = conn
    if not all(hasattr(given, name) for name in ("fetch", "is_closed", "is_in_transaction")):
        raise refused(conn, "Pass the connection: async with pool.acquire() as conn.")
    with foreign_errors(conn, asyncpg.InterfaceError):  # as after its release to the pool
        if given.is_closed():
            raise closed(conn)
    return AsyncpgSender(given)


class AsyncpgSender(AsyncSender):
    """For ``asyncpg.Connection``."""

    def __init__(self, conn: Any) -> None:
        self._conn = conn

    async def rows(self, statement: LiteralString, values: Values = ()) -> Rows:
        check_loop(self._conn, getattr(self._conn, "_con", self._conn))
        with foreign_errors(self._conn, asyncpg.InterfaceError):
            return await self._conn.fetch(numbered(statement), *values)

    @property
    def commits_itself(self) -> bool:
        return not self._conn.is_in_transaction()
