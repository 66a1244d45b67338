"""Handlers that would keep their process from ending."""

from __future__ import annotations

import asyncio
import os
import signal
import threading
from concurrent.futures import ThreadPoolExecutor

from catchment import App
from tests.worker import probe

app = App(queue="rude")
never = threading.Event()

if os.environ.get("RUDE_IMPORT"):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)


@app.command
async def take_signal(how: str) -> None:
    """Hear SIGTERM in place of the worker, or let nobody hear it."""
    if how == "loop":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, never.is_set)
    elif how == "function":
        signal.signal(signal.SIGTERM, lambda *_: None)
    else:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)


@app.command
def spin_forever() -> None:
    with probe.span("spin_forever"):
        while True:
            pass


@app.command
async def leave_thread() -> None:
    threading.Thread(target=never.wait, name="left over").start()


@app.command
def leave_pool() -> None:
    ThreadPoolExecutor(1, "left over").submit(never.wait)


@app.command
async def leave_idle_pool() -> int:
    """As a module that keeps a pool for all its handlers."""
    return await asyncio.wrap_future(ThreadPoolExecutor(1, "left over").submit(int, "7"))
