"""Names in filters that nothing has: a list without rows would hide a typing error."""

from __future__ import annotations

from typing import Any, LiteralString

from psycopg import Connection

from catchment.errors import CommandNotRegistered, QueueNotRegistered
from catchment.store.fetch import fetch_rows

_NAMES: LiteralString = """
select not exists (select from worker.queue_registry as q where q.queue = %(queue)s::text) as is_new_queue,
       worker.alike(%(queue)s::text, array(select q.queue from worker.queue_registry as q)) as queue,
       not exists (select from worker.command_registry as c where c.command = %(command)s::text) as is_new_command,
       worker.alike(%(command)s::text, array(select c.command from worker.command_registry as c)) as command
"""


def check_names(conn: Connection[Any], *, queue: str | None = None, command: str | None = None) -> None:
    """Refuse a queue or a command that is not registered. Ask when nothing matches: tasks of a name that was removed
    are listed."""
    if queue is None and command is None:
        return
    (row,) = fetch_rows(conn, _NAMES, queue=queue, command=command)
    if queue is not None and row["is_new_queue"]:
        raise QueueNotRegistered(f"unknown queue {queue!r}", hint=_hint(row["queue"], "catchment queue list"))
    if command is not None and row["is_new_command"]:
        raise CommandNotRegistered(f"unknown command {command!r}", hint=_hint(row["command"], "catchment command list"))


def _hint(alike: str | None, shows: str) -> str:
    return f"Did you mean {alike}?" if alike else f'"{shows}" shows all names.'
