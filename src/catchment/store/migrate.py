"""Install and upgrade the engine's schema, and check whether it is compatible with this version."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, LiteralString

from psycopg import AsyncConnection, Connection

from catchment.errors import SchemaMismatch
from catchment.schema import Upgrade
from catchment.sql import ENGINE

_ANNOUNCE: LiteralString = "select worker.notify('worker_tasks', '')"


def migrate(
    conn: Connection[Any], *, on_step: Callable[[str], None] | None = None, roles: bool | None = None
) -> Upgrade:
    """Upgrade the schema. Safe to run repeatedly, and by several processes at once.

    ``on_step`` is called with the name of each step. Returns which migrations were ``applied`` and whether
    ``routines_changed``. A schema written by a newer version of Catchment is left as it is: ``newer`` names that
    version, and ``SchemaMismatch`` is raised if this one cannot work with it, or if another session holds the lock of
    installations for a minute.

    ``roles=False`` creates no roles, and the owner of the database needs no other right: only that user can use a new
    schema. ``roles=True`` creates missing roles and grants them their rights, also in a schema that had no roles. By
    default a schema keeps what it has, and a new one gets roles.
    """
    upgrade = ENGINE.migrate(conn, on_step=on_step, roles=roles)
    if upgrade.routines_changed:
        # Workers of an older version then check at once whether they are still compatible.
        with conn.transaction():
            conn.execute(ENGINE.text("set local role {role}", owner=upgrade.owner))
            conn.execute(_ANNOUNCE)
    return upgrade


def migration_script(conn: Connection[Any] | None = None, *, since: int = 0, roles: bool | None = None) -> str:
    """What ``migrate`` would do, as a script: see ``Schema.script``."""
    return ENGINE.script(conn, since=since, roles=roles)


def check_version(conn: Connection[Any]) -> None:
    """Raise ``SchemaMismatch`` unless this code can work with the schema in the database."""
    ENGINE.check_version(conn)


async def find_misfit(conn: AsyncConnection[Any]) -> SchemaMismatch | None:
    """Why this code can no longer work with the schema in the database; ``None`` if it can."""
    (state,) = await (await conn.execute(ENGINE.version_query())).fetchall()
    return ENGINE.misfit(*state)
