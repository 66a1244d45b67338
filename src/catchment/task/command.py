"""A command: a function that can be enqueued. Calling it still calls the function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Literal, ParamSpec, TypeVar

from pydantic_core import to_json

from catchment.errors import DefinitionRefused
from catchment.task.child import Child
from catchment.task.context import Context
from catchment.task.options import CommandOptions, check_name
from catchment.task.parameters import Signature
from catchment.task.payload import Payload
from catchment.task.signature import read_signature

P = ParamSpec("P")
R = TypeVar("R")
JoinFunction = TypeVar("JoinFunction", bound=Callable[..., Any])
Executes = Literal["async", "thread", "process"]


@dataclass(frozen=True, slots=True)
class Join:
    """The second phase of a command."""

    fn: Callable[..., Any]
    signature: Signature
    is_async: bool

    def bind(self, context: Context, children: Sequence[Child], arguments: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the join: the children, the context, and the payload parameters it names."""
        bound = {name: arguments[name] for name in self.signature.fields}
        bound["children"] = list(children)
        if self.signature.context is not None:
            bound[self.signature.context] = context
        return bound


class Command(Generic[P, R]):
    """A function with a name, a payload and options. Made by ``@app.command``; call it to run the function here.

    The function takes parameters with names of their own; their annotations say what the payload may hold, as pydantic
    reads them. A parameter annotated ``Context`` gets the context of the attempt. The names ``lane``, ``priority``,
    ``at``, ``delay``, ``conn`` and ``payload`` are taken, and in handlers ``children``. What does not fit raises
    ``DefinitionRefused`` at definition.
    """

    def __init__(self, fn: Callable[P, R], options: CommandOptions, *, name: str | None = None) -> None:
        signature = read_signature(fn)
        self.fn = fn
        self.name = _checked_name(fn, name)
        self.name_json = to_json(self.name).decode()
        self.options = options
        self.payload = Payload(self.name, signature)
        self.is_async = inspect.iscoroutinefunction(fn)
        self.join_part: Join | None = None
        self._context_parameter = signature.context
        options.check_keys(self.name, signature.fields)
        self.executor: Executes = self._choose_executor()
        functools.update_wrapper(self, fn)

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        return self.fn(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<Command {self.name} on {self.options.queue}>"

    @property
    def wants_context(self) -> bool:
        """Does the handler take a context?"""
        return self._context_parameter is not None

    @property
    def join_fn(self) -> Callable[..., Any] | None:
        """The function of the second phase, if there is one."""
        return None if self.join_part is None else self.join_part.fn

    @property
    def path(self) -> str:
        """Where the handler is defined, as ``module:qualname``."""
        return path_of(self.fn)

    def bind(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the handler: a loaded payload, and the context if it takes one."""
        if self._context_parameter is not None:
            arguments[self._context_parameter] = context
        return arguments

    def join(self, fn: JoinFunction) -> JoinFunction:
        """Decorator: ``fn`` is the second phase, run once all children completed. Its return value is the result.

        It takes ``children``, a list of ``Child``, and may take the context and parameters of the handler by their
        names.
        """
        if self.join_part is not None:
            raise DefinitionRefused(f"{self.name} has a join already: {path_of(self.join_part.fn)}")
        signature = read_signature(fn, is_join=True)
        unknown = [name for name in signature.fields if name not in self.payload.names]
        if unknown:
            raise DefinitionRefused(
                f"the join {signature.function} takes {', '.join(unknown)}, which {self.name} does not take",
                hint=f"It can take children, a context, and: {', '.join(self.payload.names) or 'nothing else'}.",
            )
        if not signature.takes_children:
            raise DefinitionRefused(
                f"the join {signature.function} takes no parameter children",
                hint="Add it: children: list[catchment.Child].",
            )
        self.join_part = Join(fn, signature, inspect.iscoroutinefunction(fn))
        return fn

    def _choose_executor(self) -> Executes:
        asked = self.options.executor
        natural: Executes = "async" if self.is_async else "thread"
        if asked == "auto" or asked == natural:
            return natural
        if asked != "process":
            kind = "an async function" if self.is_async else "a plain function"
            raise DefinitionRefused(
                f"{self.name} is {kind}, which executor={asked!r} cannot run", hint=f"Leave it out, or use {natural!r}."
            )
        if self.is_async or self.wants_context:
            reason = "an async function" if self.is_async else "a handler that takes a context"
            raise DefinitionRefused(
                f"{self.name} is {reason}, which executor='process' cannot run",
                hint="A process runs a plain function of the payload alone: move that part into a command of its own.",
            )
        if "<" in self.fn.__qualname__:
            raise DefinitionRefused(
                f"{self.path} is defined inside a function, where another process cannot find it",
                hint="Define it at module level.",
            )
        return "process"


def path_of(fn: Callable[..., Any]) -> str:
    """Where a function is defined, as ``module:qualname``."""
    return f"{fn.__module__}:{fn.__qualname__}"


def _checked_name(fn: Callable[..., Any], name: str | None) -> str:
    if name is None and fn.__name__ == "<lambda>":
        raise DefinitionRefused("a lambda has no name", hint="Pass name=, or use def.")
    chosen = fn.__name__ if name is None else name
    check_name("the name of a command", chosen)
    return chosen
