"""The verbs of an app in asyncio: they check what a caller gives, and call the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from catchment.client.connections import Connections
from catchment.client.enqueue import batches_of_items
from catchment.client.line import MOST_CHARACTERS
from catchment.client.register import Registrar
from catchment.client.result import as_timeout
from catchment.errors import CommandNotRegistered
from catchment.model.check import check_task_id, check_text
from catchment.model.duration import Duration
from catchment.model.task import TaskId, TaskInfo
from catchment.model.why import Why
from catchment.store import enqueue as enqueue_store
from catchment.store import schedule as schedule_store
from catchment.store import task as task_store
from catchment.store import why as why_store
from catchment.store.enqueue import Batch, arguments
from catchment.store.foreign.types import OWN
from catchment.store.result import check_command, check_look, look_async, read_task_async
from catchment.store.schedule import MadeBy
from catchment.task import tracing
from catchment.task.item import Item
from catchment.task.task_options import TaskOptions, check_lane
from catchment.task.verbs import AnyCommand


class AppVerbs:
    """What the commands, the tasks and the app itself call."""

    def __init__(self, connections: Connections, registrar: Registrar) -> None:
        self._connections = connections
        self._registrar = registrar

    @property
    def given_dsn(self) -> str | None:
        """The ``dsn`` of the app, or None."""
        return self._connections.given

    async def make(self, command: AnyCommand, payload: str, options: TaskOptions) -> TaskId:
        """Make one task. Calls that meet share a statement, unless they are in a transaction of the caller."""
        name = command if isinstance(command, str) else command.name
        calls = await self._connections.calls_async() if may_share(payload, options) else None
        try:
            if calls is None or not self._registrar.is_known(command):
                async with self._connections.use_async(options.conn) as used:
                    await self._registrar.ensure_async(used, command)
                    if calls is None:
                        with tracing.enqueuing(name) as trace:
                            values = arguments(name, payload, options.lane, options.when, trace)
                            return await enqueue_store.enqueue_async(used, values)
            with tracing.enqueuing(name) as trace:
                return await calls.enqueue(arguments(name, payload, options.lane, options.when, trace))
        except CommandNotRegistered as error:
            raise self._registrar.explain(error, command) from error

    async def make_many(
        self, command: AnyCommand, items: Iterable[Item[Any]], options: TaskOptions, batch_size: int
    ) -> list[TaskId]:
        """Make one task for each item, all or none."""
        name = command if isinstance(command, str) else command.name
        return await self.send(command, batches_of_items(name, items, options, batch_size), options)

    async def send(self, command: AnyCommand, batches: Iterator[Batch], options: TaskOptions) -> list[TaskId]:
        """Make the tasks of these batches, all or none."""
        name = command if isinstance(command, str) else command.name
        async with self._connections.use_async(options.conn) as used:
            await self._registrar.ensure_async(used, command)
            try:
                # Nothing is sent in the caller's transaction before everything has been checked.
                checked = batches if options.conn is OWN else list(batches)
                with tracing.enqueuing(name) as trace:
                    return await enqueue_store.enqueue_many_async(used, name, checked, options.when, trace)
            except CommandNotRegistered as error:
                raise self._registrar.explain(error, command) from error

    async def scheduled_commands(self) -> frozenset[str]:
        """The commands that have a schedule."""
        async with self._connections.own_async() as conn:
            return await schedule_store.scheduled_commands(conn)

    async def made_by(self, task_id: int, command: str) -> MadeBy | None:
        """The schedule that made a task, or None."""
        async with self._connections.own_async() as conn:
            return await schedule_store.made_by(conn, task_id, command)

    async def wait(
        self,
        task_id: int,
        timeout: Duration | None,  # noqa: ASYNC109 - names the state on expiry
        expected: str | None = None,
    ) -> Any:
        """The result of a task, as JSON, when it has settled."""
        task, limit = check_task_id(task_id), as_timeout(timeout)
        side = await self._connections.side()
        return await side.results.wait(task, limit, expected)

    async def cancel(self, task_id: int, reason: str | None, expected: str | None = None) -> str:
        """Ask a task and everything under it to stop."""
        task, why = check_task_id(task_id), as_reason(reason)
        async with self._connections.own_async() as conn:
            if expected is not None:
                check_look(task, await look_async(conn, [task]), expected)
            return await task_store.cancel_async(conn, task, why)

    async def retry(self, task_id: int, expected: str | None = None) -> str:
        """Run a failed or cancelled task again."""
        task = check_task_id(task_id)
        async with self._connections.own_async() as conn:
            if expected is not None:
                check_look(task, await look_async(conn, [task]), expected)
            return await task_store.retry_async(conn, task)

    async def info(self, task_id: int, expected: str | None = None) -> TaskInfo:
        """The current state of one task."""
        task = check_task_id(task_id)
        async with self._connections.own_async() as conn:
            info = await read_task_async(conn, task)
        check_command(task, info.command, expected)
        return info

    async def skip_halted(self, queue: str, lane: str | None) -> TaskId:
        """Resume a halted lane after the task that failed."""
        check_lane(lane)
        async with self._connections.own_async() as conn:
            return TaskId(await task_store.skip_halted_async(conn, check_text(queue, name="queue"), lane))

    async def why(self, task_id: int, expected: str | None = None) -> Why:
        """Why a task waits now."""
        task = check_task_id(task_id)
        async with self._connections.own_async() as conn:
            if expected is not None:
                check_look(task, await look_async(conn, [task]), expected)
            return await why_store.read_why_async(conn, task)

    async def register(self) -> int:
        """Register all commands of the app and their queues."""
        async with self._connections.use_async() as used:
            return await self._registrar.register_async(used)


def may_share(payload: str, options: TaskOptions) -> bool:
    """May a call share a statement with others? One with a large payload would make them wait."""
    return options.conn is OWN and len(payload) <= MOST_CHARACTERS


def as_reason(reason: str | None) -> str:
    """Why a task is cancelled, checked."""
    return (reason is not None and check_text(reason, name="reason")) or task_store.DEFAULT_REASON
