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
    """A notification: a queue on ``worker_tasks``; on ``worker_cancels`` a worker's id, with ``asked`` behind it if the
    worker itself gets a request, or ``top`` and a serial queue whose top level is free."""

    channel: str
    payload: str


async def listen(
    conn: AsyncConnection[Any], *, quiet: timedelta, woken: asyncio.Event | None = None
) -> AsyncIterator[Heard | None]:
    """Yield ``None`` once when listening, whenever nothing was heard for ``quiet``, and when ``woken`` is set though
    nothing is heard; and each notification.

    Waits for the socket itself: psycopg's own generator looks at it ten times a second, which an idle worker notices.
    The consumer may use the connection for calls between two yields.
    """
    heard: deque[Heard] = deque()
    woken = woken or asyncio.Event()
    conn.add_notify_handler(lambda note: heard.append(Heard(note.channel, note.payload)))
    await conn.execute("listen worker_tasks")
    await conn.execute("listen worker_cancels")
    yield None
    loop = asyncio.get_running_loop()
    fileno = conn.fileno()
    is_first = True
    while True:
        woken.clear()
        conn.pgconn.consume_input()
        while notification := conn.pgconn.notifies():
            heard.append(Heard(notification.relname.decode(), notification.extra.decode()))
        if conn.pgconn.status != ConnStatus.OK:
            raise psycopg.OperationalError("the listening connection was cut")
        if not heard and not is_first:
            yield None
        is_first = False
        while heard:
            yield heard.popleft()
        loop.add_reader(fileno, woken.set)
        try:
            async with asyncio.timeout(quiet.total_seconds()):
                await woken.wait()
        except TimeoutError:
            pass
        finally:
            loop.remove_reader(fileno)
