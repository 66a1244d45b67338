"""What an app wants around its plain handlers, in the thread or process that runs them. Middlewares run on the event
loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

AnyFunction = Callable[..., Any]


def bare(fn: AnyFunction) -> AnyFunction:
    """The function as it is."""
    return fn


@dataclass(frozen=True, slots=True)
class Surroundings:
    """``around`` makes of a plain handler what is called in its place; direct calls do without.

    ``set_up`` is the function, as ``module:function``, that a new process calls before it imports a handler.
    """

    around: Callable[[AnyFunction], AnyFunction] = bare
    set_up: str | None = None


NOTHING = Surroundings()
