"""Rights of roles on the lake. Needs no DuckDB: the catalog is a set of tables."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, LiteralString

from psycopg import Connection
from psycopg.sql import SQL, Identifier

from catchment.lake.duck.verify import has_lake
from catchment.lake.sql import LAKE
from catchment.schema.alone import alone

LOCK = "lake.install"
"""Who holds it changes the installation of the lake."""


def grant_lake(conn: Connection[Any], on_step: Callable[[str], None]) -> None:
    """Give the roles of the engine their rights on a lake that was installed without. One of another version gets them
    when it is upgraded."""
    if not has_lake(conn) or not (site := LAKE.find_site(conn)).gains_roles:
        return
    row = conn.execute("select l.metadata_schema from lake.lake as l").fetchone()
    if row is None or LAKE.find_misfit(conn) is not None:
        return
    with alone(conn, LOCK, on_wait=on_step):
        LAKE.recreate_routines(conn, on_step, site, again=True)
        grant_catalog(conn, row[0])


def grant_catalog(conn: Connection[Any], metadata_schema: str) -> None:
    """Let members of our roles attach the lake: workers read and write its catalog, others read it. Only the tables of
    DuckLake: its schema may be one that holds those of others too."""
    with conn.transaction():
        _run(conn, "grant usage on schema {} to catchment_worker, catchment_read", Identifier(metadata_schema))
        tables = conn.execute(
            "select c.relname from pg_class as c join pg_namespace as n on n.oid = c.relnamespace"
            " where n.nspname = %s and c.relkind = 'r' and starts_with(c.relname, 'ducklake_') order by 1",
            [metadata_schema],
        ).fetchall()
        for (table,) in tables:
            original = Identifier(metadata_schema, table)
            _run(conn, "grant select on {} to catchment_read", original)
            _run(conn, "grant select, insert, update, delete on {} to catchment_worker", original)


def _run(conn: Connection[Any], text: LiteralString, name: Identifier) -> None:
    conn.execute(SQL(text).format(name))
