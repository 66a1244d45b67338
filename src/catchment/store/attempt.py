"""Attempts of Python handlers: claim, settle and inspect them, many at a time.

Arrays and JSON are sent as text that is built here: in batches of hundreds, the driver's conversion of each element
would cost more than the handler.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeVar

from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus

from catchment.model.task import TaskId
from catchment.store.array_text import numbers, texts
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value_async

_CLAIM = """
select c.id, c.fence, c.command, c.payload::pg_catalog.text, c.attempt, c.phase, c.parent_id, c.lane, c.queue_id,
       c.timeout, c.failures, c.max_attempts, c.is_plain, c.trace, c.before_procedure
  from worker.claim_tasks(%s, %s, %s) as c
"""
_COMPLETE = """
select case when pg_catalog.cardinality(c.done) operator(pg_catalog.<) %s then c.done end
  from worker.complete_tasks(%s::bigint[], %s::bigint[], %s::pg_catalog.jsonb[], %s::pg_catalog.jsonb[]) as c (done)
"""
_GO_ON = """
select c.done, (c.next).id, (c.next).fence, (c.next).command, (c.next).payload::pg_catalog.text, (c.next).attempt,
       (c.next).phase, (c.next).parent_id, (c.next).lane, (c.next).queue_id, (c.next).timeout, (c.next).failures,
       (c.next).max_attempts, (c.next).is_plain, (c.next).trace, (c.next).before_procedure
  from worker.complete_and_go_on(%s, %s::bigint[], %s::bigint[], %s::pg_catalog.jsonb[], %s::pg_catalog.jsonb[],
                                 %s) as c
"""
_SETTLE = """
select s.id, s.state, extract(epoch from s.again_in)::double precision
  from worker.settle(%s::bigint[], %s::bigint[], %s::pg_catalog.text[],
                     %s::pg_catalog.jsonb[], %s::pg_catalog.jsonb[], %s::pg_catalog.jsonb[]) as s
