"""What is around the handlers of a Django project: connections that are stale or broken are closed, as Django does
before and after each request. The next query opens another."""

# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false, reportUnknownMemberType=false
# Django has no stubs.
from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any

from asgiref.sync import sync_to_async
from django.db import Error, connections

from catchment.contrib.django.connections import is_test_run
from catchment.task.context import Context

Call = Callable[[], Awaitable[Any]]

# All coroutines share the connections of one thread; each of them asking for it would make others wait.
SECONDS = 1.0
# Of a test: runs a handler in the transaction of the test, whose connection stays open.
Guard = Callable[[Context, Call], Awaitable[Any]]
IN_TEST: ContextVar[Guard | None] = ContextVar("catchment_in_django_test", default=None)


def close_stale() -> None:
    """Close the connections of this thread that are broken or too old, except within ``atomic()``, as in a test. In a
    test run close all others, because their database is dropped in the end."""
    for conn in connections.all(initialized_only=True):
        if conn.in_atomic_block:
            continue
        if is_test_run():
            conn.close()
        else:
            conn.close_if_unusable_or_obsolete()


def with_connections(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Run a plain handler in its thread, which has its own connections."""

    def call(**bound: Any) -> Any:
        close_stale()
        try:
            return fn(**bound)
        finally:
            close_stale()

    return call


class AroundHandlers:
    """The middleware. A coroutine of Django uses the connections of one thread, see ``sync_to_async``: they are looked
    at once in a while, and after an error of the database."""

    def __init__(self) -> None:
        self._looked = 0.0

    async def __call__(self, ctx: Context, call: Call) -> Any:
        in_test = IN_TEST.get()
        if in_test is not None:
            return await in_test(ctx, call)
        if not ctx.is_async:
            return await call()
        if time.monotonic() - self._looked >= SECONDS:
            await self._look()
        try:
            value = await call()
        except Error:
            await self._look()
            raise
        if is_test_run():
            await self._look()
        return value

    async def _look(self) -> None:
        self._looked = time.monotonic()
        await sync_to_async(close_stale)()


around_handlers = AroundHandlers()
