"""What ``catchment bench`` reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import Connection

from catchment.store.fetch import fetch_value


def completed(conn: Connection[Any]) -> int:
    """How many tasks have completed; reads the outcomes alone."""
    return fetch_value(conn, "select count(*) from worker.outcome")


def is_asleep(conn: Connection[Any], queue: str) -> bool:
    """Does a worker wait for this queue?"""
    query = (
        "select exists (select from worker.sleeper join worker.queue_registry as q using (queue_id) where q.queue = %s)"
    )
    return fetch_value(conn, query, queue)


def pickup_ms(conn: Connection[Any], task_ids: Sequence[int]) -> list[float]:
    """From the enqueue of each task to the start of its attempt, by the server's clock, in order."""
    cursor = conn.execute(
        "select extract(epoch from process_start_at - created_at)::float * 1000 from worker.tasks where id = any (%s)"
        " and process_start_at is not null order by 1",
        [list(task_ids)],
    )
    return [delay for (delay,) in cursor.fetchall()]
