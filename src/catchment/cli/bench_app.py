"""The app that ``catchment bench`` measures with."""

from __future__ import annotations

from catchment.client.app import App

QUEUE = "catchment_bench"
app = App(queue=QUEUE)


@app.command
async def bench_no_op(number: int) -> None:
    """Nothing."""
