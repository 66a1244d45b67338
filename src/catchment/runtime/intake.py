"""Whether this worker takes tasks. An operator can pause it, or drain it: then it also ends as soon as it is idle."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import timedelta

from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.store.worker import Asked

# While it is drained: time between two looks whether anything runs.
LOOK = timedelta(milliseconds=100)


class Intake:
    """Open unless the worker was asked to take no tasks. It outlives a registration: the process stays what it is."""

    def __init__(self, events: Events) -> None:
        self._events = events
        self.asked: Asked | None = None
        self._changed = asyncio.Event()

    @property
    def is_open(self) -> bool:
        return self.asked is None

    def set(self, asked: Asked | None) -> None:
        """Set the requested state of the worker, from now on."""
        if asked == self.asked:
            return
        self.asked = asked
        self._tell()
        self._changed.set()
        self._changed = asyncio.Event()

    def _tell(self) -> None:
        match self.asked:
            case "pause":
                text = "paused by an operator: running tasks finish, no new ones are claimed"
                self._events.emit("worker.paused", text)
            case "drain":
                text = "drained by an operator: running tasks finish, then this worker ends"
                self._events.emit("worker.draining", text)
            case None:
                self._events.emit("worker.resumed", "resumed by an operator: tasks are claimed again")

    async def wait(self, stopping: asyncio.Event) -> None:
        """Wait until another state is requested, or the worker stops."""
        waits = [asyncio.create_task(self._changed.wait()), asyncio.create_task(stopping.wait())]
        try:
            await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiting in waits:
                waiting.cancel()

    async def stop_when_drained(
        self, stopping: asyncio.Event, *, is_busy: Callable[[], bool], stop: Callable[[], None]
    ) -> None:
        """Call ``stop`` when the worker is drained and runs nothing any more."""
        while not stopping.is_set():
            if self.asked != "drain":
                await self.wait(stopping)
            elif is_busy():
                await wait_for(stopping, LOOK)
            else:
                stop()
                return
