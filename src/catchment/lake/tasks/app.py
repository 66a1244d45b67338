"""The tasks of the lake, as commands: ``catchment worker --app catchment.lake.tasks.app:app``. No logic here."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from catchment.client.app import App
from catchment.lake.files import expiry, maintain, sweep
from catchment.lake.tasks import attempts, metrics
from catchment.lake.tasks.process import LakeProcess, this_process
from catchment.lake.types import BucketRange, BucketResult
from catchment.task.child import Child
from catchment.task.commands import Commands
from catchment.task.context import Context
from catchment.task.limit import Limit
from catchment.task.options import Retry

QUEUE = "lake"
SCHEDULE_QUEUE = "lake_schedule"
MOST_ATTEMPTS = 100
"""A subtask itself gives up after CATCHMENT_PARALLEL_MAX_RETRIES."""

app = App(queue=QUEUE)
app.collector(metrics.collector())


def commands() -> Commands:
    """The commands below, for the installation of a lake."""
    return app.commands


def _lake() -> LakeProcess:
    return this_process(commands)


@app.command(
    max_attempts=3,
    retry=Retry(delay=timedelta(seconds=1)),
    on_failure="continue",
    description="Refreshes a dynamic table, by itself or by subtasks.",
)
def lake_refresh(ctx: Context, refresh_id: int) -> dict[str, Any]:
    return attempts.run_refresh(_lake(), ctx, refresh_id, lake_bucket)


@lake_refresh.join
def publish(ctx: Context, refresh_id: int, children: list[Child[BucketResult]]) -> dict[str, Any]:
    return attempts.run_join(_lake(), ctx, refresh_id, children)


@app.command(
    max_attempts=MOST_ATTEMPTS,
    retry=Retry(delay=timedelta(seconds=0.5)),
    limit=Limit("slot", max_running=1),
    description="Computes one range of the keys of a parallel refresh.",
)
def lake_bucket(
    ctx: Context, refresh_id: int, partition: int | None, total: int, spec: dict[str, Any] | None, slot: str
) -> BucketResult:
    return attempts.run_bucket(_lake(), ctx, refresh_id, BucketRange(partition, total, spec), slot, lake_bucket)


@app.command(
    priority=150,
    max_attempts=5,
    retry=Retry(delay=timedelta(seconds=1)),
    dedup="refresh_id",
    on_failure="continue",
    description="Removes files of refreshes that are over.",
)
def lake_sweep(ctx: Context, refresh_id: int | None = None) -> int:
    lake = _lake()
    left = sweep.sweep(lake.duck, lake.control, lake.settings, refresh_id)
    if left:
        delay = lake.settings.lake_artifact_grace_seconds + 1
        ctx.follow_up(lake_sweep.using(delay=delay), refresh_id=refresh_id)
    return left


@app.command(
    priority=150,
    max_attempts=3,
    dedup="dt_id",
    on_failure="continue",
    description="Compacts the files of a dynamic table.",
)
def lake_maintain(ctx: Context, dt_id: int) -> None:
    lake = _lake()
    maintain.maintain_table(lake.duck, lake.control, dt_id, task_id=ctx.task_id)


@app.command(
    priority=150,
    max_attempts=3,
    dedup=(),
    on_failure="continue",
    description="Lets old snapshots go, and files that nothing knows.",
)
def lake_expire() -> dict[str, int]:
    lake = _lake()
    return expiry.expire_by_schedule(lake.duck, lake.control)
