"""Why the task that a caller waits for does not end: what the engine names as the root cause, in words for an error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import class_row

from catchment.model.remedy import ways_of
from catchment.model.task import TaskId
from catchment.model.terminal import shell_command
from catchment.model.why import as_clause
from catchment.store.errors import translated

_ROOT_CAUSE: LiteralString = """
select u.id, c.task_id, c.command, c.is_urgent, c.kind, c.words, c.remedy
  from pg_catalog.unnest(%s::bigint[]) as u (id)
 cross join lateral worker.root_cause(u.id) as c
"""


def skip_command(queue: str, lane: str | None) -> str:
    """The command that resumes a halted lane. The lane without a name is the top level of a serial queue."""
    return shell_command("catchment lane skip", *(word for word in (queue, lane) if word))


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why task ``id`` waits. ``task_id`` is the one that cannot continue: itself, or one that it waits for.

    ``is_urgent``: it waits for a person, not only for time and for other tasks.
    """

    id: TaskId
    task_id: TaskId
    command: str
    is_urgent: bool
    kind: str
    words: str
    remedy: str | None

    @property
    def reason(self) -> str:
        """The words, as the end of a sentence about the task."""
        words = as_clause(self.words)
        return words if self.task_id == self.id else f"it waits for task {self.task_id} ({self.command}): {words}"

    @property
    def hint(self) -> str | None:
        """What to type, each command behind what it does; None if there is only to wait."""
        if self.remedy is None or not self.is_urgent:
            return None
        said = [f"{what or 'see more'}: {command}" for command, what in ways_of(self.remedy)]
        if self.kind in ("no_worker", "no_command") and len(said) > 1:  # of Python
            said.append("or in this program: async with app.worker()")
        text = "; ".join(said)
        return text[:1].upper() + text[1:]


async def obstacles_async(conn: AsyncConnection[Any], ids: Sequence[int]) -> list[Obstacle]:
    """Why each of these tasks waits; none for a user who may not see workers."""
    cursor = AsyncCursor(conn, row_factory=class_row(Obstacle))
    try:
        with translated():
            await cursor.execute(_ROOT_CAUSE, [list(ids)])
            return await cursor.fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return []


def obstacles(conn: Connection[Any], ids: Sequence[int]) -> list[Obstacle]:
    """As ``obstacles_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=class_row(Obstacle))
    try:
        with translated():
            return cursor.execute(_ROOT_CAUSE, [list(ids)]).fetchall()
    except psycopg.errors.InsufficientPrivilege:
        return []
