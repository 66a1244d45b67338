"""The verbs of an app without asyncio: for scripts, Django views and threads."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Iterator
from datetime import timedelta
from typing import Any, TypeVar

from psycopg import Connection

from catchment.client.connections import Connections
from catchment.client.enqueue import batches_of_items
from catchment.client.register import Registrar
from catchment.client.result import (
    LAST_LOOK,
    PATIENCE,
    SHORTEST_INTERVAL,
    as_timeout,
    jittered,
    last_look,
    next_interval,
    value_of,
    warn,
)
from catchment.client.verbs import as_reason, may_share
from catchment.errors import CommandNotRegistered, RequestRefused
from catchment.model.check import check_task_id, check_text
from catchment.model.duration import Duration
from catchment.model.task import TaskId, TaskInfo
from catchment.model.why import Why
from catchment.store import enqueue as enqueue_store
from catchment.store import task as task_store
from catchment.store import why as why_store
from catchment.store.answer import NoAnswer
from catchment.store.enqueue import Batch, arguments
from catchment.store.foreign.types import OWN
from catchment.store.obstacle import obstacles
from catchment.store.result import Standing, check_command, check_look, look, read_task, settled, task_not_found
from catchment.task import tracing
from catchment.task.inside import IN_HANDLER
from catchment.task.item import Item
from catchment.task.task_options import TaskOptions, check_lane
from catchment.task.verbs import AnyCommand

T = TypeVar("T")


class AppSyncVerbs:
    """As ``AppVerbs``, blocking. Safe to use from several threads, and after a fork."""

    def __init__(self, connections: Connections, registrar: Registrar) -> None:
        self._connections = connections
        self._registrar = registrar

    @property
    def given_dsn(self) -> str | None:
        """The ``dsn`` of the app, or None."""
        return self._connections.given

    def make(self, command: AnyCommand, payload: str, options: TaskOptions) -> TaskId:
        """Make one task. Calls of threads that meet share a statement."""
        name = command if isinstance(command, str) else command.name
        calls = self._connections.calls() if may_share(payload, options) else None
        try:
            if calls is None or not self._registrar.is_known(command):
                with self._connections.use(options.conn) as used:
                    self._registrar.ensure(used, command)
                    if calls is None:
                        with tracing.enqueuing(name) as trace:
                            values = arguments(name, payload, options.lane, options.when, trace)
                            return enqueue_store.enqueue(used, values)
            with tracing.enqueuing(name) as trace:
                return calls.enqueue(arguments(name, payload, options.lane, options.when, trace))
        except CommandNotRegistered as error:
            raise self._registrar.explain(error, command) from error

    def make_many(
        self, command: AnyCommand, items: Iterable[Item[Any]], options: TaskOptions, batch_size: int
    ) -> list[TaskId]:
        """Make one task for each item, all or none."""
        name = command if isinstance(command, str) else command.name
        return self.send(command, batches_of_items(name, items, options, batch_size), options)

    def send(self, command: AnyCommand, batches: Iterator[Batch], options: TaskOptions) -> list[TaskId]:
        """Make the tasks of these batches, all or none."""
        name = command if isinstance(command, str) else command.name
        with self._connections.use(options.conn) as used:
            self._registrar.ensure(used, command)
            try:
                # Nothing is sent in the caller's transaction before everything has been checked.
                checked = batches if options.conn is OWN else list(batches)
                with tracing.enqueuing(name) as trace:
                    return enqueue_store.enqueue_many(used, name, checked, options.when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    def wait(self, task_id: int, timeout: Duration | None, expected: str | None = None) -> Any:
        """The result of a task, as JSON, when it has settled."""
        task, limit = check_task_id(task_id), as_timeout(timeout)
        _check_may_block()
        began = time.monotonic()
        interval = SHORTEST_INTERVAL
        until = None if limit is None else began + limit.total_seconds() + LAST_LOOK
        seen: Standing | None = None
        is_patient = True
        while limit is None or timedelta(seconds=time.monotonic() - began) < limit:
            standings = self._look(look if seen is None else settled, task, until)
            check_look(task, standings or (), expected)
            if standings and standings[0].is_settled:
                return value_of(standings[0])
            if seen is None and standings is not None:
                if not standings:
                    raise task_not_found(task)
                seen = standings[0]
            if is_patient and time.monotonic() - began >= PATIENCE:
                is_patient = False
                warn(self._look(obstacles, task, until) or ())
            left = interval if limit is None else limit.total_seconds() - (time.monotonic() - began)
            time.sleep(max(0.0, min(jittered(interval), left)))
            interval = next_interval(interval)
        standings = self._look(look, task, until)
        in_the_way = self._look(obstacles, task, until) if standings and not standings[0].is_settled else None
        return last_look(task, standings, seen, limit, expected, next(iter(in_the_way or ()), None))

    def _look(
        self, read: Callable[[Connection[Any], list[int]], list[T]], task_id: int, until: float | None
    ) -> list[T] | None:
        """None without an answer; the next look uses a new connection."""
        try:
            with self._connections.threads().connection(is_look=True, until=until) as conn:
                return read(conn, [task_id])
        except NoAnswer:
            return None

    def cancel(self, task_id: int, reason: str | None, expected: str | None = None) -> str:
        """Ask a task and everything under it to stop."""
        task, why = check_task_id(task_id), as_reason(reason)
        with self._connections.own() as conn:
            if expected is not None:
                check_look(task, look(conn, [task]), expected)
            return task_store.cancel(conn, task, why)

    def retry(self, task_id: int, expected: str | None = None) -> str:
        """Run a failed or cancelled task again."""
        task = check_task_id(task_id)
        with self._connections.own() as conn:
            if expected is not None:
                check_look(task, look(conn, [task]), expected)
            return task_store.retry(conn, task)

    def info(self, task_id: int, expected: str | None = None) -> TaskInfo:
        """The current state of one task."""
        task = check_task_id(task_id)
        with self._connections.own() as conn:
            info = read_task(conn, task)
        check_command(task, info.command, expected)
        return info

    def skip_halted(self, queue: str, lane: str | None) -> TaskId:
        """Resume a halted lane after the task that failed."""
        check_lane(lane)
        with self._connections.own() as conn:
            return TaskId(task_store.skip_halted(conn, check_text(queue, name="queue"), lane))

    def why(self, task_id: int, expected: str | None = None) -> Why:
        """Why a task waits now."""
        task = check_task_id(task_id)
        with self._connections.own() as conn:
            if expected is not None:
                check_look(task, look(conn, [task]), expected)
            return why_store.read_why(conn, task)

    def register(self) -> int:
        """Register all commands of the app and their queues."""
        with self._connections.use() as used:
            return self._registrar.register(used)


def _check_may_block() -> None:
    """A coroutine of a worker that waited here would stop the event loop on which the task is to run."""
    if not IN_HANDLER.get():
        return
    try:
        asyncio.get_running_loop()
    except RuntimeError:  # a handler in a thread may wait
        return
    raise RequestRefused(
        "result() of a task from sync, in an async handler: it would block the event loop of the worker, and the task"
        " might never run",
        hint="Omit sync and await: task = await command.enqueue(…), then await task.result().",
    )
