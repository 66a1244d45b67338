"""Computes one range of keys of a refresh and writes what came of it as Parquet: the work of a subtask.

Nothing is committed here. Data files go to their final place below the table's directory, where nobody sees them until
the join registers them; row ids to delete go to the refresh's scratch folder. Every file is written down before it is
made. Doing a range again gives the same rows in files of other names, so attempts may overlap.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from catchment.errors import LakeError
from catchment.lake.choose import partition
from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.control.control import Control
from catchment.lake.delta.buckets import NULL_BUCKET
from catchment.lake.delta.compile import bucket_of_keys
from catchment.lake.delta.layout import ROW_GROUP
from catchment.lake.duck import catalog
from catchment.lake.duck.duck import Duck, Never, Stop
from catchment.lake.files import storage
from catchment.lake.names import BRANCH, BUCKET, RID, literal, quoted
from catchment.lake.refresh import compute
from catchment.lake.refresh.session import Work, plan_of
from catchment.lake.settings import LakeSettings
from catchment.lake.types import BucketRange, BucketResult, Order

Counts = list[tuple[int, int, int]]
"""Storage bucket, rows in its files, rows of them that are deleted."""

STEPS = 4
"""Keys, rows now, difference, files: what ``Attempt.progress`` counts."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """Who computes: the task, its fence, and which start of it this is."""

    task_id: int
    fence: int
    number: int
    progress: Callable[[int], None] = lambda _: None


class Desk(Protocol):
    """What computing a range asks of the side that has the catalog and knows the names of files."""

    @property
    def mark(self) -> str:
        """Which attempt this is, and on which side it computes: no two write one file."""
        ...

    def progress(self, step: int) -> None: ...

    def data_path(self, bucket: int) -> str:
        """The file for the rows of one storage bucket."""
        ...

    def note(self, kind: str, paths: Collection[str]) -> None:
        """Write files down that are about to be made."""
        ...

    def bucket_counts(self) -> Counts:
        """The rows of each storage bucket of the table, and how many of them are deleted."""
        ...


def compute_bucket(
    duck: Duck,
    control: Control,
    order: Order,
    keys: BucketRange,
    attempt: Attempt,
    settings: LakeSettings,
    stop: Stop,
) -> BucketResult:
    """Compute a range and write its files. Raises ``LakeOutOfMemory`` when it does not fit; then it can be halved.

    On any error the files of this attempt are removed again, as far as the process lives to do so.
    """
    began = time.monotonic()
    plan = BucketPlan.from_order(order)
    order = replace(order, buckets=plan.buckets)
    written = Written(duck, control, order, plan, keys, attempt)
    with duck.turn(stop), control.connection() as conn:
        definition = plan_of(duck, conn, order)
    try:
        with Work.open(duck, order, definition, stop) as work:
            result = compute_range(work, plan, keys, settings.lake_rewrite_above, written)
    except BaseException:
        written.remove()
        raise
    return replace(result, seconds=time.monotonic() - began, attempt=attempt.number)


@dataclass(slots=True)
class Written:
    """The files of one attempt: the desk of a worker."""

    duck: Duck
    control: Control
    order: Order
    plan: BucketPlan
    keys: BucketRange
    attempt: Attempt
    paths: tuple[str, ...] = ()
    _named: dict[int, str] = field(default_factory=dict[int, str])

    @property
    def mark(self) -> str:
        return f"a{self.attempt.number}"

    def progress(self, step: int) -> None:
        self.attempt.progress(step)

    def data_path(self, bucket: int) -> str:
        """Always the same one for a bucket."""
        if bucket not in self._named:
            self._named[bucket] = storage.bucket_path(
                self.plan.table_dir, bucket, self.order, self.keys, self.attempt.number
            )
        return self._named[bucket]

    def bucket_counts(self) -> Counts:
        with self.control.connection() as conn:
            return catalog.bucket_counts(conn, self.order.physical_id)

    def note(self, kind: str, paths: Collection[str]) -> None:
        attempt = self.attempt
        self.control.note_artifacts(self.order.refresh_id, attempt.task_id, attempt.fence, kind, paths)
        self.paths += tuple(paths)
        storage.make_folders(paths)

    def remove(self) -> None:
        """Remove what was made. The rows in the list of files stay for the sweep: it looks again later."""
        if self.paths:
            with self.duck.turn(Never()):
                storage.remove(self.duck, self.control, self.paths)


def compute_range(work: Work, plan: BucketPlan, keys: BucketRange, rewrite_above: float, desk: Desk) -> BucketResult:
    """Compute a range and write its files, by what the desk says alone. ``rewrite_above`` is the share of deleted rows
    from which a storage bucket is rewritten."""
    progress = desk.progress
    by_keys = plan.mode == "keys"
    if by_keys:
        _load_keys(work, plan, keys)
    progress(1)
    compute.fresh(work, by_keys=by_keys, only=None if by_keys else keys)
    progress(2)
    if plan.is_whole:
        work.view("out", _layout_of(work, "fresh"))
        result = BucketResult(inserted=work.count("fresh"))
    else:
        result = _compare(work, plan, keys, rewrite_above, desk)
    progress(3)
    files = write(work, desk)
    progress(STEPS)
    return replace(
        result, files=tuple(path for path, _, _ in files), rows=sum(f[1] for f in files), bytes=_bytes(files)
    )


def _bytes(files: list[tuple[str, int, int]]) -> int:
    return sum(size for _, _, size in files)


def _load_keys(work: Work, plan: BucketPlan, keys: BucketRange) -> None:
    """``akeys_<part>``: the touched keys of this range alone. Half of a range reads the files of the whole."""
    place = NULL_BUCKET if keys.partition is None else keys.partition % plan.total
    for part in work.plan.parts:
        name = f"akeys_{part.number}"
        if not plan.keys_in(part.number, place):
            # A part of a UNION ALL without touched keys in this range.
            types = work.plan.layout.key_types(part.number)
            columns = ", ".join(f"CAST(NULL AS {kind}) AS k{i}" for i, kind in enumerate(types, start=1))
            work.make(name, f"SELECT {columns} WHERE false")
            continue
        files = _key_files(work, plan, part.number, place)
        half = partition.half_of(keys, plan.total)
        where = "" if half is None else f" WHERE ({bucket_of_keys(work.plan, part)}) % {half[1]:d} = {half[0]:d}"
        work.make(name, f"SELECT * FROM read_parquet(?, hive_partitioning = false){where}", [files])


def _key_files(work: Work, plan: BucketPlan, part: int, place: int) -> list[str]:
    """The files with the keys of a range. Raises ``LakeError`` unless they hold all keys that were written: missing
    ones would silently be missing from the table."""
    folder = f"{plan.keys_folder(part)}p={place}/"
    files = storage.list_files(work.duck, folder)
    counted = work.duck.value("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [files]) if files else 0
    expected = plan.keys_in(part, place)
    if counted != expected:
        raise LakeError(
            f"refresh {work.order.refresh_id} wrote {expected} keys to {folder}, and {counted} are there",
            code="STORAGE",
            hint="Files below the data path of the lake were changed from outside. Refresh the table again.",
        )
    return files


def _compare(work: Work, plan: BucketPlan, keys: BucketRange, rewrite_above: float, desk: Desk) -> BucketResult:
    """Find the difference and decide how it is written: as rows that go and rows that come, or as whole buckets."""
    owned = partition.storage_of(keys, plan.buckets) if partition.owns_storage(keys, plan.buckets) else None
    near = partition.storage_of(keys, plan.buckets)
    by_keys = plan.mode == "keys"
    compute.stored(work, by_keys=by_keys, only=None if by_keys or owned else keys, storage=near)
    difference = compute.difference(work)
    work.drop("fresh", "stored")
    result = BucketResult(inserted=difference.inserted, deleted=difference.deleted)
    if owned and difference.deleted and _is_rewritten(desk, owned, difference.deleted, rewrite_above):
        compute.keep_others(work, owned)
        work.view("out", f"{_layout_of(work, 'kept')} UNION ALL {_layout_of(work, 'added')}")
        return replace(result, rewritten=tuple(sorted(owned)))
    work.view("out", _layout_of(work, "added"))
    return replace(result, deletes=_write_deletes(work, plan, keys, desk) if difference.deleted else None)


def _layout_of(work: Work, table: str) -> str:
    columns = ", ".join(quoted(item.name) for item in work.plan.layout.columns)
    return f"SELECT {columns} FROM {quoted(table)}"


def _is_rewritten(desk: Desk, owned: Collection[int], deleted: int, above: float) -> bool:
    """A bucket that loses many rows is rewritten, and one that has lost some before: deleting again from such a
    file may be dated wrongly when another session commits meanwhile."""
    counts = [(rows, gone) for bucket, rows, gone in desk.bucket_counts() if bucket in owned]
    if any(gone for _, gone in counts):
        return True
    return deleted > above * sum(rows for rows, _ in counts)


def deletes_path(plan: BucketPlan, keys: BucketRange, mark: str) -> str:
    """The file for the row ids that an attempt wants deleted."""
    part = "null" if keys.partition is None else str(keys.partition)
    return f"{plan.folder}deletes/{keys.total}-{part}-{mark}.parquet"


def _write_deletes(work: Work, plan: BucketPlan, keys: BucketRange, desk: Desk) -> str:
    path = deletes_path(plan, keys, desk.mark)
    desk.note("deletes", [path])
    columns = f"{quoted(RID)}, {quoted(BUCKET)}"
    work.duck.run(f"COPY (SELECT {columns} FROM {quoted('gone')}) TO {literal(path)} (FORMAT parquet)")
    return path


def write(work: Work, desk: Desk) -> list[tuple[str, int, int]]:
    """One file for each storage bucket of ``out``, sorted by key; returns path, rows and bytes of each."""
    compute.check_range(work, "out")
    buckets = [row[0] for row in work.duck.rows(f"SELECT DISTINCT {quoted(BUCKET)} FROM {quoted('out')} ORDER BY 1")]
    paths = {bucket: desk.data_path(bucket) for bucket in buckets}
    desk.note("data", list(paths.values()))
    columns = ", ".join(quoted(item.name) for item in work.plan.layout.columns if item.name != BUCKET)
    sort = ", ".join(dict.fromkeys(quoted(name) for name in _sort_columns(work)))
    files: list[tuple[str, int, int]] = []
    for bucket, path in paths.items():
        rows: list[tuple[Any, ...]] = work.duck.rows(
            f"COPY (SELECT {columns} FROM {quoted('out')} WHERE {quoted(BUCKET)} = {bucket:d} ORDER BY {sort})"
            f" TO {literal(path)} (FORMAT parquet, COMPRESSION zstd, ROW_GROUP_SIZE {ROW_GROUP:d}, RETURN_STATS true)"
        )
        files.append((path, sum(row[1] for row in rows), sum(row[2] for row in rows)))
    return files


def _sort_columns(work: Work) -> list[str]:
    """Rows of one key lie together, so that looking for a few keys reads little."""
    layout = work.plan.layout
    branch = [BRANCH] if len(layout.keys) > 1 else []
    return branch + [item.name for keys in layout.keys for item in keys]
