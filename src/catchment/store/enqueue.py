"""Calls that make tasks, in asyncio and without. Payloads are JSON text; psycopg's adapters for JSON and lists are not
used, because they cost more than the call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.pq import TransactionStatus
from psycopg.rows import tuple_row

from catchment.model.task import TaskId
from catchment.store.array_text import array_literal
from catchment.store.errors import translated

# A delay counts from the server's clock, as everything else does.
_ENQUEUE = (
    "select worker.enqueue(%s::pg_catalog.text, %s::pg_catalog.jsonb, %s::integer, %s::pg_catalog.text,"
    " coalesce(%s::pg_catalog.timestamptz, worker.now() operator(pg_catalog.+) %s::interval), %s::pg_catalog.text)"
)
_ENQUEUE_MANY = (
    "select worker.enqueue_many(%s::pg_catalog.text, %s::pg_catalog.jsonb[], %s::integer, %s::pg_catalog.text[],"
    " coalesce(%s::pg_catalog.timestamptz, worker.now() operator(pg_catalog.+) %s::interval), %s::pg_catalog.text)"
)


@dataclass(frozen=True, slots=True)
class When:
    """Priority and due time of new tasks, as the engine takes them."""

    priority: int | None = None
    at: datetime | None = None
    delay: timedelta | None = None


@dataclass(frozen=True, slots=True)
class Batch:
    """Payloads as JSON text, and the lane of each, or none."""

    payloads: Sequence[str]
    lanes: Sequence[str | None] | None = None


async def enqueue_async(
    conn: AsyncConnection[Any], command: str, payload: str, lane: str | None, when: When, trace: str | None = None
) -> TaskId:
    """Make a task; it commits with the transaction of ``conn``. ``trace`` is a traceparent."""
    # Cursors are made here, because the caller's connection may have others.
    cursor = AsyncCursor(conn, row_factory=tuple_row)
    with translated():
        parameters = (command, payload, when.priority, lane, when.at, when.delay, trace)
        await cursor.execute(_ENQUEUE, parameters, prepare=True)
        ((task_id,),) = await cursor.fetchall()
    return task_id


def enqueue(
    conn: Connection[Any], command: str, payload: str, lane: str | None, when: When, trace: str | None = None
) -> TaskId:
    """As ``enqueue_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=tuple_row)
    with translated():
        parameters = (command, payload, when.priority, lane, when.at, when.delay, trace)
        cursor.execute(_ENQUEUE, parameters, prepare=True)
        ((task_id,),) = cursor.fetchall()
    return task_id


async def enqueue_many_async(
    conn: AsyncConnection[Any], command: str, batches: Iterable[Batch], when: When, trace: str | None = None
) -> list[TaskId]:
    """Make many tasks, all or none; while the server works on one batch, the next is read from ``batches``."""
    cursors: list[AsyncCursor[Any]] = []
    with translated():
        async with AsyncExitStack() as stack:
            if _needs_transaction(conn):
                await stack.enter_async_context(conn.transaction())
            await stack.enter_async_context(conn.pipeline())
            for batch in batches:
                cursor = AsyncCursor(conn, row_factory=tuple_row)
                await cursor.execute(_ENQUEUE_MANY, _parameters(command, batch, when, trace), prepare=True)
                cursors.append(cursor)
        return [task_id for cursor in cursors for ((ids,),) in [await cursor.fetchall()] for task_id in ids]


def enqueue_many(
    conn: Connection[Any], command: str, batches: Iterable[Batch], when: When, trace: str | None = None
) -> list[TaskId]:
    """As ``enqueue_many_async``, without asyncio."""
    cursors: list[Cursor[Any]] = []
    with translated():
        with ExitStack() as stack:
            if _needs_transaction(conn):
                stack.enter_context(conn.transaction())
            stack.enter_context(conn.pipeline())
            for batch in batches:
                cursor = Cursor(conn, row_factory=tuple_row)
                cursor.execute(_ENQUEUE_MANY, _parameters(command, batch, when, trace), prepare=True)
                cursors.append(cursor)
        return [task_id for cursor in cursors for ((ids,),) in [cursor.fetchall()] for task_id in ids]


def _needs_transaction(conn: AsyncConnection[Any] | Connection[Any]) -> bool:
    """Only a connection that commits by itself: any other has, or gets, the transaction of its owner."""
    return conn.autocommit and conn.pgconn.transaction_status == TransactionStatus.IDLE


def _parameters(command: str, batch: Batch, when: When, trace: str | None) -> tuple[Any, ...]:
    lanes = None if batch.lanes is None else array_literal(batch.lanes)
    return command, array_literal(batch.payloads), when.priority, lanes, when.at, when.delay, trace
