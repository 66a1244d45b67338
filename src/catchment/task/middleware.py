"""Middlewares: functions around every handler of an app, for logging, tracing, timing and the like."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from catchment.errors import DefinitionRefused
from catchment.model.check import shown
from catchment.task.context import Context

Middleware = Callable[[Context, Callable[[], Awaitable[Any]]], Awaitable[Any]]
_EXPECTED = "async def fn(ctx, call)"


def check_middleware(fn: Any) -> None:
    """Refuse what cannot be called with a context and a call, or is no coroutine function by its looks."""
    if not callable(fn) or isinstance(fn, type):
        raise DefinitionRefused(f"the middleware is {shown(fn)}, expected {_EXPECTED}")
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise DefinitionRefused(f"the middleware {fn.__qualname__} is a generator, expected {_EXPECTED}")
    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # one that is not written in Python
        return
    try:
        signature.bind(None, None)
    except TypeError as error:
        raise DefinitionRefused(
            f"the middleware {shown(fn)} cannot be called with a context and a call: {error}, expected {_EXPECTED}"
        ) from error


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
    # A separate function, because a closure in the loop would see the last middleware alone.
    return lambda: middleware(context, call)
