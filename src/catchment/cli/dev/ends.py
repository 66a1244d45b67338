"""Ends that need a look at the database before they can be shown.

A parent that waits for its children ends without an attempt, so no worker logs it. A last attempt that failed is logged
without the lane that it has halted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import psycopg

from catchment.cli.dev.log import fields_line
from catchment.cli.dev.outputs import show
from catchment.cli.end_line import halted_line, task_line
from catchment.commands.times import clock
from catchment.errors import CatchmentError
from catchment.model.ending import attempt_words, failure_words
from catchment.runtime.events import Event
from catchment.store.connect import OURS, connect_async
from catchment.store.task import ends_async

LOOK_SECONDS = 0.5
_SETTLED = ("completed", "failed", "cancelled")


class Ends:
    """``waiting`` are parents whose end is to be shown."""

    def __init__(self, waiting: Iterable[int]) -> None:
        self.waiting = set(waiting)
        # When they failed, and the fields of the event.
        self._failed: list[tuple[str, dict[str, Any]]] = []
        self._news = asyncio.Event()

    def hear(self, event: Event) -> None:
        """A subscriber of the worker's events."""
        if event.name == "task.processed":
            (self.waiting.add if event.fields["state"] == "waiting" else self.waiting.discard)(event.fields["task_id"])
            if _has_failed(event.fields):
                self._failed.append((clock(), event.fields))
                self._news.set()

    def is_shown_here(self, record: logging.LogRecord) -> bool:
        """Is this the end of an attempt that ``watch`` shows?"""
        return getattr(record, "event", None) == "task.processed" and _has_failed(getattr(record, "fields", {}))

    async def watch(self, dsn: str) -> None:
        """Show the ends as they come, until cancelled."""
        while True:
            await self._wait()
            if not self.waiting and not self._failed:
                continue
            # The worker reports a lost connection itself.
            with suppress(psycopg.Error, CatchmentError):
                async with await connect_async(dsn, name="catchment dev", settings=OURS) as conn:
                    while self.waiting or self._failed:
                        await self._show(conn)
                        await self._wait()
            self.show_rest()

    def show_rest(self) -> None:
        """Show the attempts that nobody could ask about."""
        failed, self._failed = self._failed, []
        for at, fields in failed:
            show(_failed_line(fields, at=at))

    async def _wait(self) -> None:
        with suppress(TimeoutError):
            await asyncio.wait_for(self._news.wait(), LOOK_SECONDS)
        self._news.clear()

    async def _show(self, conn: psycopg.AsyncConnection[Any]) -> None:
        count = len(self._failed)
        ids = {fields["task_id"] for _, fields in self._failed} | self.waiting
        rows = {row["id"]: row for row in await ends_async(conn, sorted(ids))}
        failed, self._failed = self._failed[:count], self._failed[count:]
        for at, fields in failed:
            row = rows.get(fields["task_id"], {})
            show(_failed_line(fields, at=at))
            if _is_last(fields) and row.get("halted"):
                show(halted_line(row["halted"], fields["task_id"], at=at))
        for row in rows.values():
            if row["id"] in self.waiting and row["state"] in _SETTLED:
                self.waiting.discard(row["id"])
                at = clock()
                remark = attempt_words(row["attempt"]) if row["state"] == "completed" else ""
                end = row["state"], row["command"], row["id"], row["seconds"], row["error"]
                show(task_line(*end, at=at, remark=remark))
                if row["halted"]:
                    show(halted_line(row["halted"], row["id"], at=at))


def _has_failed(fields: dict[str, Any]) -> bool:
    """Did an attempt fail, whether or not there is another one?"""
    return fields.get("state") in ("failed", "pending") and bool(fields.get("error") or fields.get("kind"))


def _is_last(fields: dict[str, Any]) -> bool:
    return fields["state"] == "failed"


def _word(fields: dict[str, Any]) -> str:
    """Failed is a state of tasks; after an attempt with another one to come, the task is pending."""
    return "failed" if _is_last(fields) else "retry"


def _failed_line(fields: dict[str, Any], *, at: str) -> str:
    again_in = fields.get("again_in")
    remark = failure_words(
        fields.get("failures"), fields.get("max_attempts"), is_last=_is_last(fields), again_in=again_in
    )
    return fields_line(fields, at=at, state=_word(fields), remark=remark)
