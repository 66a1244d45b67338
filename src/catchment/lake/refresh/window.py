"""The changes of the sources of one refresh, and the checks that tell whether they can be trusted.

The feed of this DuckLake build is not sound on every path: a delete that another commit overtook is dated too early,
and inlined rows are dated wrongly once they are flushed. So nothing is taken on trust. Tables and columns have to be
the recorded ones, the old version has to exist, every change of a row is reported once, and the rows of a source, as
they were counted at the last refresh, plus what came and minus what went, have to be its rows now. Whatever fails a
check is computed as a whole: a reason in the history, never a wrong table.

An older version can change after the fact, by such an overtaken delete, which only takes rows away. The rows that each
source had when the snapshot of the round was the newest were counted when the round was opened, for all its tables. The
sources are counted again when everything is read: if they have as many rows, nothing was dated into what was read. And
merging the files of a table gives rows that were updated other row ids, in older versions too: a table that is keyed by
them is computed from the beginning.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment.errors import CommitConflict, SnapshotExpired
from catchment.lake.choose.cost import Changed, Estimate, changed_source, estimate_of
from catchment.lake.delta.column_types import ALIKE
from catchment.lake.delta.near import Reached
from catchment.lake.delta.plan import Plan
from catchment.lake.duck import catalog
from catchment.lake.names import RID, WEIGHT, lake_name, quoted
from catchment.lake.reasons import Reason
from catchment.lake.refresh import feed, shared
from catchment.lake.refresh.reach import Reach, find_reached
from catchment.lake.refresh.session import Bound, Work
from catchment.lake.types import Action, ColumnAt, Order, ReadDone

ROWID_LIMIT = 10**18
"""Rows that were inserted and updated in one transaction have ids from here on, the same ones in every transaction."""

_FORCED = {
    Reason.FIRST_FILL: Action.REINITIALIZE,
    Reason.DEFINITION_CHANGED: Action.REINITIALIZE,
    Reason.FOREIGN_WRITE: Action.REPAIR,
}


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a refresh has to be done. INCREMENTAL: the changes can be used, as far as has been looked."""

    action: Action
    reason: str | None = None
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Loaded:
    """Changes that passed the checks: the numbers of sources with a change that matters, and how many rows came and
    went in all. ``reads`` becomes the frontier. ``reached``: see ``reach.find_reached``."""

    changed: frozenset[int]
    inserted: int
    deleted: int
    reads: tuple[ReadDone, ...]
    reached: Mapping[int, Reached]


def inspect(conn: Connection[Any], order: Order, bound: tuple[Bound, ...]) -> Verdict:
    """Look at the catalog alone: can the changes since the last refresh be used? That the tables and columns exist is
    for ``plan_of`` to see."""
    if order.forced is not None:
        return Verdict(_FORCED[Reason(order.forced)], order.forced)
    for source in bound:
        verdict = _inspect(conn, source)
        if verdict is not None:
            return verdict
    return Verdict(Action.INCREMENTAL)


def _inspect(conn: Connection[Any], source: Bound) -> Verdict | None:
    read, table = source.read, source.table.table
    if source.is_replaced or read.old is None:
        return _again(Reason.SOURCE_REPLACED, f"{read.ref} was table {read.table_id} and is {table.table_id} now")
    for name, column in used_columns(source).items():
        before = read.columns_old.get(name)
        if before != column:
            return _again(Reason.SOURCE_RETYPED, f"{read.ref}.{name} was {_type(before)} and is {column.type} now")
    if not catalog.has_snapshot(conn, read.old):
        return _again(Reason.SNAPSHOT_EXPIRED, f"{read.ref} was read at snapshot {read.old}, which has expired")
    merged = _merged(conn, source) if source.table.wants_rid else 0
    if merged > read.merged_old:
        return Verdict(Action.FULL, Reason.ROWID_CHANGED.value, f"files of {read.ref} were merged at snapshot {merged}")
    kinds, _ = catalog.touched(conn, read.table_id, read.old, read.new)
    if "inlined" in kinds:
        return Verdict(Action.REPAIR, Reason.FEED_INLINED.value, f"{read.ref} between {read.old} and {read.new}")
    return None


def _again(reason: Reason, detail: str) -> Verdict:
    return Verdict(Action.REINITIALIZE, reason.value, detail)


def _type(column: ColumnAt | None) -> str:
    return "not there" if column is None else column.type


def used_columns(source: Bound) -> dict[str, ColumnAt]:
    """The columns of a source that the definition uses, as they are now."""
    return {name: source.table.table.columns[name] for name in source.table.used}


def count_reads(work: Work, conn: Connection[Any]) -> tuple[ReadDone, ...]:
    """What a refresh reads of each source, when it reads all of it."""
    return tuple(_read_done(source, _merged(conn, source), _rows(work, conn, source)) for source in work.bound)


