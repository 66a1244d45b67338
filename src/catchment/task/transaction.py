"""``ctx.transaction()``: one object for ``async with`` and ``with``, so that handlers of both kinds read the same."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Any

from psycopg import AsyncConnection, Connection

from catchment.errors import RequestRefused
from catchment.task.attempt import Attempt, Port


class Transaction:
    """``async with`` gives an AsyncConnection, ``with`` (in a handler that is a plain function) a Connection."""

    __slots__ = ("_async", "_attempt", "_port", "_sync")

    def __init__(self, attempt: Attempt, port: Port) -> None:
        self._attempt = attempt
        self._port = port
        self._async: AbstractAsyncContextManager[AsyncConnection[Any]] | None = None
        self._sync: AbstractContextManager[Connection[Any]] | None = None

    async def __aenter__(self) -> AsyncConnection[Any]:
        if not self._attempt.is_async:
            raise RequestRefused(
                f"async with ctx.transaction() in {self._attempt.command}, a plain function",
                hint="Use: with ctx.transaction() as conn",
            )
        self._async = self._port.transaction(self._attempt)
        return await self._async.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return None if self._async is None else await self._async.__aexit__(kind, error, trace)

    def __enter__(self) -> Connection[Any]:
        if self._attempt.is_async:
            raise RequestRefused(
                f"with ctx.transaction() in {self._attempt.command}, an async function",
                hint="Use: async with ctx.transaction() as conn",
            )
        self._sync = self._port.transaction_sync(self._attempt)
        return self._sync.__enter__()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return None if self._sync is None else self._sync.__exit__(kind, error, trace)
