"""Times as people read them: those that Python has, and the others as text.

The engine refuses the others, but what was written by hand is there: one such row must not keep anybody from reading
the rest.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from psycopg.abc import AdaptContext, Buffer
from psycopg.adapt import Loader
from psycopg.pq import Format
from psycopg.types.datetime import TimestamptzBinaryLoader

_EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
_CYCLE = timedelta(days=146_097)
"""400 years, after which the calendar repeats."""
_FIRST = (datetime(1, 1, 3, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_LAST = (datetime(9999, 12, 29, tzinfo=UTC) - _EPOCH) // timedelta(microseconds=1)
_INFINITY = 2**63 - 1


class AnyTimeLoader(Loader):
    """Reads a ``timestamptz`` in binary; outside the years 1 to 9999, and where it is infinite, as text."""

    format = Format.BINARY

    def __init__(self, oid: int, context: AdaptContext | None = None) -> None:
        super().__init__(oid, context)
        self._usual = TimestamptzBinaryLoader(oid, context)

    def load(self, data: Buffer) -> Any:
        micros = int.from_bytes(bytes(data), "big", signed=True)
        return self._usual.load(data) if _FIRST <= micros <= _LAST else far_time(micros)


def far_time(micros: int) -> str:
    """The text of a time, given as PostgreSQL stores it, that Python cannot hold."""
    if micros == _INFINITY:
        return "infinity"
    if micros == -_INFINITY - 1:
        return "-infinity"
    cycles, rest = divmod(micros, _CYCLE // timedelta(microseconds=1))
    near = _EPOCH + timedelta(microseconds=rest)
    year = near.year + 400 * cycles
    text = f"{year if year > 0 else 1 - year:04d}-{near:%m-%d %H:%M:%S}+00:00"
    return text if year > 0 else f"{text} BC"
