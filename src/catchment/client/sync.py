"""The client for code without asyncio: scripts, Django views, threads. The same verbs, blocking."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from psycopg import Connection

from catchment.client.connections import Connections
from catchment.client.enqueue import AnyCommand, Lanes, prepare_batches, prepare_one, prepare_when
from catchment.client.register import Registrar
from catchment.client.result import (
    LAST_LOOK,
    SHORTEST_INTERVAL,
    as_timeout,
    jittered,
    last_look,
    next_interval,
    value_of,
)
from catchment.errors import CommandNotRegistered
from catchment.model.check import check_task_id, check_text
from catchment.model.duration import Duration
from catchment.model.task import TaskId, TaskInfo
from catchment.store import enqueue as enqueue_store
from catchment.store import task as task_store
from catchment.store.answer import NoAnswer
from catchment.store.foreign.types import OWN, AnyConnection, OwnTransaction
from catchment.store.result import Standing, look, read_task, settled, task_not_found
from catchment.task import tracing
from catchment.task.request import command_name


class SyncClient:
    """``app.sync``: the verbs of the app for code without asyncio.

    Safe to use from several threads, and after a fork.
    """

    def __init__(self, connections: Connections, registrar: Registrar) -> None:
        self._connections = connections
        self._registrar = registrar

    def enqueue(
        self,
        command: AnyCommand,
        /,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyConnection | OwnTransaction = OWN,
        payload: Mapping[str, Any] | None = None,
        **arguments: Any,
    ) -> TaskId:
        """Make a task and return its id. As the app's.

        ``conn`` is a connection that blocks: of psycopg or psycopg2, a ``Session`` or ``Connection`` of SQLAlchemy, or
        Django's ``connection`` or its alias.
        """
        when = prepare_when(priority, at, delay)
        one = prepare_one(command, payload, arguments, lane=lane, when=when)
        with self._connections.use(conn) as used:
            self._registrar.ensure(used, command)
            try:
                with tracing.enqueuing(one.command) as trace:
                    return enqueue_store.enqueue(used, one.command, one.payload, one.lane, one.when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    def enqueue_many(
        self,
        command: AnyCommand,
        /,
        payloads: Iterable[Mapping[str, Any]],
        *,
        lane: Lanes = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyConnection | OwnTransaction = OWN,
        batch_size: int = 1000,
    ) -> list[TaskId]:
        """Make many tasks, all or none, and return their ids in order."""
        when = prepare_when(priority, at, delay)
        name = command_name(command)
        batches = prepare_batches(command, payloads, lane, batch_size)
        with self._connections.use(conn) as used:
            self._registrar.ensure(used, command)
            try:
                # Nothing is sent in the caller's transaction before everything has been checked.
                checked = batches if conn is OWN else list(batches)
                with tracing.enqueuing(name) as trace:
                    return enqueue_store.enqueue_many(used, name, checked, when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    def result(self, task_id: int, *, timeout: Duration | None = None) -> Any:
        """Wait until a task has settled and return its result; raises what the app's does."""
        task, limit = check_task_id(task_id), as_timeout(timeout)
        began = time.monotonic()
        interval = SHORTEST_INTERVAL
        until = None if limit is None else began + limit.total_seconds() + LAST_LOOK
        seen: Standing | None = None
        while limit is None or timedelta(seconds=time.monotonic() - began) < limit:
            standings = self._look(look if seen is None else settled, task, until)
            if standings and standings[0].is_settled:
                return value_of(standings[0])
            if seen is None and standings is not None:
                if not standings:
                    raise task_not_found(task)
                seen = standings[0]
            left = interval if limit is None else limit.total_seconds() - (time.monotonic() - began)
            time.sleep(max(0.0, min(jittered(interval), left)))
            interval = next_interval(interval)
        return last_look(task, self._look(look, task, until), seen, limit)

    def _look(
        self, read: Callable[[Connection[Any], list[int]], list[Standing]], task_id: int, until: float | None
    ) -> list[Standing] | None:
        """None without an answer; the next look uses a new connection."""
        try:
            with self._connections.threads().connection(is_look=True, until=until) as conn:
                return read(conn, [task_id])
        except NoAnswer:
            return None

    def cancel(self, task_id: int, reason: str | None = None) -> str:
        """Ask a task and everything under it to stop."""
        task = check_task_id(task_id)
        why = (reason is not None and check_text(reason, name="reason")) or task_store.DEFAULT_REASON
        with self._connections.own() as conn:
            return task_store.cancel(conn, task, why)

    def retry(self, task_id: int) -> str:
        """Run a failed or cancelled task again."""
        task = check_task_id(task_id)
        with self._connections.own() as conn:
            return task_store.retry(conn, task)

    def task(self, task_id: int) -> TaskInfo:
        """One task as it stands now; raises ``TaskNotFound``."""
        task = check_task_id(task_id)
        with self._connections.own() as conn:
            return read_task(conn, task)

    def register(self) -> int:
        """Register all commands of the app, changing those that differ."""
        with self._connections.use() as own:
            return self._registrar.register(own)

    def close(self) -> None:
        """Close the connections of this client. It can be used again, and opens new ones then."""
        self._connections.close_threads()
