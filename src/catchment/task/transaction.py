"""``ctx.transaction()``: one object for ``async with`` and ``with``, so that handlers of both kinds read the same."""

from __future__ import annotations

from contextlib import AsyncExitStack, ExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from psycopg import AsyncConnection, Connection

from catchment.errors import RequestRefused
from catchment.extras import SQLALCHEMY, SQLALCHEMY_SYNC
from catchment.store.handler_connection import AsyncHandlerConnection, HandlerConnection
from catchment.task.attempt import Attempt, Port

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession
    from sqlalchemy.orm import Session

A = TypeVar("A", "AsyncConnection[Any]", "AsyncSession")
S = TypeVar("S", "Connection[Any]", "Session")


class Transaction(Generic[A, S]):
    """``async with`` gives an ``AsyncConnection`` or an ``AsyncSession``; ``with``, in a handler that is a plain
    function, a ``Connection`` or a ``Session``."""

    __slots__ = ("_async", "_attempt", "_has_session", "_port", "_sync")

    def __init__(self, attempt: Attempt, port: Port, *, has_session: bool) -> None:
        self._attempt = attempt
        self._port = port
        self._has_session = has_session
        self._async = AsyncExitStack()
        self._sync = ExitStack()
        if has_session:
            (SQLALCHEMY if attempt.is_async else SQLALCHEMY_SYNC).check()

    async def __aenter__(self) -> A:
        if not self._attempt.is_async:
            raise RequestRefused(
                f"async with ctx.transaction() in {self._attempt.command}, a plain function",
                hint="Use: with ctx.transaction() as conn",
            )
        conn: Any = await self._async.enter_async_context(self._port.transaction(self._attempt))
        if not self._has_session:
            return conn
        return await self._enter_async(conn)

    async def _enter_async(self, conn: object) -> Any:
        from catchment.store.foreign.lent_session import async_session_on

        try:
            if not isinstance(conn, AsyncHandlerConnection):
                raise _no_session(conn)
            return await self._async.enter_async_context(async_session_on(conn))
        except BaseException as error:
            await self._async.__aexit__(type(error), error, error.__traceback__)
            raise

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._async.__aexit__(kind, error, trace)

    def __enter__(self) -> S:
        if self._attempt.is_async:
            raise RequestRefused(
                f"with ctx.transaction() in {self._attempt.command}, an async function",
                hint="Use: async with ctx.transaction() as conn",
            )
        conn: Any = self._sync.enter_context(self._port.transaction_sync(self._attempt))
        if not self._has_session:
            return conn
        return self._enter(conn)

    def _enter(self, conn: object) -> Any:
        from catchment.store.foreign.lent_session import session_on

        try:
            if not isinstance(conn, HandlerConnection):
                raise _no_session(conn)
            return self._sync.enter_context(session_on(conn))
        except BaseException as error:
            self._sync.__exit__(type(error), error, error.__traceback__)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return self._sync.__exit__(kind, error, trace)


def _no_session(conn: object) -> RequestRefused:
    return RequestRefused(
        f"the port of this context gives a {type(conn).__name__}, on which there can be no session",
        hint="Run the command in a worker, or with catchment.testing.drain.",
    )
