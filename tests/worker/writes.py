"""Handlers that write in their transaction, in ways that tests choose."""

from __future__ import annotations

import asyncio
import time
from typing import Any

from catchment import App, Child, Context
from tests.worker import probe

app = App(queue="writes")
WRITE = "insert into probe.effect values (%s, %s)"


@app.command(timeout=2)
async def write(ctx: Context, note: str, seconds: float = 0.0) -> str:
    async with ctx.transaction() as conn:
        with probe.span(note):
            await conn.execute(WRITE, [ctx.task_id, note])
            await asyncio.sleep(seconds)
    return "written"


@app.command(timeout=2)
def write_plainly(ctx: Context, note: str, seconds: float = 0.0) -> str:
    with ctx.transaction() as conn, probe.span(note):
        conn.execute(WRITE, [ctx.task_id, note])
        time.sleep(seconds)
    return "written"


@app.command
async def write_at_last(ctx: Context, note: str, seconds: float) -> str:
    """Take some time before the transaction."""
    with probe.span(note):
        await asyncio.sleep(seconds)
    async with ctx.transaction() as conn:
        await conn.execute(WRITE, [ctx.task_id, note])
    return "written"


@app.command
async def lose(ctx: Context, note: str, then: str) -> str:
    """The first attempt loses its connection, and makes something of the error."""
    try:
        async with ctx.transaction() as conn:
            with probe.span(note):
                await conn.execute(WRITE, [ctx.task_id, note])
                if ctx.attempt == 1:
                    await conn.execute("select pg_terminate_backend(pg_backend_pid())")
    except Exception as error:
        if then == "wrap":
            raise ValueError("it did not work") from error
        return "swallowed"
    return "written"


@app.command
def lose_plainly(ctx: Context, note: str, then: str) -> str:
    try:
        with ctx.transaction() as conn, probe.span(note):
            conn.execute(WRITE, [ctx.task_id, note])
            if ctx.attempt == 1:
                conn.execute("select pg_terminate_backend(pg_backend_pid())")
    except Exception as error:
        if then == "wrap":
            raise ValueError("it did not work") from error
        return "swallowed"
    return "written"


@app.command
async def lose_in_join(ctx: Context, note: str) -> None:
    ctx.spawn(write, note=f"{note} child")


@lose_in_join.join
async def join_and_lose(ctx: Context, note: str, children: list[Child]) -> str:
    return await lose.fn(ctx, note, "raise")


@app.command
async def save_some(ctx: Context, note: str) -> str:
    """Undo a part in a savepoint."""
    async with ctx.transaction() as conn:
        await conn.execute(WRITE, [ctx.task_id, note])
        try:
            async with conn.transaction():
                await conn.execute(WRITE, [ctx.task_id, f"{note} undone"])
                raise ValueError("undo this")
        except ValueError:
            pass
        async with conn.transaction():
            await conn.execute(WRITE, [ctx.task_id, f"{note} kept"])
    return "written"


@app.command
async def idle(ctx: Context, seconds: float) -> Any:
    async with ctx.transaction() as conn:
        await asyncio.sleep(seconds)
        await conn.execute("select 1")
