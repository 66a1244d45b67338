"""What a worker process asks of the engine."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal, cast

from psycopg import AsyncConnection, Connection, sql
from psycopg.errors import Diagnostic
from psycopg.types.json import Jsonb

from catchment.model.release import VERSION
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value, fetch_value_async

# What an operator asks of a worker: to take no tasks, or to end as well when it is idle.
Asked = Literal["pause", "drain"]


@dataclass(frozen=True, slots=True)
class WorkerIdentity:
    worker_id: int
    lock_key: int | None


@dataclass(frozen=True, slots=True)
class Capacity:
    """What a heartbeat tells about its process, for people and not for routing."""

    available: int | None = None
    memory_usage: float | None = None
    loop_lag: float | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """What a heartbeat answers: what an operator asks for, and what the fleet needs. See ``worker.called_upon``."""

    asked: Asked | None
    keeps: bool
    has_ready: bool
    has_top: bool


@dataclass(frozen=True, slots=True)
class Queue:
    name: str
    is_serial: bool
    concurrency: int
    has_sql: bool = True


@dataclass(frozen=True, slots=True)
class Processed:
    """One task that a process_tasks call ran. ``failures``: that it is the n-th failure of ``max_attempts``."""

    id: int
    command: str
    state: str
    duration_ms: float
    is_join: bool
    attempt: int
    error: str | None
    failures: int | None
    max_attempts: int
    again_in: float | None


async def register(
    conn: AsyncConnection[Any],
    name: str,
    queues: list[str],
    *,
    capacity: int,
    lease: timedelta,
    has_lock: bool,
    python_queues: Sequence[str] = (),
    python_commands: Sequence[str] | None = None,
) -> WorkerIdentity:
    """Make this process known; its heartbeat takes the lock, or without one it lives by its lease alone.
    ``python_queues``: those whose Python commands it runs; ``python_commands``: which of them, None for all."""
    with translated():
        cursor = await conn.execute(
            "select worker_id, lock_key from worker.register_worker(%s, %s, %s, %s, %s, %s, %s, %s, %s)",
            [
                *(name, queues, capacity, lease, has_lock, list(python_queues)),
                *(None if python_commands is None else list(python_commands), os.getpid(), VERSION),
            ],
        )
        ((worker_id, lock_key),) = await cursor.fetchall()
    return WorkerIdentity(worker_id, lock_key)


async def declare_schedules(
    conn: AsyncConnection[Any], identity: WorkerIdentity, schedules: Sequence[dict[str, Any]]
) -> None:
    """Say which schedules the code of this worker has. Raises ``NameTaken`` for one that was made by SQL, and
    ``ScheduleRefused`` for one that the server cannot fire."""
    with translated():
        await conn.execute("select worker.declare_schedules(%s, %s)", [identity.worker_id, Jsonb(list(schedules))])


async def set_queues(conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str], *, capacity: int) -> None:
    """Record which queues the worker serves from now on, and how many tasks it can run at a time."""
    await conn.execute("select worker.set_worker_queues(%s, %s, %s)", [identity.worker_id, queues, capacity])


async def unregister(conn: AsyncConnection[Any], identity: WorkerIdentity, interrupted: Sequence[int] = ()) -> None:
    """Release all held tasks, and unregister. The tasks that were ``interrupted`` count one interruption each."""
    await conn.execute("select worker.unregister_worker(%s, %s::bigint[])", [identity.worker_id, list(interrupted)])


async def hold_worker_lock(conn: AsyncConnection[Any], identity: WorkerIdentity) -> bool:
    """Take the session lock that proves the process alive; false while another session has it."""
    return await fetch_value_async(conn, "select worker.hold_worker_lock(%s)", identity.worker_id)


async def end_backend(conn: AsyncConnection[Any], pid: int, *, name: str, lost: timedelta) -> None:
    """End a session of ours whose connection was lost that long ago. One that has its number since then is not it."""
    await conn.execute(
        "select pg_catalog.pg_terminate_backend(a.pid) from pg_catalog.pg_stat_activity as a"
        " where a.pid operator(pg_catalog.=) %s::integer and a.application_name operator(pg_catalog.=) %s"
        " and a.usename operator(pg_catalog.=) current_user"
        " and a.datname operator(pg_catalog.=) pg_catalog.current_database()"
        " and a.backend_start"
        " operator(pg_catalog.<) (pg_catalog.clock_timestamp() operator(pg_catalog.-) %s::interval)",
        [pid, name, lost],
    )


async def waiting_backends(conn: AsyncConnection[Any], pids: list[int], idle: timedelta) -> list[int]:
    """Which of these sessions are gone, or have been waiting for their client for that long."""
    cursor = await conn.execute(
        "select p.pid from pg_catalog.unnest(%s::integer[]) as p (pid)"
        " left join pg_catalog.pg_stat_activity as a on a.pid operator(pg_catalog.=) p.pid"
        " where a.pid is null or pg_catalog.starts_with(a.state, 'idle')"
        " and a.state_change operator(pg_catalog.<) (pg_catalog.clock_timestamp() operator(pg_catalog.-) %s::interval)",
        [pids, idle],
    )
    return [row[0] for row in await cursor.fetchall()]


async def heartbeat(conn: AsyncConnection[Any], identity: WorkerIdentity, lease: timedelta, capacity: Capacity) -> Call:
    """Renew the lease; returns what the worker is called upon to do. Raises ``WorkerNotRegistered`` when it was
    declared dead."""
    with translated():
        cursor = await conn.execute(
            "select b.asked, coalesce(c.keeps, false), coalesce(c.has_ready, false), coalesce(c.has_top, false)"
            " from worker.heartbeat(%s, %s, %s, %s::real, %s::real) as b (asked)"
            " left join worker.called_upon(%s) as c on true",
            [
                *(identity.worker_id, lease, capacity.available, capacity.memory_usage, capacity.loop_lag),
                identity.worker_id,
            ],
        )
        ((asked, keeps, has_ready, has_top),) = await cursor.fetchall()
    return Call(asked, keeps=keeps, has_ready=has_ready, has_top=has_top)


async def ask_again(conn: AsyncConnection[Any], identity: WorkerIdentity, asked: Asked) -> None:
    """A process that had been asked for this before it registered again."""
    await conn.execute("select worker.ask_worker(%s, %s)", [identity.worker_id, asked])


async def leave_top(conn: AsyncConnection[Any], identity: WorkerIdentity, queue: str) -> None:
    """Let another worker run the top level of a serial queue."""
    await conn.execute("select worker.leave_top(array[%s]::bigint[], %s)", [identity.worker_id, queue])


async def list_queues(conn: AsyncConnection[Any]) -> list[Queue]:
    cursor = await conn.execute(
        "select q.queue, q.mode operator(pg_catalog.=) 'serial', q.concurrency,"
        " exists (select from worker.command_registry as c where c.queue operator(pg_catalog.=) q.queue"
        " and c.handler_kind operator(pg_catalog.=) 'sql')"
        " from worker.queue_registry as q order by q.queue"
    )
    return [Queue(*row) for row in await cursor.fetchall()]


async def list_sql_commands(conn: AsyncConnection[Any], queues: Sequence[str], limit: int) -> list[tuple[str, str]]:
    """The commands with SQL handlers of these queues, each with its queue."""
    cursor = await conn.execute(
        "select c.command, c.queue from worker.command_registry as c"
        " where c.handler_kind operator(pg_catalog.=) 'sql' and c.queue operator(pg_catalog.=) any (%s::text[])"
        " order by c.command limit %s",
        [list(queues), limit],
    )
    return await cursor.fetchall()


async def has_bulk(conn: AsyncConnection[Any]) -> bool:
    """Is there a bulk that can start?"""
    cursor = await conn.execute("select worker.has_bulk()")
    row = await cursor.fetchone()
    return row is not None and row[0]


# A fiber's session begins with this, and comes back to it after each handler: its backend notices when we die.
FIBER_SETTINGS = {"client_connection_check_interval": "250ms"}
# The server then says when a handler starts: see ``started_task``.
LOG_STARTS = {"worker.log_starts": "on", "client_min_messages": "notice"}
STARTED = {"task_id", "command", "attempt", "is_join"}


async def prepare_fiber(conn: AsyncConnection[Any], identity: WorkerIdentity) -> None:
    """Tell the session whose it is."""
    await conn.execute("select pg_catalog.set_config('worker.worker_id', %s, false)", [str(identity.worker_id)])


def started_task(notice: Diagnostic) -> dict[str, Any] | None:
    """The task whose handler starts now; None for other notices, such as those of handlers."""
    if notice.message_primary != "task.started":
        return None
    try:
        fields = json.loads(notice.message_detail or "")
    except ValueError:
        return None
    # A handler may send a notice of this name too.
    return cast("dict[str, Any]", fields) if isinstance(fields, dict) and {*fields} == STARTED else None


async def process_tasks(
    conn: AsyncConnection[Any], queue: str, mode: str | None, *, batch_size: int, batch_time: timedelta
) -> list[Processed]:
    """Run SQL handlers of a queue in this session; returns what ran."""
    await conn.execute(
        "call worker.process_tasks(p_queue => %s, p_mode => %s, p_batch_size => %s, p_max_runtime_ms => %s)",
        [queue, mode, batch_size, int(batch_time.total_seconds() * 1000)],
    )
    ran = await fetch_value_async(conn, "select worker.last_processed()")
    return [Processed(**p) for p in ran]


async def go_to_sleep(
    conn: AsyncConnection[Any], identity: WorkerIdentity, queue: str, tiers: list[int], *, kind: str = "s"
) -> list[int]:
    """Ask for notifications; returns the tiers that were marked. Look at the queue once more after this."""
    query = "select worker.go_to_sleep(%s, %s, %s, %s)"
    return await fetch_value_async(conn, query, identity.worker_id, queue, tiers, kind)


async def open_transactions(conn: AsyncConnection[Any]) -> tuple[int, int]:
    """The oldest transaction id that is still open, and the one that comes next: equal when none is open."""
    cursor = await conn.execute(
        "select pg_catalog.pg_snapshot_xmin(s)::pg_catalog.text::bigint,"
        " pg_catalog.pg_snapshot_xmax(s)::pg_catalog.text::bigint"
        " from pg_catalog.pg_current_snapshot() as s"
    )
    ((oldest, following),) = await cursor.fetchall()
    return oldest, following


async def wake_up(
    conn: AsyncConnection[Any], identity: WorkerIdentity, queue: str, tiers: list[int], *, kind: str = "s"
) -> None:
    await conn.execute("select worker.wake_up(%s, %s, %s, %s)", [identity.worker_id, queue, tiers, kind])


async def take_top(conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str]) -> str | None:
    """Try to become the one worker that runs the top level of these serial queues: all of them, or none.

    Returns the first queue that another worker has.
    """
    return await fetch_value_async(conn, "select worker.take_top(%s, %s)", identity.worker_id, queues)


def upkeep(conn: Connection[Any]) -> dict[str, Any]:
    """Dead workers, cancelled subtrees, deadlines, due tasks, schedules; returns what was done."""
    return fetch_value(conn, "select worker.upkeep()")


def vacuum(conn: Connection[Any], table: str) -> None:
    """Clear dead rows out of a table that claims read, long before autovacuum does. A user who may not leaves it.

    After a burst of 50,000 tasks a claim of one took 1.4 ms, against 0.35 ms in a clean table.
    """
    conn.execute(sql.SQL("vacuum (skip_locked, truncate false) {}").format(sql.Identifier("worker", table)))


def chores(conn: Connection[Any]) -> dict[str, Any]:
    """What reads whole tables: ageing, attempts of unknown workers, scopes that were left open."""
    return fetch_value(conn, "select worker.chores()")


async def record_warning(conn: AsyncConnection[Any], task_id: int, source: str, message: str) -> None:
    """Keep a remark on a task that changes nothing about it."""
    await fetch_value_async(conn, "select worker.record_warning(%s, %s, %s)", task_id, source, message)


async def handler_of(conn: AsyncConnection[Any], command: str) -> str | None:
    """Where the handler of a command is, by the registry."""
    cursor = await conn.execute(
        "select handler_procedure from worker.command_registry where command operator(pg_catalog.=) %s", [command]
    )
    return next((handler for (handler,) in await cursor.fetchall()), None)


@dataclass(frozen=True, slots=True)
class Left:
    """Unsettled tasks of one command that a worker does not run now; ``handler`` is where Python defines it,
    ``project`` the folder of that on the embedded server."""

    reason: str
    queue: str
    command: str
    handler: str | None
    tasks: int
    project: str | None = None


async def has_work(conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str]) -> bool:
    """Is there anything that this worker can run now, or that is being run? Tasks that are not due do not count."""
    return await fetch_value_async(conn, "select worker.has_work(%s, %s)", identity.worker_id, queues)


async def work_left(conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str]) -> list[Left]:
    """What is unsettled on these queues, by the reason why this worker does not run it."""
    cursor = await conn.execute(
        "select reason, queue, command, handler, tasks from worker.work_left(%s, %s)", [identity.worker_id, queues]
    )
    return [Left(*row) for row in await cursor.fetchall()]


async def unserved_commands(conn: AsyncConnection[Any], most: int) -> list[Left]:
    """Python commands that tasks wait for, and that no live worker has; looks at ``most`` tasks of a queue."""
    cursor = await conn.execute(
        "select 'no_handler', u.queue, u.command, u.handler, u.tasks, c.project"
        " from worker.unserved_commands(%s) as u left join worker.command_registry as c on c.command = u.command",
        [most],
    )
    return [Left(*row) for row in await cursor.fetchall()]
