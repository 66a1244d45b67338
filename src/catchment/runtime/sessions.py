"""The database sessions for the transactions of handlers. A session is used by one attempt after another and reset in
between.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import psycopg
from psycopg import AsyncConnection

from catchment.runtime.connection import Call, cut
from catchment.runtime.pulse import Pulse
from catchment.store import lent
from catchment.store.connect import PARSED, connect_async_as
from catchment.store.handler_connection import no_session
from catchment.store.pool import is_idle, is_usable

NAME = "catchment transaction"
CALL_SECONDS = 10.0
CANCEL_SECONDS = 2.0


class Session(AsyncConnection[Any]):
    """The worker's connection object for a session, in autocommit mode. Each handler gets another object for the same
    session.

    This object prepares no statements, because a handler may drop or use any name; ``handler_prepare_threshold`` is the
    threshold for the objects of handlers. ``is_read_only``: its transaction began on a server that takes no writes.
    ``began_at`` says which transaction was begun for the attempt.
    """

    handler_prepare_threshold: int | None = None
    began_at = ""
    is_read_only = False


class Sessions:
    """A pool of idle sessions."""

    def __init__(self, dsn: str, pulse: Pulse) -> None:
        self._dsn = dsn
        self._pulse = pulse
        self._idle: list[Session] = []
        self._is_closed = False

    async def take(self) -> Session:
        """An idle session, or a new one."""
        while self._idle:
            session = self._idle.pop()
            if is_usable(session):
                return session
            await self.drop(session)
        session = await connect_async_as(Session, self._dsn, name=NAME, settings=PARSED)
        session.handler_prepare_threshold, session.prepare_threshold = session.prepare_threshold, None
        self._pulse.add(session)
        return session

    async def give_back(self, session: Session) -> bool:
        """Roll back, reset the session, and keep it for the next attempt; close it if that fails. Returns whether the
        handler has committed its transaction."""
        is_committed = False
        session.pgconn.notice_handler = session.pgconn.notify_handler = None
        try:
            with suppress(psycopg.Error):
                with Call(session, CALL_SECONDS):
                    is_committed = await lent.reset(session, session.began_at)
                # What begins read-only may be a session's own default, or a standby: another session may do better.
                if is_idle(session) and not self._is_closed and not session.is_read_only:
                    self._idle.append(session)
                    return is_committed
        except BaseException:
            await self.drop(session)
            raise
        await self.drop(session)
        return is_committed

    async def drop(self, session: Session) -> None:
        """Close a session that is not in use."""
        self._pulse.remove(session)
        await session.close()

    async def cut_off(self, session: Session) -> None:
        """End a session that is in use. It is not closed: another connection could then get the file descriptor that
        its user still waits for."""
        try:
            with suppress(psycopg.Error, OSError):
                await session.cancel_safe(timeout=CANCEL_SECONDS)  # else the server would continue the statement
        finally:
            self._pulse.remove(session)
            cut(session)
            session.pgconn = no_session()

    async def close(self) -> None:
        self._is_closed = True
        while self._idle:
            await self.drop(self._idle.pop())
