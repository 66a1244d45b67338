"""The database as a request sees it: one transaction, as the role that the user's role maps to, with a time limit.

The dashboard adds no right. A viewer's transaction is READ ONLY and runs as ``catchment_read``, an operator's action as
``catchment_worker``. Where the login may not become that role, or there are no roles, it runs as the login itself, and
the database decides.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, AsyncCursor, IsolationLevel
from psycopg.rows import dict_row
from psycopg.sql import Composed
from psycopg.types.json import set_json_loads

from catchment.dashboard.aside import Aside
from catchment.dashboard.auth.user import User
from catchment.dashboard.kept import Kept
from catchment.dashboard.previews import Previews
from catchment.dashboard.samples import Samples
from catchment.dashboard.values import Shown
from catchment.errors import CatchmentError
from catchment.store.connect import find_dsn
from catchment.store.errors import translated
from catchment.store.json_text import loads_for_people
from catchment.store.migrate import find_misfit
from catchment.store.pool import AsyncPool
from catchment.store.times import AnyTimeLoader

READER = "catchment_read"
OPERATOR = "catchment_worker"
# How long a request waits for a connection while all are in use.
PATIENCE_SECONDS = 10.0

_BEGIN = """
select pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true),
       pg_catalog.set_config('statement_timeout', %(limit)s::pg_catalog.text, true),
       pg_catalog.set_config('idle_in_transaction_session_timeout', %(idle)s::pg_catalog.text, true),
       (select pg_catalog.set_config('role', r.rolname, true)
          from pg_catalog.pg_roles as r
         where r.rolname operator(pg_catalog.=) %(role)s::pg_catalog.name
           and pg_catalog.pg_has_role(r.oid, %(right)s::pg_catalog.text)
           -- In a database that was installed without roles they have no rights; other databases may have made them.
           and not (%(is_engine)s::pg_catalog.bool
                    and exists (select from pg_catalog.pg_namespace as n
                                 where n.nspname operator(pg_catalog.=) 'worker'::pg_catalog.name
                                   and not pg_catalog.has_schema_privilege(r.oid, n.oid, 'usage'))))
"""

Row = dict[str, Any]
Preview = Callable[[int], Awaitable[dict[str, Any]]]


class Reader:
    """What a screen reads with, in the transaction of its request: SQL from a file of the package, values bound.

    ``samples`` are the figures of the last minutes, which no table keeps. ``kept`` keeps figures until their data
    change. ``most`` is where counts stop. ``shown`` says what is shown of values. ``preview`` reads the first rows
    of a dynamic table: see ``Previews``. ``aside`` is for queries that need a separate connection.
    """

    most = 10_000

    def __init__(
        self,
        conn: AsyncConnection[Any],
        samples: Samples,
        shown: Shown,
        kept: Kept,
        preview: Preview,
        aside: Aside,
    ) -> None:
        self._conn = conn
        self.preview = preview
        self.samples = samples
        self.shown = shown
        self.kept = kept
        self.aside = aside

    async def rows(self, sql: LiteralString | Composed, **values: Any) -> list[Row]:
        """All rows, by the names of their columns. A time or JSON value that Python cannot hold is text."""
        with translated():
            cursor = AsyncCursor(self._conn, row_factory=dict_row)
            cursor.adapters.register_loader("timestamptz", AnyTimeLoader)
            set_json_loads(loads_for_people, cursor)
            # Planned for its values: a list by state or by time is another plan for each.
            await cursor.execute(sql, values or None, binary=True, prepare=False)
            return await cursor.fetchall()

    async def row(self, sql: LiteralString | Composed, **values: Any) -> Row | None:
        """The first row, or None."""
        rows = await self.rows(sql, **values)
        return rows[0] if rows else None

    async def value(self, sql: LiteralString | Composed, **values: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.row(sql, **values)
        return None if row is None else next(iter(row.values()))


class Actor(Reader):
    """What an action changes the database with: in one transaction, which also has its row of the audit table. ``user``
    is who acts."""

    def __init__(
        self,
        conn: AsyncConnection[Any],
        samples: Samples,
        shown: Shown,
        kept: Kept,
        preview: Preview,
        aside: Aside,
        user: User,
    ) -> None:
        super().__init__(conn, samples, shown, kept, preview, aside)
        self.user = user


class Database:
    """A few connections to one database, for all requests of this process."""

    def __init__(self, dsn: str | None, *, connections: int, seconds: float, shown: Shown) -> None:
        self._given = dsn
        self._connections = connections
        self._limit = round(seconds * 1000)
        self._dsn: str | None = None
        self._finding = asyncio.Lock()
        self._pool: AsyncPool | None = None
        self.samples = Samples()
        self.shown = shown
        self.kept = Kept()
        self._previews = Previews(READER)
        self._aside = Aside(self.dsn, self._limit)

    async def preview(self, table_id: int) -> dict[str, Any]:
        """The first rows of a dynamic table."""
        return await self._previews.read(await self.dsn(), table_id)

    async def dsn(self) -> str:
        """Where it is. Without one given that is the embedded server, which is started now."""
        async with self._finding:
            if self._dsn is None:
                self._dsn = await asyncio.to_thread(find_dsn, self._given)
            return self._dsn

    @asynccontextmanager
    async def reading(self, role: str | None = None) -> AsyncGenerator[Reader]:
        """A READ ONLY transaction: all statements of a page see the same moment. ``role``: instead of the reading
        role of the engine."""
        async with self._transaction(role or READER, is_read_only=True) as conn:
            yield Reader(conn, self.samples, self.shown, self.kept, self.preview, self._aside)

    @asynccontextmanager
    async def acting(self, user: User) -> AsyncGenerator[Actor]:
        """A transaction that may write, committed at the end of the block. Refused if the schema was migrated beyond
        this version while the process runs."""
        async with self._transaction(OPERATOR, is_read_only=False) as conn:
            misfit = await find_misfit(conn)
            if misfit is not None:
                raise misfit
            yield Actor(conn, self.samples, self.shown, self.kept, self.preview, self._aside, user)

    @asynccontextmanager
    async def _transaction(self, role: str, *, is_read_only: bool) -> AsyncGenerator[AsyncConnection[Any]]:
        if self._pool is None:
            dsn = await self.dsn()
            self._pool = self._pool or AsyncPool(dsn, self._connections, name="catchment dashboard")
        async with self._pool.connection(is_look=is_read_only, patience=PATIENCE_SECONDS) as conn:
            # Whether others may write, the server and the settings of the login say.
            await conn.set_read_only(True if is_read_only else None)
            await conn.set_isolation_level(IsolationLevel.REPEATABLE_READ if is_read_only else None)
            with translated():
                async with conn.transaction():
                    await conn.execute(
                        _BEGIN,
                        {
                            "limit": str(self._limit),
                            "idle": str(2 * self._limit),
                            "role": role,
                            "is_engine": role in (READER, OPERATOR),
                            "right": "set" if conn.info.server_version >= 160000 else "member",
                        },
                    )
                    yield conn

    async def is_ready(self) -> bool:
        """Does the database answer, with a schema that this version can use?"""
        try:
            async with asyncio.timeout(5), self._transaction(READER, is_read_only=True) as conn:
                return await find_misfit(conn) is None
        except (psycopg.Error, CatchmentError, OSError):
            return False

    async def close(self) -> None:
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()
