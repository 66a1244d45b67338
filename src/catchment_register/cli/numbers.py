"""Numbers of the command line: the largest one that options take, and how those of the database are read."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any

from psycopg import Connection
from psycopg.abc import Buffer
from psycopg.adapt import Loader
from psycopg.types.json import set_json_loads

# What integer columns hold, and limits of rows.
LARGEST_INTEGER = 2**31 - 1
# Number of digits that a float keeps.
_FLOAT_DIGITS = 15


class _NumberLoader(Loader):
    def load(self, data: Buffer) -> int | float | Decimal:
        text = bytes(data).decode()
        return int(text) if text.lstrip("-").isdigit() else _fraction(text)


def read_numbers(conn: Connection[Any]) -> None:
    """Make a connection read ``numeric`` and numbers within JSON as plain numbers, which JSON has; one that no float
    holds stays as it is."""
    conn.adapters.register_loader("numeric", _NumberLoader)
    set_json_loads(_loads, conn)


def _loads(data: str | bytes) -> Any:
    return json.loads(data, parse_float=_fraction)


def _fraction(text: str) -> float | Decimal:
    return float(text) if sum(c.isdigit() for c in text) <= _FLOAT_DIGITS else Decimal(text)
