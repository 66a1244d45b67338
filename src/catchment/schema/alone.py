"""One installation at a time, by an advisory lock. Any user can take such a lock, so the wait for it has a limit."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, LiteralString

from psycopg import Connection

from catchment.errors import SchemaMismatch
from catchment.schema.connection import execute, with_values

WAIT_SECONDS = 60.0
LOOK_SECONDS = 0.1

_HOLDER = """
select (
select format('backend %s of user %s (%s)', l.pid, a.usename, coalesce(nullif(a.application_name, ''), 'unnamed'))
  from pg_locks as l
  join pg_stat_activity as a on a.pid = l.pid
 cross join hashtextextended({name}, 0) as k (key)
 where l.locktype = 'advisory' and l.granted and l.objsubid = 1
   and l.database = (select d.oid from pg_database as d where d.datname = current_database())
   and l.classid::bigint = ((k.key >> 32) & 4294967295) and l.objid::bigint = (k.key & 4294967295)
 limit 1)
"""


@contextmanager
def alone(
    conn: Connection[Any],
    name: str,
    *,
    on_wait: Callable[[str], None],
    mismatch: type[SchemaMismatch] = SchemaMismatch,
) -> Generator[None]:
    """Hold the lock of this name. If it is not free, ``on_wait`` is called once, with a text that names its holder.

    Raises ``mismatch``, also with the holder, when the lock does not become free within a minute.
    """
    ends = time.monotonic() + WAIT_SECONDS
    waits = False
    while not _fetch(conn, "select pg_try_advisory_lock(hashtextextended({name}, 0))", name):
        holder = _fetch(conn, _HOLDER, name) or "a session that has just ended"
        if not waits:
            on_wait(f"waiting for {holder}, which holds the lock {name}")
            waits = True
        if time.monotonic() >= ends:
            raise mismatch(
                f"the lock {name} was not free within {WAIT_SECONDS:g} s: {holder} holds it",
                hint="If that session installs nothing, end it with pg_terminate_backend and try again.",
            )
        time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        if not conn.closed:
            _fetch(conn, "select pg_advisory_unlock(hashtextextended({name}, 0))", name)


def _fetch(conn: Connection[Any], sql: LiteralString, name: str) -> Any:
    row = execute(conn, with_values(sql, name=name)).fetchone()
    return row[0] if row else None
