"""Retries and cancels of all tasks that match a filter."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from catchment.errors import TaskNotFound
from catchment.sql import ENGINE
from catchment.store.fetch import fetch_rows, fetch_value

Row = dict[str, Any]


def count(conn: Connection[Any], verb: str, values: Row) -> Row:
    """How many ``tasks`` match now, whether that ``is_complete``, how many are retried ``with_parent``, when that was
    ``seen_at``, and how many live ``workers`` there are."""
    (row,) = fetch_rows(
        conn,
        "select c.tasks, c.is_complete, c.with_parent, worker.now() as seen_at,"
        " (select pg_catalog.count(*) from worker.worker as w where"
        " w.lease_until operator(pg_catalog.>) worker.now()) as workers"
        " from worker.count_bulk(%(verb)s::pg_catalog.text, %(filter)s::pg_catalog.jsonb) as c",
        verb=verb,
        filter=Jsonb(values),
    )
    return row


def start(conn: Connection[Any], verb: str, values: Row, reason: str, seen_at: datetime) -> int:
    """Make the task that does it to those that were counted at that time; returns its id."""
    return fetch_value(
        conn,
        "select worker.start_bulk(%s::pg_catalog.text, %s::pg_catalog.jsonb, %s::pg_catalog.text,"
        " p_seen_at => %s::pg_catalog.timestamptz)",
        verb,
        Jsonb(values),
        reason,
        seen_at,
    )


def show(conn: Connection[Any], task_id: int) -> Row:
    """How far it has come."""
    rows = fetch_rows(conn, ENGINE.query("bulk_show"), id=task_id)
    if not rows:
        raise TaskNotFound(f"task {task_id} is no bulk")
    return rows[0]
