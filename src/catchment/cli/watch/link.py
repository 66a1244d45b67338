"""A connection for commands that stay: made again when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, TypeVar

import psycopg
from psycopg import Connection

from catchment.cli.database import open_database
from catchment.errors import CatchmentError
from catchment.store.errors import Fault, fault_of

FIRST_PAUSE = 0.2
LAST_PAUSE = 3.0

T = TypeVar("T")


def keep_connected(
    dsn: str | None,
    serve: Callable[[Connection[Any]], T],
    *,
    on_loss: Callable[[Exception], None],
    on_return: Callable[[], None],
    wait: Callable[[float], None] = time.sleep,
) -> T:
    """What ``serve`` returns, which is called with a new connection whenever one was lost or the server could not
    answer. Raises if there was no connection at first, and what a new connection would not change."""
    has_served = False
    is_lost = False
    pause = FIRST_PAUSE
    while True:
        try:
            with open_database(dsn, "catchment_read") as conn:
                if is_lost:
                    is_lost = False
                    on_return()
                has_served = True
                return serve(conn)
        except (psycopg.Error, CatchmentError) as error:
            if not has_served or fault_of(error) is Fault.BAD:
                raise
            if not is_lost:
                is_lost = True
                pause = FIRST_PAUSE
                on_loss(error)
        wait(pause)
        pause = min(pause * 2, LAST_PAUSE)
