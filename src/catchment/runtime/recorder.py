"""Writes endings to the database: in sets, and one by one when the database rejects a set.

An ending that the database always rejects (a result that jsonb cannot hold, a scope that is cancelled) fails its task.
One that it cannot record now (no memory or disk, a read-only server) is returned to the completer, to be retried.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import AsyncConnection
from pydantic_core import to_json

from catchment.errors import CancelRequested, CatchmentError, ClaimLost
from catchment.runtime.before_hooks import BeforeHooks
from catchment.runtime.connection import Link
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Holdings
from catchment.runtime.journal import Journal
from catchment.store import attempt as attempt_store
from catchment.store.attempt import Ending
from catchment.store.errors import Fault, fault_of
from catchment.task.failure import describe_error

# Up to this many lanes, the statement that completes their heads also claims the next tasks, which saves a claim. With
# more lanes, separate claims on the other connection are faster, because they run in parallel.
GO_ON_MOST = 32
# When this many endings in a row cannot be written now, the server is in trouble, and the rest is not tried.
IN_TROUBLE = 2
REFUSED = (psycopg.Error, CatchmentError)


@dataclass(frozen=True, slots=True)
class Later:
    """An ending that could not be written now, or was not tried because those before it could not."""

    ending: Ending
    error: Exception
    was_tried: bool = True


@dataclass
class Batch:
    """The connection that endings are written on, whether they were sent before, and which have to be retried later."""

    conn: AsyncConnection[Any]
    is_again: bool
    later: list[Later] = field(default_factory=list[Later])


class Recorder:
    """``go_on`` starts the next tasks of lanes, at most ``room(n)`` of them when ``n`` slots become free.

    ``on_retry`` is called when a task will be retried soon.
    """

    def __init__(
        self,
        worker_id: int,
        link: Link,
        *,
        holdings: Holdings,
        journal: Journal,
        events: Events,
        hooks: BeforeHooks,
        go_on: Callable[[list[Held]], None],
        room: Callable[[int], int],
        on_retry: Callable[[], None],
    ) -> None:
        self._worker_id = worker_id
        self._link = link
        self._holdings = holdings
        self._journal = journal
        self._events = events
        self._hooks = hooks
        self._go_on = go_on
        self._room = room
        self._on_retry = on_retry

    async def write(self, batch: Batch, endings: Sequence[Ending]) -> None:
        """Record these endings. Raises only if the connection is lost; then any of them may have been recorded."""
        loose: list[Ending] = []
        lined: list[Ending] = []
        others: list[Ending] = []
        for ending in endings:
            if not ending.attempt.is_plain or ending.asked != "completed" or ending.has_offspring:
                others.append(ending)
            else:
                (loose if ending.attempt.lane is None else lined).append(ending)
        for plain in (loose, lined):
            if plain:
                await self._write_plain(batch, plain)
        simple = [e for e in others if not e.has_offspring]
        if simple:
            await self._write_settled(batch, simple)
        for ending in others:
            if ending.has_offspring:
                await self._write_one(batch, ending)

    def report_deferred(self, deferred: Sequence[Later]) -> None:
        """Log in one line that these endings are deferred, if there are any."""
        if deferred:
            error = str(deferred[0].error).strip()
            self._events.emit(
                "tasks.deferred",
                f"the ends of {len(deferred)} attempts cannot be recorded now and are retried: {error}",
                level=logging.WARNING,
                count=len(deferred),
                error=error,
            )

    async def give_up(self, batch: Batch, ending: Ending, error: Exception) -> None:
        """Fail an attempt whose ending was deferred too often. If that is rejected too, report it and free the slot."""
        count = len(batch.later)
        await self._fail(batch, ending, error)
        if len(batch.later) > count:
            self._events.emit(
                "task.unrecorded",
                f"{ending.attempt.command} {ending.attempt.id}: its end cannot be recorded: {batch.later[-1].error}",
                level=logging.ERROR,
                task_id=ending.attempt.id,
                command=ending.attempt.command,
            )
            self._settled([ending])

    async def _fail(self, batch: Batch, ending: Ending, error: Exception) -> bool:
        """Fail an attempt whose ending the database rejects, with the reason; false when that has to be retried."""
        asked = "cancelled" if isinstance(error, CancelRequested) else "failed"
        described = describe_error(error)
        self._events.emit(
            "task.refused",
            f"{ending.attempt.command} {ending.attempt.id}: its end was refused: {described['message']}",
            level=logging.ERROR,
            task_id=ending.attempt.id,
            command=ending.attempt.command,
        )
        refused = Ending(ending.attempt, asked, error=to_json(described).decode(), failure=described)
        try:
            with self._link.call():
                states = await attempt_store.settle(batch.conn, [refused])
        except REFUSED as second:
            if fault_of(second) is Fault.LOST:
                raise
            batch.later.append(Later(ending, second))
            return False
        await self._record(batch, [refused], states, is_again=True)
        self._settled([ending])
        return True

    async def _write_plain(self, batch: Batch, endings: Sequence[Ending]) -> None:
        following: list[Held] = []
        done: set[int] | None
        try:
            with self._link.call():
                if endings[0].attempt.lane is None or len(endings) > GO_ON_MOST or self._hooks.are_used:
                    done = await attempt_store.complete(batch.conn, endings)
                else:
                    limit = min(len(endings), self._room(len(endings)))
                    done, following = await attempt_store.complete_and_go_on(
                        batch.conn, self._worker_id, endings, limit, Held
                    )
        except REFUSED as error:
            await self._write_singly(batch, endings, error)
            return
        completed = endings if done is None else [e for e in endings if e.attempt.id in done]
        self._journal.completed(completed)
        self._settled(completed)
        if following:
            with self._link.call():
                following = await self._hooks.sift(batch.conn, following)
            self._go_on(following)
        if done is not None and len(done) < len(endings):
            # Some are no longer plain, or no longer ours; settle handles both.
            await self._write_settled(batch, [e for e in endings if e.attempt.id not in done])

    async def _write_settled(self, batch: Batch, endings: Sequence[Ending]) -> None:
        try:
            with self._link.call():
                states = await attempt_store.settle(batch.conn, endings)
        except REFUSED as error:
            await self._write_singly(batch, endings, error)
            return
        if any(e.asked in ("failed", "snoozed") and states.get(e.attempt.id) == "pending" for e in endings):
            self._on_retry()
        await self._record(batch, endings, states, is_again=batch.is_again)
        self._settled(endings)

    async def _write_singly(self, batch: Batch, endings: Sequence[Ending], error: Exception) -> None:
        """Write endings one by one after the set was rejected, so that a bad one does not affect the others."""
        if fault_of(error) is Fault.LOST:
            raise error
        refused = 0
        for position, ending in enumerate(endings):
            refused = 0 if await self._write_one(batch, ending) else refused + 1
            if refused == IN_TROUBLE:
                batch.later += [Later(e, error, was_tried=False) for e in endings[position + 1 :]]
                return

    async def _write_one(self, batch: Batch, ending: Ending) -> bool:
        """Write one ending; false when it has to be retried later."""
        try:
            states: dict[int, str]
            if ending.has_offspring:
                states = {ending.attempt.id: await attempt_store.complete_one(batch.conn, ending, call=self._link.call)}
            else:
                with self._link.call():
                    states = await attempt_store.settle(batch.conn, [ending])
            await self._record(batch, [ending], states, is_again=batch.is_again)
        except ClaimLost:
            await self._record(batch, [ending], {}, is_again=batch.is_again)
        except REFUSED as error:
            fault = fault_of(error)
            if fault is Fault.LOST:
                raise
            if fault is Fault.LATER:
                batch.later.append(Later(ending, error))
                return False
            return await self._fail(batch, ending, error)
        self._settled([ending])
        return True

    async def _record(
        self, batch: Batch, endings: Sequence[Ending], states: Mapping[int, str], *, is_again: bool
    ) -> None:
        """Count what is durable. In a batch that is sent again, attempts that are no longer ours may have been recorded
        the first time."""
        missing = [e for e in endings if e.attempt.id not in states]
        if missing and is_again:
            with self._link.call():
                fates = await attempt_store.fates(batch.conn, missing)
            known = {i: "completed" for i, fate in fates.items() if fate == "ended"}
            # The state that a failure was recorded with is no longer known: count it as requested.
            states = {**states, **known, **{e.attempt.id: e.asked for e in missing if e.asked != "completed"}}
            missing = [e for e in endings if e.attempt.id not in states]
        if missing:
            self._journal.fenced(missing)
        self._journal.settled([e for e in endings if e.attempt.id in states], states)

    def _settled(self, endings: Sequence[Ending]) -> None:
        self._holdings.drop(e.attempt for e in endings if isinstance(e.attempt, Held))
