"""Hooks of commands: procedures of users that run before and after a task, with the rights of the connection."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, TypeVar

from psycopg import AsyncConnection

from catchment.store.attempt import Attempt, claim
from catchment.store.fetch import fetch_value_async
from catchment.store.worker import record_warning

A = TypeVar("A", bound=Attempt)


async def has_before_hooks(conn: AsyncConnection[Any], queues: Sequence[str]) -> bool:
    """Does a Python command of these queues have a before hook?"""
    return await fetch_value_async(
        conn,
        "select exists (select from worker.command_registry"
        " where queue operator(pg_catalog.=) any (%s)"
        " and handler_kind operator(pg_catalog.=) 'python' and before_procedure is not null)",
        list(queues),
    )


async def claim_with_hooks(
    conn: AsyncConnection[Any],
    worker_id: int,
    queues: Sequence[str],
    size: int,
    make: Callable[[tuple[Any, ...]], A],
    *,
    limit: timedelta,
    total: timedelta,
) -> list[A]:
    """Claim, and run the before hooks of what was claimed in the same transaction.

    Each hook gets ``limit``, all together get ``total``. A hook that exceeds them is a warning, and its attempt starts.
    """
    async with conn.transaction():
        claimed = await claim(conn, worker_id, queues, size, make)
        until = time.monotonic() + total.total_seconds()
        for attempt in claimed:
            if attempt.before_procedure is None:
                continue
            left = min(limit.total_seconds(), until - time.monotonic())
            if left <= 0:
                await record_warning(conn, attempt.id, "before", f"not called: the hooks before it took {total}")
                continue
            await _limit(conn, left, is_local=True)
            await conn.execute(
                "call worker.run_before(%s, %s, %s::pg_catalog.jsonb)",
                [attempt.id, attempt.before_procedure, attempt.payload],
            )
    return claimed


async def run_after_hook(conn: AsyncConnection[Any], limit: timedelta) -> bool:
    """Run one after hook that is due, in its own transaction; false when there is none."""
    cursor = await conn.execute("select worker.has_after_calls()")
    if await cursor.fetchone() != (True,):
        return False
    await _limit(conn, limit.total_seconds(), is_local=False)
    await conn.execute("call worker.run_after_calls(true, 1, '{}')")
    return True


async def _limit(conn: AsyncConnection[Any], seconds: float, *, is_local: bool) -> None:
    text = f"{max(1, round(seconds * 1000))}ms"
    await conn.execute("select pg_catalog.set_config('statement_timeout', %s, %s)", [text, is_local])
