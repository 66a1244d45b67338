"""LISTEN on the engine's channels."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import ConnStatus

TASKS = "worker_tasks"


@dataclass(frozen=True, slots=True)
class Heard:
    """A notification: a queue on ``worker_tasks``, a worker's id on ``worker_cancels``, with ``asked`` behind
    it if the worker itself is asked for something."""

    channel: str
    payload: str


async def listen(conn: AsyncConnection[Any], *, quiet: timedelta) -> AsyncIterator[Heard | None]:
    """Yield ``None`` once when listening and whenever nothing was heard for ``quiet``, and each notification.

    Waits for the socket itself: psycopg's own generator looks at it ten times a second, which an idle worker notices.
    The consumer may use the connection for calls between two yields.
    """
    heard: deque[Heard] = deque()
    conn.add_notify_handler(lambda note: heard.append(Heard(note.channel, note.payload)))
    await conn.execute("listen worker_tasks")
    await conn.execute("listen worker_cancels")
    yield None
    loop = asyncio.get_running_loop()
    readable = asyncio.Event()
    fileno = conn.fileno()
    while True:
        conn.pgconn.consume_input()
        while notification := conn.pgconn.notifies():
            heard.append(Heard(notification.relname.decode(), notification.extra.decode()))
        while heard:
            yield heard.popleft()
        if conn.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the listening connection was cut")
        readable.clear()
        is_quiet = False
        loop.add_reader(fileno, readable.set)
        try:
            async with asyncio.timeout(quiet.total_seconds()):
                await readable.wait()
        except TimeoutError:
            is_quiet = True
        finally:
            loop.remove_reader(fileno)
        if is_quiet:
            yield None
