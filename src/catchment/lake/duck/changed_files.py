"""Which files of a table hold the difference between two of its versions, as the catalog has them.

A data file never changes, so two versions of a table differ by the files that one of them has and the other has not,
and by the rows that delete files take from the others. Where a file holds rows of several commits, as after merging, or
is written in a way that only DuckLake reads, there is no answer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment.lake.duck.catalog import table_directory
from catchment.store.errors import translated

_FILES = """
select f.path, f.path_is_relative, f.record_count, f.begin_snapshot, f.end_snapshot,
       coalesce(f.partial_max > %(old)s, false) or f.encryption_key is not null,
       e.path, e.path_is_relative, e.delete_count, e.begin_snapshot, e.partial_max,
       coalesce(e.format <> 'parquet' or e.encryption_key is not null, false)
  from lake.ducklake_data_file as f
  left join lake.ducklake_delete_file as e on e.data_file_id = f.data_file_id
                                          and e.table_id = f.table_id
                                          and e.begin_snapshot <= %(new)s
                                          and coalesce(e.end_snapshot > %(old)s, true)
 where f.table_id = %(table_id)s
   and f.begin_snapshot <= %(new)s
   and coalesce(f.end_snapshot > %(old)s, true)
   and (f.begin_snapshot > %(old)s
        or f.end_snapshot <= %(new)s
        or f.partial_max > %(old)s
        or coalesce(e.partial_max, e.begin_snapshot) > %(old)s)
 order by f.data_file_id
 limit %(most)s
"""


@dataclass(frozen=True, slots=True)
class Deletes:
    """The rows of a data file that went, as a delete file lists them: ``name`` and ``rows`` are those of the data file,
    ``path`` is the list. ``is_dated``: it holds rows of other commits too, each with its snapshot."""

    name: str
    rows: int
    path: str
    is_dated: bool


@dataclass(frozen=True, slots=True)
class ChangedFiles:
    """The difference of two versions: data files that only the new one has, with ``came`` rows in all; data files that
    only the old one has, with ``went`` rows; and rows that went from files that both have."""

    new: tuple[str, ...]
    came: int
    ended: tuple[str, ...]
    went: int
    deletes: tuple[Deletes, ...]


def changed_files(conn: Connection[Any], table_id: int, old: int, new: int, *, most: int) -> ChangedFiles | None:
    """The files by which two versions of a table differ; None if they do not tell, or are more than ``most``."""
    parameters = {"table_id": table_id, "old": old, "new": new, "most": most + 1}
    with translated():
        rows = conn.execute(_FILES, parameters).fetchall()
    if len(rows) > most:
        return None
    directory = table_directory(conn, table_id)
    added: list[str] = []
    ended: list[str] = []
    deletes: list[Deletes] = []
    came = went = 0
    for path, is_relative, count, begin, end, is_mixed, *listed in rows:
        list_path, list_is_relative, deleted, first, last, is_foreign = listed
        name = _full(directory, path, is_relative)
        if is_mixed or is_foreign or name in added or name in ended or any(name == item.name for item in deletes):
            return None
        last = first if last is None else last
        is_new, is_ended = begin > old, end is not None and end <= new
        if is_new and is_ended:
            continue
        if is_new or is_ended:
            version = new if is_new else old
            if first is not None and first <= version < last:
                return None
            (added if is_new else ended).append(name)
            left = count - (deleted if first is not None and last <= version else 0)
            came, went = (came + left, went) if is_new else (came, went + left)
        else:
            full = _full(directory, list_path, list_is_relative)
            deletes.append(Deletes(name, count, full, is_dated=first <= old or last > first))
    return ChangedFiles(tuple(added), came, tuple(ended), went, tuple(deletes))


def _full(directory: str, path: str, is_relative: bool) -> str:
    return f"{directory}{path}" if is_relative else path
