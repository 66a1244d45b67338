"""A command: a function that can be enqueued. Calling it still calls the function."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from types import CodeType
from typing import Any, Generic, Literal, ParamSpec, cast, overload

from pydantic_core import to_json
from typing_extensions import TypeVar

from catchment.errors import DefinitionRefused
from catchment.task.child import Child
from catchment.task.context import Context
from catchment.task.options import CommandOptions, check_name
from catchment.task.parameters import Signature
from catchment.task.payload import Payload
from catchment.task.project import importable
from catchment.task.request import Request
from catchment.task.returns import Returns
from catchment.task.signature import read_signature
from catchment.task.surroundings import NOTHING, Surroundings
from catchment.task.task_options import NO_OPTIONS
from catchment.task.verbs import Client

P = ParamSpec("P")
Q = ParamSpec("Q")
R = TypeVar("R")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any], default=Callable[..., Any])
Executes = Literal["async", "thread", "process", "ray"]


@dataclass(frozen=True, slots=True)
class Join:
    """The second phase of a command."""

    fn: Callable[..., Any]
    signature: Signature
    is_async: bool

    def bind(self, context: Context, children: Sequence[Child[Any]], arguments: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the join: the children, the context, and the payload parameters it names."""
        bound = {name: arguments[name] for name in self.signature.fields}
        if self.signature.children is not None:
            bound[self.signature.children] = list(children)
        if self.signature.context is not None:
            bound[self.signature.context] = context
        return bound


class Command(Request[P, R], Generic[P, R, F]):
    """A function with a name, parameters and options. Made by ``@app.command``; call it to run the function here.

    ``P`` are the parameters that callers pass, ``R`` is the type of the result. Arguments are validated against the
    annotations by pydantic; any parameter names are allowed. A handler that needs the context of its attempt takes it
    as its first parameter, annotated ``Context``; callers do not pass it. An invalid function raises
    ``DefinitionRefused`` at definition.
    """

    def __init__(
        self,
        fn: F,
        options: CommandOptions,
        client: Client,
        *,
        name: str | None = None,
        surroundings: Surroundings = NOTHING,
    ) -> None:
        super().__init__(self, NO_OPTIONS, client)
        signature = read_signature(fn)
        self.fn = fn
        self.name = _checked_name(fn, name)
        self.name_json = to_json(self.name).decode()
        self.options = options
        self.payload = Payload(self.name, signature)
        self.returns = Returns(self.name, signature.function, signature.returns)
        self.is_async = inspect.iscoroutinefunction(fn)
        self.join_part: Join | None = None
        self.surroundings = surroundings
        self._context_parameter = signature.context
        options.check_keys(self.name, signature.fields)
        self.executor: Executes = self._choose_executor()
        functools.update_wrapper(cast("Callable[..., Any]", self), fn)

    def __call__(self: Command[Any, Any, Callable[Q, T]], /, *args: Q.args, **kwargs: Q.kwargs) -> T:
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

    def check_join(self) -> None:
        """Raise ``DefinitionRefused`` if the handler calls ``result_of_join`` and there is no join.

        Called later than at definition, because a join is defined after its command. A call that the code does not show
        is refused at run time."""
        code: CodeType | None = getattr(inspect.unwrap(self.fn), "__code__", None)
        if self.join_part is None and code is not None and _names(code, Context.result_of_join.__name__):
            raise DefinitionRefused(self.lacks_join, hint=f"Define it below {self.path}: @{self.fn.__name__}.join")

    @property
    def lacks_join(self) -> str:
        """The message for a handler that calls ``result_of_join`` although the command has no join."""
        return f"{self.name} leaves its result to its join, by ctx.result_of_join(), and has no join"

    @property
    def path(self) -> str:
        """Where the handler is defined, as ``module:qualname``."""
        return path_of(self.fn)

    def bind(self, context: Context, arguments: dict[str, Any]) -> dict[str, Any]:
        """Keyword arguments of the handler: a loaded payload, and the context if it takes one."""
        if self._context_parameter is not None:
            arguments[self._context_parameter] = context
        return arguments

    @overload
    def join(self: Command[Any, None, Any], fn: Callable[Q, T]) -> Callable[Q, T]: ...

    @overload
    def join(self, fn: Callable[Q, Coroutine[Any, Any, R]]) -> Callable[Q, Coroutine[Any, Any, R]]: ...

    @overload
    def join(self, fn: Callable[Q, R]) -> Callable[Q, R]: ...

    def join(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Decorator: ``fn`` is the second phase, run once all children completed. Its return value is the result.

        It takes ``children``, a list of ``Child``, and may take the context and parameters of the handler by their
        names. For a checked result both are annotated alike, and the handler ends with ``return ctx.result_of_join()``.
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
        if signature.children is None:
            raise DefinitionRefused(
                f"the join {signature.function} takes no parameter children",
                hint="Add it: children: list[catchment.Child].",
            )
        if self.returns.is_open:
            self.returns = Returns(self.name, signature.function, signature.returns, allows_none=True)
        self.join_part = Join(fn, signature, inspect.iscoroutinefunction(fn))
        return fn

    def _choose_executor(self) -> Executes:
        asked = self.options.executor
        natural: Executes = "async" if self.is_async else "thread"
        if asked == "auto" or asked == natural:
            return natural
        if asked not in ("process", "ray"):
            kind = "an async function" if self.is_async else "a plain function"
            raise DefinitionRefused(
                f"{self.name} is {kind}, which executor={asked!r} cannot run", hint=f"Leave it out, or use {natural!r}."
            )
        if self.is_async or self.wants_context:
            reason = "an async function" if self.is_async else "a handler that takes a context"
            raise DefinitionRefused(
                f"{self.name} is {reason}, which executor={asked!r} cannot run",
                hint="It runs a plain function of the payload alone: move that part into a separate command.",
            )
        if "<" in self.fn.__qualname__:
            raise DefinitionRefused(
                f"{self.path} is defined inside a function, where another process cannot find it",
                hint="Define it at module level.",
            )
        return asked


def _names(code: CodeType, name: str) -> bool:
    """Is an attribute or a global of this name used in this code, or in a function inside of it?"""
    return name in code.co_names or any(isinstance(one, CodeType) and _names(one, name) for one in code.co_consts)


def path_of(fn: Callable[..., Any]) -> str:
    """Where a function is defined, as ``module:qualname``."""
    return f"{importable(fn.__module__)}:{fn.__qualname__}"


def _checked_name(fn: Callable[..., Any], name: str | None) -> str:
    if name is None and fn.__name__ == "<lambda>":
        raise DefinitionRefused("a lambda has no name", hint="Pass name=, or use def.")
    chosen = fn.__name__ if name is None else name
    check_name("the name of a command", chosen)
    return chosen
