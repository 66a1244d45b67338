"""How an attempt of each task of the lake goes: take the refresh over, do the work, end it; and what errors mean.

The engine has the last word on who works: its fence is the fence of the refresh, and a result that comes too late is
refused by both. A refresh is ended in the transaction that completes its task. Errors that another try may not meet are
left to the engine, which tries again; for all others the refresh is failed with a code, and its task with it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Collection, Generator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import duckdb
import psycopg

from catchment.errors import (
    CancelRequested,
    ClaimLost,
    GiveUp,
    LakeError,
    LakeInterrupted,
    LakeOutOfMemory,
)
from catchment.lake.choose import parallel, partition
from catchment.lake.choose.bucket_plan import BucketPlan
from catchment.lake.choose.cost import Estimate
from catchment.lake.choose.outcome import Done, Spread
from catchment.lake.control.wire import read_order
from catchment.lake.refresh import bucket, coordinate, merge, refresh
from catchment.lake.refresh.session import Work
from catchment.lake.refresh.window import ReadingBroken, SourceMoved
from catchment.lake.tasks import cluster, metrics
from catchment.lake.tasks.process import LakeProcess
from catchment.lake.types import BucketRange, BucketResult, Executor, Order
from catchment.runtime.ray.waiting import RayLost
from catchment.task.child import Child
from catchment.task.command import Command
from catchment.task.context import Context

AnyCommand = Command[..., Any]

TRANSIENT = ("CONFLICT", "STORAGE", "CATALOG")
"""Codes of errors that the next attempt may not meet."""

OVER = ("SUCCEEDED", "FAILED", "SKIPPED", "UPSTREAM_FAILED", "CANCELLED")

CHANGED = "DEFINITION_CHANGED"
OVERTAKEN = "the definition was replaced meanwhile"

DEATHS_SPLIT = 4
"""A subtask whose worker died is halved, until there are this many times the planned number; then it is tried again."""


class Failed(GiveUp):
    """A refresh or a subtask that is failed for good; ``code`` as in the history."""

    def __init__(self, reason: str, code: str) -> None:
        super().__init__(reason)
        self.code = code


class TaskStop:
    """Why the work of a task should end early: it was asked to stop, or its time is up."""

    def __init__(self, ctx: Context, deadline: datetime | None) -> None:
        self._ctx = ctx
        left = math.inf if deadline is None else (deadline - datetime.now(UTC)).total_seconds()
        self._ends = time.monotonic() + left

    def reason(self) -> str | None:
        if self._ctx.cancelled:
            return "its task was asked to stop"
        return "it is past its deadline" if self.is_late else None

    @property
    def seconds_left(self) -> float:
        return self._ends - time.monotonic()

    @property
    def is_late(self) -> bool:
        return self.seconds_left <= 0


def run_refresh(lake: LakeProcess, ctx: Context, refresh_id: int, subtask: AnyCommand) -> dict[str, Any]:
    """The coordinator: a refresh from its order to its commit, or to its subtasks."""
    order = _begin(lake, ctx, refresh_id)
    if not isinstance(order, Order):
        return order
    stop, decide = TaskStop(ctx, order.deadline_at), _Decider(lake, order)
    with _failures(lake, ctx, order, stop):
        try:
            outcome = refresh.run(lake.duck, lake.control, order, lake.settings, stop, decide)
        except (LakeError, duckdb.Error) as error:
            return _move_on(lake, ctx, order, error)
        if isinstance(outcome, Done):
            return _finish(lake, ctx, order, outcome.figures)
        work, spread = outcome
        with work:
            return _spread(lake, ctx, work, spread, decide.last, subtask)


def _spread(
    lake: LakeProcess,
    ctx: Context,
    work: Work,
    spread: Spread,
    decision: parallel.Decision,
    subtask: AnyCommand,
) -> dict[str, Any]:
    """Cut the keys and record one child for each range. ``slot`` bounds how many run at a time: not by the workers
    there are now, because those that come later shall take part."""
    order = work.order
    slots = order.definition.properties.max_parallelism or lake.settings.parallel_max_workers
    ranges = coordinate.spread(work, lake.control, spread, decision, lake.settings, task_id=ctx.task_id)
    items = [
        subtask.item(
            refresh_id=order.refresh_id,
            partition=keys.partition,
            total=keys.total,
            spec=keys.spec,
            slot=f"{order.refresh_id}/{place % slots}",
        )
        for place, keys in enumerate(ranges)
    ]
    with ctx.scope(on_child_failure="cancel_siblings"):
        ctx.spawn_many(items)
    metrics.subtasks_created.inc(len(items))
    return ctx.result_of_join()


def run_join(
    lake: LakeProcess, ctx: Context, refresh_id: int, children: Sequence[Child[BucketResult]]
) -> dict[str, Any]:
    """All subtasks are done: publish what they have written."""
    order = _begin(lake, ctx, refresh_id, keep_plan=True)
    if not isinstance(order, Order):
        return order
    stop = TaskStop(ctx, order.deadline_at)
    with _failures(lake, ctx, order, stop):
        results = [child.result for child in children]
        if any(result.is_overtaken for result in results):
            return _move(lake, ctx, refresh_id, (), LakeError(OVERTAKEN, code=CHANGED))
        _, waited = lake.control.refresh_seconds(refresh_id)
        try:
            published = merge.publish_buckets(lake.duck, lake.control, order, results, stop)
        except SourceMoved as error:
            return _repeat(lake, ctx, order, error)
        except (LakeError, duckdb.Error) as error:
            return _move_on(lake, ctx, order, error)
    metrics.parallel_refreshes.inc()
    metrics.coordinator_wait_seconds.observe(waited)
    metrics.parallel_refresh_seconds.observe(lake.control.refresh_seconds(refresh_id)[0])
    return _finish(lake, ctx, order, {**published, "wait_ms": round(waited * 1000, 1)})


def _repeat(lake: LakeProcess, ctx: Context, order: Order, error: SourceMoved) -> dict[str, Any]:
    """Subtasks have read what is no longer true: all of it is done again, as often as one process would."""
    with ctx.transaction() as conn:
        if not lake.control.repeat_refresh(order.refresh_id, ctx.fence, refresh.READS - 1, conn=conn):
            raise error
    return {"refresh_id": order.refresh_id, "state": "EXECUTING"}


def _move_on(lake: LakeProcess, ctx: Context, order: Order, error: LakeError | duckdb.Error) -> dict[str, Any]:
    """While a table was computed, its sources have changed in the past, or its definition was replaced: the round
    continues. Any other error is raised again."""
    if isinstance(error, ReadingBroken):
        return _move(lake, ctx, order.refresh_id, error.tables, error)
    is_other_plan = isinstance(error, LakeError) and error.code == CHANGED
    if not is_other_plan and lake.control.order_json(order.refresh_id)["generation"] == order.generation:
        raise error
    return _move(lake, ctx, order.refresh_id, (), error, OVERTAKEN)


def _move(
    lake: LakeProcess, ctx: Context, refresh_id: int, tables: Collection[int], why: Exception, text: str | None = None
) -> dict[str, Any]:
    """Nobody can do any more what the round was to do: it continues at the newest snapshot. Raises the error when it
    has been moved too often."""
    with ctx.transaction() as conn:
        moved = lake.control.move_round(refresh_id, ctx.fence, tables, text or str(why), refresh.MOVES, conn=conn)
        if moved is None:
            raise why
    return {"refresh_id": refresh_id, "state": "SKIPPED", "round_id": moved}


def _begin(lake: LakeProcess, ctx: Context, refresh_id: int, *, keep_plan: bool = False) -> Order | dict[str, Any]:
    """The order; or, when there is nothing to do, the result of the task."""
    timeout = timedelta(seconds=lake.settings.parallel_timeout_seconds)
    try:
        order = lake.control.begin_refresh(refresh_id, ctx.fence, timeout, keep_plan=keep_plan)
    except ClaimLost as error:
        _give_up_if_over(lake, refresh_id, error)
        raise
    except LakeError as error:
        # It is held, but a table above it has nothing for this snapshot, or no longer.
        try:
            return _move(lake, ctx, refresh_id, (), error)
        except LakeError:
            lake.control.fail_refresh(refresh_id, ctx.fence, error.code, str(error))
            raise Failed(str(error), error.code) from error
    if order.state == "PUBLISHED":
        return _finish(lake, ctx, order, {})
    return order if order.state == "EXECUTING" else {"refresh_id": refresh_id, "state": order.state}


def _give_up_if_over(lake: LakeProcess, refresh_id: int, error: Exception) -> None:
    """A newer attempt makes this one worthless without a word; a refresh that has ended is an answer."""
    try:
        state = lake.control.refresh_state(refresh_id).state
    except LakeError as gone:
        raise Failed(str(gone), "CANCELLED") from error
    if state in OVER:
        raise Failed(
            f"refresh {refresh_id} is over ({state}); 'catchment table refresh' makes a new one", "CANCELLED"
        ) from error


def _finish(lake: LakeProcess, ctx: Context, order: Order, figures: Mapping[str, Any]) -> dict[str, Any]:
    """What was published is recorded as over in the transaction that completes the task."""
    result = {"refresh_id": order.refresh_id, "state": "SUCCEEDED"}
    try:
        with ctx.transaction() as conn:
            lake.control.finish_refresh(order.refresh_id, ctx.fence, figures, conn=conn)
    except ClaimLost:
        # A cancel came too late, and has settled it.
        if lake.control.refresh_state(order.refresh_id).state != "SUCCEEDED":
            raise
    metrics.refresh_ended(str(order.definition.ref), "succeeded")
    return result


class _Decider:
    """Asked by a refresh whether it should be spread; ``last`` is what it said."""

    def __init__(self, lake: LakeProcess, order: Order) -> None:
        self._lake = lake
        self._order = order
        self.last = parallel.Decision(False, 1, "nobody asked")

    def __call__(self, estimate: Estimate, keys: int | None) -> parallel.Decision:
        seconds = None if estimate.predicted_ms is None else estimate.predicted_ms / 1000
        is_on_ray = cluster.executor_of(self._order, self._lake.settings) == Executor.RAY
        self.last = parallel.decide(
            self._order.definition.properties,
            self._lake.settings,
            keys=max(estimate.dt_rows, self._order.rows or 0) if keys is None else keys,
            workers=self._lake.control.free_slots(on_cluster=is_on_ray),
            prediction=parallel.Prediction(seconds, estimate.memory_bytes),
        )
        return self.last


@contextmanager
def _failures(lake: LakeProcess, ctx: Context, order: Order, stop: TaskStop) -> Generator[None]:
    """Settle the refresh for errors that are final, and let the engine try again after others."""
    try:
        yield
    except ClaimLost as error:
        _give_up_if_over(lake, order.refresh_id, error)
        raise
    except (CancelRequested, GiveUp, psycopg.OperationalError):
        raise
    except LakeInterrupted as error:
        if not stop.is_late or ctx.cancelled:
            raise CancelRequested(str(error)) from error
        _fail(lake, ctx, order, "TIMEOUT", str(error), error)
    except LakeError as error:
        # It was done again as often as it may be, and another attempt would read the same.
        is_stale = isinstance(error, ReadingBroken) or (isinstance(error, SourceMoved) and ctx.is_join)
        if error.code in TRANSIENT and not is_stale and not ctx.is_last_attempt:
            raise
        _fail(lake, ctx, order, error.code, str(error), error)
    except duckdb.Error as error:
        _fail(lake, ctx, order, "QUERY", str(error), error)
    except Exception as error:
        if not ctx.is_last_attempt:
            raise
        _fail(lake, ctx, order, "INTERNAL", f"{type(error).__name__}: {error}", error)


def _fail(lake: LakeProcess, ctx: Context, order: Order, code: str, text: str, error: Exception) -> None:
    """Fail the refresh and its task. One that is published has succeeded all the same."""
    try:
        state = lake.control.fail_refresh(order.refresh_id, ctx.fence, code, text)
    except ClaimLost as lost:
        _give_up_if_over(lake, order.refresh_id, lost)
        raise
    metrics.refresh_ended(str(order.definition.ref), state.lower())
    raise Failed(f"refresh {order.refresh_id} is {state}: {text}", code) from error


def run_bucket(
    lake: LakeProcess, ctx: Context, refresh_id: int, keys: BucketRange, slot: str, subtask: AnyCommand
) -> BucketResult:
    """A subtask: one range of keys, or its two halves if it is too much."""
    raw = lake.control.order_json(refresh_id)
    try:
        order = read_order(raw)
        if order.state != "EXECUTING":
            raise Failed(f"refresh {refresh_id} is {order.state}: nobody waits for this subtask", "CANCELLED")
        plan = BucketPlan.from_order(order)
    except LakeError as error:
        if error.code not in ("DEPENDENCY", CHANGED):
            raise
        # Of no use to anybody, like the other subtasks: the join moves the round.
        return BucketResult(attempt=ctx.attempt, is_overtaken=True)
    most = 1 + lake.settings.parallel_max_retries
    if ctx.attempt > most:
        raise Failed(f"Max retries exceeded: its worker died {ctx.attempt - 1} times", "INTERRUPTED")
    if _killed_its_worker(lake, ctx, keys, plan) and (halves := partition.halve(keys)):
        return _split(ctx, refresh_id, halves, slot, subtask)
    stop = TaskStop(ctx, order.deadline_at)
    attempt = bucket.Attempt(ctx.task_id, ctx.fence, ctx.attempt, lambda step: ctx.progress(step, bucket.STEPS))
    try:
        result = cluster.compute(lake, raw, order, keys, attempt, stop)
    except LakeOutOfMemory as error:
        halves = partition.halve(keys)
        if halves is None:
            raise _failed_bucket(ctx, most, error) from error
        return _split(ctx, refresh_id, halves, slot, subtask)
    except LakeInterrupted as error:
        if ctx.cancelled:
            raise CancelRequested(str(error)) from error
        if stop.is_late:
            # The deadline is that of the refresh: another try would meet it at once.
            metrics.subtasks_failed.inc()
            raise Failed(
                f"the refresh took longer than CATCHMENT_PARALLEL_TIMEOUT_SECONDS: {error}", "TIMEOUT"
            ) from error
        raise _failed_bucket(ctx, most, error) from error
    except (ClaimLost, GiveUp, CancelRequested, RayLost):
        raise
    except Exception as error:
        raise _failed_bucket(ctx, most, error) from error
    metrics.subtasks_completed.inc()
    metrics.subtask_seconds.observe(result.seconds)
    return result


def _killed_its_worker(lake: LakeProcess, ctx: Context, keys: BucketRange, plan: BucketPlan) -> bool:
    """A process that takes too much memory is killed by the system and cannot say so."""
    return ctx.attempt > 1 and keys.total < DEATHS_SPLIT * plan.total and lake.control.was_interrupted(ctx.task_id)


def _split(
    ctx: Context, refresh_id: int, halves: tuple[BucketRange, BucketRange], slot: str, subtask: AnyCommand
) -> BucketResult:
    for half in halves:
        ctx.spawn_sibling(
            subtask, refresh_id=refresh_id, partition=half.partition, total=half.total, spec=half.spec, slot=slot
        )
    metrics.subtasks_created.inc(2)
    metrics.subtasks_completed.inc()
    return BucketResult(attempt=ctx.attempt, is_split=True)


def _failed_bucket(ctx: Context, most: int, error: Exception) -> Exception:
    """The error itself as long as there are attempts left."""
    metrics.subtasks_failed.inc()
    if ctx.attempt < most:
        return error
    code = error.code if isinstance(error, LakeError) else "QUERY" if isinstance(error, duckdb.Error) else "INTERNAL"
    return Failed(f"Max retries exceeded: {error}", code)
