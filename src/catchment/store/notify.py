"""LISTEN on the engine's channels."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import ConnStatus

TASKS = "worker_tasks"
CANCELS = "worker_cancels"


@dataclass(frozen=True, slots=True)
class Heard:
    """A notification: a queue on ``worker_tasks``, a worker's id on ``worker_cancels``."""

    channel: str
    payload: str


async def listen(conn: AsyncConnection[Any]) -> AsyncIterator[Heard | None]:
    """Yield ``None`` once when listening, then each notification.

    Waits for the socket itself: psycopg's own generator looks at it ten times a second, which an idle worker notices.
    """
    await conn.execute("listen worker_tasks")
    await conn.execute("listen worker_cancels")
    yield None
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    fileno = conn.fileno()
    loop.add_reader(fileno, readable.set)
    try:
        while True:
            conn.pgconn.consume_input()
            readable.clear()
            while notification := conn.pgconn.notifies():
                yield Heard(notification.relname.decode(), notification.extra.decode())
            if conn.pgconn.status != ConnStatus.OK:
                raise psycopg.OperationalError("the listening connection was cut")
            await readable.wait()
    finally:
        loop.remove_reader(fileno)
