"""Events of a worker: a stable name, a sentence, and fields. The logger is one subscriber among others."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from catchment.runtime.lines import line_handler

Subscriber = Callable[["Event"], None]

logger = logging.getLogger("catchment.worker")


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    text: str
    level: int
    fields: dict[str, Any]


class Events:
    """Passes each event to the logger and to every subscriber. If one of them raises, ``emit`` does not: the first such
    error is written to stderr."""

    def __init__(self, *subscribers: Subscriber) -> None:
        self._subscribers = subscribers
        self._has_failed = False

    def is_heard(self, level: int) -> bool:
        """Would an event of this level reach the log or a subscriber?"""
        return bool(self._subscribers) or logger.isEnabledFor(level)

    def emit(self, name: str, text: str, *, level: int = logging.INFO, **fields: Any) -> None:
        """Pass an event on; never raises."""
        try:
            if logger.isEnabledFor(level):
                # Not by ``log``, which looks for the line of its caller each time: it is always this one.
                extra = {"event": name, "fields": fields}
                logger.handle(logger.makeRecord(logger.name, level, __file__, 0, "%s", (text,), None, "emit", extra))
        except BaseException as error:  # from a logging handler of the app
            self._report(error)
        if self._subscribers:
            event = Event(name, text, level, fields)
            for subscriber in self._subscribers:
                try:
                    subscriber(event)
                except BaseException as error:
                    self._report(error)

    def emit_lines(self, texts: Iterable[str], *, level: int) -> bool:
        """Log sentences of events at once; never raises. False if something hears events that needs more than those."""
        try:
            handler = None if self._subscribers else line_handler(logger)
            if handler is None:
                return False
            if logger.isEnabledFor(level):
                handler.write_lines(level, texts)
        except BaseException as error:
            self._report(error)
        return True

    def _report(self, error: BaseException) -> None:
        if not self._has_failed:
            self._has_failed = True
            with suppress(BaseException):
                print(f"catchment: events are lost: {type(error).__name__}: {error}", file=sys.stderr, flush=True)
