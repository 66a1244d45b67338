"""Claims for a worker whose commands may have before hooks.

A claim is one statement, as long as no hook is known: a hook cannot get a time limit inside it. With hooks, claims are
transactions. A hook that was added since the connection was made shows when a task comes that has one: the task is
given back and claimed again, with its hook.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.held import Held
from catchment.store import attempt as store
from catchment.store.hooks import claim_with_hooks, has_before_hooks

# A claim waits for its hooks, so these get little time.
LIMIT = timedelta(seconds=5)


class BeforeHooks:
    """``are_used`` says whether a before hook is known. ``total`` is what the hooks of one claim may take together."""

    def __init__(self, total: timedelta) -> None:
        self._total = total
        self.are_used = False

    async def look(self, conn: AsyncConnection[Any], queues: Sequence[str]) -> None:
        """Look into the registry, once for each connection."""
        self.are_used = await has_before_hooks(conn, queues)

    async def claim(self, conn: AsyncConnection[Any], worker_id: int, queues: Sequence[str], size: int) -> list[Held]:
        """Claim tasks; the before hook of each has run."""
        if self.are_used:
            return await claim_with_hooks(conn, worker_id, queues, size, Held, limit=LIMIT, total=self._total)
        claimed = await self.sift(conn, await store.claim(conn, worker_id, queues, size, Held))
        return (
            claimed
            if not self.are_used
            else [*claimed, *await self.claim(conn, worker_id, queues, size - len(claimed))]
        )

    async def sift(self, conn: AsyncConnection[Any], claimed: list[Held]) -> list[Held]:
        """Of tasks claimed without their hooks, give those back that have one."""
        hooked = [held for held in claimed if held.before_procedure is not None]
        if not hooked:
            return claimed
        self.are_used = True
        await store.release(conn, [held.id for held in hooked], [held.fence for held in hooked])
        return [held for held in claimed if held.before_procedure is None]
