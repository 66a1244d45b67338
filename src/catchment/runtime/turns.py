"""Decides which handler gets the next transaction connection, and which attempts may start.

Waiting for a connection does not count against a time limit. But a thousand started handlers that wait hold a thousand
slots: attempts of a command that is known to use transactions start only while few handlers wait.
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
    """``size`` is the number of connections. An attempt that may not start within ``give_back`` is ``NotStarted``."""

    def __init__(self, size: int, give_back: timedelta) -> None:
        self._size = size
        self._give_back = give_back.total_seconds()
        self._room = asyncio.Semaphore(size)
        self._users: set[str] = set()
        self._waiting = 0
        self._gate: deque[asyncio.Event] = deque()
        # When each waiting attempt began to wait, at the gate or for its connection; the oldest first.
        self._since: dict[object, float] = {}

    @property
    def age(self) -> float:
        """The longest time, in seconds, that an attempt has been waiting."""
        since = list(self._since.values())  # a copy, because other threads call this
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
            # Wake the next one. It checks again after this one has begun to wait for its connection, or has gone.
            self._open_gate()

    def _open_gate(self) -> None:
        if self._gate and self._waiting < self._size:
            self._gate.popleft().set()

    async def take(self, command: str) -> None:
        """Wait for a free connection. From now on attempts of this command ``enter`` before they start."""
        self._users.add(command)
        self._waiting += 1
        try:
            with self._counted():
                await self._room.acquire()
        finally:
            self._waiting -= 1
            self._open_gate()

    def give(self) -> None:
        """Free a connection."""
        self._room.release()

    @contextmanager
    def _counted(self) -> Generator[None]:
        token = object()
        self._since[token] = time.monotonic()
        try:
            yield
        finally:
            del self._since[token]
