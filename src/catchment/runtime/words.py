"""How the end of an attempt is said, in the log of a worker and by ``catchment dev``.

A time without a word is that of the whole task, from its start to its end. The time of a handler whose children have
not ended, and that of a join, are named.
"""

from __future__ import annotations


def part_timed(state: str, *, is_join: bool) -> str | None:
    """Whose time the duration of an attempt is, if it is not that of the whole task."""
    return "join" if is_join else "handler" if state == "waiting" else None


def end_words(
    task: str,
    state: str,
    milliseconds: float | None,
    *,
    is_join: bool,
    error: str | None,
    failures: int | None = None,
    max_attempts: int | None = None,
) -> str:
    """The sentence of an event ``task.processed``; ``task`` is its command and its id."""
    part = part_timed(state, is_join=is_join)
    took = "" if milliseconds is None else f", {part} {milliseconds:.1f} ms" if part else f" in {milliseconds:.1f} ms"
    is_counted = failures is not None and max_attempts is not None and 1 < max_attempts >= failures
    which = f", attempt {failures} of {max_attempts}" if is_counted else ""
    if state == "pending":
        state, which = "failed", f"{which}, will be retried"
    return f"{task} {state}{took}{which}{f': {error}' if error else ''}"
