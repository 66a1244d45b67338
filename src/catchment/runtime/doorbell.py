"""A bell per queue: every listener hears the next ring, whatever its source (notification, timer, another fiber)."""

from __future__ import annotations

import asyncio
from datetime import timedelta


class Doorbell:
    def __init__(self) -> None:
        self._rung = asyncio.Event()

    def ring(self) -> None:
        """Wake everybody who listens now."""
        self._rung.set()
        self._rung = asyncio.Event()

    def listen(self) -> asyncio.Event:
        """An event that the next ring sets. Take it before looking at the queue, so that no ring falls between."""
        return self._rung


async def wait_for(rung: asyncio.Event, limit: timedelta) -> bool:
    """Wait for a ring; false when the time was up first."""
    try:
        async with asyncio.timeout(limit.total_seconds()):
            await rung.wait()
    except TimeoutError:
        return False
    return True
