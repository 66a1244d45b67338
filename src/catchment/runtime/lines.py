"""Lines of a log without records of ``logging``, which take longer than a short task.

A worker logs the end of each task. Where nothing but a line on stderr comes of that, the lines of a batch are written
at once. Whatever an app adds to ``logging`` gets its records, as always.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import TextIO

from catchment.model.terminal import one_line
from catchment.task.log_filter import TaskFilter


class LineHandler(logging.StreamHandler[TextIO]):
    """Writes records as any handler of a stream. ``time_of`` writes the time of a line; without it, lines have more
    than a time, a level and a message, and are made of records alone."""

    def __init__(self, time_of: Callable[[float], str] | None) -> None:
        super().__init__()
        self._needs_records = time_of is None
        self._time_of = time_of or str

    def write_lines(self, level: int, texts: Iterable[str]) -> None:
        """Write messages of this moment as if they were those of records."""
        start = f"{self._time_of(time.time())} {logging.getLevelName(level):<8} "
        lines = "".join([f"{start}{one_line(text)}{self.terminator}" for text in texts])
        self.acquire()
        try:
            self.stream.write(lines)
            self.flush()
        finally:
            self.release()

    def hears_alone(self, logger: logging.Logger) -> bool:
        """Is a line of this handler all that comes of a message of the logger?"""
        filters = self.filters
        if self._needs_records or self.level or len(filters) != 1 or type(filters[0]) is not TaskFilter:
            return False
        # What Sentry and others replace.
        if (
            logging.getLogRecordFactory() is not logging.LogRecord
            or logging.Logger.callHandlers.__module__ != "logging"
        ):
            return False
        while logger.parent is not None:
            if logger.filters or logger.handlers or not logger.propagate:
                return False
            logger = logger.parent
        return not logger.filters and logger.handlers == [self]


def line_handler(logger: logging.Logger) -> LineHandler | None:
    """The handler that hears a logger alone, if there is one."""
    for handler in logging.getLogger().handlers:
        if isinstance(handler, LineHandler) and handler.hears_alone(logger):
            return handler
    return None
