"""Who gets the next transaction connection, and who may start towards one.

Waiting for a connection is no handler's fault, so it never counts against a time limit. But a thousand started handlers
that wait hold a thousand slots: attempts of a command that is known to use transactions start only while few wait.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Generator
from contextlib import contextmanager, suppress
from datetime import timedelta

from catchment.runtime.pools import NotStarted


class Turns:
    """``size`` connections. Whoever may not start within ``give_back`` is given back: ``NotStarted``."""

    def __init__(self, size: int, give_back: timedelta) -> None:
        self._size = size
        self._give_back = give_back.total_seconds()
        self._room = asyncio.Semaphore(size)
        self._users: set[str] = set()
        self._waiting = 0
        self._gate: deque[asyncio.Event] = deque()
        # Since when each of those waits, at the gate or for its connection; the oldest first.
        self._since: dict[object, float] = {}

    @property
    def age(self) -> float:
        """How many seconds the one that has waited longest has been waiting."""
        since = list(self._since.values())  # one copy, because this is asked from other threads
        return time.monotonic() - since[0] if since else 0.0

    def uses(self, command: str) -> bool:
        """Is this command known to use transactions?"""
        return command in self._users

    async def enter(self) -> None:
        """Wait until an attempt that will ask for a connection may start."""
        if self._waiting < self._size and not self._gate:
            return
        with self._counted():
            try:
                async with asyncio.timeout(self._give_back):
                    await self._pass_gate()
            except TimeoutError:
                raise NotStarted from None

    async def _pass_gate(self) -> None:
        turn = asyncio.Event()
        self._gate.append(turn)
        try:
            while True:
                self._open_gate()
                await turn.wait()
                if self._waiting < self._size:
                    return
                turn.clear()
                self._gate.appendleft(turn)
        finally:
            with suppress(ValueError):
                self._gate.remove(turn)
            # The next one gets its chance when this one has come as far as to wait itself, or has gone away.
            self._open_gate()

    def _open_gate(self) -> None:
        if self._gate and self._waiting < self._size:
            self._gate.popleft().set()

    async def take(self, command: str) -> None:
        """Wait for a place among the connections. From now on attempts of this command wait before they start."""
        self._users.add(command)
        self._waiting += 1
        try:
            with self._counted():
                await self._room.acquire()
        finally:
            self._waiting -= 1
            self._open_gate()

    def give(self) -> None:
        """A place is free again."""
        self._room.release()

    @contextmanager
    def _counted(self) -> Generator[None]:
        token = object()
        self._since[token] = time.monotonic()
        try:
            yield
        finally:
            del self._since[token]
