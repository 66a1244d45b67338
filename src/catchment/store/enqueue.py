"""Calls that make tasks, in asyncio and without, on the connection of any library. Payloads are JSON text, and arrays
are text too: a driver's adapters for them cost more than the call itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from catchment.model.task import TaskId
from catchment.store.array_text import array_literal
from catchment.store.foreign.sender import AsyncSender, Sender, Values

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
    sender: AsyncSender, command: str, payload: str, lane: str | None, when: When, trace: str | None = None
) -> TaskId:
    """Make a task; it commits with the transaction of the caller. ``trace`` is a traceparent."""
    ((task_id,),) = await sender.rows(_ENQUEUE, _parameters(command, payload, lane, when, trace))
    return task_id


def enqueue(
    sender: Sender, command: str, payload: str, lane: str | None, when: When, trace: str | None = None
) -> TaskId:
    """As ``enqueue_async``, without asyncio."""
    ((task_id,),) = sender.rows(_ENQUEUE, _parameters(command, payload, lane, when, trace))
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


def _many(command: str, batches: Iterable[Batch], when: When, trace: str | None) -> Iterator[Values]:
    for batch in batches:
        lanes = None if batch.lanes is None else array_literal(batch.lanes)
        yield _parameters(command, array_literal(batch.payloads), lanes, when, trace)


def _parameters(command: str, payload: str, lane: str | None, when: When, trace: str | None) -> Values:
    priority = None if when.priority is None else str(when.priority)
    at = None if when.at is None else when.at.isoformat()
    return command, payload, priority, lane, at, None if when.delay is None else _seconds(when.delay), trace


def _seconds(delay: timedelta) -> str:
    """In seconds alone: a day of an interval is not always 24 hours long."""
    return f"{delay.days * 86_400 + delay.seconds}.{delay.microseconds:06d} seconds"
