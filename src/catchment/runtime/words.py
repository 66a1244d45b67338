"""The sentence about the end of an attempt in the log of a worker."""

from __future__ import annotations

from catchment.model.ending import failure_words, part_timed


def end_words(
    task: str,
    state: str,
    milliseconds: float | None,
    *,
    is_join: bool,
    error: str | None,
    failures: int | None = None,
    max_attempts: int | None = None,
    again_in: float | None = None,
) -> str:
    """The sentence of an event ``task.processed``; ``task`` is its command and its id."""
    parts = [f"{task} {'failed' if state == 'pending' else state}"]
    if milliseconds is not None:
        parts.append(f"{part_timed(is_join=is_join)} {milliseconds:.1f} ms")
    if failures is not None:
        parts.append(failure_words(failures, max_attempts, is_last=state != "pending", again_in=again_in))
    return f"{', '.join(part for part in parts if part)}{f': {error}' if error else ''}"
