"""The open end of validity: ``infinity`` in the database, ``date.max`` in Python, which has no infinite day."""

from __future__ import annotations

from datetime import date
from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.types.datetime import DateDumper, DateLoader


class _End(date):
    """The last day that Python knows is shown as what it stands for."""

    def isoformat(self) -> str:
        return "infinity" if self == date.max else super().isoformat()


OPEN_END: date = _End(date.max.year, date.max.month, date.max.day)


class _EndLoader(DateLoader):
    def load(self, data: Buffer) -> date:
        return OPEN_END if bytes(data) == b"infinity" else super().load(data)


class _EndDumper(DateDumper):
    def dump(self, obj: date) -> Buffer | None:
        return b"infinity" if obj == OPEN_END else super().dump(obj)


def read_open_ends(conn: Connection[Any]) -> None:
    """Make a connection read ``infinity`` as ``OPEN_END`` and write it back."""
    conn.adapters.register_loader("date", _EndLoader)
    conn.adapters.register_dumper(date, _EndDumper)
