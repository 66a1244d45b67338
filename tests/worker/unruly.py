"""Handlers that disturb what others share with them: logging, threads, signals, the context of their task."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import time
from typing import Any

from catchment import App

app = App(queue="unruly")


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
