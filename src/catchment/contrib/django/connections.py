"""The database of an alias of ``DATABASES``, as the app of a Django project uses it.

Tasks are made on Django's own connection, so that they are part of ``atomic()``. The connections here are for the rest:
coroutines, and waiting for results. They follow the alias: a test run puts another database behind it. In the
transaction of a ``TestCase``, Django's connection is lent for the rest too: nothing else could see what the test makes,
and nothing would undo what is committed beside it.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from typing import Any, NoReturn

from asgiref.sync import sync_to_async
from django.core import mail
from django.db import connections
from psycopg import AsyncConnection, Connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from catchment.client.connections import NAME, Connections, Lender, LoopSide
from catchment.contrib.django.settings import read_settings
from catchment.errors import RequestRefused
from catchment.store.foreign.of_django import of
from catchment.store.pool import AsyncPool, Pool
from catchment.testing.lent import AsyncLentPool, TwinPool

_LIBPQ = frozenset(option.keyword.decode() for option in Conninfo.get_defaults())
_NOT_OURS = ("client_encoding", "application_name")


def dsn_of(alias: str) -> str:
    """The connection string of an alias; raises ``RequestRefused`` if it is not of PostgreSQL."""
    of(alias)
    handler: Any = connections
    wrapper = handler[alias]
    given: dict[str, Any] = wrapper.get_connection_params()
    parts = {
        name: str(value)
        for name, value in given.items()
        if name in _LIBPQ and name not in _NOT_OURS and value not in (None, "")
    }
    if role := wrapper.settings_dict["OPTIONS"].get("assume_role"):
        escaped = str(role).replace("\\", "\\\\").replace(" ", "\\ ")
        parts["options"] = f"{parts.get('options', '')} -c role={escaped}".strip()
    return make_conninfo("", **parts)


class DjangoConnections(Connections):
    """As those of other apps, to the database that the alias leads to now."""

    def __init__(self, size: int) -> None:
        super().__init__(None, size)
        self._lent: dict[asyncio.AbstractEventLoop, tuple[Connection[Any], LoopSide]] = {}

    @property
    def given(self) -> str:
        return self.dsn()

    def elsewhere(self, dsn: str, lender: Lender | None = None) -> NoReturn:  # noqa: ARG002
        raise RequestRefused(
            "the app of a Django project uses the database of its alias, in tests too",
            hint="Use drain and run_inline of catchment.contrib.django.test in a TestCase.",
        )

    def dsn(self) -> str:
        dsn = dsn_of(read_settings().database)
        with self._finding.held():
            if self._found not in (None, dsn):
                self._forget()
                self.place += 1
            self._found = dsn
        return dsn

    async def side(self) -> LoopSide:
        # Coroutines of a test have another thread: the connection belongs to the one that waits for them.
        if is_test_run() and (lent := await sync_to_async(_lent)()) is not None:
            return self._lent_side(lent)
        self.dsn()
        return await super().side()

    def threads(self) -> Pool:
        if is_test_run() and (lent := _lent()) is not None:
            return TwinPool(lent)
        self.dsn()
        return super().threads()

    def _lent_side(self, lent: Connection[Any]) -> LoopSide:
        loop = asyncio.get_running_loop()
        of, side = self._lent.get(loop, (None, None))
        if side is None or of is not lent:
            side = LoopSide(AsyncLentPool(lent))
            self._lent = {known: kept for known, kept in self._lent.items() if not known.is_closed()}
            self._lent[loop] = (lent, side)
        return side

    def _make_pool(self, dsn: str) -> Pool:
        return UnkeptPool(dsn, self._size, name=NAME) if is_test_run() else super()._make_pool(dsn)

    def _make_async_pool(self, dsn: str) -> AsyncPool:
        return UnkeptAsyncPool(dsn, self._size, name=NAME) if is_test_run() else super()._make_async_pool(dsn)

    def _forget(self) -> None:
        """Close the connections to another database."""
        for side in self._sides.values():
            side.pool.abandon()
        self._sides.clear()
        if self._threads is not None:
            self._threads.close()
            self._threads = None


def is_test_run() -> bool:
    """Has Django prepared for tests? Then databases are dropped in the end, which open connections would prevent."""
    return hasattr(mail, "outbox")


def _lent() -> Connection[Any] | None:
    """The connection of a test, if its thread has a transaction open."""
    handler: Any = connections
    wrapper = handler[read_settings().database]
    return wrapper.connection if wrapper.in_atomic_block else None


class UnkeptPool(Pool):
    """Closes each connection after its use."""

    @contextmanager
    def connection(self, *, is_look: bool = False, until: float | None = None) -> Generator[Connection[Any]]:
        try:
            with super().connection(is_look=is_look, until=until) as conn:
                yield conn
        finally:
            self.close()


class UnkeptAsyncPool(AsyncPool):
    """The same in asyncio."""

    @asynccontextmanager
    async def connection(
        self, *, is_look: bool = False, patience: float | None = None
    ) -> AsyncGenerator[AsyncConnection[Any]]:
        try:
            async with super().connection(is_look=is_look, patience=patience) as conn:
                yield conn
        finally:
            self.abandon()
