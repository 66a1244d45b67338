"""A range of a refresh that is computed where there is no catalog: what is sent there, and what comes back.

A job is JSON: the order as the database gave it, the answers that planning got, an extract of the catalog, and the
names of all files that may be written. They are noted before the job is sent. What comes back names the files that were
written. Only the worker speaks to PostgreSQL, and only it registers, notes and removes files.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import duckdb

from catchment.errors import LakeError, LakeInterrupted, LakeOutOfMemory
from catchment.lake.choose import partition
from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.control.control import Control
from catchment.lake.control.wire import read_order
from catchment.lake.delta.buckets import NULL_BUCKET
from catchment.lake.duck import catalog, extensions
from catchment.lake.duck.attach import prepare
from catchment.lake.duck.duck import Duck, Never, Stop
from catchment.lake.duck.extract import Extract, attach_extract, take_extract
from catchment.lake.files import storage
from catchment.lake.query.recorded import Recorded
from catchment.lake.refresh import bucket
from catchment.lake.refresh.session import Work, analysed, recorded_plan
from catchment.lake.settings import LakeSettings, bytes_of
from catchment.lake.types import BucketRange, BucketResult, Json, Order

FUNCTION = "catchment.lake.refresh.remote:compute"


@dataclass(frozen=True, slots=True)
class Job:
    """A range to compute elsewhere: ``text`` is all that is sent."""

    text: str
    control: Control
    written: bucket.Written
    kinds: Mapping[str, tuple[str, ...]]

    def result(self, answer: str) -> BucketResult:
        """The result in an answer. Raises what was raised there."""
        said: dict[str, Any] = json.loads(answer)
        if "error" in said:
            raise _error(**said["error"])
        values = said["result"]
        for name in ("files", "rewritten"):
            values[name] = tuple(values[name])
        result = BucketResult(**values)
        kept = {*result.files, result.deletes}
        self.control.forget_artifacts([path for path in self.written.paths if path not in kept])
        return result

    def note_again(self) -> None:
        """Note the files once more. Its body may still write for a while: the sweep counts from now."""
        for kind, paths in self.kinds.items():
            self.written.note(kind, paths)


def make_job(
    duck: Duck,
    control: Control,
    raw: Json,
    order: Order,
    keys: BucketRange,
    attempt: bucket.Attempt,
    settings: LakeSettings,
    stop: Stop,
) -> Job:
    """Describe a range, and note the files that it may write. ``raw`` is the order as the database gave it."""
    plan = BucketPlan.from_order(order)
    order = replace(order, buckets=plan.buckets)
    with duck.turn(stop), control.connection() as conn:
        definition, answers = recorded_plan(duck, conn, order)
        address = catalog.read_address(conn)
        tables = {table.table.table_id for table in definition.tables if table.table.table_id} | {order.physical_id}
        key = (order.refresh_id, order.fence, catalog.head(conn))
        kept: tuple[object, Extract] | None = duck.remembered.get("extract")
        if kept is None or kept[0] != key or attempt.number > 1:
            snapshots = {read.new for read in order.reads} | {order.stored_snapshot}
            kept = (key, take_extract(conn, address.metadata_schema, tables, snapshots))
            duck.remembered["extract"] = kept
        counts = catalog.bucket_counts(conn, order.physical_id)
    written = bucket.Written(duck, control, order, plan, keys, attempt)
    paths = {place: written.data_path(place) for place in _storage(keys, plan)}
    kinds = {"data": tuple(paths.values())}
    if not plan.is_whole:
        kinds["deletes"] = (bucket.deletes_path(plan, keys, _mark(attempt.number)),)
    for kind, names in kinds.items():
        written.note(kind, names)
    left = None if order.deadline_at is None else order.deadline_at.timestamp() - time.time()
    text = json.dumps(
        {
            "order": raw,
            "answers": answers,
            "extract": kept[1],
            "data_path": address.data_path,
            "keys": [keys.partition, keys.total, None if keys.spec is None else dict(keys.spec)],
            "paths": [[place, path] for place, path in paths.items()],
            "counts": counts,
            "number": attempt.number,
            "rewrite_above": settings.lake_rewrite_above,
            "threads": settings.lake_ray_cpus,
            "memory": bytes_of(settings.lake_ray_memory),
            "seconds_left": left,
        }
    )
    return Job(text, control, written, kinds)


def _mark(number: int) -> str:
    """Of an attempt elsewhere. Its worker may compute in its place while it still runs, unheard of."""
    return f"e{number}"


def _storage(keys: BucketRange, plan: BucketPlan) -> Collection[int]:
    """The storage buckets that rows of a range may be in."""
    near = partition.storage_of(keys, plan.buckets)
    return sorted(near) if near is not None else [NULL_BUCKET, *range(plan.buckets)]


@dataclass(frozen=True, slots=True)
class _Sent:
    """The desk of a job: all it says was sent with it."""

    paths: Mapping[int, str]
    counts: bucket.Counts
    mark: str
    report: Callable[[int, int], None]

    def progress(self, step: int) -> None:
        self.report(step, bucket.STEPS)

    def data_path(self, bucket: int) -> str:
        return self.paths[bucket]

    def bucket_counts(self) -> bucket.Counts:
        return self.counts

    def note(self, kind: str, paths: Collection[str]) -> None:  # noqa: ARG002 - the worker has noted them
        storage.make_folders(paths)


def compute(text: str, report: Callable[[int, int], None]) -> str:
    """Compute a job; returns the answer. Called on a node of a cluster."""
    job: dict[str, Any] = json.loads(text)
    try:
        return json.dumps({"result": asdict(_compute(job, report))})
    except LakeError as error:
        said = {"kind": type(error).__name__, "text": str(error), "code": error.code, "hint": error.hint}
    except duckdb.Error as error:
        said = {"kind": "query", "text": str(error), "code": "QUERY", "hint": None}
    return json.dumps({"error": said})


def _compute(job: Mapping[str, Any], report: Callable[[int, int], None]) -> BucketResult:
    began = time.monotonic()
    order = read_order(job["order"])
    plan = BucketPlan.from_order(order)
    order = replace(order, buckets=plan.buckets)
    limits = {"lake_threads": job["threads"], "lake_memory_limit": f"{job['memory']}B"}
    settings = LakeSettings.read().model_copy(update=limits)
    counts = [(place, rows, gone) for place, rows, gone in job["counts"]]
    desk = _Sent(dict(job["paths"]), counts, _mark(job["number"]), report)
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="catchment-"))
        duck = _open(job, settings, Path(folder))
        stack.callback(duck.close)
        definition = analysed(order, Recorded(job["answers"]))
        work = stack.enter_context(Work.open(duck, order, definition, _stop(job["seconds_left"])))
        result = bucket.compute_range(work, plan, BucketRange(*job["keys"]), job["rewrite_above"], desk)
    return replace(result, seconds=time.monotonic() - began, attempt=job["number"])


def _open(job: Mapping[str, Any], settings: LakeSettings, folder: Path) -> Duck:
    instance = extensions.take_instance(settings.temp_directory)
    prepare(instance, job["data_path"], settings)
    attach_extract(instance, job["extract"], job["data_path"], folder)
    duck = Duck(instance, f"extract:{folder}", settings)
    duck.set_up()
    return duck


@dataclass(frozen=True, slots=True)
class _Deadline:
    """A ``Stop`` of a clock that only measures durations."""

    ends: float

    def reason(self) -> str | None:
        return "it is past its deadline" if time.monotonic() > self.ends else None


def _stop(seconds_left: float | None) -> Stop:
    return Never() if seconds_left is None else _Deadline(time.monotonic() + seconds_left)


def _error(kind: str, text: str, code: str, hint: str | None) -> Exception:
    if kind == "query":
        return duckdb.Error(text)
    kinds: dict[str, type[LakeError]] = {"LakeOutOfMemory": LakeOutOfMemory, "LakeInterrupted": LakeInterrupted}
    return kinds.get(kind, LakeError)(text, code=code, hint=hint)
