"""Figures and times as people read them."""

from __future__ import annotations

from datetime import UTC, datetime

_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def span(seconds: float) -> str:
    """A time that passed, in at most two units: ``480 ms``, ``1.5 s``, ``3 min 20 s``, ``2 d 4 h``."""
    if seconds < 1:
        return f"{max(0.0, seconds) * 1000:.0f} ms"
    if seconds < 10:
        return f"{seconds:.1f} s".replace(".0 s", " s")
    rest = round(seconds)
    parts: list[str] = []
    for length, unit in _UNITS:
        if rest >= length:
            parts.append(f"{rest // length} {unit}")
            rest %= length
        elif parts:
            break
    return " ".join(parts[:2])


def ago(moment: datetime, now: datetime | None = None) -> str:
    """A time relative to now. The page keeps it up to date by the same rule."""
    seconds = ((now or datetime.now(UTC)) - moment).total_seconds()
    if abs(seconds) < 5:
        return "now"
    return f"{roughly(seconds)} ago" if seconds > 0 else f"in {roughly(-seconds)}"


def roughly(seconds: float) -> str:
    """In one unit: ``3 min``, ``2 d``."""
    for length, unit in _UNITS:
        if seconds >= length:
            return f"{int(seconds // length)} {unit}"
    return "0 s"


def exact(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def clock_times(moments: list[datetime]) -> list[str]:
    """As an axis shows them."""
    return [f"{moment.astimezone(UTC):%H:%M:%S} UTC" for moment in moments]


def count(number: int, most: int | None = None) -> str:
    """``12,345``; a count that stopped at ``most`` is ``10,000+``."""
    return f"{most:,}+" if most is not None and number >= most else f"{number:,}"


def listed(number: int, one: str, *, has_more: bool) -> str:
    """What a page of a list has: ``No tasks``, ``1 task``, ``50 tasks and more``."""
    if number == 0:
        return f"No {one}s"
    return f"{number:,} {one}{'' if number == 1 else 's'}{' and more' if has_more else ''}"


def rate(number: float) -> str:
    """A number per second: ``0``, ``0.4``, ``1,250``."""
    if number == 0:
        return "0"
    return f"{number:.1f}" if number < 10 else f"{number:,.0f}"


def size(number: int) -> str:
    """A number of bytes: ``3.2 MB``."""
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if number >= unit:
            return f"{number / unit:.1f} {name}"
    return f"{number} B"


def middle(text: str, most: int = 40) -> str:
    """A long name, cut in the middle: both ends of it tell names apart."""
    if len(text) <= most:
        return text
    half = (most - 1) // 2
    return f"{text[: most - 1 - half]}…{text[-half:]}"
