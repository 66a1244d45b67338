"""A time that passed, for people."""

from __future__ import annotations

_UNITS = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def span(seconds: float) -> str:
    """A time that passed: ``1.5 s``, ``3 min 20 s``."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    parts: list[str] = []
    rest = round(seconds)
    for length, unit in _UNITS:
        if rest >= length:
            parts.append(f"{rest // length} {unit}")
            rest %= length
    return " ".join(parts[:2])
