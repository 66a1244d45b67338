"""Names the tasks that a worker does not run, and why: once while it serves, and when it ends for lack of work."""

from __future__ import annotations

import logging
import sys
from collections.abc import Collection
from typing import Any

from psycopg import AsyncConnection

from catchment.model.terminal import shell_command
from catchment.runtime.events import Events
from catchment.runtime.words import start_command
from catchment.store import worker as worker_store
from catchment.store.worker import Left, WorkerIdentity
from catchment.task.commands import Commands
from catchment.task.project import are_apart, project_of

# Ready tasks of a queue that are looked at while serving. Those of a command that nobody has are among the next ones.
MOST_LOOKED_AT = 10_000

_REASONS = {
    "paused": "the queue is paused. Resume it: {resume}",
    "halted": "the first task of their lane failed. See: catchment doctor",
    "later": "not due yet",
    "behind": "behind another task that is not done",
}


class LeftWork:
    """``commands`` are those that the worker has, ``named`` the queues that it was asked to serve."""

    def __init__(self, events: Events, commands: Commands, named: Collection[str]) -> None:
        self._events = events
        self._commands = commands
        self._named = named
        self._warned: set[tuple[str, str]] = set()

    async def warn(self, conn: AsyncConnection[Any], queues: list[str]) -> None:
        """Warn, once per command, about tasks on these queues that no live worker can run."""
        for left in await worker_store.unserved_commands(conn, MOST_LOOKED_AT):
            known = (left.queue, left.command)
            if left.queue not in queues or known in self._warned or not self._concerns(left):
                continue
            self._warned.add(known)
            wait = "waits" if left.tasks == 1 else "wait"
            self._events.emit(
                "command.unserved",
                f"{_tasks(left)} {wait}: no worker has the command {_where(left)}. {self._remedy(left)}",
                level=logging.WARNING,
                queue=left.queue,
                command=left.command,
                count=left.tasks,
            )

    def _concerns(self, left: Left) -> bool:
        """Has the worker anything to do with the command? One without an app may be meant for any. Others have their
        queues, and what their modules had; on the embedded server nothing of other projects."""
        if not len(self._commands):
            return True
        return not self._is_elsewhere(left) and (
            left.queue in self._commands.queues or left.queue in self._named or self._has_lost(left)
        )

    def _is_elsewhere(self, left: Left) -> bool:
        """Is the command of another project?"""
        own = {project_of(command.fn.__module__) for command in self._commands}
        return left.project is not None and all(one is not None and are_apart(one, left.project) for one in own)

    def _has_lost(self, left: Left) -> bool:
        """Is the module that defined the command one of ours, which no longer does?"""
        module, _, name = (left.handler or "").partition(":")
        # Under the name that they can be imported by: one of them may be the program itself.
        ours = {c.path.partition(":")[0]: sys.modules.get(c.fn.__module__) for c in self._commands}
        return (
            module in ours
            and not self._is_elsewhere(left)
            and (self._new_name(left) is not None or not hasattr(ours[module], name.partition(".")[0]))
        )

    def _new_name(self, left: Left) -> str | None:
        return next((command.name for command in self._commands if command.path == left.handler), None)

    def _remedy(self, left: Left) -> str:
        if not self._has_lost(left):
            return f"Start one with the app that defines it: {start_command(left.handler)}"
        new = self._new_name(left)
        now = "The module no longer defines it" if new is None else f"It is now called {new}"
        those = "that task" if left.tasks == 1 else "those tasks"
        return (
            f"{now}. To run {those}, define a command of the old name: @app.command(name={left.command!r})."
            f" To cancel: {shell_command('catchment task cancel --command', left.command)}"
        )

    async def tell(self, conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str]) -> None:
        """Name everything that is unsettled on these queues."""
        for left in await worker_store.work_left(conn, identity, queues):
            if left.reason == "no_handler":
                reason = f"this worker does not have the command {_where(left)}. {self._remedy(left)}"
            else:
                reason = _REASONS[left.reason].format(resume=shell_command("catchment queue resume", left.queue))
            self._events.emit(
                "worker.left_work",
                f"{_tasks(left)} left: {reason}",
                level=logging.INFO if left.reason in ("later", "behind") else logging.WARNING,
                queue=left.queue,
                command=left.command,
                count=left.tasks,
                reason=left.reason,
            )


def _tasks(left: Left) -> str:
    return f"{left.tasks} task{'' if left.tasks == 1 else 's'} of {left.command} on queue {left.queue}"


def _where(left: Left) -> str:
    return left.command if left.handler is None else f"{left.command} ({left.handler})"
