"""An attempt as its handler and its worker see it: which task it is of, what it recorded, and whether it is over."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import datetime
from typing import Any, Protocol

from psycopg import AsyncConnection, Connection

from catchment.errors import CancelRequested, Snoozed
from catchment.model.task import TaskId
from catchment.task.child import Progress
from catchment.task.offspring import Offspring


class Port(Protocol):
    """The verbs of a context that reach the database. What runs the handler provides them."""

    def now(self) -> datetime:
        """The time that handlers sleep by."""
        ...

    def progress(self, context: Attempt) -> None:
        """``context.newest_progress`` has changed. Called from any thread; must neither block nor raise."""
        ...

    def transaction(self, context: Attempt) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        """The transaction that commits an async handler's writes together with its task's completion."""
        ...

    def transaction_sync(self, context: Attempt) -> AbstractContextManager[Connection[Any]]:
        """The same for a handler that runs in a thread."""
        ...


class Attempt:
    """What a ``Context`` knows. Its verbs are added by that class; ports need none of them."""

    __slots__ = (
        "_cancel_reason",
        "_failures",
        "_has_transaction",
        "_is_over",
        "_max_attempts",
        "_port",
        "attempt",
        "awaits_join",
        "command",
        "fence",
        "is_async",
        "is_join",
        "lane",
        "newest_progress",
        "parent_id",
        "queue",
        "recorded",
        "snoozed",
        "task_id",
    )

    def __init__(
        self,
        port: Port,
        *,
        task_id: TaskId,
        fence: int,
        command: str,
        queue: str,
        attempt: int = 1,
        failures: int | None = None,
        max_attempts: int = 1,
        parent_id: TaskId | None = None,
        lane: str | None = None,
        is_join: bool = False,
        is_async: bool = True,
    ) -> None:
        self._port = port
        self.task_id = task_id
        self.fence = fence
        self.command = command
        self.queue = queue
        self.attempt = attempt
        self.parent_id = parent_id
        self.lane = lane
        self.is_join = is_join
        self.is_async = is_async
        self.recorded: Offspring | None = None
        self.awaits_join = False
        self.newest_progress: Progress | None = None
        self.snoozed: Snoozed | None = None
        self._failures = attempt - 1 if failures is None else failures
        self._max_attempts = max_attempts
        self._cancel_reason: str | None = None
        self._has_transaction = False
        self._is_over = False

    def __repr__(self) -> str:
        return f"<Context of task {self.task_id} ({self.command}), attempt {self.attempt}>"

    @property
    def is_last_attempt(self) -> bool:
        """True if a failure of this attempt is final."""
        return self._failures + 1 >= self._max_attempts

    @property
    def has_transaction(self) -> bool:
        """True if the handler has opened a transaction."""
        return self._has_transaction

    @property
    def cancelled(self) -> bool:
        """True if the task or one of its ancestors is being cancelled."""
        return self._cancel_reason is not None

    def mark_cancelled(self, reason: str, *, is_over: bool = False) -> None:
        """Ask the handler to stop. Called by what runs the handler, from any thread.

        ``is_over``: its attempt is settled, or its handler has returned; every later request is refused.
        """
        self._cancel_reason = reason
        self._is_over = self._is_over or is_over

    @property
    def is_over(self) -> bool:
        """Is the attempt settled, or has its handler returned?"""
        return self._is_over

    def refuse_if_over(self) -> None:
        """Raise ``CancelRequested`` if the attempt is over."""
        if self._is_over:
            raise CancelRequested(
                f"task {self.task_id} ({self.command}) was given up: {self._cancel_reason}",
                hint="Do not catch asyncio.CancelledError, and wait in the handler for everything that it starts.",
            )

    @property
    def has_children(self) -> bool:
        """Has the attempt recorded a child?"""
        return self.recorded is not None and self.recorded.child_mode is not None

    def record(self) -> Offspring:
        """The record of this attempt, begun at its first entry."""
        self.refuse_if_over()
        if self.recorded is None:
            self.recorded = Offspring()
        return self.recorded