"""
_SPAWN = "select worker.spawn_children(%s, %s, %s::pg_catalog.jsonb, %s, %s)"
_COMPLETE_ONE = (
    "select worker.complete_task(%s, %s, %s::pg_catalog.jsonb, %s::pg_catalog.jsonb, %s::pg_catalog.jsonb, %s, %s,"
    " %s::pg_catalog.jsonb)"
)
# The time at which a transaction began tells it from those after it in the same session, and nobody can set it.
BEGAN_AT = "pg_catalog.extract('epoch', pg_catalog.transaction_timestamp())::pg_catalog.text"
_COMPLETE_OWN = f"{_COMPLETE_ONE} where {BEGAN_AT} operator(pg_catalog.=) %s"


# Endings with more text than this, or with more spawns than one statement takes, are recorded apart from the others.
LARGE = 1024 * 1024

A = TypeVar("A", bound="Attempt")


class Attempt:
    """A claimed task as its worker gets it. ``payload`` is JSON text; ``phase`` 1 a join; ``trace`` says who asked."""

    __slots__ = (
        "attempt",
        "before_procedure",
        "command",
        "failures",
        "fence",
        "id",
        "is_plain",
        "lane",
        "max_attempts",
        "parent_id",
        "payload",
        "phase",
        "queue_id",
        "timeout",
        "trace",
    )

    def __init__(self, row: tuple[Any, ...]) -> None:
        self.id: TaskId
        self.fence: int
        self.command: str
        self.payload: str
        self.attempt: int
        self.phase: int
        self.parent_id: TaskId | None
        self.lane: str | None
        self.queue_id: int
        self.timeout: timedelta | None
        self.failures: int
        self.max_attempts: int
        self.is_plain: bool
        self.trace: str | None
        self.before_procedure: str | None
        (
            self.id,
            self.fence,
            self.command,
            self.payload,
            self.attempt,
            self.phase,
            self.parent_id,
            self.lane,
            self.queue_id,
            self.timeout,
            self.failures,
            self.max_attempts,
            self.is_plain,
            self.trace,
            self.before_procedure,
        ) = row


@dataclass(slots=True)
class Ending:
    """How an attempt ended: ``asked`` is completed, failed, cancelled, interrupted, released or snoozed. The rest is
    JSON text; ``failure`` is the content of ``error`` as a mapping, for the log. ``again_in`` are the seconds until the
    next attempt of one that failed, as of when that was recorded."""

    attempt: Attempt
    asked: str = "completed"
    error: str | None = None
    info: str | None = None
    result: str | None = None
    spawns: tuple[str, ...] = ()
    child_mode: str | None = None
    on_child_failure: str | None = None
    follow_ups: str | None = None
    failure: Mapping[str, Any] | None = None
    again_in: float | None = None

    @property
    def has_offspring(self) -> bool:
        return bool(self.spawns) or self.follow_ups is not None

    @property
    def size(self) -> int:
        """The length of the text to send, without spawns and follow-ups."""
        if self.result is self.info is self.error is None:  # most of all
            return 0
        return len(self.result or "") + len(self.info or "") + len(self.error or "")

    @property
    def is_large(self) -> bool:
        """Would it delay the others that are recorded over the same connection?"""
        return len(self.spawns) > 1 or self.size > LARGE


async def claim(
    conn: AsyncConnection[Any], worker_id: int, queues: Sequence[str], limit: int, make: Callable[[tuple[Any, ...]], A]
) -> list[A]:
    """Take up to ``limit`` tasks of these queues, each made an object by ``make``."""
    with translated():
        cursor = await conn.execute(_CLAIM, [worker_id, list(queues), limit], prepare=True, binary=True)
        return [make(row) for row in await cursor.fetchall()]


async def complete(conn: AsyncConnection[Any], endings: Sequence[Ending]) -> set[int] | None:
    """Complete plain attempts; returns the ids that were ours, None for all of them."""
    cursor = await conn.execute(_COMPLETE, [len(endings), *_completed(endings)], prepare=True)
    ((done,),) = await cursor.fetchall()
    return None if done is None else set(done)


async def complete_and_go_on(
    conn: AsyncConnection[Any],
    worker_id: int,
    endings: Sequence[Ending],
    limit: int,
    make: Callable[[tuple[Any, ...]], A],
) -> tuple[set[int], list[A]]:
    """Complete plain attempts in lanes, and take up to ``limit`` of the tasks that are next in these lanes."""
    cursor = await conn.execute(_GO_ON, [worker_id, *_completed(endings), limit], prepare=True, binary=True)
    first, *rest = await cursor.fetchall()
    return set(first[0]), [make(row[1:]) for row in rest]


async def settle(conn: AsyncConnection[Any], endings: Sequence[Ending]) -> dict[int, str]:
    """End attempts without offspring in any way; returns the state of each that was ours."""
    with translated():
        cursor = await conn.execute(
            _SETTLE,
            [
                numbers(e.attempt.id for e in endings),
                numbers(e.attempt.fence for e in endings),
                [e.asked for e in endings],
                texts([e.error for e in endings]),
                texts([e.info for e in endings]),
                texts([e.result for e in endings]),
            ],
            prepare=True,
        )
        rows = await cursor.fetchall()
    waits = {task_id: again_in for task_id, _, again_in in rows if again_in is not None}
    if waits:
        for ending in endings:
            ending.again_in = waits.get(ending.attempt.id)
    return {task_id: state for task_id, state, _ in rows}


async def release(conn: AsyncConnection[Any], ids: Sequence[int], fences: Sequence[int]) -> None:
    """Give attempts back that never started."""
    await conn.execute(
        "select worker.settle(%s::bigint[], %s::bigint[],"
        " pg_catalog.array_fill('released'::pg_catalog.text, array[%s]))",
        [numbers(ids), numbers(fences), len(ids)],
    )


async def complete_one(
    conn: AsyncConnection[Any], ending: Ending, *, call: Callable[[], AbstractContextManager[None]] = nullcontext
) -> str:
    """Complete one attempt with its offspring; raises ``ClaimLost`` when it is no longer ours.

    If there are too many spawns for one statement, they are sent in slices, in one transaction. ``call`` makes a
    context for each statement.
    """
    is_ours = len(ending.spawns) > 1 and conn.pgconn.transaction_status == TransactionStatus.IDLE
    if is_ours:
        with call():
            await conn.execute("begin")
    try:
        with translated():
            for spawns in ending.spawns[:-1]:
                with call():
                    await conn.execute(_SPAWN, _slice(ending, spawns), prepare=True)
            with call():
                cursor = await conn.execute(_COMPLETE_ONE, _one(ending), prepare=True)
                ((state,),) = await cursor.fetchall()
            if is_ours:
                with call():
                    await conn.execute("commit")
    except BaseException:
        if is_ours and conn.pgconn.transaction_status in (TransactionStatus.INTRANS, TransactionStatus.INERROR):
            with call():
                await conn.execute("rollback")
        raise
    return state


async def complete_own(conn: AsyncConnection[Any], ending: Ending, began_at: str) -> str | None:
    """As ``complete_one``, in the transaction that began then; None when that has ended meanwhile."""
    with translated():
        for spawns in ending.spawns[:-1]:
            await conn.execute(_SPAWN, _slice(ending, spawns))
        cursor = await conn.execute(_COMPLETE_OWN, [*_one(ending), began_at], prepare=True)
        return next((state for (state,) in await cursor.fetchall()), None)


async def held_fences(
    conn: AsyncConnection[Any], worker_id: int, task_ids: Iterable[int] | None = None
) -> dict[int, tuple[int, str | None]]:
    """What the database says this worker holds, of these tasks or of all: fence and cancel reason by task."""
    cursor = await conn.execute(
        "select id, fence, cancel_reason from worker.held_by(%s, %s::bigint[])",
        [worker_id, None if task_ids is None else numbers(task_ids)],
    )
    return {task_id: (fence, reason) for task_id, fence, reason in await cursor.fetchall()}


async def fate(conn: AsyncConnection[Any], task_id: int, fence: int, attempt: int) -> str:
    """What has become of an attempt whose commit got no answer: held, ended or lost."""
    return await fetch_value_async(conn, "select worker.attempt_fate(%s, %s, %s)", task_id, fence, attempt)


async def fates(conn: AsyncConnection[Any], endings: Sequence[Ending]) -> dict[int, str]:
    """As ``fate``, of many attempts."""
    cursor = await conn.execute(
        "select u.id, worker.attempt_fate(u.id, u.fence, u.attempt)"
        " from rows from (pg_catalog.unnest(%s::bigint[]), pg_catalog.unnest(%s::bigint[]),"
        " pg_catalog.unnest(%s::int[])) as u (id, fence, attempt)",
        [
            numbers(e.attempt.id for e in endings),
            numbers(e.attempt.fence for e in endings),
            numbers(e.attempt.attempt for e in endings),
        ],
    )
    return dict(await cursor.fetchall())


async def report_progress(conn: AsyncConnection[Any], task_id: int, fence: int, progress: str) -> None:
    """Report the progress of an attempt; raises ``ClaimLost`` when it is no longer ours."""
    await fetch_value_async(
        conn, "select worker.report_progress(%s, %s, %s::pg_catalog.jsonb)", task_id, fence, progress
    )


async def children(conn: AsyncConnection[Any], task_id: int) -> list[tuple[Any, ...]]:
    """The settled children of a task as its join gets them: id, command, payload, state, result, info."""
    cursor = await conn.execute(
        "select id, command, payload, state, result, info from worker.children_of(%s)", [task_id]
    )
    return await cursor.fetchall()


def _completed(endings: Sequence[Ending]) -> list[str | None]:
    return [
        numbers(e.attempt.id for e in endings),
        numbers(e.attempt.fence for e in endings),
        texts([e.info for e in endings]),
        texts([e.result for e in endings]),
    ]


def _one(ending: Ending) -> list[Any]:
    return [
        ending.attempt.id,
        ending.attempt.fence,
        ending.info,
        ending.result,
        ending.spawns[-1] if ending.spawns else None,
        ending.child_mode,
        ending.on_child_failure,
        ending.follow_ups,
    ]


def _slice(ending: Ending, spawns: str) -> list[Any]:
    return [ending.attempt.id, ending.attempt.fence, spawns, ending.child_mode, ending.on_child_failure]
