"""Figures that stay the same until what they are made from changes: a page that follows events reads them once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

V = TypeVar("V")

MOST = 200


class Kept:
    """What was read last for a key, with the version of the data that it was made from."""

    def __init__(self) -> None:
        self._values: OrderedDict[str, tuple[object, Any]] = OrderedDict()

    async def read(self, key: str, version: object, read: Callable[[], Awaitable[V]]) -> V:
        """What is kept for this key and version; else read it."""
        known, value = self._values.get(key, (None, None))
        if known != version:
            value = await read()
            self._values[key] = (version, value)
        self._values.move_to_end(key)
        while len(self._values) > MOST:
            self._values.popitem(last=False)
        return value
