"""Changes of a source that several tables of a round want: this process reads them from the files once.

The tables of a round read the same versions of their sources. To find the rows that were deleted takes as long as a
scan of the columns that are wanted, so the first table reads the columns that the others want, too, and keeps the rows
in a temporary table. Every table still checks and consolidates them for itself. They are forgotten when no other
refresh of the round has yet to begin, or when a refresh of another round begins.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck
from catchment.lake.names import RID, WEIGHT, quoted
from catchment.lake.refresh.session import Bound, Work
from catchment.lake.types import ColumnAt

MOST_ROWS = 100_000
"""Changes with more rows are not kept: they would take memory that the next refresh of this process may need."""

SNAPSHOT = "__snapshot"


@dataclass(frozen=True, slots=True)
class Changes:
    """Rows that came and that went, the highest row id, and how often one change is reported at most."""

    came: int
    went: int
    highest: int
    most: int


@dataclass(frozen=True, slots=True)
class _Kept:
    key: tuple[Any, ...]
    round: int
    columns: Mapping[str, ColumnAt]
    changes: Changes


def wanted_columns(conn: Connection[Any], source: Bound, awaited: Collection[str]) -> dict[str, ColumnAt]:
    """The columns to read of a source: those of this table first, then those that others have yet to ask for."""
    wanted = {name: source.table.table.columns[name] for name in source.table.used}
    if not awaited:
        return wanted
    columns = catalog.columns_at(conn, source.table.table.table_id, source.read.new)
    return wanted | {name: column for name, column in columns.items() if name in awaited and name not in wanted}


def keep(work: Work, source: Bound, old: int, name: str, columns: Mapping[str, ColumnAt], changes: Changes) -> None:
    """Keep the rows of the table ``name``, which are the changes of a source, for other refreshes of the round."""
    others = _all_kept(work.duck).get(source.table.table.table_id)
    if changes.came + changes.went > MOST_ROWS or (others is not None and others.round == work.order.data_snapshot):
        return
    work.duck.run(f"CREATE OR REPLACE TEMP TABLE {quoted(_name(source))} AS FROM {quoted(name)}")
    kept = _Kept(_key(source, old), work.order.data_snapshot, columns, changes)
    _all_kept(work.duck)[source.table.table.table_id] = kept


def find(work: Work, source: Bound, old: int, name: str) -> Changes | None:
    """Make ``name`` from the changes of a source that were kept; None if there are none with all its columns."""
    kept = _all_kept(work.duck).get(source.table.table.table_id)
    if kept is None or kept.key != _key(source, old):
        return None
    if any(kept.columns.get(item) != source.table.table.columns[item] for item in source.table.used):
        return None
    columns = ", ".join(quoted(item) for item in (*source.table.used, SNAPSHOT, RID, WEIGHT))
    work.make(name, f"SELECT {columns} FROM {quoted(_name(source))}")
    return kept.changes


def name_of(duck: Duck, table_id: int, old: int, new: int, column: str) -> str | None:
    """The temporary table with the changes of a table between two versions, if they were kept with this column."""
    kept = _all_kept(duck).get(table_id)
    if kept is None or (kept.key[0], *kept.key[2:]) != (table_id, old, new) or column not in kept.columns:
        return None
    return _named(table_id)


def has_any(duck: Duck) -> bool:
    """Whether changes of any source are kept."""
    return bool(_all_kept(duck))


def forget(work: Work, awaited: Collection[int]) -> None:
    """Drop what was kept for other rounds, and what nobody awaits any more."""
    kept = _all_kept(work.duck)
    for table_id, item in list(kept.items()):
        if item.round != work.order.data_snapshot or table_id not in awaited:
            del kept[table_id]
            work.duck.drop_temporary([_named(table_id)])


def _all_kept(duck: Duck) -> dict[int, _Kept]:
    kept: dict[int, _Kept] = duck.remembered.setdefault("changes", {})
    return kept


def _name(source: Bound) -> str:
    return _named(source.table.table.table_id)


def _named(table_id: int) -> str:
    return f"shared_{table_id}"


def _key(source: Bound, old: int) -> tuple[Any, ...]:
    return source.table.table.table_id, source.table.table.ref, old, source.read.new
