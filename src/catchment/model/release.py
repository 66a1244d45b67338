"""The version of this package, and which of two versions is newer."""

from __future__ import annotations

import re

VERSION = "0.1.0"

_STAGES = {"dev": -4, "a": -3, "b": -2, "rc": -1, "": 0, "post": 1}
_PATTERN = re.compile(r"(\d+(?:\.\d+)*)(?:\.?(dev|a|b|rc|post)(\d*))?")


def is_release(version: object) -> bool:
    """Whether ``release_order`` reads all of it."""
    return isinstance(version, str) and _PATTERN.fullmatch(version) is not None


def release_order(version: str) -> tuple[tuple[int, ...], int, int]:
    """A value that compares as versions do: ``0.2.0rc1`` is before ``0.2.0``, which is before ``0.10``."""
    match = _PATTERN.match(version)
    if match is None:
        return (), 0, 0
    numbers = [int(part) for part in match[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers), _STAGES[match[2] or ""], int(match[3] or 0)
