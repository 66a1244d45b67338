"""An extract of DuckLake's catalog: the rows about a few tables at a few snapshots, which a node of a cluster attaches
in the place of the catalog.

DuckLake itself reads the extract, so files, delete files, row ids, renamed columns and defaults mean there what they
mean here. It is the content of tables as JSON; ``attach_extract`` builds a catalog in a DuckDB file from it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from duckdb import DuckDBPyConnection
from psycopg import Connection, sql

from catchment.errors import LakeUnavailable
from catchment.lake.names import ALIAS, literal, quoted
from catchment.store.errors import translated

Extract = dict[str, str]
"""The rows of each table of the catalog, as the text of a JSON array."""

_MAKER = "__extract"
# Tables of the catalog that say nothing about a table at a snapshot, or that grow with its history.
_WITHOUT = frozenset(
    {
        "ducklake_files_scheduled_for_deletion",
        "ducklake_inlined_data_tables",
        "ducklake_snapshot_changes",
        "ducklake_view",
        "ducklake_tag",
        "ducklake_column_tag",
    }
)
_COLUMNS = """
select c.relname, array_agg(a.attname::text)
  from pg_class as c
  join pg_namespace as n on n.oid = c.relnamespace
  join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
 where n.nspname = %s
   and c.relname like 'ducklake\\_%%'
   and c.relname not like 'ducklake\\_inlined\\_data\\_%%\\_%%'
   and c.relkind = 'r'
 group by c.relname
"""
_INLINED = """
select i.table_name
  from {}.ducklake_inlined_data_tables as i
 where i.table_id = any (%s)
"""


class Inlined(LakeUnavailable):
    """Rows of a source are in the catalog, where no file has them."""

    default_code = "INLINED"


def take_extract(conn: Connection[Any], schema: str, tables: Collection[int], snapshots: Collection[int]) -> Extract:
    """The rows of the catalog in ``schema`` about these tables at these snapshots, all as of one moment. Raises
    ``Inlined``."""
    ids, at = sorted(tables), sorted(snapshots)
    values = {"tables": ids, "snapshots": at, "first": at[0], "last": at[-1]}
    with translated(), conn.transaction():
        conn.execute("set transaction isolation level repeatable read, read only")
        _refuse_inlined(conn, schema, ids)
        extract: Extract = {}
        for name, columns in conn.execute(_COLUMNS, [schema]).fetchall():
            if name not in _WITHOUT:
                extract[name] = _rows(conn, schema, name, columns, values)
    return extract


def _refuse_inlined(conn: Connection[Any], schema: str, tables: list[int]) -> None:
    inlined = conn.execute(sql.SQL(_INLINED).format(sql.Identifier(schema)), [tables]).fetchall()
    for (name,) in inlined:
        query = sql.SQL("select exists (select from {})").format(sql.Identifier(schema, name))
        if conn.execute(query).fetchall() == [(True,)]:
            raise Inlined(f"rows of a source are inlined in the catalog ({name}), where no file has them")


def _rows(conn: Connection[Any], schema: str, name: str, columns: Collection[str], values: Mapping[str, Any]) -> str:
    where = [sql.SQL("true")]
    if name == "ducklake_snapshot":
        where.append(sql.SQL("t.snapshot_id = any (%(snapshots)s)"))
    if name in ("ducklake_data_file", "ducklake_delete_file"):
        # What begins later or ended before is not read; a partial file holds rows of several snapshots.
        where.append(sql.SQL("t.begin_snapshot <= %(last)s and coalesce(t.end_snapshot > %(first)s, true)"))
    if "table_id" in columns:
        where.append(sql.SQL("coalesce(t.table_id = any (%(tables)s), true)"))
    query = sql.SQL("select coalesce(json_agg(t), '[]')::text from {} as t where {}").format(
        sql.Identifier(schema, name), sql.SQL(" and ").join(where)
    )
    ((text,),) = conn.execute(query, values).fetchall()
    return text


def attach_extract(instance: DuckDBPyConnection, extract: Extract, data_path: str, folder: Path) -> None:
    """Build a catalog from an extract, in a file below ``folder``, and attach the lake with it, read-only."""
    file = folder / "catalog.ducklake"
    # DuckLake makes the tables: they are those of its version, with its types.
    where = literal(f"ducklake:{file}")
    instance.execute(f"ATTACH {where} AS {quoted(_MAKER)} (DATA_PATH {literal(data_path)})")
    instance.execute(f"DETACH {quoted(_MAKER)}")
    instance.execute(f"ATTACH {literal(str(file))} AS {quoted(_MAKER)}")
    try:
        _fill(instance, extract, folder)
    finally:
        instance.execute(f"DETACH {quoted(_MAKER)}")
    instance.execute(f"ATTACH {where} AS {quoted(ALIAS)} (READ_ONLY)")


def _fill(instance: DuckDBPyConnection, extract: Extract, folder: Path) -> None:
    tables = instance.execute(
        "SELECT table_name, list(column_name ORDER BY column_index), list(data_type ORDER BY column_index)"
        f" FROM duckdb_columns() WHERE database_name = {literal(_MAKER)} GROUP BY table_name"
    ).fetchall()
    for name, columns, types in tables:
        target = quoted(_MAKER, "main", name)
        instance.execute(f"DELETE FROM {target}")
        rows = extract.get(name, "[]")
        if rows == "[]":
            continue
        file = folder / f"{name}.json"
        file.write_text(rows, encoding="utf-8")
        spec = ", ".join(f"{quoted(column)}: {literal(kind)}" for column, kind in zip(columns, types, strict=True))
        instance.execute(
            f"INSERT INTO {target} BY NAME SELECT * FROM read_json({literal(str(file))}, format = 'array',"
            f" columns = {{{spec}}}, maximum_object_size = {max(len(rows) * 2, 2**24):d})"
        )
        file.unlink()
