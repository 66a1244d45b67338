"""Keeps a connection to the database for one part of the worker: a lost one is made again, with growing pauses."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection

from catchment.errors import CatchmentError, ServerUnavailable
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.store.connect import connect_async

# What says that a connection is gone, and with it maybe an answer.
LOST = (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable, TimeoutError)
FIRST_PAUSE = 0.05
LAST_PAUSE = 2.0


async def hold_connection(
    dsn: str,
    part: str,
    serve: Callable[[AsyncConnection[Any]], Awaitable[None]],
    *,
    stopping: asyncio.Event,
    events: Events,
    on_loss: Callable[[], None] = lambda: None,
) -> None:
    """Call ``serve`` with a connection, and with a new one whenever that is lost, until it returns or we stop."""
    pause = FIRST_PAUSE
    while not stopping.is_set():
        began = time.monotonic()
        try:
            conn = await connect_async(dsn, name=f"catchment {part}")
            try:
                await serve(conn)
                return
            finally:
                # Not `async with`: on a connection that hangs, a polite goodbye would hang too.
                await conn.close()
        except LOST as error:
            reason = str(error).strip() or type(error).__name__
            events.emit("connection.lost", f"{part}: {reason}", level=logging.WARNING, part=part)
        except (psycopg.Error, CatchmentError) as error:
            # A schema changed under a prepared statement, a right taken away, a queue deleted: a new session may do
            # better, and a worker that ended here would take its other queues with it.
            events.emit("connection.refused", f"{part}: {error}", level=logging.ERROR, part=part)
        on_loss()
        if time.monotonic() - began > LAST_PAUSE:
            pause = FIRST_PAUSE
        await wait_for(stopping, timedelta(seconds=pause * random.uniform(0.8, 1.2)))  # noqa: S311 - jitter
        pause = min(pause * 2, LAST_PAUSE)
