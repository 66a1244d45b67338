"""Names the tasks that a worker does not run, and why: once while it serves, and when it ends for lack of work."""

from __future__ import annotations

import logging
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.events import Events
from catchment.store import worker as worker_store
from catchment.store.worker import Left, WorkerIdentity

# Ready tasks of a queue that are looked at while serving. Those of a command that nobody has are among the next ones.
MOST_LOOKED_AT = 10_000

_REASONS = {
    "paused": "the queue is paused. Resume it: catchment queue resume {queue}",
    "halted": "the first task of their lane failed. See: catchment doctor",
    "later": "not due yet",
    "behind": "behind another task that is not done",
}


class LeftWork:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._warned: set[tuple[str, str]] = set()

    async def warn(self, conn: AsyncConnection[Any], queues: list[str]) -> None:
        """Warn, once per command, about tasks on these queues that no live worker can run."""
        for left in await worker_store.unserved_commands(conn, MOST_LOOKED_AT):
            if left.queue in queues and (left.queue, left.command) not in self._warned:
                self._warned.add((left.queue, left.command))
                wait = "waits" if left.tasks == 1 else "wait"
                self._events.emit(
                    "command.unserved",
                    f"{_tasks(left)} {wait}: no worker has the command {_where(left)}. {_remedy(left)}",
                    level=logging.WARNING,
                    queue=left.queue,
                    command=left.command,
                    count=left.tasks,
                )

    async def tell(self, conn: AsyncConnection[Any], identity: WorkerIdentity, queues: list[str]) -> None:
        """Name everything that is unsettled on these queues."""
        for left in await worker_store.work_left(conn, identity, queues):
            if left.reason == "no_handler":
                reason = f"this worker does not have the command {_where(left)}. {_remedy(left)}"
            else:
                reason = _REASONS[left.reason].format(queue=left.queue)
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


def _remedy(left: Left) -> str:
    module = (left.handler or "").partition(":")[0]
    if module in ("", "__main__"):  # of a notebook, or of no file
        module = "MODULE"
    return f"Start one with the app that defines it: catchment worker --app {module}:APP"
