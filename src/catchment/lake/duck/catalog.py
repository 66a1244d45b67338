"""Typed reads of DuckLake's catalog, through the views that the installation makes over it.

Only PostgreSQL is asked, so none of this reads a data file. Counts of rows come from the metadata of files: exact for
what was inserted, an estimate where deletes and compaction come in.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection

from catchment.errors import LakeUnavailable
from catchment.lake.delta.column_types import CatalogColumn, duck_types
from catchment.lake.duck.address import LakeAddress
from catchment.lake.names import DT_SCHEMA
from catchment.lake.types import ColumnAt, SourceTable, TableRef
from catchment.store.errors import translated
from catchment.store.fetch import fetch_value

Conn = Connection[Any]

_EVER = 2**62
"""A snapshot after all others."""

_ADDRESS = "select l.data_path, l.metadata_schema from lake.lake as l"
_HEAD = "select max(s.snapshot_id) from lake.ducklake_snapshot as s"
_NEXT = "select min(s.snapshot_id) from lake.ducklake_snapshot as s where s.snapshot_id > %s"
_EXISTS = "select exists (select from lake.ducklake_snapshot as s where s.snapshot_id = %s)"
_EXPIRABLE = """
select s.snapshot_id
  from lake.ducklake_snapshot as s
 where s.snapshot_id < %s
   and s.snapshot_time < clock_timestamp() - %s
 order by s.snapshot_id
"""
_TABLE = """
select t.table_id, s.schema_name, t.table_name,
       (select d.id from lake.dt as d where d.physical_id = t.table_id),
       coalesce((select sum(f.record_count)
                   from lake.ducklake_data_file as f
                  where f.table_id = t.table_id
                    and f.begin_snapshot <= %(at)s
                    and coalesce(f.end_snapshot > %(at)s, true)), 0)::bigint
       - coalesce((select sum(e.delete_count)
                     from lake.ducklake_delete_file as e
                     join lake.ducklake_data_file as f on f.data_file_id = e.data_file_id -- ended ones keep theirs
                    where e.table_id = t.table_id
                      and e.begin_snapshot <= %(at)s
                      and coalesce(e.end_snapshot > %(at)s, true)
                      and coalesce(f.end_snapshot > %(at)s, true)), 0)::bigint
  from lake.ducklake_table as t
  join lake.ducklake_schema as s on s.schema_id = t.schema_id
 where lower(s.schema_name) = lower(%(schema)s)
   and lower(t.table_name) = lower(%(name)s)
   and t.begin_snapshot <= %(at)s
   and coalesce(t.end_snapshot > %(at)s, true)
   and s.begin_snapshot <= %(at)s
   and coalesce(s.end_snapshot > %(at)s, true)
"""
_VIEW = """
select exists (select
                 from lake.ducklake_view as v
                 join lake.ducklake_schema as s on s.schema_id = v.schema_id
                where lower(s.schema_name) = lower(%(schema)s)
                  and lower(v.view_name) = lower(%(name)s)
                  and v.begin_snapshot <= %(at)s
                  and coalesce(v.end_snapshot > %(at)s, true))
"""
_DYNAMIC = """
select d.id, d.generation
  from lake.dt as d
 where lower(d.schema_name) = lower(%s)
   and lower(d.name) = lower(%s)
   and d.physical_id is not null
   and d.replaces is null
   and d.state in ('active', 'suspended')
"""
_COLUMNS = """
select c.column_id, c.parent_column, c.column_name, c.column_type
  from lake.ducklake_column as c
 where c.table_id = %(table_id)s
   and c.begin_snapshot <= %(at)s
   and coalesce(c.end_snapshot > %(at)s, true)
 order by c.column_order, c.column_id
"""
_PARTITION_COLUMNS = """
select n.column_name
  from lake.ducklake_partition_info as i
  join lake.ducklake_partition_column as p on p.partition_id = i.partition_id and p.table_id = i.table_id
  join lake.ducklake_column as n on n.table_id = p.table_id and n.column_id = p.column_id
 where i.table_id = %(table_id)s
   and p.transform = 'identity'
   and i.begin_snapshot <= %(at)s
   and coalesce(i.end_snapshot > %(at)s, true)
   and n.begin_snapshot <= %(at)s
   and coalesce(n.end_snapshot > %(at)s, true)
 order by p.partition_key_index
