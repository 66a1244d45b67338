"""Encodes values of handlers as JSON text that jsonb can hold.

Whatever goes wrong (a value that raises, recurses forever or is too large) becomes a ``ResultRefused``: it would go
wrong again at the next attempt.
"""

from __future__ import annotations

import json
import re
from types import CoroutineType
from typing import Any

from pydantic_core import to_json

from catchment.errors import ResultRefused

# The escape of a NUL, which jsonb has no way to store, and not a backslash that is followed by "u0000".
_NUL = re.compile(rb"(?<!\\)(?:\\\\)*\\u0000")
# More digits than Python reads as one number.
_DIGITS = re.compile(rb"\d{4301}")
DEFAULT_LIMIT = 16 * 1024 * 1024
NOT_AWAITED = "it is a coroutine that was not awaited; return its value: return await …"


def encode(
    value: Any, what: str, *, limit: int = DEFAULT_LIMIT, setting: str | None = "CATCHMENT_MAX_RESULT_BYTES"
) -> str:
    """JSON text of ``value``, at most ``limit`` bytes; raises ``ResultRefused`` with a message about ``what``.

    ``setting`` is the name of the setting that changes the limit, None for a fixed limit.
    """
    try:
        data = to_json(value, inf_nan_mode="strings")
    except BaseException as error:  # its serializer may raise anything, a pyo3 panic included
        reason = NOT_AWAITED if type(value) is CoroutineType else text_of(error)
        raise ResultRefused(f"{what} cannot be written as JSON: {reason}") from error
    return check_json(data, what, limit=limit, setting=setting)


def check_json(data: bytes, what: str, *, limit: int, setting: str | None = "CATCHMENT_MAX_RESULT_BYTES") -> str:
    """JSON text that jsonb can hold; raises ``ResultRefused`` as ``encode`` does."""
    if len(data) > limit:
        advice = f" ({setting}); store it elsewhere and return a reference to it" if setting else ""
        raise ResultRefused(f"{what} takes {len(data):,} bytes as JSON, the limit is {limit:,}{advice}")
    if b"\\u0000" in data and _NUL.search(data):
        raise ResultRefused(f"{what} contains a NUL character (\\u0000), which PostgreSQL cannot store in JSON")
    if len(data) > 4300 and _DIGITS.search(data):
        _check_numbers(data, what)
    return data.decode()


def has_nul(text: str) -> bool:
    """Does this JSON text hold a NUL character?"""
    return "\\u0000" in text and _NUL.search(text.encode()) is not None


def _check_numbers(data: bytes, what: str) -> None:
    """A number with too many digits could be stored, and nobody could read it."""
    try:
        json.loads(data)
    except ValueError as error:
        raise ResultRefused(f"{what} contains a number that Python cannot read from JSON: {error}") from error


def text_of(error: BaseException) -> str:
    """The message of an error, at most 500 characters, whatever its class."""
    try:
        return f"{error}"[:500] or type(error).__name__
    except BaseException:  # a message that raises must not hide the error
        return type(error).__name__
