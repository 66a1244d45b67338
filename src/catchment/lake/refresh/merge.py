"""Publishes what the subtasks of a refresh have written: one commit, all or nothing.

Only results that the engine recorded are used. An attempt that was taken for dead may have written files too; they have
other names and are swept.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from statistics import median
from typing import Any

from catchment.errors import LakeError
from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck, Stop
from catchment.lake.refresh import window
from catchment.lake.refresh.publish import publish_files
from catchment.lake.refresh.session import Work, plan_of
from catchment.lake.types import BucketResult, Executor, Order, Publication


def publish_buckets(
    duck: Duck, control: Control, order: Order, results: Sequence[BucketResult], stop: Stop
) -> dict[str, Any]:
    """Check the files and publish them; returns figures. Raises as ``publish_files`` does, and ``SourceMoved`` or
    ``ReadingBroken`` when a source was changed in its past while the subtasks read it."""
    began = time.perf_counter()
    plan = BucketPlan.from_order(order)
    order = replace(order, buckets=plan.buckets)
    done = [result for result in results if not result.is_split]
    with control.connection() as conn:
        with duck.turn(stop):
            definition = plan_of(duck, conn, order)
        with Work.open(duck, order, definition, stop) as work:
            _check_rows(duck, order, done)
            window.recount(work, conn, plan.reads)
            publication = _publication(plan, done, len(results), work.count("dt_old"))
            checked = time.perf_counter()
            publish_files(
                duck,
                control,
                conn,
                order,
                publication,
                [path for result in done for path in result.files],
                [result.deletes for result in done if result.deletes is not None],
                [bucket for result in done for bucket in result.rewritten],
                is_whole=plan.is_whole,
            )
    ended = time.perf_counter()
    return {
        "check_ms": round((checked - began) * 1000, 1),
        "publish_ms": round((ended - checked) * 1000, 1),
        # A sample of what it would take in one task: predictions are about that.
        "cost_ms": plan.figures["compute_ms"] + 1000 * (sum(result.seconds for result in done) + ended - began),
    }


def _check_rows(duck: Duck, order: Order, results: Sequence[BucketResult]) -> None:
    """A file that is shorter than its subtask said was not written to its end, or is another one."""
    paths = [path for result in results for path in result.files]
    said = sum(result.rows for result in results)
    kept = duck.value("SELECT sum(num_rows) FROM parquet_file_metadata(?)", [paths]) if paths else 0
    if said != kept:
        raise LakeError(
            f"the subtasks of refresh {order.refresh_id} wrote {said} rows, and their {len(paths)} files have {kept}",
            code="STORAGE",
            hint="Files below the data path of the lake were changed from outside. Refresh the table again.",
        )


def _publication(plan: BucketPlan, results: Sequence[BucketResult], subtasks: int, rows_before: int) -> Publication:
    inserted = sum(result.inserted for result in results)
    deleted = rows_before if plan.is_whole else sum(result.deleted for result in results)
    return Publication(
        action=plan.action,
        reason=plan.reason,
        inserted=inserted,
        deleted=deleted,
        rows_after=rows_before + inserted - deleted,
        keys=plan.keys,
        reads=plan.reads,
        figures={**plan.figures, **figures_of(results, subtasks)},
        buckets=plan.buckets if plan.is_whole else None,
    )


def _executors(results: Sequence[BucketResult]) -> dict[str, Any]:
    """Where subtasks were computed, and why not on the cluster; nothing if no table asked for one."""
    on_ray = sum(result.executor == Executor.RAY for result in results)
    fallbacks = list(dict.fromkeys(result.fallback for result in results if result.fallback is not None))
    if not on_ray and not fallbacks:
        return {}
    return {"subtasks_on_ray": on_ray, **({"not_on_ray": fallbacks[0][:500]} if fallbacks else {})}


def figures_of(results: Sequence[BucketResult], subtasks: int) -> dict[str, Any]:
    """What is worth knowing about the subtasks together. ``skew``: the longest against the middle one."""
    seconds = sorted(result.seconds for result in results)
    return {
        "subtasks": subtasks,
        "splits": subtasks - len(results),
        "attempts": sum(result.attempt for result in results),
        "files": sum(len(result.files) for result in results),
        "bytes": sum(result.bytes for result in results),
        "rows_written": sum(result.rows for result in results),
        "buckets_rewritten": sum(len(result.rewritten) for result in results),
        "subtask_seconds": round(sum(seconds), 3),
        "longest_subtask_seconds": round(seconds[-1], 3) if seconds else 0.0,
        **_executors(results),
        "skew": round(seconds[-1] / max(median(seconds), 1e-3), 2) if seconds else 1.0,
    }
