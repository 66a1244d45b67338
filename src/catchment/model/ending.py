"""How the end of an attempt is said, by the log of a worker, ``catchment dev``, ``tail`` and ``task show``.

A time without a word is that of a task: from the start of its last attempt until its end is stored, children and join
included. The time of a function alone is named by what it is, the handler or the join. Failures are counted as
``max_attempts`` limits them: those of the handler, or of the join, since the task was made or retried by hand.
"""

from __future__ import annotations

from catchment.model.span import span


def part_timed(*, is_join: bool) -> str:
    """Whose time the duration of an attempt is."""
    return "join" if is_join else "handler"


def failure_words(number: int | None, most: int | None, *, is_last: bool, again_in: float | None = None) -> str:
    """Which failure it is, and whether and when there is another attempt; empty if there is nothing to say."""
    again = "" if again_in is None else f"again in {wait_words(again_in)}" if again_in > 0 else "again now"
    if number is None or most is None or most == 1:
        return "" if is_last else again
    if is_last:
        again = "the last" if number >= most else "not tried again"
    return ", ".join(part for part in (f"failure {number} of {most}", again) if part)


def wait_words(seconds: float) -> str:
    """A time to wait: ``0.3 s``, ``4 s``, ``2 min 10 s``."""
    return f"{seconds:.1f} s" if seconds < 0.95 else span(round(seconds))
