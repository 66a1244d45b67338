"""``app.sync``: the app for code without asyncio: scripts, Django views, threads. The same verbs, blocking."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any

from catchment.client.by_name import dump_of, find_command, takes_names
from catchment.client.connections import Connections
from catchment.client.enqueue import Lanes, batches_of_mappings
from catchment.client.sync_verbs import AppSyncVerbs
from catchment.model.check import check_count, check_task_id
from catchment.model.duration import Duration
from catchment.model.task import TaskId
from catchment.store.foreign.types import OWN, AnyConnection, OwnTransaction
from catchment.task.commands import Commands
from catchment.task.handle import SyncTask
from catchment.task.request import BATCH_SIZE
from catchment.task.task_options import NO_OPTIONS


class SyncClient:
    """``app.sync``: the methods of the app that take names and ids, for code without asyncio.

    Safe to use from several threads, and after a fork. Commands themselves are called by ``command.sync``.
    """

    def __init__(self, commands: Commands, connections: Connections, verbs: AppSyncVerbs, queue: str) -> None:
        self._commands = commands
        self._connections = connections
        self._verbs = verbs
        self._queue = queue

    @takes_names
    def enqueue(
        self,
        command: str,
        arguments: Mapping[str, Any] | None = None,
        /,
        *,
        lane: str | None = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyConnection | OwnTransaction = OWN,
    ) -> SyncTask[Any]:
        """Enqueue a task of the command with this name. As the method of the app; ``conn`` is a synchronous
        connection."""
        options = NO_OPTIONS.using(lane=lane, priority=priority, at=at, delay=delay, conn=conn)
        known = find_command(self._commands, command)
        payload = dump_of(known)({} if arguments is None else arguments)
        return SyncTask(self._verbs.make(known, payload, options), None, self._verbs, options.expected(command))

    @takes_names
    def enqueue_many(
        self,
        command: str,
        arguments: Iterable[Mapping[str, Any]],
        /,
        *,
        lane: Lanes = None,
        priority: int | None = None,
        at: datetime | None = None,
        delay: Duration | None = None,
        conn: AnyConnection | OwnTransaction = OWN,
        batch_size: int = BATCH_SIZE,
    ) -> list[SyncTask[Any]]:
        """Enqueue many tasks of the command with this name, all or none, in order."""
        options = NO_OPTIONS.using(priority=priority, at=at, delay=delay, conn=conn)
        known = find_command(self._commands, command)
        batches = batches_of_mappings(dump_of(known), arguments, lane, check_count(batch_size, name="batch_size"))
        ids = self._verbs.send(known, batches, options)
        return [SyncTask(task_id, None, self._verbs, options.expected(command)) for task_id in ids]

    def task(self, task_id: int) -> SyncTask[Any]:
        """A handle of an existing task; its result is a JSON value."""
        return SyncTask(TaskId(check_task_id(task_id)), None, self._verbs)

    def skip_halted(self, lane: str | None, *, queue: str | None = None) -> TaskId:
        """Resume a halted lane without the failed task; returns the id of that task. As the method of the app."""
        return self._verbs.skip_halted(self._queue if queue is None else queue, lane)

    def register(self) -> int:
        """Register all commands of the app, changing those that differ."""
        return self._verbs.register()

    def close(self) -> None:
        """Close the connections of this client. It stays usable, and opens new ones at its next use."""
        self._connections.close_threads()
