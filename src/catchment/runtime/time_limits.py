"""The time limits of running attempts. Each begins with its handler and is paused while the handler waits for a
connection."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from catchment.runtime.held import Held, Stop
from catchment.runtime.port import HandlerPort
from catchment.task.context import Context


class TimeLimits:
    """``stop`` is called for a handler that is late."""

    def __init__(self, port: HandlerPort, stop: Callable[[Held, Stop, str], None]) -> None:
        self._port = port
        self._stop = stop
        self._loop = asyncio.get_running_loop()
        self._checks: set[asyncio.Task[None]] = set()

    def begin(self, held: Held) -> None:
        """Start the time limit: the handler starts now. Waiting for a thread or a process does not count."""
        held.has_started = True
        if held.timeout is not None and held.timer is None:
            held.timer = self._loop.call_later(held.timeout.total_seconds(), self._time_out, held)

    def pause(self, held: Held) -> None:
        """Pause the time limit of an attempt that waits for a connection."""
        if held.timer is not None and held.time_left is None:
            held.time_left = max(0.0, held.timer.when() - self._loop.time())
            held.timer.cancel()

    def resume(self, held: Held) -> None:
        """Continue the time limit."""
        if held.time_left is not None and held.runner is not None and not held.is_settled:
            held.timer = self._loop.call_later(held.time_left, self._time_out, held)
        held.time_left = None

    def close(self) -> None:
        """Stop the checks for hanging connections."""
        for check in self._checks:
            check.cancel()

    def _time_out(self, held: Held) -> None:
        if held.context is not None and self._port.is_waiting(held.context):
            check = self._loop.create_task(self._time_out_unless_it_hangs(held, held.context))
            self._checks.add(check)
            check.add_done_callback(self._checks.discard)
        else:
            self._stop_late(held)

    async def _time_out_unless_it_hangs(self, held: Held, context: Context) -> None:
        """A handler that waits for an answer which never comes is interrupted: it is not the one that is late."""
        if not await self._port.hangs(context):
            self._stop_late(held)

    def _stop_late(self, held: Held) -> None:
        self._stop(held, Stop.TIMED_OUT, f"timed out after {held.timeout}")
