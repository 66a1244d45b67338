"""What keeps a task from being run that could be: no worker, a paused queue, a halted lane. Read for those who wait."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import class_row

from catchment.model.task import TaskId
from catchment.model.terminal import shell_command, shell_word
from catchment.sql import ENGINE
from catchment.store.errors import translated


def skip_command(queue: str, lane: str | None) -> str:
    """What to type to let a halted lane go on. The lane without a name is the top level of a serial queue."""
    return shell_command("catchment lane skip", *(word for word in (queue, lane) if word))


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One task and what is in its way, if anything is. A row of ``result_obstacle``."""

    id: TaskId
    command: str
    queue: str
    handler_kind: str
    lane: str | None
    handler: str | None
    failed_id: TaskId | None
    is_paused: bool
    is_unserved: bool

    @property
    def reason(self) -> str | None:
        """What is in the way; None if nothing is."""
        if self.failed_id is not None:
            what = f"queue {self.queue}" if self.lane is None else f"its lane {self.lane}"
            return f"{what} is halted, because task {self.failed_id} failed"
        if self.is_paused:
            return f"queue {self.queue} is paused"
        if not self.is_unserved:
            return None
        if self.handler_kind == "sql":
            return f"no live worker serves queue {self.queue}"
        return f"no live worker has the command {self.command} on queue {self.queue}"

    @property
    def remedy(self) -> str:
        """What to do about it."""
        if self.failed_id is not None:
            retry, skip = f"catchment task retry {self.failed_id}", skip_command(self.queue, self.lane)
            return f"Run that task again: {retry}; or go on without it: {skip}"
        if self.is_paused:
            return f"Resume it: {shell_command('catchment queue resume', self.queue)}"
        if self.handler_kind == "sql":
            return f"Start one: catchment worker --queue {shell_word(self.queue)}"
        module = "MODULE" if self.handler is None else self.handler.partition(":")[0]
        return (
            f"Start one with the app that defines it: catchment dev {module}:APP; in production catchment worker --app"
            f" {module}:APP; or in this program: async with app.worker()"
        )


async def obstacles_async(conn: AsyncConnection[Any], ids: Sequence[int]) -> list[Obstacle]:
    """Those of these tasks that something keeps from being run; none for a user who may not see workers."""
    cursor = AsyncCursor(conn, row_factory=class_row(Obstacle))
    try:
        with translated():
            await cursor.execute(ENGINE.query("result_obstacle"), {"ids": list(ids)})
            return _real(await cursor.fetchall())
    except psycopg.errors.InsufficientPrivilege:
        return []


def obstacles(conn: Connection[Any], ids: Sequence[int]) -> list[Obstacle]:
    """As ``obstacles_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=class_row(Obstacle))
    try:
        with translated():
            return _real(cursor.execute(ENGINE.query("result_obstacle"), {"ids": list(ids)}).fetchall())
    except psycopg.errors.InsufficientPrivilege:
        return []


def _real(rows: list[Obstacle]) -> list[Obstacle]:
    return [obstacle for obstacle in rows if obstacle.reason is not None]
