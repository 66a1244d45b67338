"""Payloads: keyword arguments of a handler as JSON text, checked against its parameters on both ends."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic_core import PydanticSerializationError, to_json

from catchment.errors import ArgumentsInvalid, DefinitionRefused
from catchment.model.check import json_type
from catchment.task.parameters import Field, Signature

# What JSON lacks is written so that the same annotation reads it back.
_CONFIG = ConfigDict(
    extra="forbid",
    protected_namespaces=(),
    validate_by_name=True,
    validate_by_alias=True,
    ser_json_inf_nan="strings",
    ser_json_bytes="base64",
    val_json_bytes="base64",
    hide_input_in_errors=True,
    arbitrary_types_allowed=False,
)
_SHOWN_PROBLEMS = 3


class Payload:
    """The payload of one command: validates and writes it, reads and validates it."""

    __slots__ = ("_command", "_serializer", "_validator", "model", "names")

    def __init__(self, command: str, signature: Signature) -> None:
        self._command = command
        self.names = tuple(signature.fields)
        self.model = _make_model(command, signature)
        self._validator = self.model.__pydantic_validator__
        self._serializer = self.model.__pydantic_serializer__

    def dump(self, arguments: Mapping[str, Any]) -> str:
        """JSON text of these keyword arguments, defaults filled in; raises ``ArgumentsInvalid``."""
        try:
            values = self._validator.validate_python(arguments if type(arguments) is dict else self._as_dict(arguments))
            return self._serializer.to_json(values, by_alias=True, round_trip=True).decode()
        except ValidationError as error:
            raise self._invalid(error) from error
        except PydanticSerializationError as error:
            raise ArgumentsInvalid(
                f"the payload of {self._command} cannot be written as JSON: {error}",
                hint="Annotate the parameter with a type that pydantic can write, or pass plain values.",
            ) from error

    def load(self, text: str | bytes) -> dict[str, Any]:
        """The keyword arguments in this JSON text; raises ``ArgumentsInvalid``."""
        try:
            return self._validator.validate_json(text).__dict__
        except ValidationError as error:
            raise self._invalid(error) from error

    def _as_dict(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        _check_mapping(self._command, arguments)
        return dict(arguments)

    def _invalid(self, error: ValidationError) -> ArgumentsInvalid:
        problems = error.errors(include_url=False, include_context=False)
        shown = [_describe(problem) for problem in problems[:_SHOWN_PROBLEMS]]
        if len(problems) > _SHOWN_PROBLEMS:
            shown.append(f"and {len(problems) - _SHOWN_PROBLEMS} more")
        return ArgumentsInvalid(
            f"the payload of {self._command} is invalid: {'; '.join(shown)}",
            hint=f"{self._command} takes: {', '.join(self.names) or 'no parameters'}.",
        )


def dump_any(command: str, arguments: Mapping[str, Any]) -> str:
    """JSON text of the payload of a command that is known by name alone; any object will do."""
    _check_mapping(command, arguments)
    try:
        return to_json(dict(arguments), inf_nan_mode="strings", bytes_mode="base64").decode()
    except PydanticSerializationError as error:
        raise ArgumentsInvalid(f"the payload of {command} cannot be written as JSON: {error}") from error


def _check_mapping(command: str, arguments: object) -> None:
    if not isinstance(arguments, Mapping):
        raise ArgumentsInvalid(
            f"the payload of {command} is a JSON {json_type(arguments)}, expected an object", hint="Pass a mapping."
        )


def _describe(problem: Any) -> str:
    where = ".".join(str(part) for part in problem["loc"]) or "the payload"
    if problem["type"] == "missing":
        return f"{where} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{where} is not a parameter"
    return f"{where}: {problem['msg']}, got a JSON {json_type(problem['input'])}"


def _make_model(command: str, signature: Signature) -> type[BaseModel]:
    fields: dict[str, Any] = {}
    for name, field in signature.fields.items():
        default = ... if field.is_required else _checked_default(signature.function, name, field)
        fields[name] = (field.annotation, default)
    try:
        return _create(command, fields)
    except Exception as error:
        raise DefinitionRefused(
            f"no payload can be made from the parameters of {signature.function}: {error}",
            hint="Use types that pydantic knows, and rename a parameter that it keeps for itself.",
        ) from error


def _create(name: str, fields: dict[str, Any]) -> type[BaseModel]:
    with warnings.catch_warnings():
        # A parameter may be called json or copy: the model is never used as an object.
        warnings.filterwarnings("ignore", message="Field name .* shadows an attribute")
        return create_model(name, __config__=_CONFIG, **fields)


def _checked_default(function: str, name: str, field: Field) -> Any:
    """The default as the annotation has it; it must survive being written with the payload and read back."""
    try:
        model = _create("Default", {"value": (field.annotation, ...)})
        made = model.__pydantic_validator__.validate_python({"value": field.default})
        model.__pydantic_validator__.validate_json(model.__pydantic_serializer__.to_json(made, by_alias=True))
    except Exception as error:
        raise DefinitionRefused(
            f"the default of {name} in {function} is {field.default!r}, which does not fit a payload: {error}",
            hint="Defaults are stored with the task: give one of the annotated type that JSON can hold.",
        ) from error
    return made.__dict__["value"]
