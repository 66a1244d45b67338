"""Answers of the last moment, for pages that follow events: twenty browsers on one page cost one read of it.

Only pages that were open already get them, and no answer that was read before the last event: what a person asks for,
or has just done, is always read.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Any

SECONDS = 0.9
MOST = 200


class Recent:
    """Answers by their address."""

    def __init__(self) -> None:
        self._answers: OrderedDict[str, tuple[float, asyncio.Task[Any]]] = OrderedDict()

    def forget(self) -> None:
        """Something is new: nothing that was read before counts."""
        self._answers.clear()

    async def read(self, key: str, read: Callable[[], Awaitable[Any]]) -> Any:
        """What was read for this key a moment ago, or is being read; else read it."""
        at, reading = self._answers.get(key, (0.0, None))
        if reading is None or monotonic() - at > SECONDS or reading.cancelled():
            reading = asyncio.ensure_future(read())
            self._answers[key] = (monotonic(), reading)
            self._answers.move_to_end(key)
            while len(self._answers) > MOST:
                self._answers.popitem(last=False)
        # A client that disconnects does not cancel the read of the others.
        return await asyncio.shield(reading)
