"""What callers ask of the engine: make, look at, stop and repeat tasks."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.errors import TaskNotFound
from catchment.sql import ENGINE
from catchment.store.fetch import fetch_rows, fetch_value, fetch_value_async

Row = dict[str, Any]

DEFAULT_REASON = "cancelled on request"

# Each value is cast: one of another type is refused as what it is, and not as a function that does not exist.
_CANCEL = "select worker.cancel(%s::bigint, %s::pg_catalog.text)"
_RETRY = "select worker.retry(%s::bigint)"
_SKIP_HALTED = "select worker.skip_halted(%s::pg_catalog.text, %s::pg_catalog.text)"


def enqueue(
    conn: Connection[Any],
    command: str,
    payload: str,
    *,
    priority: int | None = None,
    lane: str | None = None,
    scheduled_at: datetime | None = None,
) -> int:
    """Make a task with a payload of JSON text; it commits with the caller's transaction."""
    return fetch_value(
        conn,
        "select worker.enqueue(%s::pg_catalog.text, %s::pg_catalog.jsonb, %s::integer, %s::pg_catalog.text,"
        " %s::pg_catalog.timestamptz)",
        command,
        payload,
        priority,
        lane,
        scheduled_at,
    )


def show_task(conn: Connection[Any], task_id: int) -> Row:
    """One task with its attempts and warnings."""
    rows = fetch_rows(conn, ENGINE.query("task_show"), id=task_id)
    if not rows:
        raise TaskNotFound(f"there is no task {task_id}", hint="'catchment task list' shows the newest tasks.")
    return rows[0]


def task_tree(conn: Connection[Any], task_id: int, *, limit: int, state: str | None = None) -> list[Row]:
    """The task's tree from its root, parents before children: ``limit`` tasks, and those above them. The first row has
    ``counts`` of all; ``at_least`` says that there may be more, because the function counts no further."""
    rows = fetch_rows(conn, ENGINE.query("task_tree"), id=task_id, limit=limit, state=state)
    if not rows:
        raise TaskNotFound(f"there is no task {task_id}", hint="'catchment task list' shows the newest tasks.")
    return rows


def cancel(conn: Connection[Any], task_id: int, reason: str) -> str:
    """Ask for a task and everything under it to stop; returns its state."""
    return fetch_value(conn, _CANCEL, task_id, reason)


def retry(conn: Connection[Any], task_id: int) -> str:
    """Run a failed or cancelled task again; returns its new state."""
    return fetch_value(conn, _RETRY, task_id)


async def cancel_async(conn: AsyncConnection[Any], task_id: int, reason: str) -> str:
    """As ``cancel``, in asyncio."""
    return await fetch_value_async(conn, _CANCEL, task_id, reason)


async def retry_async(conn: AsyncConnection[Any], task_id: int) -> str:
    """As ``retry``, in asyncio."""
    return await fetch_value_async(conn, _RETRY, task_id)


def list_queues(conn: Connection[Any]) -> list[Row]:
    return fetch_rows(conn, ENGINE.query("queue_list"))


def list_lanes(conn: Connection[Any], *, queue: str | None, state: str | None, limit: int) -> list[Row]:
    """Lanes with work, the halted ones first."""
    return fetch_rows(conn, ENGINE.query("lane_list"), queue=queue, state=state, limit=limit)


def skip_halted(conn: Connection[Any], queue: str, lane: str | None) -> int:
    """Resume a halted lane, or without one a halted serial queue, after the task that failed; returns that task."""
    return fetch_value(conn, _SKIP_HALTED, queue, lane or "")


async def skip_halted_async(conn: AsyncConnection[Any], queue: str, lane: str | None) -> int:
    """As ``skip_halted``, in asyncio."""
    return await fetch_value_async(conn, _SKIP_HALTED, queue, lane or "")


def pause_queue(conn: Connection[Any], queue: str, until: datetime | None) -> None:
    fetch_value(conn, "select worker.pause_queue(%s::pg_catalog.text, %s::pg_catalog.timestamptz)", queue, until)


def resume_queue(conn: Connection[Any], queue: str) -> None:
    fetch_value(conn, "select worker.resume_queue(%s::pg_catalog.text)", queue)


def list_workers(conn: Connection[Any], *, limit: int) -> list[Row]:
    """Worker processes, silent ones first."""
    return fetch_rows(conn, ENGINE.query("worker_list"), limit=limit)


def ask_worker(conn: Connection[Any], worker_id: int, request: str) -> None:
    """Pause, drain or resume a worker process."""
    fetch_value(conn, "select worker.ask_worker(%s::bigint, %s::pg_catalog.text)", worker_id, request)


def list_schedules(conn: Connection[Any], *, limit: int) -> list[Row]:
    """Schedules by name, each with its last tasks."""
    return fetch_rows(conn, "select * from worker.schedule_figures(null, %(limit)s::integer)", limit=limit)


def run_schedule(conn: Connection[Any], name: str) -> int:
    """Enqueue the task of a schedule now; returns it."""
    return fetch_value(conn, "select worker.run_schedule(%s::pg_catalog.text)", name)


def schedule_history(conn: Connection[Any], name: str, *, limit: int) -> list[Row]:
    """The outcome of each time of a schedule, newest first."""
    return fetch_rows(
        conn, "select * from worker.schedule_history(%(name)s::text, %(limit)s::integer)", name=name, limit=limit
    )


def pause_schedule(conn: Connection[Any], name: str) -> None:
    fetch_value(conn, "select worker.pause_schedule(%s::pg_catalog.text)", name)


def resume_schedule(conn: Connection[Any], name: str) -> datetime | None:
    """Fire a paused schedule again; returns when."""
    return fetch_value(conn, "select worker.resume_schedule(%s::pg_catalog.text)", name)


def list_commands(conn: Connection[Any]) -> list[Row]:
    return fetch_rows(conn, ENGINE.query("command_list"))


def diagnose(conn: Connection[Any]) -> list[Row]:
    """Findings of the engine about itself: level, subject, finding, what to do. At a cost that does not grow with the
    tasks."""
    return fetch_rows(conn, ENGINE.query("doctor"))


def diagnose_rules(conn: Connection[Any]) -> list[Row]:
    """Violated rules of the engine, in the same form. It looks at every task."""
    return fetch_rows(conn, ENGINE.query("doctor_rules"))
