"""Is a value the same after it has been written as JSON and read back?

Types for which that always holds are known when a command is defined; values of all others are compared.
"""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import re
import types
import typing
import uuid
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Literal, cast

from pydantic import BaseModel

_PLAIN = (str, int, bool, float, bytes, uuid.UUID, dt.date, type(None))
_NUMBERS = (bool, int, float)
_TEXTS = (str, bytes)
_CONTAINERS = (dict, list, tuple, set, frozenset)
# The most digits that Python reads as one number.
LONGEST_NUMBER = 4300
_DIGITS = re.compile(rf"\d{{{LONGEST_NUMBER + 1}}}")
_EXPONENT = re.compile(r"\d[eE]\+?\d")


def is_plain(annotation: Any) -> bool:
    """Is every value of this annotation read back as it was? Says no when it does not know."""
    if annotation is None or annotation in _PLAIN:
        return True
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is list:
        return is_plain(arguments[0])
    if origin is dict:
        return arguments[0] is str and is_plain(arguments[1])
    if origin in (typing.Union, types.UnionType):
        rest = [one for one in arguments if one is not type(None)]
        return len(rest) == 1 and is_plain(rest[0])
    return origin is Literal and all(type(value) is str for value in arguments)


def keeps_unset(schema: Any) -> bool:
    """Are there models in the model of this schema, and can their unset fields be omitted? What a factory makes may be
    another value later."""
    models = 0
    for part in _parts(schema):
        if part.get("default_factory", list) not in _CONTAINERS:
            return False
        models += part.get("type") == "model"
    return models > 1


def has_bytes(schema: Any) -> bool:
    """Are there bytes in the model of this schema?"""
    return any(part.get("type") == "bytes" for part in _parts(schema))


def is_read_once(schema: Any) -> bool:
    """Is there an iterable in the model of this schema, whose values nobody has seen before they are gone?"""
    return any(part.get("type") == "generator" for part in _parts(schema))


def _parts(schema: Any) -> Iterator[dict[str, Any]]:
    todo = [schema]
    while todo:
        part: Any = todo.pop()
        if isinstance(part, dict):
            members = cast("dict[str, Any]", part)
            yield members
            todo += members.values()
        elif isinstance(part, list | tuple):
            todo += cast("list[Any]", part)


def as_stored(text: str) -> str:
    """JSON text with its numbers as jsonb has them: without exponents, so that a large float is read as an integer."""
    if _EXPONENT.search(text) is None:
        return text
    try:
        return json.dumps(json.loads(text, parse_float=_stored_number))
    except (ValueError, RecursionError):  # more digits than Python reads, or deeper: reading it raises
        return text


def _stored_number(text: str) -> int | float:
    exponent = Decimal(text).as_tuple().exponent
    return int(Decimal(text)) if isinstance(exponent, int) and exponent >= 0 else float(text)


def has_long_number(text: str) -> bool:
    """Is there a number with more digits than Python reads?"""
    return _DIGITS.search(text) is not None


def same(given: Any, read: Any) -> bool:
    """Is the value that was read equal to the given one, in all its parts? Objects must be of one class."""
    try:
        return _same(given, read)
    except Exception:  # an __eq__ may raise anything
        return False


def _same(given: Any, read: Any) -> bool:
    if given is read:
        return True
    kind: type[Any] = type(read)  # pyright: ignore[reportUnknownVariableType] - of whatever was read
    if kind in _NUMBERS:
        return isinstance(given, _NUMBERS) and (given == read or (given != given and read != read))
    if kind in _TEXTS:
        return isinstance(given, kind) and given == read
    if kind in _CONTAINERS and isinstance(given, kind):
        return _same_parts(given, read)
    if type(given) is not kind:
        return False
    if kind is OrderedDict:  # jsonb does not keep the order
        return len(read) < 2 and _same_parts(given, read)
    if kind is dt.datetime:
        # Times of two zones are never equal in the hour that a zone has twice.
        return given == read or (
            given.replace(tzinfo=None) == read.replace(tzinfo=None) and given.utcoffset() == read.utcoffset()
        )
    if isinstance(read, BaseModel):
        return _same_models(given, read)
    if dataclasses.is_dataclass(read):
        return all(_same(getattr(given, f.name), getattr(read, f.name)) for f in dataclasses.fields(read))
    if cast(Any, kind).__eq__ is object.__eq__:
        return hasattr(read, "__dict__") and _same(vars(given), vars(read))
    return bool(given == read) or bool(given != given and read != read)


def _same_parts(given: Any, read: Any) -> bool:
    if len(given) != len(read):
        return False
    if isinstance(read, dict):
        ours: Mapping[Any, Any] = given
        if _kinds(ours) != _kinds(read):
            return False
        return all(key in read and _same(value, read[key]) for key, value in ours.items())
    if isinstance(read, set | frozenset):
        return bool(given == read) and _kinds(given) == _kinds(read)
    return all(map(_same, given, read))


def _kinds(parts: Any) -> set[type]:
    return {type(part) for part in parts}


def _same_models(given: BaseModel, read: BaseModel) -> bool:
    """By their fields: what a property has cached in the object is not one."""
    ours, theirs = vars(given), vars(read)
    return (
        all(_same(ours.get(name), theirs.get(name)) for name in type(read).model_fields)
        and _same(given.__pydantic_extra__, read.__pydantic_extra__)
        and _same(given.__pydantic_private__, read.__pydantic_private__)
    )
