"""Payloads: the arguments of a handler as JSON text, checked against its parameters on both ends.

What a caller gives is what the handler gets: a value that would not be read back as it is given is refused.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from types import CoroutineType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, create_model
from pydantic import Field as ModelField
from pydantic.fields import FieldInfo
from pydantic_core import PydanticSerializationError, from_json, to_json

from catchment.errors import ArgumentsInvalid, DefinitionRefused, a_kind
from catchment.model.check import json_type
from catchment.task.encode import has_nul
from catchment.task.faithful import (
    LONGEST_NUMBER,
    as_stored,
    has_bytes,
    has_long_number,
    is_plain,
    is_read_once,
    keeps_unset,
    same,
)
from catchment.task.parameters import Field, Signature

# What JSON lacks is written so that the same annotation reads it back.
CONFIG = ConfigDict(
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
# A text that a caller gives for bytes is not JSON: it is encoded, as pydantic does it.
_GIVEN = CONFIG | ConfigDict(val_json_bytes="utf8")
# Options of a task that are easily given among the arguments.
OPTIONS = ("lane", "priority", "at", "delay", "conn")
_SCALARS = frozenset((str, int, bool, type(None)))
_SHOWN_PROBLEMS = 3
_LONGEST_SCHEMA = 32 * 1024
# A model has its own settings, also among parameters. Those of pydantic write bytes as text.
_NOT_UTF8 = "invalid utf-8"
_BYTES_OF_A_MODEL = (
    "A model writes its bytes as text, unless it says otherwise: "
    'model_config = ConfigDict(ser_json_bytes="base64", val_json_bytes="base64")'
)


class Payload:
    """The payload of one command: validates and writes it, reads and validates it."""

    __slots__ = (
        "_command",
        "_compared",
        "_fields",
        "_keeps_unset",
        "_model",
        "_positional",
        "_serializer",
        "_stored",
        "given",
        "names",
    )

    def __init__(self, command: str, signature: Signature) -> None:
        self._command = command
        self.names = tuple(signature.fields)
        self._positional = tuple(name for name, field in signature.fields.items() if not field.is_keyword_only)
        # Of parameters whose names a model cannot have, the name of the field that stands for them.
        fields = {name: _field_name(place, name) for place, name in enumerate(self.names)}
        self._fields = fields if any(name != field for name, field in fields.items()) else None
        given, stored = _make_models(command, signature, fields)
        self.given = given.__pydantic_validator__
        self._serializer = given.__pydantic_serializer__
        self._stored = stored.__pydantic_validator__
        self._model = stored
        # Of parameters whose values must be compared, the field, and whether it takes anything.
        self._compared = {
            name: (fields[name], field.annotation is Any)
            for name, field in signature.fields.items()
            if not is_plain(field.annotation)
        }
        self._keeps_unset = bool(self._compared) and keeps_unset(given.__pydantic_core_schema__)

    def bind(self, given: Sequence[Any], named: dict[str, Any]) -> dict[str, Any]:
        """Positional and keyword arguments by their names; raises ``ArgumentsInvalid``."""
        if not given:
            return named
        if len(given) > len(self._positional):
            takes = f"{len(self._positional)} positional arguments" if self._positional else "no positional arguments"
            raise self._refused(f"{self._command} takes {takes}, and {len(given)} were given")
        for name, value in zip(self._positional, given, strict=False):
            if name in named:
                raise self._refused(f"{name} of {self._command} is given twice")
            named[name] = value
        return named

    def dump(self, arguments: Mapping[str, Any]) -> str:
        """JSON text of these keyword arguments, defaults filled in; raises ``ArgumentsInvalid``."""
        given: dict[str, Any] = arguments if type(arguments) is dict else self._as_dict(arguments)  # pyright: ignore[reportUnknownVariableType] - it has the type of the parameter
        try:
            values = self.given.validate_python(given)
        except ValidationError as error:
            raise self._invalid(error, given) from error
        try:
            left_out = self._without_unset(values) if self._keeps_unset else None
            if left_out is not None:
                return left_out
            text = self._serializer.to_json(values, by_alias=True, round_trip=True, warnings=False).decode()
        except PydanticSerializationError as error:
            raise self._unwritable(values, error, given) from error
        self._check(values.__dict__, text)
        return text

    def _unwritable(self, values: Any, error: Exception, given: Mapping[str, Any]) -> ArgumentsInvalid:
        """The answer to arguments that have no JSON: it names the first parameter that has none."""
        what = f"the arguments of {self._command}"
        for name, field in (self._fields or dict(zip(self.names, self.names, strict=True))).items():
            try:
                self._serializer.to_json(values, include={field}, by_alias=True, round_trip=True, warnings=False)
            except PydanticSerializationError:
                what = f"{name} of {self._command}"
                break
        hint = advice_on(error) or "Annotate the parameter with a type that pydantic can write, or pass plain values."
        return ArgumentsInvalid(f"{what} cannot be written as JSON: {error}", hint=_await_it(given) or hint)

    def load(self, text: str | bytes) -> dict[str, Any]:
        """The keyword arguments in this JSON text; raises ``ArgumentsInvalid``."""
        try:
            values = self._stored.validate_json(text).__dict__
        except ValidationError as error:
            raise self._invalid(error) from error
        fields = self._fields
        return values if fields is None else {name: values[field] for name, field in fields.items()}

    def schema(self) -> dict[str, Any] | None:
        """The JSON Schema of the payload, as it is stored, with the order of the parameters in ``x-order``; None if
        there is a type that has none, or if it is too large to be kept with the command."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                schema = {**self._model.model_json_schema(), "x-order": self.names}
                text = to_json(schema, inf_nan_mode="null").decode()
        except Exception:  # whatever a type of the user raises: a form is not worth a worker that does not start
            return None
        return None if len(text) > _LONGEST_SCHEMA or has_nul(text) else from_json(text)

    def _without_unset(self, values: Any) -> str | None:
        """JSON text without the unset fields of models, so that they are unset when they are read; None when something
        would be another value then. Defaults of the handler are filled in."""
        values.__pydantic_fields_set__.update(values.__dict__)
        text = self._serializer.to_json(
            values, by_alias=True, round_trip=True, warnings=False, exclude_unset=True
        ).decode()
        try:
            self._check(values.__dict__, text)
        except ArgumentsInvalid:  # such as a union that needs a field as its discriminator
            return None
        return text

    def _check(self, values: dict[str, Any], text: str) -> None:
        if has_nul(text):
            raise _nul(self._command, text)
        if self._compared:
            self._compare(values, text)
        if len(text) > LONGEST_NUMBER and has_long_number(text):
            self._read_back(text)

    def _compare(self, values: dict[str, Any], text: str) -> None:
        """Refuse what the handler would not get as it is given."""
        compared = [
            (name, field)
            for name, (field, is_any) in self._compared.items()
            if not (is_any and type(values[field]) in _SCALARS)
        ]
        if not compared:
            return
        read = self._read_back(text)
        for name, field in compared:
            if not same(values[field], read[field]):
                raise ArgumentsInvalid(
                    f"{name} of {self._command} would not reach its handler as it is given: the"
                    f" {type(values[field]).__name__} is another value after it was written as JSON and read back",
                    hint="Annotate the parameter with the exact type of the value, or pass a value that JSON can hold.",
                )

    def _read_back(self, text: str) -> dict[str, Any]:
        try:
            return self._stored.validate_json(as_stored(text)).__dict__
        except ValidationError as error:
            problem = error.errors(include_url=False, include_context=False)[0]
            raise ArgumentsInvalid(
                f"the arguments of {self._command} cannot be read back from JSON: {_describe(problem, _json_kind)}",
                hint="The handler could not get them: pass a value that JSON can hold.",
            ) from error

    def _as_dict(self, arguments: Mapping[str, Any]) -> dict[str, Any]:
        _check_mapping(self._command, arguments)
        return dict(arguments)

    def _refused(self, reason: str) -> ArgumentsInvalid:
        return ArgumentsInvalid(reason, hint=f"{self._command} takes: {', '.join(self.names) or 'no parameters'}.")

    def _invalid(self, error: ValidationError, given: Mapping[str, Any] | None = None) -> ArgumentsInvalid:
        problems = error.errors(include_url=False, include_context=False)
        kind = _json_kind if given is None else a_kind
        shown = [_describe(problem, kind) for problem in problems[:_SHOWN_PROBLEMS]]
        if len(problems) > _SHOWN_PROBLEMS:
            shown.append(f"and {len(problems) - _SHOWN_PROBLEMS} more")
        if given is None:
            return self._refused(f"the payload of {self._command} is invalid: {'; '.join(shown)}")
        refused = self._refused(f"the arguments of {self._command} are invalid: {'; '.join(shown)}")
        options = [name for name in OPTIONS if name in given and name not in self.names]
        if options:
            using = ", ".join(f"{name}=…" for name in options)
            refused.hint = f"{self._command} has no such parameter. An option of the task is given by .using({using})."
        else:
            refused.hint = _await_it(given) or refused.hint
        return refused


