"""The types of ``@app.command``: what a checker knows of a command by the function that it is made from.

Callers do not give the context, and a result is what the function returns or awaits. The first parameter of a function
could be anything if it is annotated ``Any`` or not at all: calls of such a command are not checked.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeAlias, TypeVar, overload

from catchment.task.command import Command
from catchment.task.context import Context

P = ParamSpec("P")
R = TypeVar("R")


class Anything:
    """No parameter takes it but one that takes anything."""


Unchecked: TypeAlias = Callable[Concatenate[Anything, P], R]
WithContext: TypeAlias = Callable[Concatenate[Context, P], R]
Awaited: TypeAlias = Coroutine[Any, Any, R]


class Decorator(Protocol):
    """``@app.command(…)``: makes a command of the function below it."""

    @overload
    def __call__(self, fn: Unchecked[P, Awaited[R]], /) -> Command[..., R, Callable[..., Awaited[R]]]: ...

    @overload
    def __call__(self, fn: WithContext[P, Awaited[R]], /) -> Command[P, R, WithContext[P, Awaited[R]]]: ...

    @overload
    def __call__(self, fn: Callable[P, Awaited[R]], /) -> Command[P, R, Callable[P, Awaited[R]]]: ...

    @overload
    def __call__(self, fn: Unchecked[P, R], /) -> Command[..., R, Callable[..., R]]: ...

    @overload
    def __call__(self, fn: WithContext[P, R], /) -> Command[P, R, WithContext[P, R]]: ...

    @overload
    def __call__(self, fn: Callable[P, R], /) -> Command[P, R, Callable[P, R]]: ...
