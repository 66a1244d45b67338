"""Which schedule made a task."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

_SCHEDULED = "select distinct s.command from worker.schedule as s"
_MADE_BY = """
select s.name, s.cron, s.every, s.timezone
  from worker.schedule as s
  join worker.schedule_run as r on r.schedule = s.name
 where s.command = %s
   and r.task_id = %s
   and r.fate = 'made'
"""


@dataclass(frozen=True, slots=True)
class MadeBy:
    """A schedule, with its cron expression or its interval."""

    name: str
    cron: str | None
    every: timedelta | None
    timezone: str


async def scheduled_commands(conn: AsyncConnection[Any]) -> frozenset[str]:
    """The commands that have a schedule."""
    cursor = await conn.execute(_SCHEDULED)
    return frozenset(command for (command,) in await cursor.fetchall())


async def made_by(conn: AsyncConnection[Any], task_id: int, command: str) -> MadeBy | None:
    """The schedule whose time made this task; None if there is none, or if it was run by hand."""
    cursor = await conn.execute(_MADE_BY, [command, task_id])
    return next((MadeBy(*row) for row in await cursor.fetchall()), None)
