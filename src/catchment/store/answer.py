"""Connections whose calls end when the server gives no answer.

A link that freezes (a proxy, a lost route) may still acknowledge packets, so TCP does not detect it. These connections
notice when nothing arrives. A *call* may wait on the server for a lock, so after a minute the server is asked, on
another connection, what the session does; while it works, the call continues. A *look* is a short read that can be
repeated: it ends without asking.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from datetime import timedelta
from time import monotonic
from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.pq.abc import PGconn

from catchment.errors import CatchmentError, OutcomeUnknown
from catchment.store.connect import OURS, connect_as, connect_async_as
from catchment.store.direct import Answer, Statement, asking

# Seconds without an answer: until the server is asked about a call, and until a look or a cancelled call ends.
CALL_SECONDS = 60.0
LOOK_SECONDS = 15.0
CANCEL_SECONDS = 5.0

_NAME = "catchment check"
# Does the session work? One that waits for its client is ended: it may hold locks. Behind a pooler, where a session is
# not known by the number that its client has, there is no row.
_IS_AT_WORK = (
    "select case when a.state_change"
    " operator(pg_catalog.>) (pg_catalog.clock_timestamp() operator(pg_catalog.-) '1 s'::interval)"
    " or (a.state operator(pg_catalog.=) 'active' and a.wait_event_type is distinct from 'Client') then true"
    " else pg_catalog.pg_terminate_backend(a.pid) is null end"
    " from pg_catalog.pg_stat_activity as a"
    " where a.pid operator(pg_catalog.=) %s::integer"
    " and a.usename operator(pg_catalog.=) current_user"
    " and a.datname operator(pg_catalog.=) pg_catalog.current_database()"
    " and a.backend_start operator(pg_catalog.<) (pg_catalog.clock_timestamp() operator(pg_catalog.-) %s::interval)"
    " and pg_catalog.pg_backend_pid() operator(pg_catalog.=) %s::integer"
)


class NoAnswer(psycopg.OperationalError):
    """A look had no answer in time. Its connection was closed."""


class _Silence(Exception):
    """A call had no answer for too long; ``wanted`` is what its generator waits for."""

    def __init__(self, wanted: Any) -> None:
        self.wanted = wanted


class _Patience:
    """What a connection waits for: set for each use by the pool."""

    pgconn: PGconn
    dsn = ""
    is_look = False
    # The end of a look by ``time.monotonic()``.
    until: float | None = None
    # Was the connection closed because there was no answer?
    is_silent = False
    _is_interrupted = False
    # The statements of ``ask`` that the session has prepared.
    _asked: set[bytes] | None = None

    def prepared(self, threshold: int | None) -> set[bytes] | None:
        """Those statements, or None if nothing may be prepared."""
        if self._asked is None and threshold is not None:
            self._asked = set()
        return self._asked

    def drop(self) -> None:
        """Close the connection without waiting for anything."""
        self.is_silent = True
        self.pgconn.finish()

    def watched(self, gen: Any, wanted: Any) -> Generator[Any, Any, Any]:
        """Drive a generator of psycopg, which gets control at every tick. ``wanted`` is given when it has begun."""
        since = 0.0
        try:
            if wanted is None:
                wanted = next(gen)
            while True:
                ready = yield wanted
                if ready is None:  # psycopg continues with the generator after it has sent a cancel request
                    continue
                if ready:
                    since = 0.0
                else:
                    since = since or monotonic()
                    self._check_silence(monotonic() - since, wanted)
                if self.until is not None and monotonic() >= self.until:
                    self.drop()
                    raise NoAnswer("no answer in time")
                wanted = gen.send(ready)
        except StopIteration as end:
            return end.value

    def _check_silence(self, seconds: float, wanted: Any) -> None:
        if self._is_interrupted:
            if self.is_look or seconds >= CANCEL_SECONDS:
                self.drop()
                # The answer that psycopg expects here; then it raises the cancellation.
                raise psycopg.errors.QueryCanceled("no answer to the cancel request")
        elif self.is_look:
            if seconds >= LOOK_SECONDS:
                self.drop()
                raise NoAnswer(f"no answer within {LOOK_SECONDS:g} s")
        elif seconds >= CALL_SECONDS:
            raise _Silence(wanted)

    def no_answer(self) -> OutcomeUnknown:
        """Close the connection; returns the error of the call."""
        self.drop()
        return OutcomeUnknown(
            f"no answer from PostgreSQL for {CALL_SECONDS:g} s: the call may or may not have taken effect",
            hint="Check the network, and see what the call has done before you repeat it: 'catchment task list'.",
        )


class ClientConnection(_Patience, Connection[Any]):
    """For threads. A program need not close it: it goes with the thread, or with the process, and without a warning."""

    def __del__(self, *_: object) -> None:
        """Without the warning of the driver, whose handle of the connection closes it."""

    def ask(self, statement: Statement, values: Sequence[bytes | None], answer: Answer) -> None:
        """Execute a statement that returns one value."""
        with self.lock:
            self.wait(asking(self.pgconn, statement, values, self.prepared(self.prepare_threshold), answer))

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        self._is_interrupted = False
        wanted = None
        while True:
            try:
                return super().wait(self.watched(gen, wanted), *args, **kwargs)
            except _Silence as silence:
                wanted = silence.wanted
            if not self._is_at_work():
                raise self.no_answer()

    def _try_cancel(self, *, timeout: float = CANCEL_SECONDS) -> None:
        self._is_interrupted = True
        if not self.is_look:
            super()._try_cancel(timeout=timeout)

    def _is_at_work(self) -> bool:
        try:
            asking = connect_as(ClientConnection, self.dsn, name=_NAME, settings=OURS)
            asking.is_look = True
            try:
                return asking.execute(_IS_AT_WORK, _session(self, asking)).fetchone() == (True,)
            finally:
                asking.close()
        except (psycopg.Error, CatchmentError):
            return False


class AsyncClientConnection(_Patience, AsyncConnection[Any]):
    """For asyncio."""

    async def ask(self, statement: Statement, values: Sequence[bytes | None], answer: Answer) -> None:
        """Execute a statement that returns one value."""
        async with self.lock:
            await self.wait(asking(self.pgconn, statement, values, self.prepared(self.prepare_threshold), answer))

    async def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        self._is_interrupted = False
        wanted = None
        while True:
            try:
                return await super().wait(self.watched(gen, wanted), *args, **kwargs)
            except _Silence as silence:
                wanted = silence.wanted
            except psycopg.Error as error:
                if self._is_interrupted:  # psycopg raises the error of the query in place of the cancellation
                    raise asyncio.CancelledError from error
                raise
            if not await self._is_at_work():
                raise self.no_answer()

    async def _try_cancel(self, *, timeout: float = CANCEL_SECONDS) -> None:  # noqa: ASYNC109 - of psycopg
        self._is_interrupted = True
        if not self.is_look:
            await super()._try_cancel(timeout=timeout)

    async def _is_at_work(self) -> bool:
        try:
            asking = await connect_async_as(AsyncClientConnection, self.dsn, name=_NAME, settings=OURS)
            asking.is_look = True
            try:
                return await (await asking.execute(_IS_AT_WORK, _session(self, asking))).fetchone() == (True,)
            finally:
                await asking.close()
        except (psycopg.Error, CatchmentError):
            return False


def _session(silent: _Patience, asking: _Patience) -> list[Any]:
    return [silent.pgconn.backend_pid, timedelta(seconds=CALL_SECONDS), asking.pgconn.backend_pid]
