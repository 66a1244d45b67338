"""Install and upgrade the engine's schema, and check whether it is compatible with this version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.errors import SchemaMismatch
from catchment.schema import Upgrade
from catchment.sql import ENGINE


def migrate(conn: Connection[Any], *, on_step: Callable[[str], None] | None = None) -> Upgrade:
    """Bring the schema up to date. Safe to run any number of times, and by several processes at once.

    ``on_step`` is called with the name of each step. Returns which migrations were ``applied`` and whether
    ``routines_changed``. A schema written by a newer version of Catchment is left as it is: ``newer`` names that
    version, and ``SchemaMismatch`` is raised if this one cannot work with it, or if another session holds the lock of
    installations for a minute.
    """
    upgrade = ENGINE.migrate(conn, on_step=on_step)
    if upgrade.routines_changed:
        # Workers of an older version then check at once whether they are still compatible.
        conn.execute("select worker.notify('worker_tasks', '')")
    return upgrade


def check_version(conn: Connection[Any]) -> None:
    """Raise ``SchemaMismatch`` unless this code can work with the schema in the database."""
    ENGINE.check_version(conn)


async def find_misfit(conn: AsyncConnection[Any]) -> SchemaMismatch | None:
    """Why this code can no longer work with the schema in the database; ``None`` if it can."""
    (state,) = await (await conn.execute(ENGINE.version_query())).fetchall()
    return ENGINE.misfit(*state)