"""
# A file that upkeep has written has its own begin, which is no change of the content. Of several delete files of a data
# file only the newest is kept, so a window may be charged with deletes from before it: an estimate, never too low.
_WINDOW = """
with changed as (
  select c.snapshot_id from lake.change as c
   where c.table_id = %(table_id)s and c.kind <> 'upkeep' and c.snapshot_id > %(old)s and c.snapshot_id <= %(new)s
)
select coalesce((select sum(f.record_count)
                   from lake.ducklake_data_file as f
                  where f.table_id = %(table_id)s
                    and f.begin_snapshot in (select snapshot_id from changed)), 0)::bigint,
       coalesce((select sum(e.delete_count)
                   from lake.ducklake_delete_file as e
                  where e.table_id = %(table_id)s
                    and (e.begin_snapshot in (select snapshot_id from changed)
                         or e.partial_max > %(old)s and e.partial_max <= %(new)s)), 0)::bigint
       + coalesce((select sum(f.record_count)
                     from lake.ducklake_data_file as f
                    where f.table_id = %(table_id)s and f.end_snapshot in (select snapshot_id from changed)), 0)::bigint
"""
# Without the catalog's words for a commit, which go when it expires, it may have deleted.
_TOUCHED = """
select coalesce(array_agg(distinct c.kind), '{}'),
       coalesce(bool_or(c.kind = 'upkeep' or s.changes_made is null
                        or s.changes_made ~ format('deleted_from_table:%%s(,|$)', c.table_id)), false)
  from lake.change as c
  left join lake.ducklake_snapshot_changes as s on s.snapshot_id = c.snapshot_id
 where c.table_id = %(table_id)s
   and c.snapshot_id > %(old)s
   and c.snapshot_id <= %(new)s
"""
_AWAITED = """
select r.dt_id, s.table_id, s.schema_name, s.table_name, s.source_dt_id is null, e.snapshot, s.used_columns
  from lake.refresh as mine
  join lake.refresh as r on r.round_id = mine.round_id
                        and r.id <> mine.id
                        and r.started_at is null
                        and r.finished_at is null
  join lake.dt as d on d.id = r.dt_id
                   and d.strategy <> 'full'
                   and d.properties ->> 'refresh_mode' is distinct from 'full'
  join lake.source as s on s.dt_id = r.dt_id
  join lake.read as e on e.dt_id = s.dt_id and e.table_id = s.table_id
 where mine.id = %s
 order by r.dt_id, s.table_id
"""
# A rewrite keeps the ids of rows. What has expired may have been either.
_MERGED = """
select coalesce(max(c.snapshot_id), 0)
  from lake.change as c
  left join lake.ducklake_snapshot_changes as s on s.snapshot_id = c.snapshot_id
 where c.table_id = %(table_id)s
   and c.kind = 'upkeep'
   and coalesce(s.changes_made ~ format('merge_adjacent:%%s(,|$)', c.table_id), true)
"""
# Not known where a file has rows, or a list of deleted rows, of later commits too, or a client has inlined rows.
_ROWS_AT = """
select case when not coalesce(bool_or(f.partial_max > %(at)s or e.partial_max > %(at)s), false)
                 and not exists (select from lake.ducklake_inlined_data_tables as i where i.table_id = %(table_id)s)
            then coalesce(sum(f.record_count), 0)::bigint - coalesce(sum(e.delete_count), 0)::bigint end
  from lake.ducklake_data_file as f
  left join lake.ducklake_delete_file as e on e.data_file_id = f.data_file_id
                                          and e.table_id = f.table_id
                                          and e.begin_snapshot <= %(at)s
                                          and coalesce(e.end_snapshot > %(at)s, true)
 where f.table_id = %(table_id)s
   and f.begin_snapshot <= %(at)s
   and coalesce(f.end_snapshot > %(at)s, true)
"""
_BUCKETS = """
select v.partition_value::integer, coalesce(sum(f.record_count), 0)::bigint, coalesce(sum(e.delete_count), 0)::bigint
  from lake.ducklake_data_file as f
  join lake.ducklake_file_partition_value as v on v.data_file_id = f.data_file_id and v.partition_key_index = 0
  left join lake.ducklake_delete_file as e on e.data_file_id = f.data_file_id and e.end_snapshot is null
 where f.table_id = %s
   and f.end_snapshot is null
 group by v.partition_value
"""
_HEALTH = """
select count(*)::bigint, coalesce(sum(f.record_count), 0)::bigint, coalesce(sum(e.delete_count), 0)::bigint,
       coalesce(sum(f.file_size_bytes), 0)::bigint
  from lake.ducklake_data_file as f
  left join lake.ducklake_delete_file as e on e.data_file_id = f.data_file_id and e.end_snapshot is null
 where f.table_id = %s
   and f.end_snapshot is null
"""
_DIRECTORY = "select lake.table_directory(%s)"
_CONTENT = """
select case when s.path_is_relative then l.data_path || s.path else s.path end
  from lake.ducklake_schema as s
 cross join lake.lake as l
 where s.schema_name = %s
   and s.end_snapshot is null
