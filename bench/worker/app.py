"""The app whose tasks are measured. The environment says where the probe is."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from bench.worker.probe import Probe
from catchment import App, Context

app = App(os.environ.get("BENCH_DSN"))
probe = (
    Probe(
        Path(os.environ.get("BENCH_PROBE", "/dev/null/none")),
        int(os.environ.get("BENCH_TASKS", "0")),
        int(os.environ.get("BENCH_LANES", "0")),
    )
    if "BENCH_PROBE" in os.environ
    else None
)


@app.command(queue="python")
async def no_op(i: int) -> None:
    """Nothing."""
    if probe is not None:
        probe.start(i)
        probe.end(i)


@app.command(queue="python")
async def write(ctx: Context, i: int) -> None:
    """One row in the transaction that ends the task."""
    async with ctx.transaction() as conn:
        await conn.execute("insert into public.written values (%s)", (i,))


@app.command(queue="python")
async def wait(i: int, seconds: float = 0.1) -> None:
    """A handler that waits, as for the answer of another service."""
    if probe is not None:
        probe.start(i)
        await asyncio.sleep(seconds)
        probe.end(i)


@app.command(queue="python")
async def in_lane(key: int, number: int) -> None:
    """Checks the order of its lane from inside."""
    if probe is not None:
        probe.enter_lane(key, number)
        await asyncio.sleep(0)  # gives a wrong order the chance to show
        probe.leave_lane(key, number)


@app.command(queue="python")
async def in_hot_lane(number: int, seconds: float = 0) -> None:  # noqa: ARG001 - its payloads differ
    """One of very many in one lane."""
    if seconds:
        await asyncio.sleep(seconds)


@app.command(queue="python")
async def fan_children(ctx: Context, count: int) -> None:
    """A parent of many."""
    ctx.spawn_many(no_op.item(i=i) for i in range(count))
