"""The schema of a payload as forms use it. People write some by hand: one that cannot be used says why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictFloat, StrictInt, StrictStr, ValidationError

from catchment.store.json_text import JsonText

Schema = Mapping[str, Any]

_Number = StrictInt | StrictFloat
_EXPECTED = {
    "dict_type": "an object",
    "model_type": "a schema",
    "list_type": "a list",
    "string_type": "a text",
    "int_type": "a number",
    "recursion_depth_exceeded": "flat enough to be read",
}
# Which of several types pydantic speaks of, in the place of a mistake.
_CHOICES = ("_Part", "bool", "int", "float", "str", "list[str]")


class _Part(BaseModel):
    """The keywords that forms know, each with what JSON Schema lets it be. Others are ignored."""

    model_config = ConfigDict(extra="ignore")

    ref: StrictStr | None = Field(None, alias="$ref")
    definitions: dict[str, _Part | StrictBool] = Field({}, alias="$defs")
    type: StrictStr | list[StrictStr] | None = None
    enum: list[Any] = []
    anyOf: list[_Part | StrictBool] = []
    oneOf: list[_Part | StrictBool] = []
    allOf: list[_Part | StrictBool] = []
    properties: dict[str, _Part | StrictBool] = {}
    required: list[StrictStr] = []
    additionalProperties: _Part | StrictBool = True
    order: list[StrictStr] = Field([], alias="x-order")
    prefixItems: list[_Part | StrictBool] = []
    items: _Part | StrictBool = True
    minimum: _Number = 0
    maximum: _Number = 0
    exclusiveMinimum: _Number = 0
    exclusiveMaximum: _Number = 0
    minLength: _Number = 0
    maxLength: _Number = 0
    minItems: _Number = 0
    maxItems: _Number = 0


KEYWORDS = tuple(field.alias or name for name, field in _Part.model_fields.items())


def fault_of(schema: Schema | JsonText) -> str | None:
    """Why forms cannot use a schema; None if they can."""
    if isinstance(schema, JsonText):
        return schema.reason
    try:
        _Part.model_validate(schema)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(str(part) for part in first["loc"] if part not in _CHOICES)
        return f"{place[:60]} is not {_EXPECTED.get(first['type'], 'what a schema has there')}"
    return None
