"""LISTEN on the engine's channel."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from psycopg import AsyncConnection

CHANNEL = "worker_tasks"


async def listen(conn: AsyncConnection[Any]) -> AsyncIterator[str | None]:
    """Yield ``None`` once when listening, then the queue of each notification."""
    await conn.execute("listen worker_tasks")
    yield None
    async for notification in conn.notifies():
        yield notification.payload
