"""Events of a worker: a stable name, a sentence, and fields. The logger is one subscriber among others."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Subscriber = Callable[["Event"], None]

logger = logging.getLogger("catchment.worker")


@dataclass(frozen=True, slots=True)
class Event:
    name: str
    text: str
    level: int
    fields: dict[str, Any]


class Events:
    """Hands each event to the logger and to every subscriber."""

    def __init__(self, *subscribers: Subscriber) -> None:
        self._subscribers = subscribers

    def is_heard(self, level: int) -> bool:
        """Would an event of this level reach anybody?"""
        return bool(self._subscribers) or logger.isEnabledFor(level)

    def emit(self, name: str, text: str, *, level: int = logging.INFO, **fields: Any) -> None:
        event = Event(name, text, level, fields)
        logger.log(level, "%s", text, extra={"event": name, "fields": fields})
        for subscriber in self._subscribers:
            subscriber(event)


class TextFormatter(logging.Formatter):
    """A line for people: time, level, message. A worker logs each task, so it must be quick: rich takes 1 ms a line."""

    def __init__(self) -> None:
        super().__init__("%(asctime)s %(levelname)-8s %(message)s", "%H:%M:%S")


class JsonFormatter(logging.Formatter):
    """One JSON object per line: time, level, event, message and the event's fields."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        line = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S"),
            "level": record.levelname.lower(),
            "event": getattr(record, "event", record.name),
            "message": record.getMessage(),
        }
        return json.dumps(line | fields, default=str)
