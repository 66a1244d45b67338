"""Cuts the keys of a refresh into ranges, one for each subtask. Pure.

By ``hash_range`` and ``modulo`` a range is a remainder of the key's number ``h`` (see ``buckets``), by ``partition`` it
is one combination of values of some parts of the key. Every key is in exactly one range, and a range without touched
keys is skipped. There are more ranges than workers, so that one long range does not decide how long all take.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sqlglot import exp

from catchment.lake.delta.buckets import NULL_BUCKET, is_hashable
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.relation import Block, Opaque, Table
from catchment.lake.reasons import Reason, refused
from catchment.lake.settings import LakeSettings
from catchment.lake.types import BucketRange, Strategy

MOST_SPECS = 256
"""Up to this number, partitions become subtasks; with more, the keys are cut by hash."""

MOST_RANGES = 4096
"""Ranges are not halved beyond this: what does not fit then is a few keys with very many rows."""


def bucket_count(keys: int, workers: int, settings: LakeSettings) -> int:
    """Into how many ranges a refresh is cut: a power of two."""
    wanted = max(
        settings.parallel_buckets_per_worker * workers,
        -(-keys // settings.parallel_keys_per_bucket),
        settings.parallel_min_buckets,
    )
    return min(power_of_two(wanted), _power_below(settings.parallel_max_buckets))


def power_of_two(wanted: int) -> int:
    """The smallest power of two that is not below."""
    return 1 << max(0, wanted - 1).bit_length()


def _power_below(most: int) -> int:
    return 1 << (max(1, most).bit_length() - 1)


def cut(total: int, counts: Mapping[int, int]) -> list[BucketRange]:
    """The ranges that have keys, the biggest first; ``counts`` by remainder, -1 for keys that are NULL.

    Big ones first, because what starts last decides when all are done.
    """
    biggest_first = sorted(counts, key=lambda partition: (-counts[partition], partition))
    return [
        BucketRange(None if partition == NULL_BUCKET else partition, total)
        for partition in biggest_first
        if counts[partition]
    ]


def cut_all(total: int, strategy: Strategy) -> list[BucketRange]:
    """Every range, for a refresh of the whole table; by modulo one more, for NULL."""
    nulls = [BucketRange(None, total)] if strategy == Strategy.MODULO else []
    return [BucketRange(partition, total) for partition in range(total)] + nulls


def cut_partition(specs: Iterable[Mapping[str, Any]]) -> list[BucketRange]:
    """One range for each combination of values; ``{"k2": "2024"}`` names parts of the key."""
    parts = [dict(spec) for spec in specs]
    return [BucketRange(place, len(parts), spec) for place, spec in enumerate(parts)]


def halve(keys: BucketRange) -> tuple[BucketRange, BucketRange] | None:
    """The two halves of a range, or None when it has none: NULL is one key, and few keys with many rows stay together.
    A partition is halved by the hash of its keys."""
    if keys.partition is None or keys.total >= MOST_RANGES:
        return None
    total = keys.total * 2
    return replace(keys, total=total), replace(keys, partition=keys.partition + keys.total, total=total)


def half_of(keys: BucketRange, planned: int) -> tuple[int, int] | None:
    """Which keys of the range that was planned are in what halving left of it: those whose ``h`` has this remainder by
    this number; None for all. ``planned`` is the number of ranges at first."""
    if keys.partition is None or keys.total == planned:
        return None
    if keys.spec is None:
        return keys.partition, keys.total
    return keys.partition // planned, keys.total // planned


def storage_of(keys: BucketRange, buckets: int) -> frozenset[int] | None:
    """The storage buckets that rows of a range are in; None when that can be any."""
    if keys.spec is not None:
        return None
    if keys.partition is None:
        return frozenset({NULL_BUCKET})
    return frozenset(range(keys.partition % buckets, buckets, min(keys.total, buckets)))


def owns_storage(keys: BucketRange, buckets: int) -> bool:
    """Whether the storage buckets of a range have rows of no other range."""
    return keys.spec is None and (keys.partition is None or keys.total <= buckets)


def is_cuttable(plan: Plan) -> bool:
    """Whether keys have a hash, and a range of them can be computed without all the others.

    A definition that is only ever computed as it is written would be computed whole for every range.
    """
    if any(isinstance(part.block.sources[0].relation, Opaque) for part in plan.parts if len(part.block.sources) == 1):
        return False
    if plan.layout.method == "modulo":
        return True
    return all(any(map(is_hashable, plan.layout.key_types(part.number))) for part in plan.parts)


def partition_parts(plan: Plan) -> tuple[str, ...]:
    """The parts of the key (k1, k2, …) that are all partition columns of one source; empty when there are none."""
    if len(plan.parts) != 1:
        return ()
    block = plan.parts[0].block
    for source in block.sources:
        if isinstance(source.relation, Table) and source.relation.table.partitioned_by:
            places = [_place(block, source.alias, name) for name in source.relation.table.partitioned_by]
            if None not in places:
                return tuple(f"k{place}" for place in sorted(set(filter(None, places))))
    return ()


def _place(block: Block, alias: str, name: str) -> int | None:
    for place, key in enumerate(block.key, start=1):
        if isinstance(key, exp.Column) and key.table == alias and key.name.lower() == name.lower():
            return place
    return None


def check_strategy(strategy: Strategy, plan: Plan) -> None:
    """Refuse a strategy that this table cannot have. A group that spans partitions would be computed once in each."""
    if strategy != Strategy.PARTITION or partition_parts(plan):
        return
    columns = sorted({f"{table.table.ref}.{name}" for table in plan.tables for name in table.table.partitioned_by})
    raise refused(
        Reason.STRATEGY_NOT_POSSIBLE,
        "parallel_strategy = partition needs a source whose partition columns are all parts of the key; "
        + (f"these are not: {', '.join(columns)}" if columns else "no source is partitioned by a plain column"),
    )
