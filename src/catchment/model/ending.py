"""How the end of an attempt is said, by the log of a worker, ``catchment dev``, ``tail`` and ``task show``.

A time without a word is that of a task: from the start of its last attempt until its end is stored, children and join
included. The time of a function alone is named by what it is, the handler or the join. Failures are counted as
``max_attempts`` limits them: those of the handler, or of the join, since the task was made or retried by hand.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from catchment.model.span import span


class Ended(Protocol):
    """An attempt of a handler, or a run of a join, that did not complete. ``is_last``: the task settled with it."""

    @property
    def state(self) -> str: ...
    @property
    def is_last(self) -> bool: ...


def part_timed(*, is_join: bool) -> str:
    """Whose time the duration of an attempt is."""
    return "join" if is_join else "handler"


def failure_words(number: int | None, most: int | None, *, is_last: bool, again_in: float | None = None) -> str:
    """Which failure it is, and whether and when there is another attempt; empty if there is nothing to say."""
    again = "" if again_in is None else f"again in {wait_words(again_in)}" if again_in > 0 else "again now"
    if number is None or most is None or most == 1:
        return "" if is_last else again
    if is_last:
        again = "the last" if number >= most else "not retried"
    return ", ".join(part for part in (f"failure {number} of {most}", again) if part)


def count_words(first: str, kept: Sequence[Ended], most: int, *, is_settled: bool) -> str:
    """How many attempts there were, and how many of them failed: of those that ``max_attempts`` limits, since the
    last retry by hand. ``is_settled``: the task settled with the last of them."""
    begin = max((n + 1 for n, one in enumerate(kept[:-1] if is_settled else kept) if one.is_last), default=0)
    failed, since = (sum(one.state == "failed" for one in some) for some in (kept, kept[begin:]))
    if begin and most > 1:
        first += f", {failed} failed, {since} of {most} times since it was retried by hand"
    elif most > 1:
        first += f", failed {failed} of {most} times" if failed else f", max_attempts is {most}"
    elif failed:
        first += f", {failed} failed"
    if given_back := sum(one.state == "released" for one in kept):
        first += f", {given_back} more released"
    return first


def what_followed(kept: Sequence[Ended], most: int, *, is_settled: bool) -> Iterator[tuple[bool, bool]]:
    """Of each: was it not tried again, though ``max_attempts`` allowed that; and was the task retried by hand then?"""
    series = 0
    for n, one in enumerate(kept):
        series += one.state == "failed"
        yield one.is_last and 0 < series < most, one.is_last and (n < len(kept) - 1 or not is_settled)
        if one.is_last:
            series = 0


def children_words(progress: Mapping[str, Any]) -> str:
    """How the children of a task have ended: ``20 of 100 children completed, 1 failed, 79 cancelled``; empty without
    any. Open ones are not named."""
    total, failed, cancelled = (int(progress.get(name) or 0) for name in ("total", "failed", "cancelled"))
    if not total or "done" not in progress:
        return ""
    completed = int(progress["done"]) - failed - cancelled
    words = f"{completed:,} of {total:,} {'child' if total == 1 else 'children'} completed"
    others = {"failed": failed, "cancelled": cancelled}
    return ", ".join([words, *(f"{number:,} {word}" for word, number in others.items() if number)])


def attempt_words(attempt: int | None) -> str:
    """Which attempt it was that succeeded; empty for the first."""
    return f"attempt {attempt}" if attempt is not None and attempt > 1 else ""


def error_words(kind: str | None, message: str | None, state: str | None = None) -> str:
    """An error with its kind, unless the message says that itself, or the state that is shown beside it."""
    if not kind or kind in ("children", state):
        return message or ""
    return f"{kind}: {message or ''}"


def wait_words(seconds: float) -> str:
    """A time to wait: ``0.3 s``, ``4 s``, ``2 min 10 s``."""
    return f"{seconds:.1f} s" if seconds < 0.95 else span(round(seconds))
