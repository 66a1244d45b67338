"""The end of ``catchment demo`` in a terminal: small scopes come and go, for those who look at the dashboard."""

from __future__ import annotations

import select
import sys
import time
from contextlib import suppress
from typing import Any

from psycopg import Connection

from catchment.commands.output import console
from catchment.store.fetch import fetch_value

PAUSE = 2.0
CHILDREN = 24


def stay(conn: Connection[Any], address: str, seconds: int) -> None:
    """Make tasks until Enter, Ctrl-C, or the time is over."""
    if not seconds:
        return
    console.print(
        f"\nTasks keep running for the dashboard, [bold]{address}[/]. Enter ends the demo; it ends by itself in "
        f"{_words(seconds)}."
    )
    until = time.monotonic() + seconds
    with suppress(KeyboardInterrupt):
        while (left := until - time.monotonic()) > 0:
            fetch_value(conn, "select worker.enqueue('demo_parent', jsonb_build_object('children', %s::int))", CHILDREN)
            if select.select([sys.stdin], [], [], min(PAUSE, left))[0]:
                sys.stdin.readline()
                return


def _words(seconds: int) -> str:
    return f"{seconds // 60} minutes" if seconds >= 120 else f"{seconds} seconds"
