"""The commit lock: commits that delete take turns.

DuckLake dates a delete wrongly when another commit overtakes it and the file had deleted rows before. Whoever holds
this lock from before BEGIN until after COMMIT is overtaken by nobody who takes it too.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

import psycopg

from catchment.errors import CommitRefused
from catchment.store.connect import connect
from catchment.store.errors import translated


@contextmanager
def commit_lock(dsn: str, *, seconds: float = 60) -> Generator[None]:
    """Hold the lock. It lives on a connection of its own, because it must survive what other sessions do and end with
    this process. Raises ``CommitRefused`` when it is not free within the time.

    Not through a pooler that gives a connection to others between transactions.
    """
    with connect(dsn, name="catchment commit lock") as conn, translated():
        conn.execute("select set_config('lock_timeout', %s, false)", [f"{seconds * 1000:.0f}ms"])
        try:
            conn.execute("select pg_advisory_lock(lake.commit_key())")
        except psycopg.errors.LockNotAvailable as error:
            raise CommitRefused(
                f"the commit lock of the lake was not free within {seconds:g} s",
                hint="Another commit takes that long: select * from pg_stat_activity where "
                "application_name = 'catchment commit lock'.",
            ) from error
        yield