def _read_done(source: Bound, merged: int, rows: int) -> ReadDone:
    read, table_id = source.read, source.table.table.table_id
    replaced = read.table_id if source.is_replaced else None
    return ReadDone(table_id, read.new, rows, used_columns(source), replaced, merged)


def _merged(conn: Connection[Any], source: Bound) -> int:
    return catalog.merged(conn, source.table.table.table_id)


def _rows(work: Work, conn: Connection[Any], source: Bound) -> int:
    """The rows of a source at the snapshot of the round, by its reading; where that does not know, they are counted now
    for the whole round."""
    if source.read.rows_new is not None:
        return source.read.rows_new
    return catalog.share_reading(conn, work.order.refresh_id, source.read.table_id, _count(work, conn, source))


def _count(work: Work, conn: Connection[Any], source: Bound) -> int:
    """From metadata alone. DuckLake takes 7 to 16 ms, the catalog less than 1 where it knows."""
    known = catalog.rows_at(conn, source.table.table.table_id, source.read.new)
    if known is not None:
        return known
    table = lake_name(source.table.table.ref)
    return int(work.duck.value(f"SELECT count(*) FROM {table} AT (VERSION => {source.read.new:d})"))


class SourceMoved(CommitConflict):
    """A source is not what it was when the refresh began to read it. To be read once more."""


class ReadingBroken(CommitConflict):
    """A source at the snapshot of the round is not what its reading says, and no refresh can read that any more. The
    round is to be moved. ``tables`` are the sources, by their ids in the catalog."""

    def __init__(self, text: str, tables: tuple[int, ...]) -> None:
        super().__init__(text, hint="Writers that delete or update should hold the commit lock.")
        self.tables = tables


def recount(work: Work, conn: Connection[Any], reads: tuple[ReadDone, ...]) -> None:
    """Whether the sources are still what they were when their rows were counted; raises ``SourceMoved`` or
    ``ReadingBroken`` if not."""
    for source, read in zip(work.bound, reads, strict=True):
        if source.table.wants_rid and _merged(conn, source) > read.merged:
            raise SourceMoved(f"files of {source.read.ref} were merged, and rows got other ids, while they were read")
        _check_rows(work, conn, source, read.rows)


def _check_rows(work: Work, conn: Connection[Any], source: Bound, expected: int) -> None:
    rows = _count(work, conn, source)
    if rows == expected:
        return
    raise ReadingBroken(
        f"{source.read.ref} had {expected} rows at snapshot {source.read.new} and has {rows} now: a commit was dated "
        "into the past",
        (source.read.table_id,),
    )


def check_readings(work: Work, conn: Connection[Any]) -> None:
    """Whether the sources still have the rows that they were read with; raises ``ReadingBroken`` if not."""
    for source in work.bound:
        if source.read.rows_new is not None:
            _check_rows(work, conn, source, source.read.rows_new)


def check_snapshots(conn: Connection[Any], order: Order, error: SnapshotExpired) -> None:
    """Raises ``ReadingBroken`` when a snapshot that a refresh is to read has expired."""
    gone = [read for read in order.reads if not catalog.has_snapshot(conn, read.new)]
    if gone:
        text = f"{gone[0].ref} is to be read at snapshot {gone[0].new}, which another program has expired"
        raise ReadingBroken(text, tuple(read.table_id for read in gone)) from error


def estimate(conn: Connection[Any], order: Order, bound: tuple[Bound, ...], plan: Plan) -> Estimate:
    """How much has changed and what that means for the definition, from metadata alone."""
    return estimate_of([changed(conn, source) for source in bound], order.rows or 0, plan)


def changed(conn: Connection[Any], source: Bound) -> Changed:
    """About how many rows of a source came and went; nothing for one that is another table now."""
    read, rows = source.read, source.table.table.rows
    if read.old is None or source.is_replaced:
        return Changed(rows)
    return changed_source(rows, read.rows_old or 0, *catalog.window_size(conn, read.table_id, read.old, read.new))


