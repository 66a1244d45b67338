"""What running tasks inside the transaction of a caller asks of the engine: nothing here commits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.store.errors import translated
from catchment.store.fetch import fetch_value_async

_SAVE, _KEEP = "savepoint catchment_handler", "release savepoint catchment_handler"
_UNDO = "rollback to savepoint catchment_handler"


@dataclass(frozen=True, slots=True)
class Mark:
    """The unsettled tasks at one moment, and the newest task there was."""

    last_id: int
    unsettled: Sequence[int]


async def mark(conn: AsyncConnection[Any]) -> Mark:
    """Remember where the tasks stand."""
    with translated():
        cursor = await conn.execute(
            "select coalesce(pg_catalog.max(t.id), 0), coalesce(pg_catalog.array_agg(t.id) filter ("
            " where t.state"
            " operator(pg_catalog.<>) all (array['completed', 'failed', 'cancelled'])), '{}') from worker.tasks as t"
        )
        ((last_id, unsettled),) = await cursor.fetchall()
    return Mark(last_id, unsettled)


async def now(conn: AsyncConnection[Any]) -> datetime:
    """The time by the engine's clock, which a test may have moved."""
    return await fetch_value_async(conn, "select worker.now()")


async def count_since(conn: AsyncConnection[Any], since: Mark) -> dict[str, int]:
    """The number, by state, of the tasks that were unsettled then or have been created since."""
    cursor = await conn.execute(
        "select t.state, pg_catalog.count(*) from worker.tasks as t"
        " where t.id operator(pg_catalog.=) any (%s::bigint[])"
        " or t.id operator(pg_catalog.>) %s::bigint group by t.state",
        [list(since.unsettled), since.last_id],
    )
    return dict(await cursor.fetchall())


async def hire(conn: AsyncConnection[Any], queues: Sequence[str]) -> int:
    """A worker that exists in this transaction alone."""
    sql = "select worker_id from worker.register_worker('drain', %s, p_has_lock => false)"
    return await fetch_value_async(conn, sql, list(queues))


async def dismiss(conn: AsyncConnection[Any], worker_id: int) -> None:
    """The worker goes; it holds nothing any more."""
    await conn.execute("select worker.unregister_worker(%s)", [worker_id])


async def process_sql(conn: AsyncConnection[Any], limit: int) -> int:
    """Carry out what was cancelled, run up to ``limit`` SQL handlers of any queue; returns how many ran."""
    with translated():
        await conn.execute("select worker.sweep_cancelled()")
        await conn.execute("call worker.process_tasks(p_batch_size => %s)", [limit])
    return len(await fetch_value_async(conn, "select worker.last_processed()"))


async def save(conn: AsyncConnection[Any]) -> None:
    """Begin what can be undone alone."""
    await conn.execute(_SAVE)


def save_sync(conn: Connection[Any]) -> None:
    """As ``save``, without asyncio."""
    conn.execute(_SAVE)


async def keep(conn: AsyncConnection[Any]) -> None:
    """What was done since ``save`` stays."""
    await conn.execute(_KEEP)


async def undo(conn: AsyncConnection[Any]) -> None:
    """What was done since ``save`` has not happened."""
    await conn.execute(_UNDO)
    await conn.execute(_KEEP)
