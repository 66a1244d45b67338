"""Payloads and results as people see them: hidden or redacted if the application wants that, and with every digit.

A value is JSON text from the database to the page. Python reads it only for a hook, which gets Python values: numbers
with a fraction are ``Decimal`` then.
"""

from __future__ import annotations

import inspect
import json
import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, cast
from urllib.parse import urlsplit

from catchment.errors import RequestRefused, shown
from catchment.store.json_text import JsonText, loads_for_people

logger = logging.getLogger("catchment.dashboard")

Redact = Callable[[str, str, Any], Any]
"""Called with the command, ``payload``, ``result`` or ``info``, and the value; or with the name of a dynamic table,
``row``, and the texts of its columns. Returns what is shown instead."""

TRACE_MARK = "{trace_id}"
_TRACEPARENT = re.compile(r"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}(?:-.*)?")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[\]{},:]|[^\s\[\]{},:"]+', re.DOTALL)
_DEEPEST_INDENT = 30
_LARGEST_EXPONENT = 1000


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What is shown of values, and where traces are.

    - ``redact``: changes each value before it is shown. If it raises, nothing of the value is shown.
    - ``hides_values``: show no payload and no result at all.
    - ``trace_url``: the address of a trace, with ``{trace_id}`` in it.
    """

    redact: Redact | None = None
    hides_values: bool = False
    trace_url: str | None = None

    def __post_init__(self) -> None:
        hook: object = self.redact
        if hook is not None and (not callable(hook) or inspect.iscoroutinefunction(hook)):
            what = "an async function" if callable(hook) else shown(hook)
            raise RequestRefused(f"redact is {what}, expected a function that returns what is shown instead")
        url = self.trace_url
        if url is not None and (TRACE_MARK not in url or urlsplit(url).scheme not in ("http", "https")):
            raise RequestRefused(
                f"the address of traces is {url!r}, expected an http address with {TRACE_MARK} in it",
                hint="For example: http://localhost:16686/trace/{trace_id}",
            )

    @property
    def reads_whole(self) -> bool:
        """Does a value have to be read to its end before a part of it can be shown?"""
        return self.redact is not None

    def text_of(self, command: str, part: str, text: str) -> tuple[str | None, str | None]:
        """The JSON text to show; or None, and why it is not shown."""
        if self.hides_values:
            return None, "This dashboard shows no values."
        if self.redact is None:
            return text, None
        value = _read(text)
        if isinstance(value, JsonText):
            return None, f"It cannot be redacted, so it is not shown: {value.reason}."
        try:
            return dump_exactly(_returned(self.redact(command, part, value))), None
        except Exception:
            logger.exception("the redact hook of the dashboard failed for a %s of %s", part, command)
            return None, "The redact hook failed, so it is not shown. The log of the dashboard has the reason."

    def trace_link(self, trace_id: str) -> str | None:
        """The address of a trace, if the dashboard knows where traces are."""
        return None if self.trace_url is None else self.trace_url.replace(TRACE_MARK, trace_id)


def trace_id_of(traceparent: str | None) -> str | None:
    """The trace of a W3C traceparent; None for anything else."""
    match = _TRACEPARENT.fullmatch(traceparent or "")
    return None if match is None else match[1]


def _returned(value: object) -> object:
    """What a hook has returned, unless that has to be awaited."""
    if inspect.iscoroutine(value):
        value.close()
    if inspect.isawaitable(value):
        raise TypeError("redact is async, expected a function that returns what is shown instead")
    return value


def _read(text: str) -> Any:
    checked = loads_for_people(text)
    return checked if isinstance(checked, JsonText) else json.loads(text, parse_float=Decimal)


def exact_number(text: str) -> Decimal:
    """A JSON number with a fraction or an exponent. One that a few characters expand to millions of digits is refused,
    because converting it to an integer would never end."""
    number = Decimal(text)
    if abs(number.adjusted()) > _LARGEST_EXPONENT:
        raise ValueError(f"a number has an exponent beyond {_LARGEST_EXPONENT:,}")
    return number


def refuse_constant(name: str) -> Any:
    """Python reads three words that are not JSON."""
    raise ValueError(f"this is not JSON: {name} is not a number of JSON")


def dump_exactly(value: Any) -> str:
    """JSON text of a value; decimals are numbers with all their digits. Raises ``TypeError`` for what JSON lacks."""
    if isinstance(value, dict):
        items = cast("dict[Any, Any]", value).items()
        return "{" + ", ".join(f"{json.dumps(str(key))}: {dump_exactly(item)}" for key, item in items) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(dump_exactly(item) for item in cast("list[Any]", value)) + "]"
    if isinstance(value, Decimal):
        return str(value) if value.is_finite() else json.dumps(str(value))
    return json.dumps(value, ensure_ascii=False)


def pretty(text: str) -> str:
    """JSON text with a line for each value. Its pieces stay as they are; text that was cut off somewhere is fine."""
    parts: list[str] = []
    depth = 0
    is_empty = False
    for piece in _PIECE.findall(text):
        if piece in ("}", "]"):
            depth = max(0, depth - 1)
            parts.append(piece if is_empty else _line(depth) + piece)
            is_empty = False
            continue
        if is_empty:
            parts.append(_line(depth))
        is_empty = piece in ("{", "[")
        if is_empty:
            depth += 1
            parts.append(piece)
        elif piece == ",":
            parts.append("," + _line(depth))
        else:
            parts.append(": " if piece == ":" else piece)
    return "".join(parts)


def _line(depth: int) -> str:
    return "\n" + "  " * min(depth, _DEEPEST_INDENT)
