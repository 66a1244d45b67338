"""Sentences in the log of a worker: about the end of an attempt, and what to type where a command is missing."""

from __future__ import annotations

import re

from catchment.model.ending import failure_words, part_timed

_MODULE = re.compile(r"([A-Za-z_][A-Za-z0-9_.]*):")


def start_command(handler: str | None) -> str:
    """What starts a worker that has a command, by its handler in the registry (``module:name``). As ``worker.app_of``
    has it: the module, which has the app, or a placeholder for one of a notebook or of no file."""
    match = _MODULE.match(handler or "")
    app = "MODULE:APP" if match is None or match[1] == "__main__" else match[1]
    return f"catchment worker --app {app}"


def completed_words(task: str, milliseconds: float, *, is_join: bool) -> str:
    """As ``end_words`` of a completed attempt: a worker writes one for every task."""
    return f"{task} completed, {'join' if is_join else 'handler'} {milliseconds:.1f} ms"


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
