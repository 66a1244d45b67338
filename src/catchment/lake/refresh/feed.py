"""Reads the changes of a source: rows that came have weight 1, rows that went -1.

There are two ways. DuckLake's feed reports what each commit did; to find the rows that were deleted in a file it reads
the whole file. The other way compares the files of both versions: a delete file has the places of its rows, and DuckDB
reads only the row groups that hold these. It gives the difference of the two versions, not the commits between them.
It is taken where files tell all, and what it finds must be as many rows as the catalog says; else it is the feed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from psycopg import Connection

from catchment.lake.duck import catalog
from catchment.lake.duck.changed_files import ChangedFiles, Deletes, changed_files
from catchment.lake.names import ALIAS, RID, ROWID, WEIGHT, lake_name, literal, quoted
from catchment.lake.refresh import shared
from catchment.lake.refresh.session import Bound, Work
from catchment.lake.refresh.shared import SNAPSHOT, Changes

MOST_FILES = 64
"""The statement names the changed files, up to this number."""

BLOCK = 65_536
"""Places of deleted rows are taken together in blocks of this size; a row group has about twice as many rows."""

ROWS_PER_SCAN = 300_000
"""What a separate scan costs, in rows that are read: one for each run of blocks, or one for all files."""

MOST_SCANS = 32

MOST = 0.5
"""If finding deleted rows reads this share of a source, a scan of all of it looks for others at the same time."""

_OWN = (ROWID, "filename", "file_row_number")
"""What a scan of DuckLake has besides the columns of the table."""


@dataclass(frozen=True, slots=True)
class _Run:
    """Places from ``first`` to ``last`` in each of these files, to be read by one scan."""

    files: tuple[str, ...]
    first: int
    last: int

    @property
    def rows(self) -> int:
        return len(self.files) * (self.last - self.first)


def read_files(
    work: Work,
    conn: Connection[Any],
    source: Bound,
    name: str,
    old: int,
    awaited: Collection[str] = (),
    *,
    keeps: bool = False,
    beside: Callable[[], str | None] | None = None,
) -> Changes | None:
    """Make ``name``: the difference of the two versions, from the files that changed. None if these do not tell.

    ``awaited``: columns that other refreshes of the round want, for which the rows are kept; ``keeps``: they are kept
    in any case. ``beside`` makes a condition on rows of the source. If finding those that went reads most of it, the
    same scan finds the rows of the new version that meet the condition, and all that came: makes ``<name>_beside``,
    with the same columns.
    """
    if (kept := shared.find(work, source, old, name)) is not None:
        return kept
    columns = {column.lower() for column in source.table.table.columns}
    if columns.intersection(_OWN):
        return None
    new, table_id = source.read.new, source.table.table.table_id
    files = changed_files(conn, table_id, old, new, most=MOST_FILES)
    if files is None:
        return None
    wanted = shared.wanted_columns(conn, source, awaited)
    places = f"{name}_places"
    gone = _places(work, places, files.deletes, old, new) if files.deletes else 0
    queries = [_select(source, wanted, 1, new, _among(files.new))] if files.new else []
    queries += [_select(source, wanted, -1, old, _among(files.ended))] if files.ended else []
    runs = _runs(work, places, files) if gone else []
    there, scan = _is_there(places, files) if gone else "", f"{name}_scan"
    reads_most = gone > 0 and _read(runs, files) > MOST * source.table.table.rows
    condition = beside() if reads_most and beside is not None else None
    if condition is not None:
        queries.append(_scan(work, source, wanted, old, scan, f"{there} OR {condition}", there))
    elif runs is None:
        queries.append(_select(source, wanted, -1, old, there))
    else:
        queries += [_select(source, wanted, -1, old, _in_run(places, run)) for run in runs]
    if not queries:
        return None
    work.make(name, " UNION ALL ".join(queries))
    counted = _tally(work, name)
    is_whole = (counted.came, counted.went) == (files.came, files.went + gone)
    if is_whole and work.has(scan):
        _make_beside(work, wanted, name, there, files.ended)
    work.drop(places, scan)
    if not is_whole:
        return None
    if awaited or keeps:
        shared.keep(work, source, old, name, wanted, counted)
    return counted


def _places(work: Work, name: str, deletes: tuple[Deletes, ...], old: int, new: int) -> int:
    """Make ``name``: where in which file a row went. Returns how many there are."""
    queries = [
        f"SELECT {literal(item.name)} AS file, pos AS place FROM read_parquet({literal(item.path)})"
        + (f" WHERE _ducklake_internal_snapshot_id BETWEEN {old + 1:d} AND {new:d}" if item.is_dated else "")
        for item in deletes
    ]
    return work.make(name, " UNION ALL ".join(queries))


def _runs(work: Work, places: str, files: ChangedFiles) -> list[_Run] | None:
    """The places of deleted rows as runs of blocks, each to be scanned; None where scanning whole files reads less."""
    blocks = work.duck.rows(
        f"SELECT file, place // {BLOCK:d} AS block, min(place), max(place) FROM {quoted(places)}"
        " GROUP BY ALL ORDER BY ALL"
    )
    runs = _fewest(blocks)
    if len(runs) > MOST_SCANS or _cost(runs) > ROWS_PER_SCAN + sum(item.rows for item in files.deletes):
        return None
    return runs


def _fewest(blocks: Sequence[tuple[str, int, int, int]]) -> list[_Run]:
    """Runs for each file, or for all files at once where that costs less. Those of a file do not overlap."""
    apart = [run for _, rows in groupby(blocks, key=lambda row: row[0]) for run in _joined(list(rows))]
    return min(apart, _joined(blocks), key=_cost)


def _cost(runs: Sequence[_Run]) -> int:
    return sum(ROWS_PER_SCAN + run.rows for run in runs)


def _read(runs: list[_Run] | None, files: ChangedFiles) -> int:
    """About how many rows are read to find those that went."""
    return sum(item.rows for item in files.deletes) if runs is None else sum(run.rows for run in runs)


def _in_run(places: str, run: _Run) -> str:
    there = f"file_row_number IN (SELECT place FROM {quoted(places)} WHERE file = {literal(run.files[0])})"
    if len(run.files) > 1:  # a tuple takes longer to compare
        there = f"(filename, file_row_number) IN (SELECT (file, place) FROM {quoted(places)})"
    return f"{_among(run.files)} AND file_row_number BETWEEN {run.first:d} AND {run.last:d} AND {there}"


def _is_there(places: str, files: ChangedFiles) -> str:
    """Whether a row of the old version is one of those that went from files that both versions have."""
    is_there = f"(filename, file_row_number) IN (SELECT (file, place) FROM {quoted(places)})"
    if len(files.deletes) == 1:  # a tuple takes longer to compare
        is_there = f"file_row_number IN (SELECT place FROM {quoted(places)})"
    return f"({_among(tuple(item.name for item in files.deletes))} AND {is_there})"


def _scan(work: Work, source: Bound, columns: Collection[str], old: int, name: str, condition: str, there: str) -> str:
    """Make ``name``: rows of the old version that meet a condition. Returns the query for those that went."""
    ref = lake_name(source.table.table.ref)
    work.make(
        name,
        f"SELECT {_listed(columns)}, rowid AS {quoted(RID)}, filename, file_row_number FROM {ref}"
        f" AT (VERSION => {old:d}) WHERE {condition}",
    )
    return (
        f"SELECT {_listed(columns)}, CAST(NULL AS BIGINT) AS {quoted(SNAPSHOT)}, {quoted(RID)},"
        f" CAST(-1 AS BIGINT) AS {quoted(WEIGHT)} FROM {quoted(name)} WHERE {there}"
    )


def _make_beside(work: Work, columns: Collection[str], name: str, there: str, ended: tuple[str, ...]) -> None:
    """The rows that were found and have not gone, and those that came, are of the new version."""
    stayed = f"NOT {there}" + (f" AND NOT {_among(ended)}" if ended else "")
    work.make(
        f"{name}_beside",
        f"SELECT {_listed(columns)} FROM {quoted(f'{name}_scan')} WHERE {stayed}"
        f" UNION ALL SELECT {_listed(columns)} FROM {quoted(name)} WHERE {quoted(WEIGHT)} > 0",
    )


def _joined(blocks: Sequence[tuple[str, int, int, int]]) -> list[_Run]:
    """Neighbouring blocks, of one file or of several, as one range of places. No ranges overlap."""
    runs: list[_Run] = []
    before = 0
    for file, block, first, last in sorted(blocks, key=lambda row: row[1]):
        if runs and block <= before + 2:
            run = runs.pop()
            files = run.files if file in run.files else (*run.files, file)
            runs.append(_Run(files, min(run.first, first), max(run.last, last)))
        else:
            runs.append(_Run((file,), first, last))
        before = block
    return runs


def _among(names: tuple[str, ...]) -> str:
    return f"filename IN ({', '.join(literal(name) for name in names)})"


def _select(source: Bound, columns: Collection[str], weight: int, version: int, condition: str) -> str:
    return (
        f"SELECT {_listed(columns)}, CAST(NULL AS BIGINT) AS {quoted(SNAPSHOT)}, rowid AS {quoted(RID)},"
        f" CAST({weight} AS BIGINT) AS {quoted(WEIGHT)} FROM {lake_name(source.table.table.ref)}"
        f" AT (VERSION => {version:d}) WHERE {condition}"
    )


def read_feed(work: Work, source: Bound, name: str, first: int, old: int, *, may_delete: bool) -> Changes:
    """Make ``name``: what the commits after ``old`` did. What asking for deletes costs grows with all deletes ever."""
    ref = source.table.table.ref
    snapshot = "CAST(NULL AS BIGINT)" if hides_snapshots(source) else "snapshot_id"
    feeds = [("ducklake_table_insertions", 1), *([("ducklake_table_deletions", -1)] if may_delete else [])]
    names = ", ".join(literal(part) for part in (ALIAS, ref.schema, ref.name))
    bounds = f"{names}, {first:d}, {source.read.new:d}"
    queries = [
        f"SELECT {_listed(source.table.used)}, {snapshot} AS {quoted(SNAPSHOT)}, rowid AS {quoted(RID)},"
        f" CAST({weight} AS BIGINT) AS {quoted(WEIGHT)} FROM {function}({bounds})"
        for function, weight in feeds
    ]
    work.make(name, " UNION ALL ".join(queries))
    if first == old:
        # Not in the query: on this build a filter makes the feed of deletes lose rows.
        work.duck.run(f"DELETE FROM {quoted('temp', 'main', name)} WHERE {quoted(SNAPSHOT)} <= {old:d}")
    return _tally(work, name)


def first_snapshot(conn: Connection[Any], source: Bound, old: int) -> int:
    """Where the feed begins. It has to be a version that exists, and what a commit that has expired left is dated
    before the next one. Beginning at the old version reads its own changes too, which may be all rows: only where it
    must."""
    after = catalog.next_snapshot(conn, old) or source.read.new
    return after if after == old + 1 else old


def hides_snapshots(source: Bound) -> bool:
    """A column of that name takes the place of the one that says which commit a change is from."""
    return any(name.lower() == "snapshot_id" for name in source.table.table.columns)


def _listed(columns: Collection[str]) -> str:
    return ", ".join(quoted(column) for column in columns)


def _tally(work: Work, raw: str) -> Changes:
    keys = ", ".join(quoted(name) for name in (SNAPSHOT, RID, WEIGHT))
    weight = quoted(WEIGHT)
    ((came, went, highest, most),) = work.duck.rows(
        f"SELECT sum(n) FILTER ({weight} > 0), sum(n) FILTER ({weight} < 0), max({quoted(RID)}), max(n)"
        f" FROM (SELECT {keys}, count(*) AS n FROM {quoted(raw)} GROUP BY {keys})"
    )
    return Changes(int(came or 0), int(went or 0), highest or 0, most or 0)
