"""A parallel refresh without workers: its steps one after the other in this process, so that each can be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.choose.outcome import Done
from catchment.lake.choose.parallel import Decision
from catchment.lake.control.control import Control
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.files import sweep
from catchment.lake.refresh import bucket, coordinate, merge, refresh, remote
from catchment.lake.settings import LakeSettings
from catchment.lake.types import BucketRange, BucketResult, Order
from tests.fixtures.lake_case import LakeCase

HOUR = timedelta(hours=1)


@dataclass
class Parallel:
    """One refresh, spread by hand."""

    case: LakeCase
    refresh_id: int
    order: Order
    ranges: list[BucketRange]
    plan: BucketPlan
    results: list[BucketResult] = field(default_factory=list)
    is_elsewhere: bool = False

    def compute(self, keys: BucketRange, attempt: int = 1) -> BucketResult:
        """One subtask. Its task has no row, and its fence is that of nobody."""
        case = self.case
        order = case.control.read_order(self.refresh_id)
        who = bucket.Attempt(task_id=0, fence=case.next_fence(), number=attempt)
        if self.is_elsewhere:
            return compute_elsewhere(case.duck, case.control, order, keys, who, case.settings)
        return bucket.compute_bucket(case.duck, case.control, order, keys, who, case.settings, Never())

    def compute_all(self) -> None:
        self.results = [self.compute(keys) for keys in self.ranges]

    def publish(self) -> dict[str, Any]:
        """The join, with the results there are; then finish. Returns the row of the refresh."""
        control, fence = self.case.control, self.case.next_fence()
        order = control.begin_refresh(self.refresh_id, fence, HOUR, keep_plan=True)
        figures = merge.publish_buckets(self.case.duck, control, order, self.results, Never())
        control.finish_refresh(self.refresh_id, fence, figures)
        return self.case.refreshed(self.refresh_id)

    def sweep(self) -> int:
        return sweep.sweep(self.case.duck, self.case.control, self.case.settings, self.refresh_id)


def compute_elsewhere(
    duck: Duck, control: Control, order: Order, keys: BucketRange, attempt: bucket.Attempt, settings: LakeSettings
) -> BucketResult:
    """As a node of a cluster does it: all that it gets and gives is text, and it has no catalog."""
    raw = control.order_json(order.refresh_id)
    job = remote.make_job(duck, control, raw, order, keys, attempt, settings, Never())
    steps: list[int] = []
    answer = remote.compute(job.text, lambda step, _: steps.append(step))
    result = job.result(answer)
    assert steps == [1, 2, 3, 4]
    return result


def spread(case: LakeCase, name: str | int, *, workers: int = 2, **settings: Any) -> Parallel:
    """Begin a refresh of a table whose sources are up to date, or one that was asked for, and cut it."""
    wanted = case.settings.model_copy(update=settings)
    refresh_id = case.request(name) if isinstance(name, str) else name
    order = case.begin(refresh_id)
    decision = Decision(True, workers, "the test says so")
    outcome = refresh.run(case.duck, case.control, order, wanted, Never(), lambda _estimate, _keys: decision)
    assert not isinstance(outcome, Done)
    work, asked = outcome
    with work:
        ranges = coordinate.spread(work, case.control, asked, decision, wanted, task_id=0)
    order = case.control.read_order(refresh_id)
    return Parallel(case, refresh_id, order, ranges, BucketPlan.from_order(order))


def refresh_in_buckets(
    case: LakeCase, name: str | int, *, is_elsewhere: bool = False, **options: Any
) -> dict[str, Any]:
    """A whole parallel refresh; returns its row. Nothing is left behind. ``is_elsewhere``: without the catalog."""
    one = spread(case, name, **options)
    one.is_elsewhere = is_elsewhere
    one.compute_all()
    row = one.publish()
    assert one.sweep() == 0
    return row
