"""The lines that ``catchment dev`` shows of its worker: attempts, what the app logs, and warnings."""

from __future__ import annotations

import logging
from typing import Any

from catchment.cli.end_line import reason_of, task_line
from catchment.commands.times import clock
from catchment.model.ending import attempt_words, part_timed
from catchment.model.terminal import one_line
from catchment.runtime.log import origin_of

_LEVELS = {logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "error"}
# A task of a command that is not here is given back: LeftWork says what waits, and what to do.
_HIDDEN = ("command.unknown", "task.processed")


def fields_line(fields: dict[str, Any], *, at: str, state: str | None = None, remark: str = "") -> str:
    """The line of an event ``task.processed``."""
    milliseconds = fields.get("duration_ms")
    seconds = None if milliseconds is None else milliseconds / 1000
    shown = state or fields["state"]
    error, kind, where, hint = (fields.get(name) for name in ("error", "kind", "where", "hint"))
    reason = reason_of(error, kind, where, hint, state=shown)
    part = part_timed(is_join=fields["is_join"])
    if shown in ("completed", "waiting") and not fields["is_join"]:
        remark = attempt_words(fields.get("attempt"))
    return task_line(shown, fields["command"], fields["task_id"], seconds, reason, at=at, part=part, remark=remark)


class DevFormatter(logging.Formatter):
    """A record with its time and level."""

    def format(self, record: logging.LogRecord) -> str:
        level = _LEVELS.get(record.levelno, record.levelname.lower())
        text = f"{clock()} {level:<11} {one_line(''.join(origin_of(record)) + record.getMessage())}"
        return f"{text}\n{self.formatException(record.exc_info)}" if record.exc_info else text


def is_shown(record: logging.LogRecord) -> bool:
    """What the app logs, and whatever else a developer should know. ``Ends`` shows the ends of attempts."""
    if not record.name.startswith("catchment."):
        return True
    return record.levelno >= logging.WARNING and getattr(record, "event", None) not in _HIDDEN
