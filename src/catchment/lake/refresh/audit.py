"""Compares a dynamic table with its definition: the query as it was written, over the sources as they were read.

Rows are compared as multisets. Numbers that are not exact may differ in their last digits, because the order of an
addition is not fixed; rows that differ in nothing else count as equal.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from catchment.errors import LakeError, SnapshotExpired
from catchment.lake.control.control import Control
from catchment.lake.delta.compile import oracle
from catchment.lake.duck.duck import Duck, Never, Stop
from catchment.lake.names import quoted
from catchment.lake.refresh import window
from catchment.lake.refresh.session import Work, plan_of
from catchment.lake.refresh.window import ReadingBroken

Row = tuple[Any, ...]

TOLERANCE = 1e-9
EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class AuditResult:
    """``missing``: rows of the query that the table has not; ``extra``: rows of the table that the query does not give;
    some of both as examples. ``snapshot`` is the data snapshot of the table, ``rows`` what it holds."""

    snapshot: int
    rows: int
    missing: int
    extra: int
    examples: tuple[tuple[str, Row], ...]
    seconds: float

    @property
    def is_equal(self) -> bool:
        return not self.missing and not self.extra

    @property
    def words(self) -> str:
        """What was found, for people."""
        return f"at snapshot {self.snapshot} {self.missing} rows were missing and {self.extra} too many"


def audit(duck: Duck, control: Control, dt_id: int, *, stop: Stop | None = None, limit: int = 1000) -> AuditResult:
    """Compare a table, as it is now, with its query at its data snapshot, and remember the result.

    Up to ``limit`` rows that differ are looked at for differences in the last digits. Raises ``LakeError`` when the
    table was never filled; ``SnapshotExpired`` or ``ReadingBroken`` when what it was computed from cannot be read any
    more.
    """
    began, stop = time.perf_counter(), stop or Never()
    order = control.read_content(dt_id)
    if order is None:
        raise LakeError(
            f"dynamic table {dt_id} has no content to compare",
            code="NOT_FILLED",
            hint="Refresh it first: catchment table refresh.",
        )
    with duck.turn(stop), control.connection() as conn:
        plan = plan_of(duck, conn, order)
    with Work.open(duck, order, plan, stop) as work:
        columns = ", ".join(quoted(item.name) for item in plan.layout.visible)
        work.make("truth", oracle(plan))
        rows = work.make("content", f"SELECT {columns} FROM {quoted('dt_old')}")
        missing, lacking = _only_in(work, "truth", "content", columns, limit)
        extra, spare = _only_in(work, "content", "truth", columns, limit)
        if missing or extra:
            with control.connection() as conn:
                window.check_readings(work, conn)
    if missing <= limit and extra <= limit:
        lacking, spare = _unpaired(lacking, spare)
        missing, extra = len(lacking), len(spare)
    seconds = time.perf_counter() - began
    control.add_audit(dt_id, order.data_snapshot, missing, extra, seconds * 1000)
    examples = [("missing", row) for row in lacking[:EXAMPLES]] + [("extra", row) for row in spare[:EXAMPLES]]
    return AuditResult(order.data_snapshot, rows, missing, extra, tuple(examples), seconds)


def audit_if_due(duck: Duck, control: Control, dt_id: int, every: int, *, stop: Stop) -> AuditResult | None:
    """Audit a table that was refreshed ``every`` times since the last audit; None if it was not, or if ``every`` is 0,
    or if the versions that it was computed from are gone or have changed."""
    if not every or control.refreshes_since_audit(dt_id) < every:
        return None
    try:
        return audit(duck, control, dt_id, stop=stop)
    except (SnapshotExpired, ReadingBroken):
        return None


def _only_in(work: Work, one: str, other: str, columns: str, limit: int) -> tuple[int, list[Row]]:
    """How many rows of one table have no equal in the other, and the first of them."""
    name = f"only_{one}"
    count = work.make(name, f"SELECT {columns} FROM {quoted(one)} EXCEPT ALL SELECT {columns} FROM {quoted(other)}")
    rows = work.duck.rows(f"SELECT * FROM {quoted(name)} LIMIT {limit:d}") if count else []
    return count, rows


def _unpaired(left: Sequence[Row], right: Sequence[Row]) -> tuple[list[Row], list[Row]]:
    """What is left of both sides when rows that are equal but for the last digits are taken away in pairs."""
    rest, single = list(right), list[Row]()
    for row in left:
        place = next((i for i, other in enumerate(rest) if all(map(_is_close, row, other))), None)
        if place is None:
            single.append(row)
        else:
            del rest[place]
    return single, rest


def _is_close(left: Any, right: Any) -> bool:
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=TOLERANCE, abs_tol=1e-12) or (math.isnan(left) and math.isnan(right))
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        pairs: list[tuple[Any, Any]] = list(zip(left, right, strict=False))  # pyright: ignore[reportUnknownArgumentType]
        return len(left) == len(right) and all(_is_close(*pair) for pair in pairs)  # pyright: ignore[reportUnknownArgumentType]
    return bool(left == right)
