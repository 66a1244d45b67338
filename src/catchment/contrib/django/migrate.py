"""The schema of the engine, with ``manage.py migrate`` and in test databases."""

from __future__ import annotations

from typing import Any

from catchment.contrib.django.connections import dsn_of
from catchment.contrib.django.settings import read_settings
from catchment.errors import CatchmentError, ServerUnavailable
from catchment.store.connect import connect_ours
from catchment.store.migrate import migrate


def migrate_with_django(alias: str, stdout: Any) -> None:
    """Install or upgrade the schema, if this is its database. ``stdout``: where to say so, or None."""
    given = read_settings()
    if alias != given.database or not given.migrate:
        return
    with connect_ours(dsn_of(alias)) as conn:
        upgrade = migrate(conn, roles=True if given.roles else None if _has_engine(conn) else False)
    if stdout is not None and (upgrade.applied or upgrade.routines_changed):
        stdout.write(f"Catchment: the schema is up to date ({len(upgrade.applied)} migrations applied).\n")


def hint_of(error: CatchmentError) -> str | None:
    """The hint of an error, with the command and the settings of the project instead of the program's."""
    if isinstance(error, ServerUnavailable):
        return f"Check DATABASES[{read_settings().database!r}] in the settings."
    return error.hint and error.hint.replace("catchment migrate", "python manage.py catchment_migrate")


def _has_engine(conn: Any) -> bool:
    ((oid,),) = conn.execute("select pg_catalog.to_regnamespace('worker')").fetchall()
    return oid is not None