def dump_any(command: str, arguments: Mapping[str, Any]) -> str:
    """JSON text of the payload of a command that is known by name alone; any object will do."""
    _check_mapping(command, arguments)
    try:
        text = to_json(dict(arguments), inf_nan_mode="strings", bytes_mode="base64").decode()
    except PydanticSerializationError as error:
        raise ArgumentsInvalid(
            f"the arguments of {command} cannot be written as JSON: {error}", hint=_await_it(arguments)
        ) from error
    if has_nul(text):
        raise _nul(command, text)
    return text


def _nul(command: str, text: str) -> ArgumentsInvalid:
    """The answer to JSON text with a NUL character: it names the first parameter that has one."""
    arguments: dict[str, Any] = from_json(text)
    name = next((name for name, value in arguments.items() if has_nul(to_json(value).decode())), None)
    what = "a name" if name is None else name
    return ArgumentsInvalid(
        f"{what} of {command} contains a NUL character (\\u0000), which PostgreSQL cannot store in JSON",
        hint="Leave the character out, or annotate the parameter with bytes.",
    )


def _check_mapping(command: str, arguments: object) -> None:
    if not isinstance(arguments, Mapping):
        raise ArgumentsInvalid(
            f"the arguments of {command} are {a_kind(arguments)}, expected a mapping", hint="Pass {'name': value, …}."
        )


