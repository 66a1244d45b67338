"""The commit lock, by which commits that delete take turns; and the lock of a load.

DuckLake dates a delete wrongly when another commit overtakes it and the file had deleted rows before. A session that
holds this lock from before BEGIN until after COMMIT is not overtaken by others that take it too. It saves work, and no
result depends on it: a publication continues without it when a session of another program keeps it.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection

from catchment.errors import CommitConflict, LakeUnavailable
from catchment.store.connect import connect_ours
from catchment.store.errors import translated

_log = logging.getLogger("catchment.lake")

NAME = "catchment commit lock"
LOOK_SECONDS = 2.0
"""How often a waiter looks at who holds the lock: a session that was given up is ended."""

PATIENCE_SECONDS = 10.0
"""How long a publication waits for one session of another program."""


@dataclass(frozen=True, slots=True)
class Holder:
    """A session that holds the lock, and is not about to publish a refresh."""

    pid: int
    who: str

    def __str__(self) -> str:
        return f"session {self.pid} ({self.who})"


@contextmanager
def commit_lock(dsn: str, *, seconds: float = 60) -> Generator[None]:
    """Hold the lock. It lives on a separate connection, because it must survive what other sessions do and end with
    this process. Raises ``CommitConflict`` when it is not free within the time.

    Not through a pooler that gives a connection to others between transactions.
    """
    with connect_ours(dsn, name=NAME) as conn, translated():
        _wait(conn, seconds)
        yield


@contextmanager
def load_lock(dsn: str, folder: str) -> Generator[Callable[[], None]]:
    """Show that the load which writes into a folder is alive, as long as this process is.

    Gives a check for the last moment before the commit: without the lock, a sweep may have taken the files. It raises
    ``LakeUnavailable``.
    """
    with connect_ours(dsn, name="catchment load") as conn, translated():
        # It does nothing for as long as files are read.
        conn.execute("set idle_session_timeout = 0")
        conn.execute("select pg_advisory_lock(lake.load_key(%s))", [folder])

        def check() -> None:
            try:
                conn.execute("select 1")
            except psycopg.OperationalError as error:
                raise LakeUnavailable(
                    f"the session that kept the files of the load from being swept has ended: {error}",
                    hint="Nothing was loaded. Do it again.",
                ) from error

        yield check


@contextmanager
def publishing_lock(
    conn: Connection[Any], refresh_id: int, fence: int, *, seconds: float = 60, passed: Holder | None = None
) -> Generator[Holder | None]:
    """Hold the lock to publish a refresh, in a session that is used for nothing else meanwhile. Others take it away as
    soon as a newer attempt has the refresh.

    Gives None; or, without the lock, the session that has kept it for ``PATIENCE_SECONDS``. ``passed`` is such a
    session of before: it is not waited for a second time. Raises as ``commit_lock`` does.
    """
    try:
        with translated():
            holder = _wait(conn, seconds, name=f"{NAME} {refresh_id}/{fence}", patience=PATIENCE_SECONDS, passed=passed)
            if holder is not None:
                _log.warning("refresh %d is published without the commit lock, which %s keeps", refresh_id, holder)
            yield holder
    finally:
        _leave(conn)


def _leave(conn: Connection[Any]) -> None:
    """Release the lock, if the session holds it, and its name."""
    try:
        conn.execute("select pg_advisory_unlock_all(), set_config('application_name', 'catchment lake', false)")
    except psycopg.Error:
        conn.close()


def _wait(
    conn: Connection[Any],
    seconds: float,
    *,
    name: str = NAME,
    patience: float | None = None,
    passed: Holder | None = None,
) -> Holder | None:
    """Wait for the lock; None: it is held. With ``patience`` no longer than that for one and the same session of
    another program, which is then returned."""
    ends = time.monotonic() + seconds
    seen, since = passed, time.monotonic() - (patience or 0)
    turn = LOOK_SECONDS if passed is None else 0.05
    while True:
        left = max(0.001, ends - time.monotonic())
        conn.execute(
            "select set_config('lock_timeout', %s, false), set_config('application_name', %s, false)",
            [f"{min(turn, left) * 1000:.0f}ms", name],
        )
        try:
            conn.execute("select pg_advisory_lock(lake.commit_key())")
            return None
        except psycopg.errors.LockNotAvailable as error:
            foreign = _look(conn)
            if foreign != seen:
                seen, since = foreign, time.monotonic() - min(turn, left)
            if foreign is not None and patience is not None and time.monotonic() - since >= patience:
                return foreign
            if time.monotonic() >= ends:
                raise _refusal(seconds, foreign) from error
        turn = LOOK_SECONDS


def _look(conn: Connection[Any]) -> Holder | None:
    """End sessions that were given up; the session of another program that holds the lock, if one does."""
    # Ended by this session, not by a function of ours: who may end a session is decided by its own user.
    conn.execute("select pg_terminate_backend(h.pid) from lake.lock_holders() as h where h.is_stale")
    row = conn.execute(
        "select h.pid, h.who from lake.lock_holders() as h where not h.is_stale and not h.is_publishing"
    ).fetchone()
    return None if row is None else Holder(*row)


def _refusal(seconds: float, holder: Holder | None) -> CommitConflict:
    said = f"the commit lock of the lake was not free within {seconds:g} s"
    if holder is None:
        return CommitConflict(said, hint="Other refreshes are being published. Try again.")
    return CommitConflict(
        f"{said}: {holder} holds it",
        hint=f"If that session was forgotten, end it: select pg_terminate_backend({holder.pid}).",
    )