def load(work: Work, conn: Connection[Any]) -> Loaded | Verdict:
    """Read the changes of all sources into ``o<i>_delta``; or say why they cannot be used."""
    changed: set[int] = set()
    reads: dict[int, ReadDone] = {}
    inserted = deleted = 0
    reach = Reach(work, conn, catalog.find_awaited(conn, work.order.refresh_id))
    for source in reach.in_order():
        merged = _merged(conn, source)
        kinds, may_delete = catalog.touched(conn, source.read.table_id, _old(source), source.read.new)
        delta = (
            _load_one(work, conn, source, reach, is_plain=kinds <= {"data"}, may_delete=may_delete)
            if kinds - {"upkeep"}
            else _unchanged(work, conn, source, reach)
        )
        if isinstance(delta, Verdict):
            return delta
        rows, came, went = delta
        reads[source.table.occurrence] = _read_done(source, merged, rows)
        inserted, deleted = inserted + came, deleted + went
        if came + went and _consolidate(work, source):
            changed.add(source.table.occurrence)
    reach.scan()
    reached = find_reached(work, frozenset(changed))
    reach.forget()
    shared.forget(work, reach.columns)
    in_order = tuple(reads[source.table.occurrence] for source in work.bound)
    return Loaded(frozenset(changed), inserted, deleted, in_order, reached)


def _unchanged(work: Work, conn: Connection[Any], source: Bound, reach: Reach) -> tuple[int, int, int] | Verdict:
    """No commit in the window names the source, so it must have the rows that it had."""
    rows = _rows(work, conn, source)
    if rows != source.read.rows_old:
        detail = f"{source.read.ref} had {source.read.rows_old} rows, was not changed, and has {rows}"
        return Verdict(Action.REPAIR, Reason.FEED_MISMATCH.value, detail)
    reach.note_unchanged(source)
    return rows, 0, 0


def _old(source: Bound) -> int:
    if source.read.old is None:
        raise ValueError(f"{source.read.ref} was never read")
    return source.read.old


def _load_one(
    work: Work,
    conn: Connection[Any],
    source: Bound,
    reach: Reach,
    *,
    is_plain: bool,
    may_delete: bool,
) -> tuple[int, int, int] | Verdict:
    """Read the changes of one source, and check them. Returns its rows, and how many came and went. ``is_plain``: rows
    came and went, and nothing else happened to the table."""
    raw, ref, old = f"o{source.table.occurrence}_raw", source.read.ref, _old(source)
    columns = reach.columns.get(source.table.table.table_id, ())
    keeps = bool(columns) or reach.is_tied(source)
    tally = None
    if is_plain and (may_delete or keeps):
        beside = reach.beside(source) if source is reach.in_order()[-1] else None
        tally = feed.read_files(work, conn, source, raw, old, columns, keeps=keeps, beside=beside)
        if beside is not None and work.has(f"{raw}_beside"):
            reach.keep(source, f"{raw}_beside", shared.wanted_columns(conn, source, columns))
    if tally is None:
        first = feed.first_snapshot(conn, source, old)
        if first == old and feed.hides_snapshots(source):
            return _again(Reason.SNAPSHOT_EXPIRED, f"commits to {ref} have expired, and it has a column snapshot_id")
        tally = feed.read_feed(work, source, raw, first, old, may_delete=may_delete)
    rows = _rows(work, conn, source)
    if source.table.wants_rid and tally.highest >= ROWID_LIMIT:
        return Verdict(Action.FULL, Reason.ROWID_NOT_UNIQUE.value, f"{ref} has row id {tally.highest}")
    expected = (source.read.rows_old or 0) + tally.came - tally.went
    if rows != expected:
        _check_rows(work, conn, source, rows)
        detail = (
            f"{ref} had {source.read.rows_old} rows, +{tally.came} -{tally.went}, and has {rows} instead of {expected}"
        )
        return Verdict(Action.REPAIR, Reason.FEED_MISMATCH.value, detail)
    if tally.highest < ROWID_LIMIT and tally.most > 1 and not feed.hides_snapshots(source):
        return Verdict(Action.REPAIR, Reason.FEED_MISMATCH.value, f"a change of {ref} is reported twice")
    return rows, tally.came, tally.went


def _consolidate(work: Work, source: Bound) -> int:
    """What is left of the changes when those that cancel each other are gone: no-op updates, changes of columns that
    are not used, rows that came and went, files that were rewritten. Values that compare as equal and still differ,
    such as 0.0 and -0.0 or a month and 30 days, do not cancel each other: an expression may show the difference."""
    table = source.table
    names = [quoted(name) for name in (*table.used, *([RID] if table.wants_rid else []))]
    alike = [quoted(name) for name, column in used_columns(source).items() if re.search(ALIKE, column.type)]
    group = [*names, *(f"CAST({name} AS VARCHAR)" for name in alike)]
    raw = f"o{table.occurrence}_raw"
    count = work.make(
        f"o{table.occurrence}_delta",
        f"SELECT {', '.join(names)}, CAST(sum({quoted(WEIGHT)}) AS BIGINT) AS {quoted(WEIGHT)} FROM {quoted(raw)}"
        f" GROUP BY {', '.join(group)} HAVING sum({quoted(WEIGHT)}) <> 0",
    )
    work.drop(raw)
    return count
