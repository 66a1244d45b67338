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
from catchment.task.child import Child
from catchment.task.context import Context
from catchment.task.parameters import Field, Signature

_UNSUITABLE = {
    inspect.Parameter.POSITIONAL_ONLY: "is positional-only",
    inspect.Parameter.VAR_POSITIONAL: "takes any positional arguments",
    inspect.Parameter.VAR_KEYWORD: "takes any keyword arguments",
}


def read_signature(fn: Callable[..., Any], *, is_join: bool = False) -> Signature:
    """The parameters of a function; raises ``DefinitionRefused`` for one that a payload cannot fill."""
    function = _name_of(fn)
    scope = getattr(inspect.unwrap(fn), "__globals__", {})
    signature = inspect.signature(fn)
    context: str | None = None
    children: str | None = None
    fields: dict[str, Field] = {}
    for place, parameter in enumerate(signature.parameters.values()):
        _check_kind(function, parameter)
        annotation = _resolve(function, parameter.name, parameter.annotation, scope)
        if annotation is Context:
            if context is not None:
                raise DefinitionRefused(f"{function} takes two contexts, {context} and {parameter.name}, expected one")
            _check_context(function, parameter.name, place, is_join)
            context = parameter.name
        elif Context in typing.get_args(annotation):
            raise DefinitionRefused(
                f"the context {parameter.name} of {function} is {annotation}, expected Context alone",
                hint=f"A handler always gets its context: def {fn.__name__}({parameter.name}: catchment.Context, …).",
            )
        elif is_join and _is_children(parameter.name, annotation):
            children = parameter.name
        else:
            _check_meant(fn, parameter, place)
            is_keyword_only = parameter.kind is inspect.Parameter.KEYWORD_ONLY
            meant = _allow_default_none(annotation, parameter.default)
            fields[parameter.name] = Field(meant, parameter.default, is_keyword_only)
    returns = _resolve(function, "return", signature.return_annotation, scope)
    return Signature(function, context, children, types.MappingProxyType(fields), returns)


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
            f"parameter {parameter.name} of {function} {unsuitable}, expected named parameters",
            hint="A payload is a JSON object: each of its keys fills the parameter of that name.",
        )


def _check_context(function: str, name: str, place: int, is_join: bool) -> None:
    if place > 0 and not is_join:
        raise DefinitionRefused(
            f"{function} takes its context {name} as parameter {place + 1}, expected as the first",
            hint="Callers give the parameters after the context: def handler(ctx: Context, …).",
        )


def _is_children(name: str, annotation: Any) -> bool:
    """Is this the parameter of a join that gets the children? By its name, or by its annotation."""
    arguments = typing.get_args(annotation)
    is_child = len(arguments) == 1 and Child in (arguments[0], typing.get_origin(arguments[0]))
    return is_child or (name == "children" and annotation in (Any, list))


def _check_meant(fn: Callable[..., Any], parameter: inspect.Parameter, place: int) -> None:
    """Names are free. Two of them are mistakes in their place: a context and a method."""
    has_annotation = parameter.annotation is not inspect.Parameter.empty
    if parameter.name == "ctx" and not has_annotation:
        raise DefinitionRefused(
            f"parameter ctx of {fn.__qualname__} has no annotation",
            hint="A context is annotated: ctx: catchment.Context. Annotate an argument of this name with its type.",
        )
    outer = fn.__qualname__.rpartition(".")[0]
    is_in_class = outer != "" and not outer.endswith("<locals>")
    if place == 0 and parameter.name in ("self", "cls") and not has_annotation and is_in_class:
        raise DefinitionRefused(
            f"{fn.__qualname__} is a method, expected a function", hint="Use a function at module level."
        )


def _resolve(function: str, name: str, annotation: Any, scope: dict[str, Any]) -> Any:
    if annotation is inspect.Parameter.empty:
        return Any
    holder = types.SimpleNamespace(__annotations__={name: annotation})
    try:
        return typing.get_type_hints(holder, globalns=scope, include_extras=True)[name]
    except Exception as error:
        # Imported under TYPE_CHECKING alone, the name is all there is.
        if isinstance(annotation, str) and re.fullmatch(r"['\"]?(\w+\.)*Context['\"]?", annotation):
            return Context
        raise DefinitionRefused(
            f"the annotation of {name} in {function} cannot be resolved: {annotation!r} ({error})",
            hint="Import its type at module level, outside TYPE_CHECKING.",
        ) from error


def _allow_default_none(annotation: Any, default: Any) -> Any:
    """``x: str = None`` is read as ``x: str | None = None``, as it was meant."""
    if default is None and annotation is not Any:
        return typing.Optional[annotation]  # noqa: UP045 - the operator does not work on every annotation
    return annotation