def advice_on(error: BaseException) -> str | None:
    """What to do about bytes that are not UTF-8, in a model that writes them as text."""
    is_about_bytes = isinstance(error, PydanticSerializationError) and _NOT_UTF8 in str(error)
    return _BYTES_OF_A_MODEL if is_about_bytes else None


def _await_it(given: Mapping[str, Any]) -> str | None:
    """A hint for arguments of which one is a coroutine."""
    name = next((name for name, value in given.items() if type(value) is CoroutineType), None)
    return None if name is None else f"{name} was not awaited: {name}=await …"


def _json_kind(value: object) -> str:
    return f"a JSON {json_type(value)}"


def _describe(problem: Any, kind: Callable[[object], str]) -> str:
    """What is wrong, without the value. The message of a validator is shown as its author has written it."""
    where = ".".join(str(part) for part in problem["loc"]) or "the whole"
    if problem["type"] == "missing":
        return f"{where} is missing"
    if problem["type"] == "extra_forbidden":
        return f"{where} is not a parameter"
    return f"{where}: {problem['msg']}, got {kind(problem['input'])}"


def _field_name(place: int, name: str) -> str:
    """The name of a field for a parameter: its own, unless models keep that for themselves."""
    is_free = not name.startswith(("_", "model_")) and not hasattr(BaseModel, name)
    return name if is_free else f"parameter_{place}"


def _make_models(
    command: str, signature: Signature, names: Mapping[str, str]
) -> tuple[type[BaseModel], type[BaseModel]]:
    fields: dict[str, Any] = {}
    for name, field in signature.fields.items():
        default = ... if field.is_required else _checked_default(signature.function, name, field)
        is_renamed = names[name] != name
        fields[names[name]] = (field.annotation, ModelField(default, alias=name) if is_renamed else default)
    try:
        given, stored = _create(command, fields)
    except Exception as error:
        raise DefinitionRefused(
            f"no payload can be made from the parameters of {signature.function}: {error}",
            hint="Use types that pydantic knows.",
        ) from error
    if is_read_once(stored.__pydantic_core_schema__):
        raise _read_once(signature)
    return given, stored


def _read_once(signature: Signature) -> DefinitionRefused:
    name, field = next(
        (name, field)
        for name, field in signature.fields.items()
        if is_read_once(_create("Value", {"value": (field.annotation, ...)})[1].__pydantic_core_schema__)
    )
    return DefinitionRefused(
        f"parameter {name} of {signature.function} is {field.annotation}, whose items can be read only once",
        hint="Use list[…]: the items are stored with the task.",
    )


def _create(name: str, fields: dict[str, Any]) -> tuple[type[BaseModel], type[BaseModel]]:
    """The models of what callers give, and of what is stored; one, unless there are bytes in it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Field name .* shadows an attribute")
        stored: type[BaseModel] = create_model(name, __config__=CONFIG, **fields)
        if not has_bytes(stored.__pydantic_core_schema__):
            return stored, stored
        return create_model(name, __config__=_GIVEN, **fields), stored


def _checked_default(function: str, name: str, field: Field) -> Any:
    """The default as the annotation has it; it must survive being written with the payload and read back."""
    if isinstance(field.default, FieldInfo):
        raise DefinitionRefused(
            f"the default of {name} in {function} is a Field of pydantic, expected a value",
            hint=f"Put it into the annotation: {name}: Annotated[…, Field(…)] = …",
        )
    try:
        given, stored = _create("Default", {"value": (field.annotation, ...)})
        made = given.__pydantic_validator__.validate_python({"value": field.default}).__dict__["value"]
        text = given.__pydantic_serializer__.to_json(
            given.model_construct(value=made), by_alias=True, round_trip=True, warnings=False
        )
        read = stored.__pydantic_validator__.validate_json(as_stored(text.decode())).__dict__["value"]
    except Exception as error:
        raise _unfit_default(function, name, field, str(error)) from error
    if not same(made, read):
        raise _unfit_default(function, name, field, "it is another value after it was written as JSON and read back")
    return made


def _unfit_default(function: str, name: str, field: Field, reason: str) -> DefinitionRefused:
    return DefinitionRefused(
        f"the default of {name} in {function} is {field.default!r}, which does not fit a payload: {reason}",
        hint="Defaults are stored with the task: give one of the annotated type that JSON can hold.",
    )
