"""From changes to the rows that are written: runs the generated SQL of a refresh, step by step.

All of it reads, and leaves temporary tables behind: ``gone`` (``__rid``, ``__b``) names the stored rows that go,
``added`` has the rows that come, in the stored layout. Nothing here writes to the lake.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

import duckdb
from sqlglot import exp

from catchment.errors import LakeError
from catchment.lake.delta import apply, compile
from catchment.lake.delta.buckets import hash_expression, storage_bucket
from catchment.lake.delta.near import Reached
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.terms import Step, affected
from catchment.lake.names import BRANCH, BUCKET, RID, quoted
from catchment.lake.query.trees import column, named, number, select, table_as, text
from catchment.lake.refresh.session import Work, of_plan
from catchment.lake.types import BucketRange

MANY_BUCKETS = 64
"""From this number of storage buckets on, naming them does not pay."""

KEYS_PER_BUCKET = 4
"""From this number of keys for each storage bucket on, nearly all buckets have some, and nobody looks."""

_T = TypeVar("_T")
_WIDEST = re.compile(r"DECIMAL\(38,\s*(\d+)\)")


class InvariantBroken(LakeError):
    """The stored rows and the changes do not belong together. Nothing was written; the table has to be recomputed."""

    default_code = "INVARIANT"


class StatesOverflow(LakeError):
    """A sum does not fit into its stored type on the way, though the result might: the keys are to be recomputed."""

    default_code = "QUERY"


@dataclass(frozen=True, slots=True)
class Difference:
    """What is to be written: rows that come, rows that go, and the storage buckets that rows go from."""

    inserted: int
    deleted: int
    buckets: frozenset[int]

    @property
    def is_empty(self) -> bool:
        return not self.inserted and not self.deleted


def affected_keys(work: Work, changed: frozenset[int]) -> int:
    """Find the touched keys: makes ``akeys_<part>`` from ``o<i>_delta``. Returns how many there are."""
    steps = _written(work, ("affected", changed), lambda: affected(work.plan, changed))
    for step in steps:
        work.make(step.name, step.sql)
    keys = [f"akeys_{part.number}" for part in work.plan.parts]
    work.drop(*(step.name for step in steps if step.name not in keys))
    return sum(work.count(name) for name in keys)


def fresh(work: Work, *, by_keys: bool, only: BucketRange | None = None) -> int:
    """Compute ``fresh``: the rows of the touched keys, or all rows, as the definition gives them now."""
    plan, buckets = work.plan, work.order.buckets
    if not by_keys:
        return work.make("fresh", compile.all_rows(plan, buckets=buckets, only=only))
    without_null, touched = _without_null(work), _touched(work)

    def write() -> str:
        return compile.fresh_rows(plan, buckets=buckets, only=only, without_null=without_null, touched=touched)

    return work.make("fresh", _written(work, ("fresh", buckets, only, without_null, touched), write))


def stored(
    work: Work, *, by_keys: bool, only: BucketRange | None = None, storage: Collection[int] | None = None
) -> int:
    """Read ``stored``: the stored rows of the touched keys, or all; of some storage buckets, if they are given."""
    if storage is None and by_keys:
        storage = _storage_of_keys(work)
    without_null = _without_null(work) if by_keys else frozenset[int]()
    touched = _touched(work) if by_keys else frozenset[int]()

    def write() -> str:
        return compile.stored_rows(
            work.plan, storage=storage, only=only, by_keys=by_keys, without_null=without_null, touched=touched
        )

    if storage is not None:  # others the next time
        return work.make("stored", write())
    return work.make("stored", _written(work, ("stored", only, by_keys, without_null, touched), write))


def among_keys(work: Work) -> str | None:
    """A condition on stored rows that holds for those with touched keys, by their first key column; None where there is
    none. Rows are sorted by their keys: a scan with it skips most of what a row id alone would make it read."""
    keys = work.plan.layout.keys_of(1)
    if len(work.plan.parts) > 1 or not keys or not work.has("akeys_1") or not _without_null(work):
        return None
    return f"{quoted(keys[0].name)} IN (SELECT {quoted('k1')} FROM {quoted('akeys_1')})"


def has_all_gone(work: Work) -> bool:
    """Whether ``among_keys`` holds for the rows of ``gone`` and no others: all stored rows of the touched keys go, and
    the first column is all of the key."""
    return len(work.plan.layout.keys_of(1)) == 1 and work.has("stored") and work.count("gone") == work.count("stored")


def _without_null(work: Work) -> frozenset[int]:
    """The parts among whose touched keys none has a NULL."""
    numbers: set[int] = set()
    for part in work.plan.parts:
        table = f"akeys_{part.number}"
        names = [quoted(f"k{place}") for place in range(1, len(part.block.key) + 1)]
        if names and table not in work.known:
            nulls = " OR ".join(f"{name} IS NULL" for name in names)
            work.known[table] = work.duck.value(f"SELECT count(*) FROM {quoted(table)} WHERE {nulls}")
        if names and not work.known[table]:
            numbers.add(part.number)
    return frozenset(numbers)


def _touched(work: Work) -> frozenset[int]:
    """The parts that have touched keys; of a definition with one part that is known."""
    parts = work.plan.parts
    if len(parts) == 1:
        return frozenset()
    return frozenset(part.number for part in parts if work.count(f"akeys_{part.number}"))


def _storage_of_keys(work: Work) -> set[int] | None:
    """The storage buckets of the touched keys; None when they are all, or none, or too many to name."""
    total = work.order.buckets
    if total == 1 or not all(work.plan.layout.keys):
        return None
    if sum(work.count(f"akeys_{part.number}") for part in work.plan.parts) >= KEYS_PER_BUCKET * total:
        return None
    queries: list[str] = []
    for part in work.plan.parts:
        types = work.plan.layout.key_types(part.number)
        keys = [(column(f"k{place}"), kind) for place, kind in enumerate(types, start=1)]
        bucket = storage_bucket(hash_expression(keys, work.plan.layout.method), total)
        queries.append(text(select([named(bucket, BUCKET)], table_as(f"akeys_{part.number}", "__a"))))
    rows = work.duck.rows(
        f"SELECT DISTINCT {quoted(BUCKET)} FROM ({' UNION ALL '.join(queries)}) LIMIT {MANY_BUCKETS:d}"
    )
    return {row[0] for row in rows} if 0 < len(rows) < min(total, MANY_BUCKETS) else None


def difference(work: Work, *, is_ours: bool = True) -> Difference:
    """Compare ``fresh`` with ``stored``: makes ``gone`` and ``added``. Not ``is_ours``: another session may have
    written to the table, so that it may hold a row twice that the query returns once, or in a wrong storage bucket."""
    plan = work.plan
    if is_ours:
        gone, added = _written(work, ("difference",), lambda: compile.difference(plan))
    else:
        plan = replace(plan, parts=tuple(replace(part, is_unique=False) for part in plan.parts))
        gone, added = compile.difference(plan, with_bucket=True)
    deleted = work.make("gone", gone)
    inserted = work.make("added", added)
    return Difference(inserted, deleted, _buckets_of(work, "gone") if deleted else frozenset())


def apply_states(
    work: Work, changed: frozenset[int], reached: Mapping[int, Reached], decided: Callable[[int], bool]
) -> Difference | None:
    """Add the changes to the stored figures: makes ``gone`` and ``added`` without reading the groups again. ``reached``
    names the rows of sources that were found before.

    ``decided`` gets the number of touched keys once these are in ``akeys_1``. If it returns false, the result is None.
    Raises ``InvariantBroken`` for a count below zero and ``StatesOverflow`` when a sum on the way does not fit.
    """
    try:
        steps = _delta_steps(work, changed, reached)
        for step in steps:
            # By now it is known where the stored rows are, and whether a key is NULL.
            count = stored(work, by_keys=True) if step.name == "stored" else work.make(step.name, step.sql)
            if step.name == "dagg":
                work.drop(*(before.name for before in steps[: steps.index(step)]))
            if step.name == "akeys_1" and not decided(count):
                return None
        wrong = work.duck.value(apply.broken(work.plan))
    except (duckdb.OutOfRangeException, duckdb.ConversionException) as error:
        raise StatesOverflow(f"a sum does not fit into its stored type: {error}") from error
    if wrong:
        raise InvariantBroken(f"{wrong} groups would have had a count below zero, or figures without a row")
    deleted = work.count("gone")
    return Difference(work.count("added"), deleted, _buckets_of(work, "gone") if deleted else frozenset())


def _delta_steps(work: Work, changed: frozenset[int], reached: Mapping[int, Reached]) -> list[Step]:
    plan, buckets = work.plan, work.order.buckets
    key = ("steps", changed, buckets, tuple(reached.items()))
    return _written(work, key, lambda: apply.delta_steps(plan, changed, buckets=buckets, reached=reached))


def _written(work: Work, key: tuple[Hashable, ...], write: Callable[[], _T]) -> _T:
    """SQL is written once for a plan and sources of these sizes: with eight tables that takes 0.1 s."""
    made = of_plan(work.duck, work.order.dt_id)
    if made is None or made[0].parts is not work.plan.parts:
        return write()
    sizes = tuple(table.table.rows.bit_length() for table in work.plan.tables)
    known = (*key, sizes)
    if known not in made[1]:
        made[1][known] = write()
    return made[1][known]


def _buckets_of(work: Work, table: str) -> frozenset[int]:
    return frozenset(row[0] for row in work.duck.rows(f"SELECT DISTINCT {quoted(BUCKET)} FROM {quoted(table)}"))


def add_all(work: Work, buckets: int) -> None:
    """``added`` becomes all of ``fresh``, in this number of storage buckets; for a table that is written as a whole."""
    names = [column(item.name) for item in work.plan.layout.columns if item.name != BUCKET]
    bucket = column(BUCKET) if buckets == work.order.buckets else _bucket_of_row(work.plan, buckets)
    work.view("added", text(select([*names, named(bucket, BUCKET)], table_as("fresh", "__f"))))


def _bucket_of_row(plan: Plan, buckets: int) -> exp.Expr:
    """``__b`` as an expression over stored columns. With several parts, each has its own key."""
    buckets_of_parts: list[exp.Expr] = []
    for part in plan.parts:
        keys = [(column(item.name), item.type) for item in plan.layout.bucketed_by(part.number)]
        buckets_of_parts.append(storage_bucket(hash_expression(keys, plan.layout.method), buckets))
    if len(buckets_of_parts) == 1:
        return buckets_of_parts[0]
    cases = [
        exp.If(this=exp.EQ(this=column(BRANCH), expression=number(part.number)), true=bucket)
        for part, bucket in zip(plan.parts, buckets_of_parts, strict=True)
    ]
    return exp.Case(ifs=cases)


def check_range(work: Work, table: str) -> None:
    """Raise ``LakeError`` when rows that are about to be written have a number that their type cannot hold. A sum of
    DuckDB goes beyond the 38 digits of its type without an error; once stored, the whole table could not be read."""
    beyond = [(item.name, scale[1]) for item in work.plan.layout.columns if (scale := _WIDEST.fullmatch(item.type))]
    if not beyond:
        return
    tests = [_is_beyond(name, int(scale)) for name, scale in beyond]
    counts = work.duck.rows(f"SELECT {', '.join(f'count(*) FILTER ({test})' for test in tests)} FROM {quoted(table)}")
    for (name, _), count in zip(beyond, counts[0], strict=True):
        if count:
            raise LakeError(
                f"{count} rows of {work.order.definition.ref} have a number of more than 38 digits in the "
                f"column {name!r}",
                code="QUERY",
                hint="Sum a DOUBLE, or values with fewer digits after the point.",
            )


def _is_beyond(name: str, scale: int) -> str:
    digits = "9" * (38 - scale) + ("." + "9" * scale if scale else "")
    largest = f"CAST('{digits}' AS DECIMAL(38,{scale:d}))"
    return f"{quoted(name)} > {largest} OR {quoted(name)} < -{largest}"


def keep_others(work: Work, buckets: Collection[int]) -> int:
    """``kept`` becomes the rows of these storage buckets that stay, in the stored layout; returns how many."""
    columns = ", ".join(quoted(item.name) for item in work.plan.layout.columns)
    listed = ", ".join(f"{bucket:d}" for bucket in sorted(buckets))
    return work.make(
        "kept",
        f"SELECT {columns} FROM {quoted('dt_old')} WHERE {quoted(BUCKET)} IN ({listed})"
        f" AND {quoted(RID)} NOT IN (SELECT {quoted(RID)} FROM {quoted('gone')})",
    )


def bucket_count(rows: int, rows_per_bucket: int) -> int:
    """The number of storage buckets for a table of ``rows`` rows: a power of two from 1 to 256."""
    wanted = -(-rows // rows_per_bucket)
    return min(256, 1 << max(0, wanted - 1).bit_length())
