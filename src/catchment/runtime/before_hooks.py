"""Claims tasks, and runs their before hooks in the transaction of the claim.

While no command has a before hook, a claim is one statement. With hooks it is a transaction, because a hook needs its
own statement timeout. A hook that was registered after the claimer connected is noticed when a task with one is
claimed: the task is given back and claimed again, with its hook.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from psycopg import AsyncConnection

from catchment.runtime.held import Held
from catchment.store import attempt as attempt_store
from catchment.store.hooks import claim_with_hooks, has_before_hooks

# The longest run of one hook. Short, because the claim waits for it.
LIMIT = timedelta(seconds=5)


class BeforeHooks:
    """``are_used`` is true once a before hook is known. ``total`` limits all hooks of one claim together."""

    def __init__(self, total: timedelta) -> None:
        self._total = total
        self.are_used = False

    async def look(self, conn: AsyncConnection[Any], queues: Sequence[str]) -> None:
        """Read from the registry whether there are before hooks; call it once for each connection."""
        self.are_used = await has_before_hooks(conn, queues)

    async def claim(self, conn: AsyncConnection[Any], worker_id: int, queues: Sequence[str], size: int) -> list[Held]:
        """Claim tasks and run the before hook of each."""
        if self.are_used:
            return await claim_with_hooks(conn, worker_id, queues, size, Held, limit=LIMIT, total=self._total)
        claimed = await self.sift(conn, await attempt_store.claim(conn, worker_id, queues, size, Held))
        return (
            claimed
            if not self.are_used
            else [*claimed, *await self.claim(conn, worker_id, queues, size - len(claimed))]
        )

    async def sift(self, conn: AsyncConnection[Any], claimed: list[Held]) -> list[Held]:
        """Give back the tasks that have a hook, which has not run; returns the others."""
        hooked = [held for held in claimed if held.before_procedure is not None]
        if not hooked:
            return claimed
        self.are_used = True
        await attempt_store.release(conn, [held.id for held in hooked], [held.fence for held in hooked])
        return [held for held in claimed if held.before_procedure is None]