"""
_REGISTERED = """
select f.path
  from lake.ducklake_data_file as f
 where f.table_id = %(table_id)s
   and f.path = any (case when f.path_is_relative then %(relative)s::text[] else %(paths)s::text[] end)
"""


@dataclass(frozen=True, slots=True)
class FileHealth:
    """The live files of a table: how many, with how many rows, and how many of these are deleted."""

    files: int
    rows: int
    deleted: int
    bytes: int


def read_address(conn: Conn) -> LakeAddress:
    """Where the lake of this database is; raises ``LakeUnavailable`` when it has none."""
    with translated():
        row = conn.execute(_ADDRESS).fetchone()
    if row is None:
        raise LakeUnavailable(
            "this database has no lake yet",
            code="NO_LAKE",
            hint="Set where its data is stored: --lake or CATCHMENT_LAKE.",
        )
    return LakeAddress(data_path=row[0], metadata_schema=row[1])


def head(conn: Conn) -> int:
    """The newest snapshot."""
    return fetch_value(conn, _HEAD)


def next_snapshot(conn: Conn, after: int) -> int | None:
    """The smallest snapshot after one that may be gone: where its feed begins. None when there is none."""
    return fetch_value(conn, _NEXT, after)


def has_snapshot(conn: Conn, snapshot: int) -> bool:
    """Does the snapshot still exist? One that has expired cannot be read any more."""
    return fetch_value(conn, _EXISTS, snapshot)


def expirable(conn: Conn, before: int, older_than: timedelta) -> list[int]:
    """Snapshots before one, if they are old enough."""
    with translated():
        return [row[0] for row in conn.execute(_EXPIRABLE, [before, older_than])]


def find_table(conn: Conn, ref: TableRef, at: int) -> SourceTable | None:
    """A table by its name as it was at a snapshot, or None. Case does not matter, as in DuckDB. A view is no table."""
    parameters = {"schema": ref.schema, "name": ref.name, "at": at}
    with translated():
        row = conn.execute(_TABLE, parameters).fetchone()
        if row is None:
            return None
        table_id, schema, name, dt_id, rows = row
        partitions = conn.execute(_PARTITION_COLUMNS, {"table_id": table_id, "at": at}).fetchall()
    return SourceTable(
        table_id=table_id,
        ref=TableRef(schema, name),
        columns=columns_at(conn, table_id, at),
        rows=max(0, rows),
        dt_id=dt_id,
        partitioned_by=tuple(row[0] for row in partitions),
    )


def is_view(conn: Conn, ref: TableRef, at: int) -> bool:
    """Is there a view of this name at a snapshot?"""
    with translated():
        ((exists,),) = conn.execute(_VIEW, {"schema": ref.schema, "name": ref.name, "at": at}).fetchall()
    return exists


def has_name(conn: Conn, ref: TableRef) -> bool:
    """Is there a table or a view of this name now?"""
    at = head(conn)
    return find_table(conn, ref, at) is not None or is_view(conn, ref, at)


def find_dynamic(conn: Conn, ref: TableRef) -> tuple[int, int] | None:
    """The id and the generation of a dynamic table that exists in the lake, by its name; or None."""
    with translated():
        return conn.execute(_DYNAMIC, [ref.schema, ref.name]).fetchone()


def columns_at(conn: Conn, table_id: int, at: int) -> dict[str, ColumnAt]:
    """The columns of a table at a snapshot, in order; types as DuckDB writes them."""
    with translated():
        rows = conn.execute(_COLUMNS, {"table_id": table_id, "at": at}).fetchall()
    return duck_types(CatalogColumn(*row) for row in rows)


def rows_at(conn: Conn, table_id: int, at: int) -> int | None:
    """The rows of a table at a snapshot, or None where only a scan tells: see ``_ROWS_AT``."""
    with translated():
        ((rows,),) = conn.execute(_ROWS_AT, {"table_id": table_id, "at": at}).fetchall()
    return rows


def rows_now(conn: Conn, table_id: int) -> int | None:
    """The rows of a table, or None where only a scan tells."""
    return rows_at(conn, table_id, _EVER)


def window_size(conn: Conn, table_id: int, old: int, new: int) -> tuple[int, int]:
    """About how many rows were inserted and deleted in the snapshots (old, new]; rather too many than too few."""
    with translated():
        ((inserted, deleted),) = conn.execute(_WINDOW, {"table_id": table_id, "old": old, "new": new}).fetchall()
    return inserted, deleted


def touched(conn: Conn, table_id: int, old: int, new: int) -> tuple[frozenset[str], bool]:
    """What happened to a table in the snapshots (old, new]: kinds as in ``lake.change``, and whether rows may have been
    deleted. As far as ``lake.scan_changes`` has looked."""
    with translated():
        ((kinds, may_delete),) = conn.execute(_TOUCHED, {"table_id": table_id, "old": old, "new": new}).fetchall()
    return frozenset(kinds), may_delete


@dataclass(frozen=True, slots=True)
class Awaited:
    """What a refresh of the same round that has not begun may want of the changes of a table since ``old``.
    ``is_base``: the table is no dynamic table."""

    dt_id: int
    table_id: int
    ref: TableRef
    is_base: bool
    old: int
    columns: frozenset[str]


def find_awaited(conn: Conn, refresh_id: int) -> tuple[Awaited, ...]:
    """What refreshes of the same round that have not begun may want of the changes of tables."""
    with translated():
        rows = conn.execute(_AWAITED, [refresh_id]).fetchall()
    return tuple(
        Awaited(dt_id, table_id, TableRef(schema, name), is_base, old, frozenset(columns))
        for dt_id, table_id, schema, name, is_base, old, columns in rows
    )


def merged(conn: Conn, table_id: int) -> int:
    """The newest snapshot that merged files of a table, 0 without one. Merging gives rows that were updated other row
    ids, in older versions too."""
    with translated():
        conn.execute("select lake.scan_changes()")
        ((snapshot,),) = conn.execute(_MERGED, {"table_id": table_id}).fetchall()
    return snapshot


def share_reading(conn: Conn, refresh_id: int, table_id: int, rows: int) -> int:
    """Have the rows of a source, whose reading does not know them, be these; returns what the reading says."""
    return fetch_value(conn, "select lake.share_reading(%s, %s, %s)", refresh_id, table_id, rows)


def files_with_deletes(conn: Conn, table_id: int, buckets: Collection[int] | None = None) -> set[int]:
    """Storage buckets, of these or of all, that have a live file with deleted rows."""
    return {
        bucket
        for bucket, _, deleted in bucket_counts(conn, table_id)
        if deleted and (buckets is None or bucket in buckets)
    }


def bucket_rows(conn: Conn, table_id: int) -> dict[int, int]:
    """The rows of each storage bucket that has any."""
    return {bucket: rows - deleted for bucket, rows, deleted in bucket_counts(conn, table_id)}


def bucket_counts(conn: Conn, table_id: int) -> list[tuple[int, int, int]]:
    """Each storage bucket with the rows in its live files, and how many of them are deleted."""
    with translated():
        return conn.execute(_BUCKETS, [table_id]).fetchall()


def file_health(conn: Conn, table_id: int) -> FileHealth:
    """How a table lies in its files."""
    with translated():
        ((files, rows, deleted, size),) = conn.execute(_HEALTH, [table_id]).fetchall()
    return FileHealth(files, rows, deleted, size)


def table_directory(conn: Conn, table_id: int) -> str:
    """Where the files of a table are: an absolute path or a URL, with a slash at the end."""
    directory: str | None = fetch_value(conn, _DIRECTORY, table_id)
    if directory is None:
        raise LakeUnavailable(f"the catalog has no table {table_id}", code="CATALOG")
    return directory


def content_directory(conn: Conn) -> str:
    """The folder that holds the content of all dynamic tables, with a slash at the end. No other lake has it."""
    return fetch_value(conn, _CONTENT, DT_SCHEMA)


def foreign_files(conn: Conn) -> list[str]:
    """The files of tables that are named by full paths: they were registered where they lay."""
    with translated():
        rows = conn.execute(
            "select f.path from lake.ducklake_data_file as f where not f.path_is_relative"
            " union select e.path from lake.ducklake_delete_file as e where not e.path_is_relative"
        ).fetchall()
    return [row[0] for row in rows]


def registered(conn: Conn, table_id: int, paths: Collection[str]) -> set[str]:
    """Of these files, those that the catalog has already, now or in its past."""
    if not paths:
        return set()
    directory = table_directory(conn, table_id)
    relative = {path.removeprefix(directory): path for path in paths if path.startswith(directory)}
    parameters = {"table_id": table_id, "relative": list(relative), "paths": list(paths)}
    with translated():
        known: set[str] = {row[0] for row in conn.execute(_REGISTERED, parameters)}
    return {path for path in paths if path in known} | {full for path, full in relative.items() if path in known}


def used_columns(columns: Mapping[str, ColumnAt], names: Collection[str]) -> dict[str, ColumnAt]:
    """Of the columns of a table, those of these names, whatever their case."""
    wanted = {name.lower() for name in names}
    return {name: column for name, column in columns.items() if name.lower() in wanted}
