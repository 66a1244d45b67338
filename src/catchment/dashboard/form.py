"""Forms for payloads: which fields a JSON Schema makes, what was typed into them, and what does not fit.

Only what the schema of a payload says is checked here, so that a mistake is shown beside its field. The worker checks
everything again, with the types of the handler. Keywords that are not known here are ignored.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Literal, cast

from catchment.dashboard.payload_schema import Schema
from catchment.dashboard.values import dump_exactly, exact_number, refuse_constant
from catchment.store.json_text import JsonText, loads_for_people

Kind = Literal["text", "integer", "number", "boolean", "choice", "json"]

MOST_FIELDS = 40
_DEEPEST = 40
# References can make a small schema take forever. The worker checks what is not looked at here.
_MOST_STEPS = 50_000
_TYPES = {"string": "text", "integer": "integer", "number": "number", "boolean": "boolean"}
# As payloads have what JSON lacks.
_NO_NUMBERS = ("Infinity", "-Infinity", "NaN")
_SAID = {
    "string": "a text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list: [ … ]",
    "object": "an object: { … }",
    "null": "null",
}


@dataclass(frozen=True, slots=True)
class FormField:
    """One parameter of a payload. ``default`` is JSON text."""

    name: str
    kind: Kind
    is_required: bool
    takes_null: bool = False
    default: str | None = None
    help: str = ""
    format: str = ""
    choices: list[str] = field(default_factory=list[str])


def fields_of(schema: Schema | None) -> list[FormField] | None:
    """The fields of a form; None if the payload has to be written as JSON."""
    if schema is None or schema.get("type") != "object" or len(schema.get("properties", {})) > MOST_FIELDS:
        return None
    required: list[str] = schema.get("required", [])
    properties: dict[str, Any] = schema.get("properties", {})
    # jsonb does not keep the order of keys.
    order = [name for name in cast("list[str]", schema.get("x-order", [])) if name in properties]
    return [_field(name, properties[name], schema, name in required) for name in dict.fromkeys([*order, *properties])]


def _field(name: str, given: Any, whole: Schema, is_required: bool) -> FormField:
    part: Schema = cast("Schema", given) if isinstance(given, Mapping) else {}
    inner, takes_null = _without_null(_resolved(part, whole), whole)
    help_text = part.get("description") or inner.get("description") or ""
    choices = [dump_exactly(one) for one in inner.get("enum", [])]
    kind: Kind = "choice" if choices else cast("Kind", _TYPES.get(str(inner.get("type")), "json"))
    return FormField(
        name=name,
        kind=kind,
        is_required=is_required,
        takes_null=takes_null,
        default=dump_exactly(part["default"]) if "default" in part else None,
        help=str(help_text)[:500],
        format=str(inner.get("format", "")),
        choices=choices,
    )


def _without_null(part: Schema, whole: Schema) -> tuple[Schema, bool]:
    """The type of an optional value, and whether it may be null."""
    others = [_resolved(one, whole) for one in part.get("anyOf", [])]
    values = [one for one in others if one.get("type") != "null"]
    if len(values) == 1 and len(others) == 2:
        return values[0], True
    return part, False


def _resolved(part: Any, whole: Schema) -> Schema:
    """A schema, or the one that it refers to. References lead nowhere but into the schema itself."""
    for _ in range(_DEEPEST):
        if not isinstance(part, Mapping):
            return {}
        reference = cast("Schema", part).get("$ref")
        if reference is None:
            return cast("Schema", part)
        part = whole.get("$defs", {}).get(str(reference).removeprefix("#/$defs/"))
    return {}


def read_json_text(text: str) -> Any:
    """A JSON value with exact numbers; raises ``ValueError`` with what is wrong."""
    checked = loads_for_people(text)
    if isinstance(checked, JsonText):
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            raise ValueError(f"this is not JSON: {error.msg} at line {error.lineno}, column {error.colno}") from error
        except (ValueError, RecursionError):
            pass
        raise ValueError(f"this JSON cannot be taken: {checked.reason}")
    return json.loads(text, parse_float=exact_number, parse_constant=refuse_constant)


def read_field(one: FormField, text: str) -> Any:
    """What was typed into a field; raises ``ValueError`` with what is wrong."""
    if one.kind == "text":
        return text
    if one.kind == "choice" and text not in one.choices:
        raise ValueError("expected one of those listed")
    if one.kind in ("integer", "number"):
        try:
            value = read_json_text(text.strip())
        except ValueError:
            value = None
        wanted = int if one.kind == "integer" else int | Decimal
        if isinstance(value, bool) or not isinstance(value, wanted):
            raise ValueError(f"expected {_SAID[one.kind]}")
        return value
    return read_json_text(text)


def problems_of(schema: Schema | None, payload: Any) -> dict[str, str]:
    """What does not fit, by the parameter; the empty name is the payload as a whole."""
    if schema is None:
        return {}
    problems: dict[str, str] = {}
    for path, said in _Check(schema).problems(payload, schema):
        name = str(path[0]) if path else ""
        inner = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path[1:])
        problems.setdefault(name, f"{inner.lstrip('.')}: {said}" if inner else said)
    return problems


Path = tuple[str | int, ...]
Problem = tuple[Path, str]


class _Check:
    """One comparison of a payload with the whole schema, which parts refer to."""

    def __init__(self, whole: Schema) -> None:
        self._whole = whole
        self._steps = 0

    def problems(self, value: Any, part: Any, path: Path = (), depth: int = 0) -> Iterator[Problem]:
        schema = _resolved(part, self._whole)
        self._steps += 1
        if depth > _DEEPEST or self._steps > _MOST_STEPS:
            return
        if options := schema.get("anyOf") or schema.get("oneOf"):
            yield from self._of_options(value, options, path, depth)
            return
        for option in schema.get("allOf", []):
            yield from self.problems(value, option, path, depth + 1)
        if "type" in schema and not _is_of(value, schema["type"]):
            yield path, f"expected {_SAID.get(str(schema['type']), schema['type'])}"
            return
        if "enum" in schema and value not in schema["enum"]:
            yield path, f"expected one of {', '.join(dump_exactly(one) for one in schema['enum'][:10])}"
        if "const" in schema and value != schema["const"]:
            yield path, f"expected {dump_exactly(schema['const'])}"
        yield from ((path, said) for said in _limits(value, schema))
        yield from self._inside(value, schema, path, depth)

    def _of_options(self, value: Any, options: list[Any], path: Path, depth: int) -> Iterator[Problem]:
        first: list[Problem] = []
        for option in options:
            problems = list(self.problems(value, option, path, depth + 1))
            if not problems:
                return
            is_of_type = not any(inner == path and said.startswith("expected") for inner, said in problems)
            first = problems if is_of_type and not first else first
        yield from first or [(path, f"expected {_said_options(options, self._whole)}")]

    def _inside(self, value: Any, schema: Schema, path: Path, depth: int) -> Iterator[Problem]:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value)
            properties: dict[str, Any] = schema.get("properties", {})
            for name in schema.get("required", []):
                if name not in items:
                    yield (*path, name), "is required"
            others = schema.get("additionalProperties", True)
            for name, item in items.items():
                if name in properties:
                    yield from self.problems(item, properties[name], (*path, name), depth + 1)
                elif others is False:
                    yield (*path, name), "is not a parameter"
                elif isinstance(others, Mapping):
                    yield from self.problems(item, others, (*path, name), depth + 1)
        elif isinstance(value, list):
            first: list[Any] = schema.get("prefixItems", [])
            for place, item in enumerate(cast("list[Any]", value)):
                part = first[place] if place < len(first) else schema.get("items", {})
                if isinstance(part, Mapping):
                    yield from self.problems(item, part, (*path, place), depth + 1)


def _limits(value: Any, schema: Schema) -> Iterator[str]:
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        if "minimum" in schema and value < schema["minimum"]:
            yield f"expected {schema['minimum']} or more"
        if "exclusiveMinimum" in schema and value <= schema["exclusiveMinimum"]:
            yield f"expected more than {schema['exclusiveMinimum']}"
        if "maximum" in schema and value > schema["maximum"]:
            yield f"expected {schema['maximum']} or less"
        if "exclusiveMaximum" in schema and value >= schema["exclusiveMaximum"]:
            yield f"expected less than {schema['exclusiveMaximum']}"
    if isinstance(value, str):
        yield from _sizes(len(value), schema, "minLength", "maxLength", "characters")
    elif isinstance(value, list):
        yield from _sizes(len(cast("list[Any]", value)), schema, "minItems", "maxItems", "items")


def _sizes(size: int, schema: Schema, least: str, most: str, what: str) -> Iterator[str]:
    if size < schema.get(least, 0):
        yield f"expected {schema[least]} {what} or more"
    if most in schema and size > schema[most]:
        yield f"expected {schema[most]} {what} or less"


def _is_of(value: Any, name: Any) -> bool:
    if isinstance(name, list):
        return any(_is_of(value, one) for one in cast("list[Any]", name))
    if isinstance(value, bool) or name == "boolean":
        return isinstance(value, bool) and name == "boolean"
    if name == "integer":
        # Not by int(): a number of few characters can have a thousand million digits.
        return isinstance(value, int) or (isinstance(value, Decimal) and value == value.to_integral_value())
    if name == "number" and value in _NO_NUMBERS:
        return True
    kinds: dict[str, Any] = {
        "string": str,
        "number": int | Decimal,
        "array": list,
        "object": dict,
        "null": type(None),
    }
    return isinstance(value, kinds[name]) if name in kinds else True


def _said_options(options: list[Any], whole: Schema) -> str:
    names = [str(_resolved(option, whole).get("type", "another value")) for option in options]
    return " or ".join(dict.fromkeys(_SAID.get(name, name) for name in names))
