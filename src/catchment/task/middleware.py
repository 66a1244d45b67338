"""Middlewares: functions around every handler of an app, for logging, tracing, timing and the like."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from catchment.task.context import Context

Middleware = Callable[[Context, Callable[[], Awaitable[Any]]], Awaitable[Any]]


def compose(
    middlewares: Sequence[Middleware], context: Context, call: Callable[[], Awaitable[Any]]
) -> Callable[[], Awaitable[Any]]:
    """The call with all middlewares around it; the first one added is the outermost."""
    for middleware in reversed(middlewares):
        call = _around(middleware, context, call)
    return call


def _around(
    middleware: Middleware, context: Context, call: Callable[[], Awaitable[Any]]
) -> Callable[[], Awaitable[Any]]:
    # A function of its own, because a closure in the loop would see the last middleware alone.
    return lambda: middleware(context, call)
