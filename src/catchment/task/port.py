"""The port of a context that no worker has made."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from datetime import UTC, datetime
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.errors import RequestRefused
from catchment.task.attempt import Attempt


class LocalPort:
    """The port of a context without a worker: progress stays in memory, and there is no transaction."""

    def now(self) -> datetime:
        return datetime.now(UTC)

    def progress(self, context: Attempt) -> None:
        """Nothing to tell anybody: the context keeps the newest value."""

    def transaction(self, context: Attempt) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        raise _no_transaction(context)

    def transaction_sync(self, context: Attempt) -> AbstractContextManager[Connection[Any]]:
        raise _no_transaction(context)


def _no_transaction(context: Attempt) -> RequestRefused:
    return RequestRefused(
        f"the local context of {context.command} has no transaction",
        hint="Run the command in a worker, or pass Context.local(port=…) one that opens a transaction.",
    )
