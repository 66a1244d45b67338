"""JSON as Python reads it, and as text where it cannot.

PostgreSQL stores numbers of any length and values of any depth. One such value must not keep a caller from reading the
other columns, nor those who wait for the results of other tasks from getting theirs.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

# Printing takes more stack than reading.
DEEPEST_SHOWN = 500
_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}]')


@dataclass(frozen=True, slots=True)
class JsonText:
    """The text of a JSON value that Python does not read, and the reason."""

    text: str
    reason: str

    def __str__(self) -> str:
        return self.text


def reason_for(error: ValueError | RecursionError) -> str:
    """Why ``json.loads`` refuses a value that PostgreSQL accepts."""
    if isinstance(error, RecursionError):
        return "it is nested too deep for Python"
    return "it has a number with more digits than Python reads"


def loads(data: str | bytes) -> Any:
    """The value, or a ``JsonText``."""
    text = data if isinstance(data, str) else data.decode()
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        return JsonText(text, reason_for(error))


def loads_for_people(data: str | bytes) -> Any:
    """As ``loads``; a value that is nested too deep to be printed is a ``JsonText`` too."""
    text = data if isinstance(data, str) else data.decode()
    return JsonText(text, "it is nested too deep to be printed") if _is_deep(text) else loads(text)


def _is_deep(text: str) -> bool:
    if text.count("[") + text.count("{") <= DEEPEST_SHOWN:
        return False
    depth = 0
    for token in _TOKEN.finditer(text):
        depth += {"[": 1, "{": 1, "]": -1, "}": -1}.get(token[0], 0)
        if depth > DEEPEST_SHOWN:
            return True
    return False
