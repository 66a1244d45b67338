"""What a handler returns: written as JSON by the worker, read back with its return annotation.

A result comes back as it was returned, or its task fails. Without an annotation, or with ``Any``, it must be a JSON
value.
"""

from __future__ import annotations

import functools
import json
import types
import typing
from typing import Any, Never, NoReturn

from pydantic import ConfigDict, RootModel, ValidationError
from pydantic_core import to_json

from catchment.errors import DefinitionRefused, ResultRefused
from catchment.task.encode import DEFAULT_LIMIT, NOT_AWAITED, check_json, encode, text_of
from catchment.task.faithful import as_stored, keeps_unset, same
from catchment.task.payload import CONFIG, advice_on

# That of payloads, as far as it applies to a model of one value.
_CONFIG: ConfigDict = {name: value for name, value in CONFIG.items() if name != "extra"}  # type: ignore[assignment]
_SCALARS = (str, int, float, bool)
_WITHOUT_LOSS = (str, int, bool)
_ANYTHING = (Any, object)
_NOTHING = (None, type(None), NoReturn, Never)


class Unreadable(Exception):
    """A stored result does not fit the annotation."""


class Returns:
    """The result of one command. ``allows_none``: a handler that spawned nothing may leave it to its join."""

    __slots__ = ("_allows_none", "_is_any", "_keeps_unset", "_model", "_scalar", "annotation", "command")

    def __init__(self, command: str, function: str, annotation: Any, *, allows_none: bool = False) -> None:
        self.command = command
        self.annotation = type(None) if annotation in _NOTHING else annotation
        self._is_any = annotation in _ANYTHING
        self._allows_none = allows_none or self.annotation is type(None)
        self._scalar = annotation if annotation in _SCALARS else None
        self._model = _make_model(function, self.annotation)
        self._keeps_unset = self._scalar is None and keeps_unset(self._model.__pydantic_core_schema__)

    @property
    def is_open(self) -> bool:
        """Does the annotation say nothing about the result, or that there is none?"""
        return self._is_any or self.annotation is type(None)

    @property
    def takes_none(self) -> bool:
        """Can a handler return None?"""
        try:
            self.dump(None)
        except ResultRefused:
            return False
        return True

    @property
    def written(self) -> str:
        """The annotation as a message shows it."""
        if self.annotation is type(None):
            return "None"
        is_class = isinstance(self.annotation, type) and not typing.get_args(self.annotation)
        return self.annotation.__name__ if is_class else str(self.annotation)

    def dump(self, value: Any, *, limit: int = DEFAULT_LIMIT) -> str | None:
        """JSON text of a result, None for none; raises ``ResultRefused`` when it would not come back as it is."""
        if value is None and (self._is_any or self._allows_none):
            return None
        what = f"the result of {self.command}"
        if type(value) is self._scalar:
            return encode(value, what, limit=limit)
        if self._is_any:
            return _dump_any(value, what, limit)
        if self._keeps_unset:
            try:
                return self._dump(value, what, limit, exclude_unset=True)
            except ResultRefused:  # such as a union that needs a field as its discriminator
                pass
        return self._dump(value, what, limit, exclude_unset=False)

    def _dump(self, value: Any, what: str, limit: int, *, exclude_unset: bool) -> str:
        model = self._model
        try:
            made = model.model_construct(value)
            data = model.__pydantic_serializer__.to_json(
                made, by_alias=True, round_trip=True, warnings=False, exclude_unset=exclude_unset
            )
            text = check_json(data, what, limit=limit)
            read = model.__pydantic_validator__.validate_json(as_stored(text)).root
        except ResultRefused:
            raise
        except BaseException as error:  # a serializer may raise anything, a pyo3 panic included
            reason = NOT_AWAITED if type(value) is types.CoroutineType else _reason(error)
            raise ResultRefused(f"{what} does not fit its return annotation {self.written}: {reason}") from error
        if not same(value, read):
            raise ResultRefused(
                f"{what} does not fit its return annotation {self.written}: the {type(value).__name__} that was"
                " returned is another value after it was written as JSON and read back"
            )
        return text

    def load(self, value: Any) -> Any:
        """A result from its JSON value; raises ``Unreadable`` when it does not fit the annotation."""
        if self._is_any or type(value) is self._scalar or (value is None and self._allows_none):
            return value
        try:
            return self._model.__pydantic_validator__.validate_json(to_json(value)).root
        except Exception as error:
            raise Unreadable(f"it does not fit the return annotation {self.written}: {_reason(error)}") from error


def _dump_any(value: Any, what: str, limit: int) -> str:
    """JSON text of a result without a type that would read it: it is read as a JSON value, so it must be one."""
    text = encode(value, what, limit=limit)
    if type(value) not in _WITHOUT_LOSS and not same(value, json.loads(as_stored(text))):
        raise ResultRefused(
            f"{what} has no return annotation to read it back by, and the {type(value).__name__} that was returned is"
            " another value after it was written as JSON and read: annotate the handler with the type of its result,"
            " or return what JSON can hold"
        )
    return text


def _reason(error: BaseException) -> str:
    """Without the value."""
    if not isinstance(error, ValidationError):
        advice = advice_on(error)
        return text_of(error) if advice is None else f"{text_of(error)}. {advice}"
    problem = error.errors(include_url=False, include_context=False, include_input=False)[0]
    where = ".".join(str(part) for part in problem["loc"])
    return f"{where}: {problem['msg']}" if where else problem["msg"]


def _make_model(function: str, annotation: Any) -> type[RootModel[Any]]:
    try:
        is_common = isinstance(annotation, type) or annotation is Any
        return _common_model(annotation) if is_common else _new_model(annotation)
    except Exception as error:
        raise DefinitionRefused(
            f"the return annotation of {function} is {annotation!r}, and results of that type cannot be read back:"
            f" {error}",
            hint="Annotate a type that pydantic knows, or Any for a result that is a JSON value.",
        ) from error


def _new_model(annotation: Any) -> type[RootModel[Any]]:
    namespace = {"__module__": __name__, "__annotations__": {"root": annotation}, "model_config": _CONFIG}
    return types.new_class("Result", (RootModel,), exec_body=lambda scope: scope.update(namespace))


# A model takes a millisecond to make.
_common_model = functools.cache(_new_model)
