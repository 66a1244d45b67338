"""Handlers that disturb what others share with them: logging, threads, signals, the context of their task."""

from __future__ import annotations

import asyncio
import contextvars
import logging
import multiprocessing
import time
from typing import Any

from catchment import App, Context
from tests.worker import probe

app = App(queue="unruly")
who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")


class Shipper(logging.Handler):
    """Sends the log to a host that is away."""

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002 - as the base class names it
        raise ConnectionError("the log host is away")


@app.command
async def break_logs() -> None:
    """From now on whatever is logged raises, in the engine and in asyncio."""
    logging.getLogger().addHandler(Shipper())
    logging.getLogger("catchment.worker").addHandler(Shipper())


@app.command
async def fail_later() -> None:
    """Let a callback fail, which asyncio logs."""

    def fail() -> Any:
        raise ValueError("on purpose")

    asyncio.get_running_loop().call_soon(fail)
    await asyncio.sleep(0.01)


@app.command(max_attempts=1)
async def fail() -> None:
    raise ValueError("on purpose")


@app.command
async def rest(seconds: float = 0.0) -> str:
    await asyncio.sleep(seconds)
    return "rested"


@app.command
def terminate_child() -> int | None:
    """Fork a process and end it, as pools of processes do; returns its exit code."""
    child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(600,))
    child.start()
    child.terminate()
    child.join()
    return child.exitcode


class Odd:
    """A value that cannot be compared."""

    def __eq__(self, other: object) -> bool:
        raise ValueError("not comparable")

    __hash__ = object.__hash__


@app.command
async def sign(name: str, seconds: float | None = None) -> str:
    """Set a context variable; returns what it was."""
    before = who.get()
    who.set(name)
    if seconds is not None:
        await asyncio.sleep(seconds)
    return before


@app.command
async def sign_oddly() -> str:
    before = who.get()
    who.set(Odd())  # type: ignore[arg-type]
    return str(before)


@app.command
async def cancel_later(seconds: float, wait: float | None = None) -> None:
    """A time limit that is made by hand and never cleared."""
    task = asyncio.current_task()
    assert task is not None
    asyncio.get_running_loop().call_later(seconds, task.cancel)
    if wait is not None:
        await asyncio.sleep(wait)


@app.command
async def hog(seconds: float) -> None:
    """Keep a thread of asyncio's own."""
    with probe.span("hog"):
        await asyncio.to_thread(time.sleep, seconds)


@app.command(max_attempts=1)
def write_plainly(ctx: Context, note: str) -> str:
    with ctx.transaction() as conn:
        conn.execute("insert into probe.effect values (%s, %s)", [ctx.task_id, note])
    return "written"


@app.command(max_attempts=1)
def write_badly(ctx: Context) -> None:
    with ctx.transaction() as conn:
        conn.execute("select no_such_column")
