"""The commit lock: commits that delete take turns.

DuckLake dates a delete wrongly when another commit overtakes it and the file had deleted rows before. Whoever holds
this lock from before BEGIN until after COMMIT is overtaken by nobody who takes it too.
"""

from __future__ import annotations

import time
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import Connection

from catchment.errors import CommitRefused
from catchment.store.connect import connect_ours
from catchment.store.errors import translated

NAME = "catchment commit lock"
LOOK_SECONDS = 2.0
"""After so long, and then again and again, a waiter looks whether the lock is held by somebody who was given up."""


@contextmanager
def commit_lock(dsn: str, *, seconds: float = 60, holder: tuple[int, int] | None = None) -> Generator[None]:
    """Hold the lock. It lives on a connection of its own, because it must survive what other sessions do and end with
    this process. Raises ``CommitRefused`` when it is not free within the time.

    ``holder``, a refresh and its fence, lets others take the lock away as soon as a newer attempt has the refresh.
    Not through a pooler that gives a connection to others between transactions.
    """
    name = NAME if holder is None else f"{NAME} {holder[0]}/{holder[1]}"
    with connect_ours(dsn, name=name) as conn, translated():
        _wait(conn, seconds)
        yield


def _wait(conn: Connection[Any], seconds: float) -> None:
    ends = time.monotonic() + seconds
    while True:
        turn = min(LOOK_SECONDS, max(0.001, ends - time.monotonic()))
        conn.execute("select set_config('lock_timeout', %s, false)", [f"{turn * 1000:.0f}ms"])
        try:
            conn.execute("select pg_advisory_lock(lake.commit_key())")
            return
        except psycopg.errors.LockNotAvailable as error:
            # Ended by this session, not by a function of ours: who may end a session is decided by its own user.
            conn.execute("select pg_terminate_backend(h.pid) from lake.stale_holders() as h (pid)")
            if time.monotonic() >= ends:
                raise CommitRefused(
                    f"the commit lock of the lake was not free within {seconds:g} s",
                    hint="Another commit takes that long: select * from pg_stat_activity where "
                    f"application_name like '{NAME}%'.",
                ) from error
