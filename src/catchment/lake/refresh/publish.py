"""Writes what a refresh has computed, in one commit that moves the frontier.

Everything was read before: the transaction deletes, inserts or registers, counts what it leaves, and signs. It runs
under the commit lock, unless a session of another program keeps that: then commits are refused more often, and dated
no worse. DuckLake dates a delete wrongly when it is overtaken and the file had deleted rows before, so there are two
ways to commit:

    append   rows go from files that have deleted rows: no retries of DuckLake, the transaction is done again by us
    clean    rows only come, or go from untouched files, or whole files go: DuckLake may try the commit again

A writer elsewhere that never takes the lock can refuse an append again and again. After a few times the buckets that
rows go from are rewritten, which is clean. Rows are never updated in place.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

from psycopg import Connection

from catchment.errors import CommitConflict, LakeError, LakeUnavailable
from catchment.lake.control.control import Control
from catchment.lake.delta.layout import Layout
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck
from catchment.lake.duck.locks import Holder, publishing_lock
from catchment.lake.files.physical import put_in_place
from catchment.lake.names import ALIAS, BUCKET, RID, lake_name, quoted
from catchment.lake.refresh.compute import Difference, InvariantBroken, among_keys, check_range, has_all_gone
from catchment.lake.refresh.session import Work
from catchment.lake.types import Action, Order, Publication

TRIES = 5
FIRST_PAUSE = 0.02
FILES_PER_CALL = 256

CROWDED_ROWS = 10_000
"""A bucket that loses fewer rows is never rewritten for that: its delete file is small whatever its share."""


@dataclass(frozen=True, slots=True)
class Published:
    """How it was written. ``snapshot`` is None when there was nothing to write and only the frontier moved."""

    snapshot: int | None
    mode: str
    tries: int
    seconds: float
    holder: Holder | None = None
    """The session that has kept the commit lock: published without it."""


@dataclass(frozen=True, slots=True)
class _Change:
    """One transaction: rows of ``gone`` go; all rows of ``rewritten`` and ``kept`` buckets go, or of the whole table.
    Rows of the ``inserts`` come, among them those that stay in ``kept`` buckets, and files are registered.

    ``deleted`` is how many rows of ``gone`` there have to be, None if that is unknown; ``rows_after`` what is left.
    ``gone_keys`` is a condition that the rows of ``gone`` meet, if one is known by which much of the table is skipped;
    with ``is_gone_by_keys`` no others do.
    """

    order: Order
    rows_after: int
    is_whole: bool = False
    gone: frozenset[int] = frozenset()
    rewritten: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    deleted: int | None = None
    gone_keys: str | None = None
    is_gone_by_keys: bool = False
    inserts: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def columns(self) -> str:
        """The stored columns, as a list in SQL."""
        return ", ".join(quoted(item.name) for item in Layout.from_json(self.order.layout).columns)

    @property
    def sorted_by(self) -> str:
        """The bucket, then the keys: readers that look for a key skip the rest of a file."""
        keys = [item.name for part in Layout.from_json(self.order.layout).keys for item in part]
        return ", ".join(quoted(name) for name in dict.fromkeys([BUCKET, *keys]))

    @property
    def by_row(self) -> frozenset[int]:
        """Buckets that lose single rows."""
        return frozenset() if self.is_whole else self.gone - self.rewritten - self.kept

    def run(self, duck: Duck, conn: Connection[Any]) -> None:
        """The writes, inside a transaction. Raises ``InvariantBroken`` when the table is not what was read."""
        table = lake_name(self.order.physical)
        deleted = self._delete(duck, table)
        expected = self._expected(duck)
        if expected is not None and deleted != expected:
            raise InvariantBroken(
                f"{expected} rows of {self.order.physical} were to be deleted, and {deleted} of them were there"
            )
        inserted = 0
        if self.inserts:
            rows = " UNION ALL ".join(f"SELECT {self.columns} FROM {quoted(name)}" for name in self.inserts)
            inserted = duck.changed(
                f"INSERT INTO {table} ({self.columns}) SELECT {self.columns} FROM ({rows}) ORDER BY {self.sorted_by}"
            )
        for start in range(0, len(self.files), FILES_PER_CALL):
            _register(duck, self.order, self.files[start : start + FILES_PER_CALL])
        rows_now = self._rows_now(duck, conn, inserted - deleted)
        if rows_now != self.rows_after:
            raise InvariantBroken(
                f"{self.order.physical} would have {rows_now} rows after the refresh instead of {self.rows_after}"
            )

    def _rows_now(self, duck: Duck, conn: Connection[Any], more: int) -> int:
        """How many rows the table has in the transaction. DuckLake counts them by opening every file. The catalog is
        asked now: it knows all that the transaction can see, and what was committed since, which is refused too."""
        before = None if self.files else catalog.rows_now(conn, self.order.physical_id)
        if before is not None:
            return before + more
        return int(duck.value(f"SELECT count(*) FROM {lake_name(self.order.physical)}"))

    def _expected(self, duck: Duck) -> int | None:
        if self.deleted is None or not self.kept:
            return self.deleted
        return self.deleted + int(duck.value(f"SELECT count(*) FROM {quoted('kept')}"))

    def _delete(self, duck: Duck, table: str) -> int:
        if self.is_whole:
            return duck.changed(f"DELETE FROM {table}")
        deleted = 0
        if self.rewritten | self.kept:
            whole = _listed(self.rewritten | self.kept)
            deleted += duck.changed(f"DELETE FROM {table} WHERE {quoted(BUCKET)} IN ({whole})")
        if self.by_row:
            conditions: list[str] = []
            if len(self.by_row) < self.order.buckets:  # else DuckLake asks for the buckets of all files, twice
                conditions.append(f"{quoted(BUCKET)} IN ({_listed(self.by_row)})")
            if not self.is_gone_by_keys:
                conditions.append(f"rowid IN (SELECT {quoted(RID)} FROM {quoted('gone')})")
            if self.gone_keys:
                conditions.append(self.gone_keys)
            deleted += duck.changed(f"DELETE FROM {table} WHERE {' AND '.join(conditions)}")
        return deleted


def _register(duck: Duck, order: Order, files: Sequence[str]) -> None:
    duck.run(
        "CALL ducklake_add_data_files(?, ?, ?, schema => ?, hive_partitioning => true)",
        [ALIAS, order.physical.name, list(files), order.physical.schema],
    )


def _listed(buckets: Collection[int]) -> str:
    return ", ".join(f"{bucket:d}" for bucket in sorted(buckets))


def publish_rows(
    work: Work,
    control: Control,
    publication: Publication,
    difference: Difference,
    *,
    is_whole: bool = False,
    deleted: int | None = None,
) -> Published:
    """Publish ``gone`` and ``added``; with ``is_whole`` the table is emptied and gets ``added``.

    ``deleted`` is what emptying has to find, None if any number will do. An empty difference moves the frontier alone.
    Raises ``LakeError`` for numbers that cannot be stored, ``ClaimLost`` or ``PublishVetoed`` when another attempt has
    the refresh, ``InvariantBroken`` when the table
    is not what was read, ``CommitConflict`` when other commits came first too often: then nothing was written.
    """
    order = work.order
    if difference.inserted:
        check_range(work, "added")
    control.prepare_publish(order.refresh_id, order.fence, publication)
    if difference.is_empty and not is_whole and order.replaces is None:
        control.move_frontier(order.refresh_id, order.fence)
        return Published(None, "frontier", 1, 0.0)
    gone_keys = among_keys(work) if publication.action == Action.INCREMENTAL else None
    change = _Change(
        order,
        publication.rows_after,
        is_whole=is_whole,
        gone=difference.buckets,
        deleted=deleted if is_whole else difference.deleted,
        gone_keys=gone_keys,
        is_gone_by_keys=gone_keys is not None and has_all_gone(work),
        inserts=() if difference.is_empty else ("added",),
    )
    with control.connection() as conn:
        crowded = _crowded(work, conn, change) if difference.deleted >= CROWDED_ROWS else frozenset[int]()
        if crowded:
            change = _rewriting(work.duck, change, crowded)
        try:
            return _publish(work.duck, control, conn, change)
        finally:
            work.duck.drop_temporary(["kept"])


def _crowded(work: Work, conn: Connection[Any], change: _Change) -> frozenset[int]:
    """Buckets that lose many rows and are better rewritten: scans of a file with many deleted rows, and further deletes
    in it, are slow."""
    if not change.by_row:
        return frozenset()
    rows = catalog.bucket_rows(conn, work.order.physical_id)
    lost = work.duck.rows(f"SELECT {quoted(BUCKET)}, count(*) FROM {quoted('gone')} GROUP BY {quoted(BUCKET)}")
    share = work.duck.settings.lake_rewrite_above
    return frozenset(bucket for bucket, count in lost if count >= CROWDED_ROWS and count > share * rows.get(bucket, 0))


def publish_files(
    duck: Duck,
    control: Control,
    catalog_conn: Connection[Any],
    order: Order,
    publication: Publication,
    files: Sequence[str],
    deletes: Sequence[str],
    rewritten: Collection[int],
    *,
    is_whole: bool = False,
) -> int:
    """Publish what subtasks have written: data files to register, files of row ids to delete, buckets written whole.

    Within the caller's turn of the DuckDB. Returns the snapshot, or the one of the content when there was nothing to
    write. Raises as ``publish_rows`` does, and ``LakeError`` for a file that is registered already: DuckLake would take
    it twice.
    """
    _check_files(catalog_conn, order, files)
    control.prepare_publish(order.refresh_id, order.fence, publication)
    # An empty table that stays empty: a commit of nothing leaves no snapshot, and nothing would move the frontier.
    has_rows_to_go = is_whole and publication.deleted > 0
    if not (files or deletes or rewritten or has_rows_to_go or order.replaces):
        control.move_frontier(order.refresh_id, order.fence)
        return order.commit_snapshot or order.stored_snapshot
    try:
        gone, count = _read_deletes(duck, deletes)
        change = _Change(
            order,
            publication.rows_after,
            is_whole=is_whole,
            gone=gone,
            rewritten=frozenset(rewritten),
            deleted=count if not rewritten and not is_whole else None,
            files=tuple(files),
        )
        published = _publish(duck, control, catalog_conn, change)
    finally:
        duck.drop_temporary(["gone", "kept"])
    return published.snapshot or 0


def _check_files(conn: Connection[Any], order: Order, files: Sequence[str]) -> None:
    doubles = {path for path in files if files.count(path) > 1} if len(set(files)) < len(files) else set[str]()
    doubles |= catalog.registered(conn, order.physical_id, files)
    if doubles:
        raise LakeError(
            f"refresh {order.refresh_id} would register {len(doubles)} files a second time, such as {min(doubles)}",
            hint="Refresh the table again; this refresh has written nothing.",
        )


def _read_deletes(duck: Duck, deletes: Sequence[str]) -> tuple[frozenset[int], int]:
    if not deletes:
        return frozenset(), 0
    columns = f"{quoted(RID)}, {quoted(BUCKET)}"
    count = duck.changed(
        f"CREATE OR REPLACE TEMP TABLE {quoted('gone')} AS SELECT {columns} FROM read_parquet(?)", [list(deletes)]
    )
    rows = duck.rows(f"SELECT DISTINCT {quoted(BUCKET)} FROM {quoted('gone')}")
    return frozenset(row[0] for row in rows), count


def _publish(duck: Duck, control: Control, conn: Connection[Any], change: _Change) -> Published:
    """Commit, with retries. Other attempts of this refresh are refused by the guard, not here."""
    began = time.perf_counter()
    for attempt in range(1, TRIES + 1):
        try:
            return _try(duck, control, conn, change, attempt, began)
        except CommitConflict:
            # Where the catalog went away, DuckLake could not remove what it had written.
            control.note_directory(change.order.refresh_id)
            time.sleep(FIRST_PAUSE * 2**attempt)
    if change.by_row:
        change = _rewriting(duck, change, change.by_row)
    return _try(duck, control, conn, change, TRIES + 1, began)


def _try(duck: Duck, control: Control, conn: Connection[Any], change: _Change, attempt: int, began: float) -> Published:
    order = change.order
    passed = duck.remembered.get("passed holder")
    with (
        control.lock_session() as session,
        publishing_lock(session, order.refresh_id, order.fence, passed=passed) as holder,
    ):
        duck.remembered["passed holder"] = holder
        is_clean = not change.by_row or not catalog.files_with_deletes(conn, change.order.physical_id, change.by_row)
        with nullcontext() if is_clean else duck.without_retries():
            snapshot = _commit(duck, control, conn, change)
    return Published(snapshot, _mode(change, is_clean), attempt, time.perf_counter() - began, holder)


def _mode(change: _Change, is_clean: bool) -> str:
    if change.is_whole:
        return "whole"
    if change.rewritten or change.kept:
        return "rewrite"
    return "clean" if is_clean else "append"


def _commit(duck: Duck, control: Control, conn: Connection[Any], change: _Change) -> int:
    order = change.order
    try:
        with duck.transaction():
            change.run(duck, conn)
            if order.replaces is not None:
                put_in_place(duck, order.replaces, Layout.from_json(order.layout).visible, order.physical)
            duck.sign(f"refresh {order.refresh_id}", refresh=order.refresh_id, fence=order.fence)
    except LakeUnavailable as error:
        if error.code != "CATALOG":
            raise
        # The connection was lost, perhaps after the commit.
        refresh = control.refresh_state(order.refresh_id)
        if refresh.state != "PUBLISHED" or refresh.fence != order.fence:
            raise CommitConflict(f"the commit did not happen: {error}") from error
    if order.replaces is not None:
        control.set_schedule()
    return control.refresh_state(order.refresh_id).commit_snapshot or 0


def _rewriting(duck: Duck, change: _Change, buckets: frozenset[int]) -> _Change:
    """The same change, with these buckets rewritten: rows that stay are read now, outside of any transaction."""
    all_kept = change.kept | buckets
    duck.run(
        f"CREATE OR REPLACE TEMP TABLE {quoted('kept')} AS"
        f" SELECT {change.columns} FROM {lake_name(change.order.physical)}"
        f" AT (VERSION => {change.order.stored_snapshot:d}) WHERE {quoted(BUCKET)} IN ({_listed(all_kept)})"
        f" AND rowid NOT IN (SELECT {quoted(RID)} FROM {quoted('gone')})"
    )
    inserts = (*(name for name in change.inserts if name != "kept"), "kept")
    return replace(change, kept=all_kept, inserts=inserts)
