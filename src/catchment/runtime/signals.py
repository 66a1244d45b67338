"""SIGTERM and Ctrl-C: the worker is asked to stop, and ended if it does not within its time.

The handlers are Python's own, which run even while a task handler keeps the event loop busy; the time is kept by a
thread, which no event loop holds up.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import threading
from collections.abc import Callable
from datetime import timedelta

from catchment.runtime.events import Events

# What a stop takes beyond the grace of its handlers: the last endings, a last word to the database.
MARGIN = timedelta(seconds=15)
EXIT_CODE = 70


def stop_on_signals(stop: Callable[[], None], events: Events, *, grace: timedelta) -> None:
    """Call ``stop`` in the running event loop at SIGTERM and SIGINT; end the process ``MARGIN`` after the grace."""
    loop = asyncio.get_running_loop()
    limit = (grace + MARGIN).total_seconds()
    is_asked = threading.Event()

    def hear(*_: object) -> None:
        loop.call_soon_threadsafe(stop)
        if not is_asked.is_set():
            is_asked.set()
            last_resort = threading.Timer(limit, _end, [events, limit])
            last_resort.daemon = True
            last_resort.start()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, hear)


def _end(events: Events, limit: float) -> None:
    events.emit(
        "worker.killed",
        f"not stopped {limit:g} s after it was asked to: the process ends now, and its tasks are taken over",
        level=logging.CRITICAL,
    )
    logging.shutdown()
    os._exit(EXIT_CODE)
