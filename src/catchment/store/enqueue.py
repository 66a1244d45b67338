"""Calls that make tasks, in asyncio and without, on the connection of any library. Payloads are JSON text, and arrays
are text too: a driver's adapters for them cost more than the call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from catchment.model.task import TaskId
from catchment.store.answer import AsyncClientConnection, ClientConnection
from catchment.store.array_text import array_literal
from catchment.store.direct import Answer, Statement, encoded
from catchment.store.errors import translated
from catchment.store.foreign.sender import AsyncSender, Sender, Values, numbered

# Values are text or null, see foreign.sender. A delay counts from the server's clock, as everything else does.
_DUE = (
    "coalesce(%s::pg_catalog.text::pg_catalog.timestamptz,"
    " worker.now() operator(pg_catalog.+) %s::pg_catalog.text::interval)"
)
_ENQUEUE = (
    "select worker.enqueue(%s::pg_catalog.text, %s::pg_catalog.text::pg_catalog.jsonb, %s::pg_catalog.text::integer,"
    f" %s::pg_catalog.text, {_DUE}, %s::pg_catalog.text)"
)
_ENQUEUE_MANY = (
    "select worker.enqueue_many(%s::pg_catalog.text, %s::pg_catalog.text::pg_catalog.jsonb[],"
    f" %s::pg_catalog.text::integer, %s::pg_catalog.text::pg_catalog.text[], {_DUE}, %s::pg_catalog.text)"
)
_EACH_TYPES = (
    "pg_catalog.text",
    "pg_catalog.jsonb",
    "integer",
    "pg_catalog.text",
    "pg_catalog.timestamptz",
    "interval",
    "pg_catalog.text",
)
_ONE = Statement(b"catchment_enqueue", numbered(_ENQUEUE).encode())
_EACH = Statement(
    b"catchment_enqueue_each",
    f"select worker.enqueue_each({', '.join(f'${n}::{kind}[]' for n, kind in enumerate(_EACH_TYPES, 1))})".encode(),
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


async def enqueue_async(sender: AsyncSender, call: Values) -> TaskId:
    """Make a task with these ``arguments``; it commits with the transaction of the caller."""
    ((task_id,),) = await sender.rows(_ENQUEUE, call)
    return task_id


def enqueue(sender: Sender, call: Values) -> TaskId:
    """As ``enqueue_async``, without asyncio."""
    ((task_id,),) = sender.rows(_ENQUEUE, call)
    return task_id


async def enqueue_many_async(
    sender: AsyncSender, command: str, batches: Iterable[Batch], when: When, trace: str | None = None
) -> list[TaskId]:
    """Make many tasks, all or none."""
    answers = await sender.each(_ENQUEUE_MANY, _many(command, batches, when, trace))
    return [task_id for ((ids,),) in answers for task_id in ids]


def enqueue_many(
    sender: Sender, command: str, batches: Iterable[Batch], when: When, trace: str | None = None
) -> list[TaskId]:
    """As ``enqueue_many_async``, without asyncio."""
    answers = sender.each(_ENQUEUE_MANY, _many(command, batches, when, trace))
    return [task_id for ((ids,),) in answers for task_id in ids]


async def enqueue_together_async(conn: AsyncClientConnection, calls: Sequence[Values], answer: Answer) -> list[TaskId]:
    """Make a task for each of these ``arguments``, all or none; the ids are in their order."""
    with translated():
        await conn.ask(*_together(calls), answer)
    return ids_of(answer)


def enqueue_together(conn: ClientConnection, calls: Sequence[Values], answer: Answer) -> list[TaskId]:
    """As ``enqueue_together_async``, without asyncio."""
    with translated():
        conn.ask(*_together(calls), answer)
    return ids_of(answer)


def ids_of(answer: Answer) -> list[TaskId]:
    """The ids that the server has answered with."""
    return [TaskId(int(number)) for number in (answer.value or b"").strip(b"{}").split(b",")]


def _together(calls: Sequence[Values]) -> tuple[Statement, list[bytes | None]]:
    if len(calls) == 1:
        return _ONE, [encoded(value) for value in calls[0]]
    columns = zip(*calls, strict=True)
    return _EACH, [None if column.count(None) == len(column) else encoded(array_literal(column)) for column in columns]


def _many(command: str, batches: Iterable[Batch], when: When, trace: str | None) -> Iterator[Values]:
    for batch in batches:
        lanes = None if batch.lanes is None else array_literal(batch.lanes)
        yield arguments(command, array_literal(batch.payloads), lanes, when, trace)


def arguments(command: str, payload: str, lane: str | None, when: When, trace: str | None) -> Values:
    """The values of one call, as the statements take them. ``trace`` is a traceparent."""
    priority = None if when.priority is None else str(when.priority)
    at = None if when.at is None else when.at.isoformat()
    return command, payload, priority, lane, at, None if when.delay is None else _seconds(when.delay), trace


def _seconds(delay: timedelta) -> str:
    """In seconds alone: a day of an interval is not always 24 hours long."""
    return f"{delay.days * 86_400 + delay.seconds}.{delay.microseconds:06d} seconds"
