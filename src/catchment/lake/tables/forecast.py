"""What the next refresh of a table is expected to do: the checks and choices of a refresh, without its writes.

Where a refresh would count the touched keys before it decides, they are counted here too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import duckdb
from psycopg import Connection

from catchment.errors import CatchmentError, LakeError, SnapshotExpired
from catchment.lake.choose import cost
from catchment.lake.choose.cost import Choice, Estimate, Sample
from catchment.lake.control.control import Control
from catchment.lake.delta.plan import Plan
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.names import lake_name, physical_name
from catchment.lake.reasons import Reason
from catchment.lake.refresh import compute, window
from catchment.lake.refresh.session import Bound, Work, bind, find_sources, plan_of
from catchment.lake.refresh.window import ReadingBroken, Verdict
from catchment.lake.settings import LakeSettings
from catchment.lake.tables.answers import ChangeCount, Forecast
from catchment.lake.types import Action, Order, Read
from catchment.store.fetch import fetch_rows, fetch_value

Changes = dict[int, ChangeCount]

_NEWEST = """
select d.generation, f.commit_snapshot from lake.dt as d join lake.frontier as f on f.dt_id = d.id where d.id = %(id)s
"""


def forecast(duck: Duck, control: Control, settings: LakeSettings, dt_id: int) -> tuple[Forecast, Changes]:
    """The action and its reason, with what is known of its cost; and the changes of each source, by its id in the
    catalog. An action ``fails`` has the code of the error as its reason."""
    order = _next_order(control, dt_id)
    if order is None:
        return Forecast(Action.REINITIALIZE.value, Reason.FIRST_FILL.value), {}
    return _Forecast(duck, control, settings, order).run()


def check_sources(control: Control, dt_id: int) -> None:
    """Raise ``SourceChanged`` if the next refresh would not find a source, or a column of it."""
    order = _next_order(control, dt_id)
    if order is not None:
        with control.connection() as conn:
            find_sources(conn, order)


def _next_order(control: Control, dt_id: int) -> Order | None:
    """What a refresh would have to do now; None: the table was never filled."""
    content = control.read_content(dt_id)
    if content is None:
        return None
    with control.connection() as conn:
        head, now = fetch_value(conn, "select lake.scan_changes()"), fetch_value(conn, "select worker.now()")
        reads = tuple(_newest(conn, read, head) for read in content.reads)
    return replace(content, data_snapshot=head, data_at=now, reads=reads)


def _newest(conn: Connection[Any], read: Read, head: int) -> Read:
    """A source as it is now."""
    if read.dt_id is None:
        return replace(read, new=head, rows_new=None)
    (row,) = fetch_rows(conn, _NEWEST, id=read.dt_id)
    ref = replace(read.ref, name=physical_name(read.dt_id, row["generation"]))
    return replace(read, ref=ref, new=row["commit_snapshot"] or read.new, rows_new=None)


class _Forecast:
    def __init__(self, duck: Duck, control: Control, settings: LakeSettings, order: Order) -> None:
        self._duck = duck
        self._control = control
        self._settings = settings
        self._order = order
        self._properties = order.definition.properties
        self._samples = [Sample(*sample) for sample in control.cost_samples(order.dt_id)]

    def run(self) -> tuple[Forecast, Changes]:
        try:
            with self._duck.turn(Never()), self._control.connection() as conn:
                plan = plan_of(self._duck, conn, self._order)
                bound = bind(self._order, plan)
                verdict = window.inspect(conn, self._order, bound)
                estimate = window.estimate(conn, self._order, bound, plan)
                changes = {source.table.table.table_id: self._changed(conn, source) for source in bound}
        except CatchmentError as error:
            code = error.code if isinstance(error, LakeError) else type(error).__name__
            return Forecast("fails", code, detail=str(error)), {}
        if verdict.action == Action.INCREMENTAL and not plan.is_always_due and not estimate.changed_rows:
            return Forecast(Action.NO_DATA.value, None), changes
        return self._decide(plan, verdict, estimate), changes

    def _changed(self, conn: Any, source: Bound) -> ChangeCount:
        if source.is_replaced:
            return ChangeCount(source.table.table.rows, source.read.rows_old or 0)
        changed = window.changed(conn, source)
        return ChangeCount(changed.inserted, changed.deleted)

    def _decide(self, plan: Plan, verdict: Verdict, estimate: Estimate) -> Forecast:
        choice = cost.choose(
            self._properties.refresh_mode,
            estimate,
            self._samples,
            self._settings,
            self._properties.cardinality_threshold,
        )
        keys: int | None = None
        if verdict.action == Action.INCREMENTAL and plan.strategy == "full":
            verdict = Verdict(Action.FULL, None if plan.reason is None else plan.reason.value)
        elif verdict.action == Action.INCREMENTAL and choice.action == Action.FULL:
            verdict = Verdict(Action.FULL, choice.reason)
        elif verdict.action == Action.INCREMENTAL:
            verdict, choice, keys = self._counted(plan, choice, estimate)
        return Forecast(
            verdict.action.value,
            verdict.reason,
            changed_rows=estimate.changed_rows,
            predicted_ms=choice.predicted_ms,
            predicted_full_ms=choice.predicted_full_ms,
            detail=verdict.detail or None,
            keys=keys,
        )

    def _readings(self) -> tuple[Read, ...]:
        """What a round would count of each source when it begins."""
        with self._duck.turn(Never()):
            return tuple(
                replace(
                    read,
                    rows_new=self._duck.value(
                        f"SELECT count(*) FROM {lake_name(read.ref)} AT (VERSION => {read.new:d})"
                    ),
                )
                for read in self._order.reads
            )

    def _counted(self, plan: Plan, choice: Choice, estimate: Estimate) -> tuple[Verdict, Choice, int | None]:
        """Read the changes and count the keys that they touch, as the refresh does before it decides for good."""
        order = replace(self._order, reads=self._readings())
        with Work.open(self._duck, order, plan, Never()) as work, self._control.connection() as conn:
            try:
                loaded = window.load(work, conn)
                if isinstance(loaded, Verdict):
                    return loaded, choice, None
                changed = loaded.changed | (set[int]() if plan.clock is None else {plan.clock})
                if not changed:
                    return Verdict(Action.NO_DATA), choice, None
                keys = compute.affected_keys(work, changed)
            except ReadingBroken as error:
                return Verdict(Action.REPAIR, Reason.FEED_MISMATCH.value, str(error)), choice, None
            except SnapshotExpired as error:
                return Verdict(Action.REINITIALIZE, Reason.SNAPSHOT_EXPIRED.value, str(error)), choice, None
            except duckdb.Error as error:
                return Verdict(Action.FULL, Reason.STEP_FAILED.value, str(error)), choice, None
        choice = cost.refine(
            self._properties.refresh_mode,
            choice,
            estimate,
            keys,
            self._samples,
            self._settings,
            self._properties.cardinality_threshold,
        )
        return Verdict(choice.action, choice.reason), choice, keys
