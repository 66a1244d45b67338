"""Tells a connection that is in use for a moment from one that is taken by a COPY or a ``stream()`` of its owner.

psycopg locks a connection for each statement, and for the whole block of a COPY: a statement inside of the block waits
for its end, which never comes. Other drivers refuse it themselves.
"""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any, cast

from psycopg import AsyncConnection, Connection
from psycopg.pq import PipelineStatus, TransactionStatus

from catchment.store.foreign.refuse import taken


def check_free(conn: object, driver: object) -> None:
    """Refuse a connection of psycopg that nobody else gives back. A statement of another thread or task is waited
    for."""
    if not isinstance(driver, Connection | AsyncConnection):
        return
    used = cast("Connection[Any] | AsyncConnection[Any]", driver)
    if used.pgconn.transaction_status != TransactionStatus.ACTIVE or used.pgconn.pipeline_status != PipelineStatus.OFF:
        return
    frames = _of_threads() if isinstance(used, Connection) else _of_tasks()
    if not any(_uses(frame, used) for frame in frames):
        raise taken(conn)


def _uses(frame: FrameType, conn: object) -> bool:
    """Is this a method of the connection or of one of its cursors?"""
    owner = frame.f_locals.get("self")
    return owner is conn or getattr(owner, "_conn", None) is conn


def _of_threads() -> Iterator[FrameType]:
    """What other threads are doing."""
    for thread, newest in sys._current_frames().items():  # pyright: ignore[reportPrivateUsage] - there is no other way
        frame: FrameType | None = newest if thread != threading.get_ident() else None
        while frame is not None:
            yield frame
            frame = frame.f_back


def _of_tasks() -> Iterator[FrameType]:
    """What other tasks of this event loop are waiting for."""
    for task in asyncio.all_tasks() - {asyncio.current_task()}:
        waits: Any = task.get_coro()
        while waits is not None:
            frame = getattr(waits, "cr_frame", None) or getattr(waits, "gi_frame", None)
            if frame is not None:
                yield frame
            waits = getattr(waits, "cr_await", None) or getattr(waits, "gi_yieldfrom", None)
