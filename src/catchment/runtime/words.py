"""How the end of an attempt is said, in the log of a worker and by ``catchment dev``.

A time without a word is that of the whole task, from its start to its end. The time of a handler whose children have
not ended, and that of a join, are named.
"""

from __future__ import annotations

from typing import Any


def part_timed(state: str, *, is_join: bool) -> str | None:
    """Whose time the duration of an attempt is, if it is not that of the whole task."""
    return "join" if is_join else "handler" if state == "waiting" else None


def end_words(fields: dict[str, Any]) -> str:
    """The sentence of an event ``task.processed`` with these fields."""
    state, milliseconds = fields["state"], fields["duration_ms"]
    part = part_timed(state, is_join=fields["is_join"])
    took = "" if milliseconds is None else f", {part} {milliseconds:.1f} ms" if part else f" in {milliseconds:.1f} ms"
    failures, most = fields.get("failures"), fields.get("max_attempts")
    which = f", attempt {failures} of {most}" if failures and most and 1 < most >= failures else ""
    if state == "pending":
        state, which = "failed", f"{which}, will be retried"
    error = f": {fields['error']}" if fields["error"] else ""
    return f"{fields['command']} {fields['id']} {state}{took}{which}{error}"
