"""Random dynamic tables that read each other, refreshed together in rounds, in one piece or spread over buckets.

All tables of a round have to show the same snapshot, so each is compared with the text of its definition over the
others as they are after it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from catchment.lake.choose.outcome import Done
from catchment.lake.choose.parallel import Decision
from catchment.lake.duck.duck import Never
from catchment.lake.files import sweep
from catchment.lake.names import DT_SCHEMA, physical_name, quoted
from catchment.lake.refresh import bucket, coordinate, merge, refresh
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Order
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.expressions import TYPES
from tests.lake.fuzz.lakeside import Lakeside
from tests.lake.refresh.inline import compute_elsewhere

SPREAD = Decision(True, 2, "as the test wants it")
OPEN = """
select id from lake.refresh where round_id = %s and finished_at is null and task_id is not null order by id
"""
FEW_BUCKETS: Mapping[str, int] = {"parallel_min_buckets": 2, "parallel_buckets_per_worker": 1}


@dataclass
class Together(Lakeside):
    """Sources and dynamic tables of one seed, where some dynamic tables are sources of later ones. ``is_elsewhere``:
    ranges are computed without a catalog, in every round but the first."""

    is_elsewhere: bool = False

    def play(self, rounds: int) -> None:
        """The first round fills all tables; every third is spread."""
        for number in range(rounds):
            if number:
                self.edit()
            self.refresh_all(by_buckets=number % 3 == 2 or (self.is_elsewhere and number > 0))

    def refresh_every(self) -> None:
        """Refresh all tables in one round and compare them."""
        self.refresh_all(by_buckets=False)

    def refresh_all(self, *, by_buckets: bool) -> None:
        """One round of all tables, wave by wave, and the comparison of all."""
        ids = [self.case.find(name) for name in self.queries]
        round_id = self.case.control.request_round(ids)
        while ready := self.case.pg(OPEN, round_id):
            for (refresh_id,) in ready:
                self._carry_out(self.case.begin(refresh_id), by_buckets=by_buckets)
        for name in self.queries:
            try:
                self._compare(name)
            except AssertionError as error:
                raise AssertionError(f"seed {self.seed}, {name}: {error}\n{self.text(name)}") from error
        for (how,) in self.case.pg(
            "select coalesce(action, state) || coalesce(' ' || (figures ->> 'strategy'), '')"
            " || case when plan is null then '' else ' by buckets' end from lake.refresh where round_id = %s",
            round_id,
        ):
            self.done[how] += 1

    def edit(self) -> None:
        """Dynamic tables are read like others, and changed by nobody; but their files are compacted too."""
        everything = self.generator.tables
        self.generator.tables = {name: kinds for name, kinds in everything.items() if name not in self.queries}
        super().edit()
        self.generator.tables = everything
        if self.random.random() < 0.3:
            ((dt_id, generation),) = self.case.pg(
                "select id, generation from lake.dt where id = %s",
                self.case.find(self.random.choice(list(self.queries))),
            )
            content = physical_name(dt_id, generation)
            for call, more in (("merge_adjacent_files", ""), ("rewrite_data_files", ", delete_threshold => 0.05")):
                self.statements.append(f"-- {call} of {content}")
                self.case.sql(f"CALL ducklake_{call}('lake', ?, schema => ?{more})", [content, DT_SCHEMA])

    def _create(self, name: str, query: str) -> None:
        """Offer some of the tables to later definitions, if their columns are what these can handle."""
        super()._create(name, query)
        if name not in self.queries:
            return
        found = self.case.duck.describe(f"SELECT * FROM {quoted('lake', 'main', name)}")
        if {column.type for column in found} <= set(TYPES) and self.random.random() < 0.4:
            self.generator.tables[name] = {column.name: column.type for column in found}

    def _carry_out(self, order: Order, *, by_buckets: bool) -> None:
        name = order.definition.ref.name
        try:
            if by_buckets:
                carry_out_in_buckets(self.case, order, is_elsewhere=self.is_elsewhere)
            else:
                self.case.carry_out(order, lake_small_ms=0)
        except Exception as error:
            raise AssertionError(f"seed {self.seed}, {name}: {error}\n{self.text(name)}") from error


def carry_out_in_buckets(case: LakeCase, order: Order, *, is_elsewhere: bool = False) -> None:
    """A refresh that was begun, as the coordinator, the subtasks and the join do it, one after the other."""
    duck, control = case.duck, case.control
    settings: LakeSettings = case.settings.model_copy(update={**FEW_BUCKETS, "lake_small_ms": 0})
    found = refresh.run(duck, control, order, settings, Never(), lambda _estimate, _keys: SPREAD)
    if isinstance(found, Done):
        control.finish_refresh(order.refresh_id, order.fence, found.figures)
        return
    work, spread = found
    with work:
        ranges = coordinate.spread(work, control, spread, SPREAD, settings, task_id=0)
    planned = control.read_order(order.refresh_id)
    attempt = bucket.Attempt(0, order.fence, 1)
    results = [
        compute_elsewhere(duck, control, planned, keys, attempt, settings)
        if is_elsewhere
        else bucket.compute_bucket(duck, control, planned, keys, attempt, settings, Never())
        for keys in ranges
    ]
    order = control.begin_refresh(order.refresh_id, case.next_fence(), timedelta(hours=1), keep_plan=True)
    figures = merge.publish_buckets(duck, control, order, results, Never())
    control.finish_refresh(order.refresh_id, order.fence, figures)
    sweep.sweep(duck, control, settings, order.refresh_id)
