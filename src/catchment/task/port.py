"""What a context needs from whoever runs the handler. The worker runtime provides it."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

from psycopg import AsyncConnection, Connection

from catchment.errors import RequestRefused

if TYPE_CHECKING:
    from catchment.task.context import Context


class Port(Protocol):
    """The verbs of a context that reach the database."""

    def progress(self, context: Context) -> None:
        """``context.newest_progress`` has changed. Called from any thread; must neither block nor raise."""
        ...

    def transaction(self, context: Context) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        """The transaction that commits an async handler's writes together with its task's completion."""
        ...

    def transaction_sync(self, context: Context) -> AbstractContextManager[Connection[Any]]:
        """The same for a handler that runs in a thread."""
        ...


class LocalPort:
    """The port of a context without a worker: progress stays in memory, and there is no transaction."""

    def progress(self, context: Context) -> None:
        """Nothing to tell anybody: the context keeps the newest value."""

    def transaction(self, context: Context) -> AbstractAsyncContextManager[AsyncConnection[Any]]:
        raise _no_transaction(context)

    def transaction_sync(self, context: Context) -> AbstractContextManager[Connection[Any]]:
        raise _no_transaction(context)


def _no_transaction(context: Context) -> RequestRefused:
    return RequestRefused(
        f"the local context of {context.command} has no transaction",
        hint="Run the command in a worker, or pass Context.local(port=…) one that opens a transaction.",
    )
