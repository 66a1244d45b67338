"""What ``catchment dev`` shows: a line for the end of every task, and warnings."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import psycopg

from catchment.commands.output import harmless
from catchment.errors import CatchmentError
from catchment.runtime.events import Event
from catchment.store.connect import OURS, connect_async
from catchment.store.task import settled_async

LOOK_SECONDS = 0.5
# Of one task; the rest is shown by `catchment task show`.
LONGEST_ERROR = 300
_COLOURS = {"completed": "32", "failed": "31", "cancelled": "33", "waiting": "34", "interrupted": "35"}
_LEVELS = {logging.WARNING: "warning", logging.ERROR: "error", logging.CRITICAL: "error"}


def task_line(state: str, command: str, task_id: int, seconds: float | None, error: str | None) -> str:
    """The end of a task: state, command, id, seconds, error."""
    duration = "" if seconds is None else f"  {seconds:.3f} s"
    text = " ".join(harmless(error).split()) if error else ""
    reason = f"  {text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + '…'}" if text else ""
    return f"{time.strftime('%H:%M:%S')} {_coloured(f'{state:<11}', state)} {command} {task_id}{duration}{reason}"


def _coloured(text: str, state: str) -> str:
    code = _COLOURS.get(state)
    is_plain = code is None or "NO_COLOR" in os.environ or not sys.stderr.isatty()
    return text if is_plain else f"\x1b[{code}m{text}\x1b[0m"


class DevFormatter(logging.Formatter):
    """Ends of tasks as ``task_line``, everything else with its time and level."""

    def format(self, record: logging.LogRecord) -> str:
        fields: dict[str, Any] = getattr(record, "fields", {})
        if getattr(record, "event", None) != "task.processed":
            level = _LEVELS.get(record.levelno, record.levelname.lower())
            return f"{time.strftime('%H:%M:%S')} {level:<11} {record.getMessage()}"
        milliseconds = fields.get("duration_ms")
        return task_line(
            fields["state"],
            fields["command"],
            fields["id"],
            None if milliseconds is None else milliseconds / 1000,
            _reason(fields),
        )


def _reason(fields: dict[str, Any]) -> str | None:
    """The error, with its class and its place where Python has them."""
    if not fields.get("error") and not fields.get("kind"):
        return None
    kind = f"{fields['kind']}: " if fields.get("kind") else ""
    place = str(fields.get("where") or "").partition(" ")[0]
    return f"{kind}{fields.get('error') or ''}{f' ({os.path.relpath(place)})' if place else ''}"


def is_shown(record: logging.LogRecord) -> bool:
    """Ends of tasks, and whatever somebody should know."""
    return record.levelno >= logging.WARNING or getattr(record, "event", None) == "task.processed"


class Parents:
    """Tasks that wait for their children. Their end is not an attempt's, so no worker logs it: we ask the database."""

    def __init__(self, waiting: Iterable[int]) -> None:
        self.waiting = set(waiting)

    def hear(self, event: Event) -> None:
        """A subscriber of the worker's events."""
        if event.name == "task.processed":
            (self.waiting.add if event.fields["state"] == "waiting" else self.waiting.discard)(event.fields["id"])

    async def watch(self, dsn: str) -> None:
        """Show the ends as they come, until cancelled."""
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if not self.waiting:
                continue
            # The worker reports a lost connection itself.
            with suppress(psycopg.Error, CatchmentError):
                async with await connect_async(dsn, name="catchment dev", settings=OURS) as conn:
                    while self.waiting:
                        for row in await settled_async(conn, sorted(self.waiting)):
                            if row["id"] in self.waiting:
                                self.waiting.discard(row["id"])
                                print(
                                    task_line(row["state"], row["command"], row["id"], row["seconds"], row["error"]),
                                    file=sys.stderr,
                                    flush=True,
                                )
                        await asyncio.sleep(LOOK_SECONDS)
