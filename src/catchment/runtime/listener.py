"""Rings the bell of a queue when the database says that something may be there. Only a hint: the table is the truth."""

from __future__ import annotations

import asyncio
import logging
import random
from collections.abc import Callable
from datetime import timedelta

import psycopg

from catchment.errors import ServerUnavailable
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.store.connect import connect_async
from catchment.store.notify import listen


class Listener:
    """Hears notifications; ``is_hearing`` is false while its connection is down, and then fibers poll more often."""

    def __init__(
        self, dsn: str, *, on_queue: Callable[[str], None], on_connect: Callable[[], None], events: Events
    ) -> None:
        self._dsn = dsn
        self._on_queue = on_queue
        self._on_connect = on_connect
        self._events = events
        self.is_hearing = False

    async def run(self, stopping: asyncio.Event) -> None:
        pause = 0.05
        while not stopping.is_set():
            try:
                conn = await connect_async(self._dsn, name="catchment listener")
                async with conn:
                    async for queue in listen(conn):
                        if queue is None:
                            self.is_hearing = True
                            pause = 0.05
                            self._on_connect()
                        else:
                            self._on_queue(queue)
                        if stopping.is_set():
                            return
            except (psycopg.OperationalError, psycopg.InterfaceError, ServerUnavailable) as error:
                self._events.emit("listener.disconnected", f"listener: {error}", level=logging.WARNING)
            finally:
                self.is_hearing = False
            await wait_for(stopping, timedelta(seconds=pause * random.uniform(0.8, 1.2)))  # noqa: S311 - jitter
            pause = min(pause * 2, 2.0)
