"""The ends of tasks and of attempts, in their order.

Tasks also end without a run: a parent when its last child has ended, one that was cancelled before it started, one that
was merged into another. So ends are read from the database, as ``catchment tail`` does. What this worker has run is
shown with what its events say besides: how long the function took. Attempts after which the task continues have events
alone.
"""

from __future__ import annotations

import threading
import time
from collections import defaultdict, deque
from collections.abc import Collection
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import psycopg

from catchment.cli.dev.log import fields_line
from catchment.cli.dev.outputs import show
from catchment.cli.end_line import end_lines, halted_line, more_line
from catchment.cli.watch.follow import REST, TICK, Follower
from catchment.cli.watch.pace import Pace
from catchment.commands.times import clock
from catchment.errors import CatchmentError
from catchment.model.ending import failure_words
from catchment.runtime.events import Event
from catchment.store.connect import connect_ours
from catchment.store.ends import End, Filters, describe_ends

# Number of looks after which an end that is not found is shown as the worker reported it: its task may have been
# retried since.
PATIENCE = 3
# Number of looks for which a task is remembered whose end was shown before the worker reported it.
LONG = 1000
STOP_SECONDS = 2.0
_SETTLED = ("completed", "failed", "cancelled")

Fields = dict[str, Any]
Told = tuple[datetime, Fields]
Line = tuple[datetime, str]


class Ends:
    """Of all tasks, except those of Python commands on queues that are not ours. ``since`` is the time of the server
    from which on ends are shown, as ISO 8601; None: from the first look on.

    What one look finds is shown at the next: by then the worker has reported what it knows of it.
    """

    def __init__(self, since: str | None) -> None:
        self._since = since
        self._follower = Follower(Filters(), None if since is None else datetime.fromisoformat(since))
        self._pace = Pace()
        self._queues: Collection[str] = ()
        self._heard: deque[Told] = deque()
        # What the next look shows: ends, and attempts that were heard of before these were looked for. A look that
        # fails leaves them.
        self._found: dict[tuple[int, datetime], End] = {}
        self._attempts: list[Told] = []
        # Ends that the worker reported, by task, each with the number of looks that have not found it.
        self._told: defaultdict[int, list[tuple[Told, int]]] = defaultdict(list)
        # Tasks that were shown before the worker reported their end, with the number of looks since.
        self._early: dict[int, int] = {}
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def since(self) -> str | None:
        """Up to when ends were shown."""
        until = self._follower.until
        return self._since if until is None else until.isoformat()

    def hear(self, event: Event) -> None:
        """A subscriber of the worker's events."""
        if event.name == "task.processed":
            self._heard.append((datetime.now(UTC), event.fields))

    def start(self, dsn: str, queues: Collection[str]) -> None:
        """Show ends as they come, until stopped. ``queues`` are those of the commands that are served."""
        self._queues = queues
        self._thread = threading.Thread(target=self._watch, args=(dsn,), name="catchment-ends", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Show what is left."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(STOP_SECONDS)
            self._thread = None
        self._show_told()

    def _watch(self, dsn: str) -> None:
        while True:
            # The worker reports a lost connection itself.
            with suppress(psycopg.Error, CatchmentError), connect_ours(dsn, name="catchment dev") as conn:
                while not self._stopping.is_set():
                    began = time.monotonic()
                    self._look(conn)
                    self._stopping.wait(max(TICK, REST * (time.monotonic() - began)))
                self._look(conn)
                self._look(conn)
            if self._stopping.wait(TICK):
                return
            self._show_told()

    def _look(self, conn: psycopg.Connection[Any]) -> None:
        before = len(self._attempts)
        self._take()
        ends = sorted(self._found.values(), key=lambda end: (end.completed_at, end.id))
        asked = [end.id for end in ends if end.state == "failed" or not self._told.get(end.id)]
        rows = describe_ends(conn, asked) if asked else {}
        self._found = {}
        attempts, self._attempts = self._attempts[:before], self._attempts[before:]
        lines = [*self._end_lines(ends, rows), *self._late_lines()]
        settled_at = {end.id: end.completed_at for end in ends}
        for at, fields in attempts:
            # The clocks of the server and of this computer may differ.
            lines.append((min(at, settled_at.get(fields["task_id"], at)), _line(fields, at)))
        _show(lines)
        for page in self._follower.look(conn):
            self._found |= {(end.id, end.completed_at): end for end in page}

    def _take(self) -> None:
        """Sort what was heard: ends by task, and attempts that end no task."""
        while self._heard:
            at, fields = self._heard.popleft()
            if fields["state"] in _SETTLED:
                self._told[fields["task_id"]].append(((at, fields), 0))
            else:
                self._attempts.append((at, fields))

    def _end_lines(self, ends: list[End], rows: dict[int, dict[str, Any]]) -> list[Line]:
        lines: list[Line] = []
        others: list[End] = []
        for end in ends:
            row, told = rows.get(end.id), self._told.get(end.id)
            if told:
                (_, fields), _ = told.pop()
                if row is not None and row["error_hint"]:  # of a SQL handler the worker does not tell it
                    fields = {**fields, "hint": row["error_hint"]}
                lines.append((end.completed_at, _line(fields, end.completed_at)))
                if row is not None and row["halted"]:
                    lines.append((end.completed_at, halted_line(row["halted"], end.id, at=clock(end.completed_at))))
            elif row is not None and (row["handler_kind"] == "sql" or row["queue"] in self._queues):
                others.append(end)
        shown, more = self._pace.choose(others)
        for end in shown:
            self._early[end.id] = 0
            lines += [(end.completed_at, line) for line in end_lines(rows[end.id])]
        if more:
            lines.append((others[-1].completed_at, more_line(more, at=clock(others[-1].completed_at))))
        return lines

    def _late_lines(self) -> list[Line]:
        """Ends that the worker reported and that no look finds: their tasks were retried since, or deleted."""
        lines: list[Line] = []
        for task_id, told in list(self._told.items()):
            kept: list[tuple[Told, int]] = []
            for (at, fields), looks in told:
                if self._early.pop(task_id, None) is not None:
                    continue
                if looks < PATIENCE:
                    kept.append(((at, fields), looks + 1))
                else:
                    lines.append((at, _line(fields, at)))
            self._told[task_id] = kept
            if not kept:
                del self._told[task_id]
        self._early = {task_id: looks + 1 for task_id, looks in self._early.items() if looks < LONG}
        return lines

    def _show_told(self) -> None:
        """Show what the worker reported, without the database."""
        self._take()
        told = [one for some in self._told.values() for one, _ in some]
        attempts, self._attempts = self._attempts, []
        self._told.clear()
        _show([(at, _line(fields, at)) for at, fields in (*told, *attempts)])


def _show(lines: list[Line]) -> None:
    for _, line in sorted(lines, key=lambda line: line[0]):
        show(line)


def _line(fields: Fields, at: datetime) -> str:
    """What the worker says of an attempt. Failed is a state of tasks; after a failed attempt with another one to come,
    the task is pending."""
    has_failed = fields["state"] in ("failed", "pending") and bool(fields.get("error") or fields.get("kind"))
    if not has_failed:
        return fields_line(fields, at=clock(at))
    is_last = fields["state"] == "failed"
    again_in = fields.get("again_in")
    remark = failure_words(fields.get("failures"), fields.get("max_attempts"), is_last=is_last, again_in=again_in)
    return fields_line(fields, at=clock(at), state="failed" if is_last else "retry", remark=remark)
