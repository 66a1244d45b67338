"""Reads a function's parameters: which one is the context, which are payload, and which cannot be taken.

Annotations are resolved one by one, so that one that exists for type checkers alone is named in the error.
"""

from __future__ import annotations

import inspect
import re
import types
import typing
from collections.abc import Callable
from typing import Any

from catchment.errors import DefinitionRefused
from catchment.model.check import shown
from catchment.task.context import Context
from catchment.task.parameters import Field, Signature

RESERVED = ("lane", "priority", "at", "delay", "conn", "payload")
_UNSUITABLE = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only",
    inspect.Parameter.VAR_POSITIONAL: "takes any positional arguments",
    inspect.Parameter.VAR_KEYWORD: "takes any keyword arguments",
}


def read_signature(fn: Callable[..., Any], *, is_join: bool = False) -> Signature:
    """The parameters of a function; raises ``DefinitionRefused`` for one that a payload cannot fill."""
    function = _name_of(fn)
    scope = getattr(inspect.unwrap(fn), "__globals__", {})
    context: str | None = None
    takes_children = False
    fields: dict[str, Field] = {}
    for parameter in inspect.signature(fn).parameters.values():
        _check_kind(function, parameter)
        annotation = _resolve(function, parameter, scope)
        if annotation is Context:
            if context is not None:
                raise DefinitionRefused(f"{function} takes two contexts, {context} and {parameter.name}, expected one")
            context = parameter.name
        elif is_join and parameter.name == "children":
            takes_children = True
        else:
            _check_reserved(function, parameter.name, is_join)
            fields[parameter.name] = Field(_allow_default_none(annotation, parameter.default), parameter.default)
    return Signature(function, context, takes_children, types.MappingProxyType(fields))


def _name_of(fn: Callable[..., Any]) -> str:
    if not inspect.isfunction(fn):
        raise DefinitionRefused(
            f"{shown(fn)} is no function", hint="A command is made from a function: def or async def, at module level."
        )
    if inspect.isgeneratorfunction(fn) or inspect.isasyncgenfunction(fn):
        raise DefinitionRefused(f"{fn.__qualname__} is a generator", hint="Return the result instead of yielding.")
    return fn.__qualname__


def _check_kind(function: str, parameter: inspect.Parameter) -> None:
    unsuitable = _UNSUITABLE.get(parameter.kind)
    if unsuitable:
        raise DefinitionRefused(
            f"parameter {parameter.name} of {function} {unsuitable}, expected parameters with names of their own",
            hint="A payload is a JSON object: each of its keys fills the parameter of that name.",
        )


def _check_reserved(function: str, name: str, is_join: bool) -> None:
    if name in RESERVED:
        reason, remedy = f"{name} is an option of enqueue", "Choose another name for the parameter."
    elif name == "ctx":
        reason, remedy = "ctx is the context", "Annotate it: ctx: catchment.Context."
    elif name == "children" and not is_join:
        reason, remedy = "children are given to the join of a command", "Use @command.join, or choose another name."
    elif name in ("self", "cls"):
        reason, remedy = "methods cannot be commands", "Use a function at module level."
    elif name.startswith("_"):
        reason, remedy = "names with a leading underscore are private", "Choose a name without it."
    else:
        return
    raise DefinitionRefused(f"{function} cannot take a payload parameter {name}: {reason}", hint=remedy)


def _resolve(function: str, parameter: inspect.Parameter, scope: dict[str, Any]) -> Any:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={parameter.name: annotation})
    try:
        return typing.get_type_hints(holder, globalns=scope, include_extras=True)[parameter.name]
    except Exception as error:
        # Imported under TYPE_CHECKING alone, the name is all there is.
        if isinstance(annotation, str) and re.fullmatch(r"['\"]?(\w+\.)*Context['\"]?", annotation):
            return Context
        raise DefinitionRefused(
            f"the annotation of {parameter.name} in {function} cannot be resolved: {annotation!r} ({error})",
            hint="Import its type at module level, outside TYPE_CHECKING.",
        ) from error


def _allow_default_none(annotation: Any, default: Any) -> Any:
    """``x: str = None`` is read as ``x: str | None = None``, as it was meant."""
    if default is None and annotation is not Any:
        return typing.Optional[annotation]  # noqa: UP045 - the operator does not work on every annotation
    return annotation
