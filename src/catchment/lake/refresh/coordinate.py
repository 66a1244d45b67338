"""Cuts a refresh into subtasks: the touched keys go to files, one folder per range, and the plan to the refresh.

The keys are written once and each subtask reads its own; nobody else needs the whole list. What is spawned afterwards
becomes real when the coordinator's attempt completes, so one that dies here leaves a few files and no subtask.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from catchment.lake.choose import partition
from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.choose.outcome import Spread
from catchment.lake.choose.parallel import Decision
from catchment.lake.control.control import Control
from catchment.lake.delta.buckets import NULL_BUCKET
from catchment.lake.delta.compile import bucket_of_keys
from catchment.lake.delta.plan import Part, Plan
from catchment.lake.duck.catalog import read_address, table_directory
from catchment.lake.files import storage
from catchment.lake.names import literal, quoted
from catchment.lake.refresh import compute
from catchment.lake.refresh.session import Work
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Action, BucketRange, Order, Strategy

GROWTH = 4
"""A table that is computed as a whole and should have this multiple of its storage buckets is rewritten."""


def spread(
    work: Work, control: Control, spread: Spread, decision: Decision, settings: LakeSettings, *, task_id: int
) -> list[BucketRange]:
    """Write the keys and keep the plan; returns the ranges, at least one, since only subtasks have a join.

    Raises ``ClaimLost`` when another attempt has the refresh.
    """
    plan = _plan(work, control, spread, decision, settings)
    if plan.mode == "keys":
        order = work.order
        control.note_artifacts(order.refresh_id, task_id, order.fence, "keys", [plan.folder])
        plan, ranges = _write_keys(work, plan)
    else:
        plan = replace(plan, strategy=_hashing(plan.strategy))
        ranges = partition.cut_all(plan.total, plan.strategy)
    control.store_plan(work.order.refresh_id, work.order.fence, plan.to_json(), spread.keys)
    return ranges or [BucketRange(0, plan.total)]


def _plan(work: Work, control: Control, spread: Spread, decision: Decision, settings: LakeSettings) -> BucketPlan:
    order = work.order
    with control.connection() as conn:
        folder = storage.attempt_dir(read_address(conn), order)
        table_dir = table_directory(conn, order.physical_id)
    mode = "all" if spread.keys is None else "keys"
    keys = order.rows or 0 if spread.keys is None else spread.keys
    total = partition.bucket_count(keys, decision.workers, settings)
    is_whole = mode == "all" and _is_whole(order, spread.action, settings)
    return BucketPlan(
        strategy=_strategy(order, work.plan),
        total=total,
        buckets=max(total, compute.bucket_count(order.rows or 0, settings.lake_rows_per_bucket))
        if is_whole
        else order.buckets,
        mode=mode,
        is_whole=is_whole,
        folder=folder,
        table_dir=table_dir,
        definition_hash=order.definition_hash,
        key_column=", ".join(dict.fromkeys(item.name for keys in work.plan.layout.keys for item in keys)),
        action=spread.action,
        reason=spread.reason,
        keys=spread.keys,
        reads=spread.reads,
        workers=decision.workers,
        no_progress_seconds=settings.parallel_no_progress_seconds,
        figures={**spread.figures, "parallel": decision.reason},
    )


def _is_whole(order: Order, action: Action, settings: LakeSettings) -> bool:
    """Whether the table is rewritten. In a repair nothing is known of what it holds: a row may be there twice, or in
    a storage bucket that no range would look into."""
    if action in (Action.REINITIALIZE, Action.REPAIR) or order.rows is None:
        return True
    return compute.bucket_count(order.rows, settings.lake_rows_per_bucket) >= GROWTH * order.buckets


def _strategy(order: Order, plan: Plan) -> Strategy:
    """As the table says. Rows were stored by its layout, so that decides between hash and modulo."""
    if plan.layout.method == "modulo":
        return Strategy.MODULO
    return _hashing(order.definition.properties.parallel_strategy, allowed=(Strategy.PARTITION,))


def _hashing(strategy: Strategy, allowed: tuple[Strategy, ...] = (Strategy.MODULO,)) -> Strategy:
    return strategy if strategy in allowed else Strategy.HASH_RANGE


def _write_keys(work: Work, plan: BucketPlan) -> tuple[BucketPlan, list[BucketRange]]:
    """Write the key files; returns how keys were cut in the end: with too many partitions it is by hash."""
    if plan.strategy == Strategy.PARTITION:
        cut = _write_partitions(work, plan)
        if cut is not None:
            return cut
    counts: dict[int, Counter[int]] = {}
    for part in work.plan.parts:
        h = bucket_of_keys(work.plan, part)
        place = f"coalesce(({h}) % {plan.total:d}, {NULL_BUCKET:d})"
        counts[part.number] = _copy(work, part, f"SELECT *, {place} AS p FROM {_keys(part)}", plan)
    ranges = partition.cut(plan.total, sum(counts.values(), Counter[int]()))
    return replace(plan, strategy=_hashing(plan.strategy), key_counts=_texts(counts)), ranges


def _texts(counts: Mapping[int, Mapping[int, int]]) -> dict[str, dict[str, int]]:
    """As JSON has it: names are texts."""
    return {str(part): {str(place): count for place, count in places.items()} for part, places in counts.items()}


def _write_partitions(work: Work, plan: BucketPlan) -> tuple[BucketPlan, list[BucketRange]] | None:
    """One range for each combination of partition values. None: there are too many, or the sources changed."""
    names = partition.partition_parts(work.plan)
    if not names:
        return None
    [part] = work.plan.parts
    columns = ", ".join(quoted(name) for name in names)
    count = work.make(
        "specs",
        f"SELECT row_number() OVER (ORDER BY {columns}) - 1 AS p, {columns}"
        f" FROM (SELECT DISTINCT {columns} FROM {_keys(part)})",
    )
    if count > partition.MOST_SPECS:
        return None
    texts = ", ".join(f"CAST({quoted(name)} AS VARCHAR)" for name in names)
    specs = [dict(zip(names, row, strict=True)) for row in work.duck.rows(f'SELECT {texts} FROM "specs" ORDER BY p')]
    same = " AND ".join(f"a.{quoted(name)} IS NOT DISTINCT FROM s.{quoted(name)}" for name in names)
    counts = _copy(work, part, f'SELECT a.*, s.p FROM {_keys(part)} AS a JOIN "specs" AS s ON {same}', plan)
    return replace(plan, total=max(1, count), key_counts=_texts({part.number: counts})), partition.cut_partition(specs)


def _copy(work: Work, part: Part, query: str, plan: BucketPlan) -> Counter[int]:
    """Write keys to folders p=0, p=1, …; returns how many are in each."""
    folder = plan.keys_folder(part.number)
    storage.make_folders([folder])
    rows: list[tuple[Any, ...]] = work.duck.rows(
        f"COPY ({query}) TO {literal(folder)} (FORMAT parquet, PARTITION_BY (p), RETURN_STATS true)"
    )
    counts: Counter[int] = Counter()
    for _, count, _, _, _, partition_keys in rows:
        counts[int(partition_keys["p"])] += count
    return counts


def _keys(part: Part) -> str:
    return quoted(f"akeys_{part.number}")
