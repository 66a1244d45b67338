"""Values as callers give them, checked before they are sent. Callers are not all typed."""

from __future__ import annotations

import operator
from collections.abc import Collection
from typing import Any

from catchment.errors import RequestRefused, shown

SMALLEST_ID = -(2**63)
LARGEST_ID = 2**63 - 1
SMALLEST_INTEGER = -(2**31)
LARGEST_INTEGER = 2**31 - 1
# Ray counts ten-thousandths of a resource in 64 bits, and takes one that does not fit for none at all.
MOST_BYTES = 2**63 // 10_000
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


def json_type(value: object) -> str:
    """What a value that was read from JSON is called there."""
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


def is_one_of(value: object, texts: Collection[str]) -> bool:
    """Is this one of these texts? Never asks a value of another type, which may not be comparable."""
    return isinstance(value, str) and value in texts


def check_text(value: Any, *, name: str) -> str:
    """A text that PostgreSQL can hold; ``name`` is the argument it was given for."""
    if is_text(value):
        return value
    raise RequestRefused(f"{name} is {shown(value)}, expected a text without NUL and lone surrogates")


def check_task_id(value: Any, *, name: str = "the task id") -> int:
    """A number that a task could have as its id."""
    try:
        number = value if type(value) is int else operator.index(value)
    except TypeError:
        number = LARGEST_ID + 1
    if isinstance(value, bool) or not SMALLEST_ID <= number <= LARGEST_ID:
        raise RequestRefused(f"{name} is {shown(value)}, expected an integer of at most {LARGEST_ID}")
    return number


def check_count(value: Any, *, name: str) -> int:
    """An integer of 1 or more that an integer column can hold."""
    if type(value) is int and 1 <= value <= LARGEST_INTEGER:
        return value
    raise RequestRefused(f"{name} is {shown(value)}, expected an integer of 1 or more, at most {LARGEST_INTEGER}")
