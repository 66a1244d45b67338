"""The log of a worker process on stderr: its events, and what handlers log, in lines for people or as JSON.

The handler is that of the root logger, so every logger of the app arrives here, with the task that it logs for. An app
that configures ``logging`` itself wins: what it sets up when it is imported replaces this.
"""

from __future__ import annotations

import json
import logging
import os
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, TextIO

from catchment.model.terminal import one_line
from catchment.runtime.events import logger as EVENTS
from catchment.runtime.lines import LineHandler
from catchment.task.inside import FIELDS
from catchment.task.log_filter import TaskFilter
from catchment.task.tracing import SPAN_FIELDS

FORMAT_VARIABLE = "CATCHMENT_LOG_FORMAT"
LEVEL_VARIABLE = "CATCHMENT_LOG_LEVEL"
OURS = "catchment"
# What each record has; all else is from the ``extra`` of the caller.
_COMMON = frozenset({*vars(logging.makeLogRecord({})), "message", "asctime", "taskName", "event", "fields"})


def log_to_stderr(
    log_format: str,
    log_level: str,
    formatter: logging.Formatter | None = None,
    is_shown: Callable[[logging.LogRecord], bool] | None = None,
) -> logging.Handler:
    """Log to stderr, also in the processes that this one starts for handlers. ``formatter`` and ``is_shown`` are those
    of this process alone."""
    own = JsonFormatter() if log_format == "json" else TextFormatter(sys.stderr)
    handler = LineHandler(own.time_of if formatter is None and isinstance(own, TextFormatter) else None)
    handler.setFormatter(formatter or own)
    handler.addFilter(TaskFilter())
    if is_shown is not None:
        handler.addFilter(is_shown)
    root = logging.getLogger()
    root.handlers = [handler]
    level = log_level.upper()
    root.setLevel(level)
    logging.getLogger(OURS).setLevel(level)
    os.environ[FORMAT_VARIABLE], os.environ[LEVEL_VARIABLE] = log_format, log_level
    return handler


def keep_own_loggers() -> None:
    """``logging.config`` disables all existing loggers by default: ours stay enabled."""
    for name, logger in logging.root.manager.loggerDict.items():
        if isinstance(logger, logging.Logger) and (name == OURS or name.startswith(f"{OURS}.")):
            logger.disabled = False


class TextFormatter(logging.Formatter):
    """A line for people: time, level, message; of a handler also its task and the logger. In a terminal the time is
    that of the day, elsewhere it has a date and a zone. A worker logs each task, so rich is too slow: it takes 1 ms
    per line."""

    def __init__(self, stream: TextIO | None = None) -> None:
        super().__init__("%(asctime)s %(levelname)-8s %(message)s")
        self._is_terminal = stream is not None and stream.isatty()

    def formatTime(self, record: logging.LogRecord, datefmt: str | None = None) -> str:  # noqa: ARG002
        return self.time_of(record.created)

    def time_of(self, moment: float) -> str:
        """How a line begins; ``moment`` is in seconds since 1970."""
        local = datetime.fromtimestamp(moment, UTC).astimezone()
        return f"{local:%H:%M:%S}" if self._is_terminal else local.isoformat(sep=" ", timespec="milliseconds")

    def formatMessage(self, record: logging.LogRecord) -> str:
        """The message of an error may hold anything, but begins no line and moves no cursor."""
        record.message = one_line(f"{''.join(origin_of(record))}{record.message}")
        return super().formatMessage(record)


def _is_event(record: logging.LogRecord) -> bool:
    """Is it an event of the worker itself?"""
    return record.name == EVENTS.name and hasattr(record, "fields")


def origin_of(record: logging.LogRecord) -> Iterator[str]:
    """Before the message of a logger that is not ours: the task and the logger."""
    if _is_event(record):
        return
    if (task_id := getattr(record, "task_id", None)) is not None:
        attempt = getattr(record, "attempt", 1)
        yield f"[{getattr(record, 'command', '?')} {task_id}{f', attempt {attempt}' if attempt != 1 else ''}] "
    if record.name != "root":
        yield f"{record.name}: "


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time with its zone, level, event, message, and the event's fields. Of other loggers
    their name as ``logger``, the task, what ``extra`` had, and the traceback."""

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", "log"),
            "message": record.getMessage(),
        }
        line |= getattr(record, "fields", {}) if _is_event(record) else {"logger": record.name}
        for name, value in vars(record).items():
            if name not in _COMMON and name not in line and not (value is None and name in (*FIELDS, *SPAN_FIELDS)):
                line[name] = value
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        try:
            return json.dumps(line, default=_shown)
        except (TypeError, ValueError, RecursionError):  # keys that are no text, or a value that holds itself
            return json.dumps({name: _shown(value) for name, value in line.items()})


def _shown(value: object) -> str:
    """Whatever was given as ``extra``; one whose text cannot be had must not lose the line."""
    try:
        return str(value)
    except Exception:
        return f"<{type(value).__name__}>"
