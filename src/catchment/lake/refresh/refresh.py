"""One refresh of one dynamic table, from its order to its commit.

    inspect ── the changes cannot be used ─────────────────────────────┐
       │                                                               │
    choose ── a full refresh is expected to be faster ────────────────►│ compute all rows ──┐
       │                                                               │                    │ compare with the
    load ── a check fails ────────────────────────────────────────────►│                    │ stored rows, publish
       │                                                                                    │ what differs
    touched keys, or sums carried forward ── count: too many ─────────►  … or spread       ─┘

Every way ends in the same difference and the same commit. Where it pays, or where memory does not suffice, the work is
handed back instead, to be spread over subtasks.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import Any

import duckdb

from catchment.errors import LakeOutOfMemory, SnapshotExpired
from catchment.lake.choose import cost, partition
from catchment.lake.choose.cost import Choice, Estimate, Sample
from catchment.lake.choose.outcome import Decide, Done, Spread
from catchment.lake.control.control import Control
from catchment.lake.delta.plan import Plan
from catchment.lake.duck.duck import Duck, Stop
from catchment.lake.reasons import Reason
from catchment.lake.refresh import compute, reach, window
from catchment.lake.refresh.audit import audit_if_due
from catchment.lake.refresh.compute import Difference, InvariantBroken, StatesOverflow
from catchment.lake.refresh.publish import Published, publish_rows
from catchment.lake.refresh.session import Work, plan_of
from catchment.lake.refresh.window import Loaded, SourceMoved, Verdict
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Action, Order, Publication, ReadDone

READS = 3
"""Times that a refresh reads its sources because they were not what they had been."""

MOVES = 30
"""Rounds that are moved one after another, because a commit was dated into their snapshots, before a refresh fails."""

NO_MEMORY = 2**62
GROWTH = 4


def run(
    duck: Duck, control: Control, order: Order, settings: LakeSettings, stop: Stop, decide: Decide
) -> Done | tuple[Work, Spread]:
    """Refresh a table, up to the commit; the refresh is then to be finished. Or hand the work back to be spread, with
    the ``Work`` open.

    Raises ``SourceChanged``, ``TableRefused`` and DuckDB's own errors for what is wrong with the definition or the
    data; ``PublishVetoed`` and ``ClaimLost`` when another attempt has the refresh; ``ReadingBroken`` when the round has
    to be moved; other kinds of ``LakeError`` for what may be better next time. Nothing is left behind in any case.
    """
    try:
        return _run(duck, control, order, settings, stop, decide)
    except SnapshotExpired as error:
        with control.connection() as conn:
            window.check_snapshots(conn, order, error)
        raise


def _run(
    duck: Duck, control: Control, order: Order, settings: LakeSettings, stop: Stop, decide: Decide
) -> Done | tuple[Work, Spread]:
    if order.state != "EXECUTING":
        raise ValueError(f"refresh {order.refresh_id} is {order.state}: there is nothing to compute")
    start = time.perf_counter()
    with duck.turn(stop), control.connection() as conn:
        plan = plan_of(duck, conn, order)
    analysed = time.perf_counter() - start
    verdict = _audited(duck, control, order, settings, stop)
    for attempt in range(1, READS + 1):
        work = Work.open(duck, order, plan, stop)
        refresh = _Refresh(work, control, settings, decide, verdict, analysed)
        try:
            result = refresh.run()
        except (SourceMoved, LakeOutOfMemory) as error:
            work.close()
            is_too_big = isinstance(error, LakeOutOfMemory)
            if attempt == READS or (is_too_big and refresh.verdict.action != Action.INCREMENTAL):
                raise
            if is_too_big:
                verdict = Verdict(Action.FULL, Reason.STEP_TOO_BIG.value, str(error))
                units = cost.incremental_units(refresh.estimate, refresh.keys or 0)
                control.add_sample(order.dt_id, Action.INCREMENTAL.value, units, cost.TOO_BIG_MS)
            continue
        except BaseException:
            work.close()
            raise
        if isinstance(result, Spread):
            return work, result
        work.close()
        return result
    raise AssertionError("unreachable")


def _audited(duck: Duck, control: Control, order: Order, settings: LakeSettings, stop: Stop) -> Verdict | None:
    """If an audit is due, it comes before anything is added to the table; a verdict if it finds something wrong."""
    if order.forced is not None:
        return None
    audit = audit_if_due(duck, control, order.dt_id, settings.lake_audit_every, stop=stop)
    return None if audit is None or audit.is_equal else Verdict(Action.REPAIR, Reason.AUDIT.value, audit.words)


@dataclass
class _Refresh:
    """The state of one run: what is known so far, for the publication and in case the work is handed back."""

    work: Work
    control: Control
    settings: LakeSettings
    decide: Decide
    given: Verdict | None = None
    analysed: float = 0.0
    verdict: Verdict = field(default_factory=lambda: Verdict(Action.INCREMENTAL))
    reads: tuple[ReadDone, ...] = ()
    keys: int | None = None
    figures: dict[str, Any] = field(default_factory=dict[str, Any])
    began: float = field(default_factory=time.perf_counter)
    estimate: Estimate = field(init=False)
    choice: Choice = field(init=False)
    samples: list[Sample] = field(init=False)

    @property
    def order(self) -> Order:
        return self.work.order

    @property
    def plan(self) -> Plan:
        return self.work.plan

    def run(self) -> Done | Spread:
        self._prepare()
        try:
            return self._compute()
        except LakeOutOfMemory:
            # What was computed is of no use to subtasks, except the keys.
            self.work.drop("fresh", "stored", "gone", "added", "dagg", "merged")
            if self.reads and self._is_spread(replace(self.estimate, memory_bytes=NO_MEMORY)):
                return self._spread()
            raise

    def _prepare(self) -> None:
        """Look at the catalog and at earlier refreshes, and decide how to begin."""
        properties = self.order.definition.properties
        with self.control.connection() as conn:
            self.verdict = self.given or window.inspect(conn, self.order, self.work.bound)
            self.estimate = window.estimate(conn, self.order, self.work.bound, self.plan)
        self.samples = [Sample(*row) for row in self.control.cost_samples(self.order.dt_id)]
        self.choice = cost.choose(
            properties.refresh_mode, self.estimate, self.samples, self.settings, properties.cardinality_threshold
        )
        if self.verdict.action == Action.INCREMENTAL and self.plan.strategy == "full":
            self.verdict = Verdict(Action.FULL, self.plan.reason)
        elif self.verdict.action == Action.INCREMENTAL and self.choice.action == Action.FULL:
            self.verdict = Verdict(Action.FULL, self.choice.reason)
        self.figures["plan_ms"] = round((self.analysed + time.perf_counter() - self.began) * 1000, 1)

    def _compute(self) -> Done | Spread:
        if self.verdict.action == Action.INCREMENTAL:
            try:
                result = self._incremental()
            except SnapshotExpired as error:
                result = Verdict(Action.REINITIALIZE, Reason.SNAPSHOT_EXPIRED.value, str(error))
            except InvariantBroken as error:
                result = Verdict(Action.REPAIR, Reason.INVARIANT.value, str(error))
            except duckdb.Error as error:
                # A step joins old rows with new ones, and what is computed of such a pair may fail. If the definition
                # itself is wrong, computing the whole table says so.
                result = Verdict(Action.FULL, Reason.STEP_FAILED.value, str(error))
            if not isinstance(result, Verdict):
                return result
            self.verdict, self.keys, self.reads = result, None, ()
            # What was tried in vain is no part of what a full refresh takes.
            self.began = time.perf_counter()
        reach.leave(self.work, self.control.connection)
        try:
            return self._whole()
        except InvariantBroken as error:
            # Another session writes to the table right now; whatever it holds is replaced.
            self.verdict = Verdict(Action.REPAIR, Reason.INVARIANT.value, str(error))
            return self._replace()

    def _changed_inputs(self, changed: frozenset[int]) -> list[int]:
        """The catalog's ids of the tables that have changed; history names them."""
        return [table.table.table_id for table in self.plan.tables if table.occurrence in changed]

    def _incremental(self) -> Done | Spread | Verdict:
        with self.control.connection() as conn:
            loaded = window.load(self.work, conn)
        if isinstance(loaded, Verdict):
            return loaded
        self.reads = loaded.reads
        self.figures |= {
            "rows_in": loaded.inserted + loaded.deleted,
            "changed_inputs": self._changed_inputs(loaded.changed),
        }
        if self.plan.clock is not None and self.order.data_at != self.order.data_at_old:
            loaded = replace(loaded, changed=loaded.changed | {self.plan.clock})
        if not loaded.changed:
            self.verdict = Verdict(Action.NO_DATA)
            return self._publish(Difference(0, 0, frozenset()), self.order.rows or 0)
        outcome = self._by_states(loaded) if self.plan.strategy == "delta" else self._by_keys(loaded)
        if not isinstance(outcome, Difference):
            return outcome
        self._recount()
        return self._publish(outcome, (self.order.rows or 0) + outcome.inserted - outcome.deleted)

    def _by_states(self, loaded: Loaded) -> Difference | Spread | Verdict:
        """Sums carried forward. What stops it after the keys are known is kept here, because they stay useful."""
        stopped: list[Spread | Verdict] = []

        def decided(keys: int) -> bool:
            stopped.extend(self._after_keys(keys))
            return not stopped

        try:
            difference = compute.apply_states(self.work, loaded.changed, loaded.reached, decided)
        except StatesOverflow:
            return self._by_keys(loaded)
        self.figures["strategy"] = "delta"
        return difference if difference is not None else stopped[0]

    def _by_keys(self, loaded: Loaded) -> Difference | Spread | Verdict:
        """The touched keys computed again."""
        self.figures["strategy"] = "keys"
        for stopped in self._after_keys(compute.affected_keys(self.work, loaded.changed)):
            return stopped
        if not self.keys:
            return Difference(0, 0, frozenset())
        with self.work.reading():
            compute.fresh(self.work, by_keys=True)
            compute.stored(self.work, by_keys=True)
            return compute.difference(self.work)

    def _after_keys(self, keys: int) -> list[Spread | Verdict]:
        """Now that the keys are counted: continue (nothing), compute the whole table, or spread."""
        self.keys = keys
        properties = self.order.definition.properties
        self.choice = cost.refine(
            properties.refresh_mode,
            self.choice,
            self.estimate,
            keys,
            self.samples,
            self.settings,
            properties.cardinality_threshold,
            spent_ms=(time.perf_counter() - self.began) * 1000,
        )
        if self.choice.action == Action.FULL:
            return [Verdict(Action.FULL, self.choice.reason)]
        needed = cost.memory_of(keys, len(self.plan.layout.columns))
        estimate = replace(self.estimate, memory_bytes=needed, predicted_ms=self.choice.predicted_ms)
        return [self._spread()] if self._is_spread(estimate) else []

    def _whole(self) -> Done | Spread:
        """All rows computed, and compared with all that are stored."""
        self.figures["strategy"] = "full"
        with self.control.connection() as conn:
            self.reads = window.count_reads(self.work, conn)
        stored = self.work.count("dt_old")
        rows = max(stored, self.estimate.source_rows if self.order.rows is None else self.order.rows)
        needed = cost.memory_of(rows, len(self.plan.layout.columns))
        if self._is_spread(
            replace(self.estimate, memory_bytes=needed, predicted_ms=cost.predict_full(self.estimate, self.samples))
        ):
            return self._spread()
        fresh = compute.fresh(self.work, by_keys=False)
        if stored == 0:
            self._recount()
            return self._publish_all(fresh, 0)
        compute.stored(self.work, by_keys=False)
        difference = compute.difference(self.work, is_ours=self.verdict.action != Action.REPAIR)
        self._recount()
        if difference.deleted > self.settings.lake_wholesale_above * stored or self._has_outgrown(fresh):
            return self._publish_all(fresh, stored)
        return self._publish(difference, fresh)

    def _has_outgrown(self, rows: int) -> bool:
        """Whether the table should have several times its storage buckets, and so be rewritten."""
        return compute.bucket_count(rows, self.settings.lake_rows_per_bucket) >= GROWTH * self.order.buckets

    def _recount(self) -> None:
        with self.control.connection() as conn:
            window.recount(self.work, conn, self.reads)

    def _replace(self) -> Done:
        """All rows computed, in the place of whatever the table holds."""
        fresh = self.work.count("fresh") if self.work.has("fresh") else compute.fresh(self.work, by_keys=False)
        self._recount()
        return self._publish_all(fresh, None)

    def _publish_all(self, rows: int, stored: int | None) -> Done:
        """Empty the table and fill it with ``fresh``. The number of storage buckets follows its size."""
        if rows == 0 and stored == 0:
            return self._publish(Difference(0, 0, frozenset()), 0)
        buckets = compute.bucket_count(rows, self.settings.lake_rows_per_bucket)
        compute.add_all(self.work, buckets)
        difference = Difference(rows, self.order.rows or 0 if stored is None else stored, frozenset())
        return self._publish(difference, rows, is_whole=True, stored=stored, buckets=buckets)

    def _publish(
        self,
        difference: Difference,
        rows_after: int,
        *,
        is_whole: bool = False,
        stored: int | None = None,
        buckets: int | None = None,
    ) -> Done:
        computed = time.perf_counter() - self.began
        publication = Publication(
            action=self.verdict.action,
            reason=self.verdict.reason,
            inserted=difference.inserted,
            deleted=difference.deleted,
            rows_after=rows_after,
            keys=self.keys,
            reads=self.reads,
            figures=self._figures(computed),
            buckets=buckets,
        )
        published = publish_rows(
            self.work, self.control, publication, difference, is_whole=is_whole, deleted=stored if is_whole else None
        )
        return Done(publication, published.snapshot, self._last_figures(computed, published))

    def _figures(self, computed: float) -> dict[str, Any]:
        figures = {
            **self.figures,
            "source_rows": self.estimate.source_rows,
            "changed_rows": self.estimate.changed_rows,
            "predicted_ms": self.choice.predicted_ms,
            "predicted_full_ms": self.choice.predicted_full_ms,
            "compute_ms": round(computed * 1000, 1),
        }
        return figures | ({"detail": self.verdict.detail} if self.verdict.detail else {})

    def _last_figures(self, computed: float, published: Published) -> dict[str, Any]:
        """With a sample for later predictions, unless nothing was computed."""
        figures: dict[str, Any] = {
            "publish": published.mode,
            "publish_tries": published.tries,
            "publish_ms": round(published.seconds * 1000, 1),
        }
        if published.holder is not None:
            figures["lock_kept_by"] = str(published.holder)
        if self.verdict.action == Action.NO_DATA:
            return figures
        return figures | {"cost_units": self._units(), "cost_ms": (computed + published.seconds) * 1000}

    def _units(self) -> float:
        """The work of this refresh, as predictions count it."""
        if self.verdict.action == Action.INCREMENTAL:
            return cost.incremental_units(self.estimate, self.keys or 0)
        return cost.full_units(self.estimate)

    def _is_spread(self, estimate: Estimate) -> bool:
        return partition.is_cuttable(self.plan) and self.decide(estimate, self.keys).is_parallel

    def _spread(self) -> Spread:
        if self.keys is None and self.verdict.action == Action.INCREMENTAL:
            self.verdict = Verdict(Action.FULL, Reason.COST.value, "the touched keys did not fit into memory")
        figures = self._figures(time.perf_counter() - self.began) | {"cost_units": self._units()}
        return Spread(self.verdict.action, self.verdict.reason, self.keys, self.reads, figures)
