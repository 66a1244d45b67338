"""``ctx.transaction()``: the handler's writes and its task's completion in one commit, so they happen exactly once.

The transaction stays open when its block ends; the completion is written in it when the handler has returned. If the
answer to COMMIT was lost, the worker reads the attempt: if it is still held under its fence, the commit did not happen.

A handler waits while the database cannot be reached. A lost connection interrupts the attempt: it runs again and has
not failed.

All state here is changed in the thread of the event loop; handlers in threads use ``run_coroutine_threadsafe``.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import timedelta
from typing import Any, Generic, TypeVar

import psycopg
from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus

from catchment.errors import CancelRequested, ClaimLost, RequestRefused, ServerUnavailable, TransactionEndRefused
from catchment.runtime.connection import Call
from catchment.runtime.guarded import OwnTask
from catchment.runtime.outcome import Interrupted, PutOff
from catchment.runtime.pulse import Pulse
from catchment.runtime.sessions import CALL_SECONDS, Session, Sessions
from catchment.runtime.turns import Turns
from catchment.store import attempt as attempt_store
from catchment.store import lent
from catchment.store.attempt import Ending
from catchment.store.connect import connect_async
from catchment.store.handler_connection import IDLED, AsyncHandlerConnection, HandlerConnection
from catchment.task.attempt import Attempt

AnyConnection = AsyncHandlerConnection | HandlerConnection
C = TypeVar("C", AsyncHandlerConnection, HandlerConnection)
# Raised when no connection is possible now: the server is down or full, or this process has no file descriptor left.
UNREACHABLE = (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable, OSError)
FIRST_PAUSE = 0.05
LAST_PAUSE = 2.0
# How long the completion waits for what still uses the connection of a handler that has returned.
IN_USE_SECONDS = 5.0


class Place(Generic[C]):
    """The transaction of one attempt: its session, the connection object of the handler, and how it ended."""

    def __init__(self, session: Session, kind: type[C]) -> None:
        self.session = session
        self.conn = kind(session.pgconn, session.handler_prepare_threshold)
        self.conn.met.began_read_only = session.is_read_only
        self.is_inside = True
        # Set when the place is given back: the asyncio task that cleans the session, and what caused it, if not the
        # handler; then whether the handler had committed the transaction, past all that refuses it.
        self.cleaning: asyncio.Task[None] | None = None
        self.loss: Exception | None = None
        self.is_committed_alone = False

    def meaning(self, error: BaseException | None) -> Exception | None:
        """The exception to use for an error that the handler did not cause (a lost connection, a server in trouble);
        None if it did."""
        if self.cleaning is not None:
            return self.loss
        if self.session.broken:
            return _lost(self.conn, error)
        faults = self.conn.met.faults
        if faults and (self.conn.met.is_in_fault or (error is not None and _comes_of(error, faults))):
            return PutOff(f"the server could not do what the handler asked for: {str(faults[-1]).strip()}")
        return None


AnyPlace = Place[Any]


class Transactions:
    """The pool of connections for the transactions of handlers.

    ``committed`` is called with each ending that was committed here; ``waits`` when an attempt begins (true) and stops
    (false) waiting for a connection.
    """

    def __init__(
        self,
        dsn: str,
        *,
        pulse: Pulse,
        turns: Turns,
        limit: timedelta,
        committed: Callable[[Ending, str], None],
        waits: Callable[[Attempt, bool], None],
    ) -> None:
        self._dsn = dsn
        self._pulse = pulse
        self._begin_text = lent.begin_text(limit)
        self._committed = committed
        self._waits = waits
        self._loop = asyncio.get_running_loop()
        self._turns = turns
        self._sessions = Sessions(dsn, pulse)
        self._cleaning: set[asyncio.Task[None]] = set()
        # By fence: two attempts of one task may run here at once, if the first was left behind.
        self._places: dict[int, AnyPlace] = {}

    @asynccontextmanager
    async def begin(self, context: Attempt) -> AsyncGenerator[AsyncConnection[Any]]:
        place = await self._begin(context, AsyncHandlerConnection)
        try:
            yield place.conn
        except BaseException as error:
            await self._undo(place, error)  # what the block wrote, even if the handler catches this and continues
            raise
        place.is_inside = False

    @contextmanager
    def begin_sync(self, context: Attempt) -> Generator[Connection[Any]]:
        place = asyncio.run_coroutine_threadsafe(self._begin(context, HandlerConnection), self._loop).result()
        try:
            yield place.conn
        except BaseException as error:
            asyncio.run_coroutine_threadsafe(self._undo(place, error), self._loop).result()
            raise
        place.is_inside = False

    def loss(self, context: Attempt, error: BaseException | None = None) -> Exception | None:
        """The exception to use for an error that the handler did not cause, even if it caught or wrapped it."""
        place = self._places.get(context.fence)
        return None if place is None else place.meaning(error)

    def is_waiting(self, context: Attempt) -> bool:
        """Is the handler waiting for an answer from the server?"""
        place = self._places.get(context.fence)
        return place is not None and place.session.pgconn.transaction_status == TransactionStatus.ACTIVE

    async def hangs(self, context: Attempt) -> bool:
        """Is that session idle? Then the connection hangs: it is cut, and the attempt is interrupted."""
        place = self._places.get(context.fence)
        return place is not None and await self._pulse.hangs(place.session)

    async def commit(self, context: Attempt, ending: Ending) -> str | None:
        """Write the completion and commit; None when the handler opened no transaction, or it was undone."""
        place = self._places.get(context.fence)
        if place is None:
            return None
        if (loss := place.meaning(None)) is not None:
            raise loss
        if place.cleaning is not None:
            return None
        await self._take_over(place, context)
        if place.conn.met.refusal is not None:
            raise place.conn.met.refusal
        session = place.session
        try:
            is_open = session.pgconn.transaction_status != TransactionStatus.IDLE
            state = await attempt_store.complete_own(session, ending, session.began_at) if is_open else None
        except psycopg.Error as error:
            place.conn.met.note(error, is_broken=session.broken)
            if place.conn.met.is_made_read_only(error):
                raise RequestRefused(
                    f"the handler of {context.command} made its transaction read-only: it cannot complete the task",
                    hint="Omit SET TRANSACTION READ ONLY: the completion is written in the same transaction.",
                ) from error
            raise place.meaning(error) or error from error
        if state is None:
            raise place.conn.met.refuse("ROLLBACK")
        try:
            await lent.commit(session)
        except psycopg.Error as error:
            place.conn.met.note(error, is_broken=session.broken)
            if not session.broken:
                raise
            if not await self._happened(ending):
                raise _lost(place.conn, error) from error
        self._committed(ending, state)
        return state

    async def _take_over(self, place: AnyPlace, context: Attempt) -> None:
        """Take the session from the handler, whose block has ended; wait a little if it is still in use."""
        if place.is_inside:
            raise RequestRefused(
                f"the handler of {context.command} returned while its ctx.transaction() block was open",
                hint="Nothing of it is committed. Wait for the coroutine or thread that has the block.",
            )
        pause, until = 0.001, self._loop.time() + IN_USE_SECONDS
        while not place.conn.let_go():
            if self._loop.time() > until:
                raise RequestRefused(
                    f"the handler of {context.command} returned while its connection was in use",
                    hint="Nothing is committed. Close streams and cursors, and wait for what uses the connection.",
                )
            await asyncio.sleep(pause)
            pause = min(pause * 2, FIRST_PAUSE)

    async def leave(self, context: Attempt) -> None:
        """End an attempt: give its connection back, rolled back unless it was committed. Raises
        ``TransactionEndRefused`` if the handler has committed it."""
        self.abandon(context)
        place = self._places.pop(context.fence, None)
        if place is not None and place.cleaning is not None:
            await asyncio.shield(place.cleaning)
            if place.is_committed_alone:
                raise TransactionEndRefused(
                    f"the handler of {context.command} closed the guard of its ctx.transaction() and committed:"
                    " what it had written stays, although its task has not completed",
                    hint="See what it has written before you retry the task. Use conn, not conn.pgconn, and return"
                    " from the handler to commit.",
                )

    def abandon(self, context: Attempt) -> None:
        """Take the transaction from a handler, even in the middle of a call; it cannot begin another."""
        if not context.is_over:
            context.mark_cancelled("its handler has ended", is_over=True)
        place = self._places.get(context.fence)
        if place is not None:
            self._release(place, None)

    async def _undo(self, place: AnyPlace, error: BaseException) -> None:
        await asyncio.shield(self._release(place, error))

    def _release(self, place: AnyPlace, error: BaseException | None) -> asyncio.Task[None]:
        """Take the session from the handler's connection object and give the place back; once only."""
        if place.cleaning is None:
            place.loss = place.meaning(error)
            is_free = place.conn.let_go(at_once=True)
            place.cleaning = OwnTask(self._clean(place, is_free), loop=self._loop)
            self._cleaning.add(place.cleaning)
            place.cleaning.add_done_callback(self._cleaned)
        return place.cleaning

    async def _clean(self, place: AnyPlace, is_free: bool) -> None:
        with suppress(Exception):
            if is_free:
                place.is_committed_alone = await self._sessions.give_back(place.session)
            else:
                await self._sessions.cut_off(place.session)

    def _cleaned(self, task: asyncio.Task[None]) -> None:
        self._cleaning.discard(task)
        self._turns.give()

    async def _begin(self, context: Attempt, kind: type[C]) -> Place[C]:
        """Take a place and begin the transaction; waits for a free place and for the database."""
        _refuse_if_late(context)
        self._waits(context, True)
        try:
            await self._turns.take(context.command)
            try:
                session = await self._begun(context)
            except BaseException:
                self._turns.give()
                raise
        finally:
            self._waits(context, False)
        place = Place(session, kind)
        try:
            _refuse_if_late(context)
        except BaseException:
            self._release(place, None)
            raise
        self._places[context.fence] = place
        return place

    async def _begun(self, context: Attempt) -> Session:
        pause = FIRST_PAUSE
        while True:
            _refuse_if_late(context)
            with suppress(*UNREACHABLE):
                session = await self._sessions.take()
                try:
                    with Call(session, CALL_SECONDS):
                        session.began_at, session.is_read_only = await lent.begin(session, self._begin_text)
                    return session
                except BaseException:
                    await self._sessions.drop(session)
                    raise
            await asyncio.sleep(_jittered(pause))
            pause = min(pause * 2, LAST_PAUSE)

    async def close(self) -> None:
        """Close all sessions, even those in use."""
        for task in self._cleaning:
            task.cancel()
        if self._cleaning:
            await asyncio.wait(self._cleaning, timeout=1.0)
        await self._sessions.close()

    async def _happened(self, ending: Ending) -> bool:
        """Did a commit in doubt take effect? Raises ``ClaimLost`` when another worker has the task now."""
        while True:
            try:
                conn = await connect_async(self._dsn)
                try:
                    with Call(conn, CALL_SECONDS):
                        fate = await attempt_store.fate(
                            conn, ending.attempt.id, ending.attempt.fence, ending.attempt.attempt
                        )
                    break
                finally:
                    await conn.close()
            except UNREACHABLE:
                await asyncio.sleep(0.1)
        if fate == "lost":
            raise ClaimLost(f"task {ending.attempt.id} is not held under fence {ending.attempt.fence} any more")
        return fate == "ended"


def _comes_of(error: BaseException, faults: list[psycopg.Error]) -> bool:
    """Is this error one of the faults, was it caused by one, or is it a group that contains one?"""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        if any(one is fault for fault in faults):
            return True
        seen.add(id(one))
        waiting += [one.__cause__, one.__context__]
        waiting += getattr(one, "exceptions", ())
    return False


def _lost(conn: AnyConnection, error: BaseException | None) -> Exception:
    if conn.met.ended_by in IDLED:
        return TimeoutError(
            "the transaction of the handler was idle for longer than CATCHMENT_TRANSACTION_LIMIT_SECONDS"
        )
    reason = f": {str(error).strip()}" if error is not None else ""
    return Interrupted(f"the connection of the handler's transaction was lost{reason}")


def _refuse_if_late(context: Attempt) -> None:
    """Raise ``CancelRequested`` if the attempt is over, or cancelled and in a thread, which asyncio cannot cancel."""
    if context.is_over or (context.cancelled and not context.is_async):
        raise CancelRequested(
            f"task {context.task_id} ({context.command}) is over or was stopped: it can begin no more"
        )


def _jittered(pause: float) -> float:
    return pause * random.uniform(0.5, 1.0)  # noqa: S311 - jitter
