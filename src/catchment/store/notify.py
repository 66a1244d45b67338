"""LISTEN on the engine's channel."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import ConnStatus

CHANNEL = "worker_tasks"


async def listen(conn: AsyncConnection[Any]) -> AsyncIterator[str | None]:
    """Yield ``None`` once when listening, then the queue of each notification.

    Waits for the socket itself: psycopg's own generator looks at it ten times a second, which an idle worker notices.
    """
    await conn.execute("listen worker_tasks")
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
                yield notification.extra.decode()
            if conn.pgconn.status != ConnStatus.OK:
                raise psycopg.OperationalError("the listening connection was cut")
            await readable.wait()
    finally:
        loop.remove_reader(fileno)
