"""What a driver writes: the output of bodies, which Ray brings to it, and what Ray itself says.

Each line becomes an event of the worker, ``ray.output``. What a body logs is logged here as what it was, with its task,
its level and its time.
"""

from __future__ import annotations

import json
import logging
import re
from contextlib import suppress
from datetime import datetime
from typing import IO, Any

from catchment.runtime.events import Events
from catchment.runtime.events import logger as EVENTS

# Ray would mark repeated lines, and then an event cannot be read any more. An operator may want that.
DEFAULTS = {"RAY_DEDUP_LOGS": "0"}
VARIABLES = {"RAY_COLOR_PREFIX": "0"}
LONGEST_LINE = 2**20
_ORIGIN = re.compile(r"\((?P<source>.*?) ?pid=(?P<pid>\d+)(?:, ip=(?P<ip>[^)]*))?\) (?P<text>.*)")
_COLOUR = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
# What a record has by itself.
_COMMON = frozenset(vars(logging.makeLogRecord({})))


def log(stream: IO[bytes]) -> None:
    """Log all lines of a driver, until it has ended."""
    events = Events()
    with stream:
        while line := stream.readline(LONGEST_LINE):
            # A line that the logging of the app fails for must not end this: the driver would block.
            with suppress(Exception):
                _log(events, _COLOUR.sub("", line.decode(errors="replace")).rstrip())


def _log(events: Events, line: str) -> None:
    origin = _ORIGIN.fullmatch(line)
    text = line if origin is None else origin["text"]
    if not text:
        return
    if (record := _record(text)) is not None:
        logging.getLogger(record.name).handle(record)
        return
    source, pid, ip = (None, None, None) if origin is None else (origin["source"], int(origin["pid"]), origin["ip"])
    events.emit("ray.output", line, output=text, source=source, pid=pid, ip=ip)


def _record(text: str) -> logging.LogRecord | None:
    """The record that a body has logged, if the line is one; see ``JsonFormatter``."""
    try:
        said: dict[str, Any] = json.loads(text)
        level = said.pop("level").upper()
        own: dict[str, Any] = {
            "created": datetime.fromisoformat(said.pop("time")).timestamp(),
            "levelname": level,
            "levelno": logging.getLevelNamesMapping()[level],
            "msg": said.pop("message"),
            "event": said.pop("event"),
        }
    except (ValueError, TypeError, KeyError, AttributeError):
        return None
    own["name"] = said.pop("logger", EVENTS.name)
    rest = {name: value for name, value in said.items() if name not in _COMMON}
    if own["name"] == EVENTS.name:
        own["fields"] = rest
    # The text of its traceback, for formatters that write it below the message.
    return logging.makeLogRecord({**rest, **own, "exc_text": rest.get("traceback")})
