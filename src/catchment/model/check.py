"""Values as callers give them, checked before they are sent. Callers are not all typed."""

from __future__ import annotations

import operator
from typing import Any

from catchment.errors import RequestRefused

SMALLEST_ID = -(2**63)
LARGEST_ID = 2**63 - 1
SMALLEST_INTEGER = -(2**31)
LARGEST_INTEGER = 2**31 - 1
_JSON_TYPES: dict[type, str] = {
    type(None): "null",
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    tuple: "array",
    dict: "object",
}


def shown(value: object) -> str:
    """A value as a message shows it: at most 100 characters. Python refuses to write some numbers."""
    try:
        text = repr(value)
    except Exception:
        return "a number of thousands of digits" if isinstance(value, int) else f"of type {type(value).__name__}"
    return text if len(text) <= 100 else f"{text[:99]}…"


def json_type(value: object) -> str:
    """What a value is called in JSON; a type that JSON does not have goes by its own name."""
    return _JSON_TYPES.get(type(value), type(value).__name__)


def is_text(value: object) -> bool:
    """Is this a text that PostgreSQL can hold? It has neither NUL nor half of a surrogate pair."""
    if not isinstance(value, str) or "\0" in value:
        return False
    if value.isascii():
        return True
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def check_text(value: Any, *, name: str) -> str:
    """A text that PostgreSQL can hold; ``name`` is the argument it was given for."""
    if is_text(value):
        return value
    raise RequestRefused(f"{name} is {shown(value)}, expected a text without NUL and lone surrogates")


def check_task_id(value: Any) -> int:
    """A number that a task could have as its id."""
    try:
        number = value if type(value) is int else operator.index(value)
    except TypeError:
        number = LARGEST_ID + 1
    if isinstance(value, bool) or not SMALLEST_ID <= number <= LARGEST_ID:
        raise RequestRefused(f"the task id is {shown(value)}, expected an integer of at most {LARGEST_ID}")
    return number


def check_count(value: Any, *, name: str) -> int:
    """An integer of 1 or more."""
    if type(value) is int and value >= 1:
        return value
    raise RequestRefused(f"{name} is {shown(value)}, expected an integer of 1 or more")
