"""The connections that ``ctx.transaction()`` gives to handlers: everything but ending the transaction.

It is committed with the task's completion, by the worker. A handler that committed it would keep its writes though its
task fails; so ``commit`` and the like are refused, and savepoints (``conn.transaction()``) stay allowed.
"""

from __future__ import annotations

from typing import Any

import psycopg
from psycopg import AsyncConnection, Connection

from catchment.errors import RequestRefused

# The server ends a session for what its client did, or did not: that is the handler's own fault.
IDLED = ("25P03", "25P04")


def _refused(verb: str, is_async: bool) -> RequestRefused:
    block = "async with conn.transaction()" if is_async else "with conn.transaction()"
    return RequestRefused(
        f"{verb} on the connection of ctx.transaction()",
        hint=f"The task's completion commits it, an error undoes it all. For a part that may fail use: {block}",
    )


class HandlerConnection(Connection[Any]):
    """For handlers in threads. ``ended_by`` is the SQLSTATE of the error that came with the end of its session."""

    ended_by: str | None = None

    def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return super().wait(gen, *args, **kwargs)
        except psycopg.Error as error:
            self.ended_by = error.sqlstate if self.broken else None
            raise

    def commit(self) -> None:
        raise _refused("commit()", False)

    def rollback(self) -> None:
        raise _refused("rollback()", False)

    def close(self) -> None:
        raise _refused("close()", False)

    def set_autocommit(self, value: bool) -> None:
        raise _refused(f"set_autocommit({value})", False)

    def begin(self) -> None:
        """Leave autocommit mode: the next statement begins a transaction."""
        super().set_autocommit(False)

    def end(self) -> None:
        """Commit."""
        super().commit()

    def undo(self) -> None:
        """Roll back."""
        super().rollback()

    def rest(self) -> None:
        """Go back to autocommit mode, for the next handler."""
        super().set_autocommit(True)

    def cut(self) -> None:
        """Close the session."""
        super().close()


class AsyncHandlerConnection(AsyncConnection[Any]):
    """For async handlers."""

    ended_by: str | None = None

    async def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return await super().wait(gen, *args, **kwargs)
        except psycopg.Error as error:
            self.ended_by = error.sqlstate if self.broken else None
            raise

    async def commit(self) -> None:
        raise _refused("commit()", True)

    async def rollback(self) -> None:
        raise _refused("rollback()", True)

    async def close(self) -> None:
        raise _refused("close()", True)

    async def set_autocommit(self, value: bool) -> None:
        raise _refused(f"set_autocommit({value})", True)

    async def begin(self) -> None:
        """Leave autocommit mode: the next statement begins a transaction."""
        await super().set_autocommit(False)

    async def end(self) -> None:
        """Commit."""
        await super().commit()

    async def undo(self) -> None:
        """Roll back."""
        await super().rollback()

    async def rest(self) -> None:
        """Go back to autocommit mode, for the next handler."""
        await super().set_autocommit(True)

    async def cut(self) -> None:
        """Close the session."""
        await super().close()
