"""The lines that ``catchment dev`` shows: the end of every attempt, what has halted, and warnings."""

from __future__ import annotations

import logging
import os
import sys
import time
from typing import Any

from catchment.cli.table_show import span
from catchment.commands.output import harmless
from catchment.store.obstacle import skip_command

# Of one task; the rest is shown by `catchment task show`.
LONGEST_ERROR = 300
_COLOURS = {
    "completed": "32",
    "failed": "31",
    "halted": "31",
    "cancelled": "33",
    "waiting": "34",
    "interrupted": "35",
}
_LEVELS = {logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "error"}
# A task of a command that is not here is given back: LeftWork says what waits, and what to do.
_HIDDEN = ("command.unknown",)


def task_line(
    state: str, command: str, task_id: int, seconds: float | None, error: str | None, *, at: str, remark: str = ""
) -> str:
    """The end of a task or of an attempt: time, state, command, id, seconds, remark, error."""
    duration = "" if seconds is None else f"  {seconds:.3f} s"
    text = " ".join(harmless(error).split()) if error else ""
    text = text if len(text) <= LONGEST_ERROR else f"{text[: LONGEST_ERROR - 1]}…"
    reason = ": ".join(part for part in (remark, text) if part)
    return f"{at} {coloured(state)} {command} {task_id}{duration}{f'  {reason}' if reason else ''}"


def fields_line(fields: dict[str, Any], *, at: str, state: str | None = None, remark: str = "") -> str:
    """The line of an event ``task.processed``."""
    milliseconds = fields.get("duration_ms")
    seconds = None if milliseconds is None else milliseconds / 1000
    return task_line(
        state or fields["state"], fields["command"], fields["id"], seconds, _reason(fields), at=at, remark=remark
    )


def attempt_remark(number: int | None, most: int | None, *, is_last: bool, again_in: float | None = None) -> str:
    """Which attempt it was that failed, and whether and when there is another one."""
    if number is None or most is None or (is_last and most == 1):
        return ""
    which = f"attempt {number} of {most}" if number <= most else f"attempt {number}"
    if is_last:
        return f"{which}, {'the last' if number >= most else 'which is not tried again'}"
    return f"{which}, again {'now' if again_in is None or again_in <= 0 else f'in {_in(again_in)}'}"


def halted_line(halted: dict[str, Any], task_id: int, *, at: str) -> str:
    """A lane that goes no further because this task failed, and the commands by which it goes on."""
    queue, lane = halted["queue"], halted["lane"]
    skip = harmless(skip_command(queue, lane))
    what = harmless(f"lane {lane} of queue {queue}" if lane else f"the serial queue {queue}")
    return (
        f"{at} {coloured('halted')} {what}, because task {task_id} failed."
        f" To run that again: catchment task retry {task_id}. To go on without it: {skip}"
    )


def _in(seconds: float) -> str:
    """A time to wait: ``0.3 s``, ``4 s``, ``2 min 10 s``."""
    return f"{seconds:.1f} s" if seconds < 0.95 else span(round(seconds))


def clock() -> str:
    return time.strftime("%H:%M:%S")


def coloured(state: str) -> str:
    code = _COLOURS.get(state)
    text = f"{state:<11}"
    is_plain = code is None or "NO_COLOR" in os.environ or not sys.stderr.isatty()
    return text if is_plain else f"\x1b[{code}m{text}\x1b[0m"


class DevFormatter(logging.Formatter):
    """Ends of tasks as ``task_line``, everything else with its time and level."""

    def format(self, record: logging.LogRecord) -> str:
        if getattr(record, "event", None) == "task.processed":
            return fields_line(getattr(record, "fields", {}), at=clock())
        level = _LEVELS.get(record.levelno, record.levelname.lower())
        return f"{clock()} {level:<11} {record.getMessage()}"


def _reason(fields: dict[str, Any]) -> str | None:
    """The error, with its class and its place where Python has them."""
    if not fields.get("error") and not fields.get("kind"):
        return None
    kind = f"{fields['kind']}: " if fields.get("kind") else ""
    place = str(fields.get("where") or "").partition(" ")[0]
    return f"{kind}{fields.get('error') or ''}{f' ({os.path.relpath(place)})' if place else ''}"


def is_shown(record: logging.LogRecord) -> bool:
    """Ends of tasks, and whatever a developer should know."""
    event = getattr(record, "event", None)
    return (record.levelno >= logging.WARNING and event not in _HIDDEN) or event == "task.processed"
