"""An app whose tasks end in every way, for tests that watch a worker from outside."""

from __future__ import annotations

import asyncio
from pathlib import Path

from catchment import App, Context, GiveUp

app = App(queue="observed")


@app.command
async def greet(name: str) -> str:
    return f"hello {name}"


@app.command
async def hold(gate: str) -> None:
    """Runs until a file of this name exists."""
    while not Path(gate).exists():  # noqa: ASYNC110, ASYNC240 - another process opens the gate
        await asyncio.sleep(0.01)


@app.command
async def stumble() -> None:
    raise GiveUp("no use")


@app.command
async def greet_all(ctx: Context, names: list[str]) -> None:
    ctx.spawn_many([greet.item(name=name) for name in names])
