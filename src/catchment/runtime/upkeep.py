"""Upkeep: what must happen without a caller, in a separate thread, so that it delays no claim.

The work itself is in SQL, item by item. Here each call to the database is a part of a round. If a part fails, that is
reported, less and less often, and the other parts and the next round run. The thread ends only when it is stopped.

Two workers of a fleet keep it up, and those that have work. The others send nothing: see ``worker.called_upon``.
"""

from __future__ import annotations

import logging
import random
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from typing import Any

from psycopg import Connection

from catchment.runtime.events import Events
from catchment.runtime.pulse import Pulse
from catchment.runtime.reports import Reports
from catchment.store import worker as worker_store
from catchment.store.connect import connect_ours
from catchment.store.embedded import FolderGone
from catchment.store.errors import Fault, fault_of

# Chores read whole tables. They run this often, and take at most a twentieth of the time.
CHORES_EVERY = 10.0
CHORES_SHARE = 20
FIRST_PAUSE = 0.2
# A little more than the grace in which a worker can take its lock again.
AFTER_GRACE = 0.55
STOP_SECONDS = 2.0
LAST_PAUSE = 5.0
_CONNECTION = "connection"
VACUUM_EVERY = 4.0
VACUUM_AT_LEAST_EVERY = 600.0


class Upkeep:
    """``on_hooks`` is called, in the thread of upkeep, when after hooks are due. ``keeps`` is whether this worker runs
    upkeep though ``is_idle``: the answers to heartbeats say so."""

    def __init__(
        self,
        dsn: str,
        interval: timedelta,
        events: Events,
        pulse: Pulse,
        *,
        on_hooks: Callable[[], object],
        is_idle: Callable[[], bool],
    ) -> None:
        self.keeps = True
        self._is_idle = is_idle
        self._has_suspects = False
        self._on_hooks = on_hooks
        self._dsn = dsn
        self._interval = interval
        self._events = events
        self._pulse = pulse
        # A new process leaves chores and vacuums to the workers that are already there.
        self._chores_at = time.monotonic() + CHORES_EVERY
        self._vacuum_from = time.monotonic() + VACUUM_EVERY
        self._pause = FIRST_PAUSE
        self._vacuumed: dict[str, tuple[float, float]] = {}
        self._reports = Reports()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="catchment-upkeep", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop after the current round; if that takes long, the thread is left running."""
        self._stopping.set()
        self._thread.join(timeout=STOP_SECONDS)

    def _run(self) -> None:
        """One round per interval until stopped; a lost connection is made again."""
        while not self._stopping.is_set():
            try:
                with connect_ours(self._dsn, name="catchment upkeep") as conn, self._pulse.watch(conn):
                    while not self._stopping.is_set():
                        if self.keeps or not self._is_idle():
                            self.run_round(conn)
                            self._pause = FIRST_PAUSE
                            self._reports.over(_CONNECTION)
                        self._stopping.wait(self._rest())
            except Exception as error:  # whatever it is, the next round is worth a try
                if fault_of(error) is not Fault.LOST:
                    self._report("upkeep", error)
                elif not isinstance(error, FolderGone):  # which ends the worker
                    text = self._reports.due(_CONNECTION, f"upkeep: {str(error).strip()}")
                    if text is not None:
                        self._events.emit("upkeep.disconnected", text, level=logging.WARNING)
                self._stopping.wait(self._pause)
                self._pause = min(self._pause * 2, LAST_PAUSE)

    def _rest(self) -> float:
        """Seconds until the next round: sooner while a worker may turn out to be dead."""
        rest = self._interval.total_seconds() * random.uniform(0.9, 1.1)  # noqa: S311 - jitter
        return min(rest, AFTER_GRACE) if self._has_suspects else rest

    def run_round(self, conn: Connection[Any]) -> None:
        """Everything that is due, each part by itself. Raises only when the connection is lost."""
        done = self._attempt(conn, "upkeep", lambda: worker_store.upkeep(conn)) or {}
        self._has_suspects = bool(done.get("has_suspects"))
        self._tell(done)
        self._vacuum(conn, done.get("bloated") or [])
        if time.monotonic() >= self._chores_at:
            self._do_chores(conn)

    def _attempt(
        self, conn: Connection[Any], part: str, call: Callable[[], dict[str, Any] | None]
    ) -> dict[str, Any] | None:
        """Call a part. If it fails, report that and return None; raise if the connection is lost."""
        try:
            result = call()
        except Exception as error:
            if conn.closed or fault_of(error) is Fault.LOST:
                raise
            self._report(part, error)
            return None
        if self._reports.over(part):
            self._events.emit("upkeep.recovered", f"{part} works again", part=part)
        return result

    def _report(self, part: str, error: Exception) -> None:
        text = self._reports.due(part, f"{part}: {str(error).strip() or type(error).__name__}")
        if text is not None:
            self._events.emit("upkeep.failed", text, level=logging.ERROR, part=part)

    def _tell(self, done: dict[str, Any]) -> None:
        if done.get("hooks_due"):
            self._on_hooks()
        if done.get("interrupted"):
            self._events.emit(
                "tasks.interrupted",
                f"took {done['interrupted']} tasks over from dead workers",
                level=logging.WARNING,
                count=done["interrupted"],
            )
        fired: list[dict[str, Any]] = done.get("fired") or []
        troubles: list[dict[str, Any]] = done.get("troubles") or []
        for schedule in fired:
            self._events.emit(
                "schedule.fired",
                f"schedule {schedule['schedule']}: task {schedule['id']}, next at {schedule['next_at']}",
                schedule=schedule["schedule"],
                task_id=schedule["id"],
            )
        skipped: list[dict[str, Any]] = done.get("skipped") or []
        for schedule in skipped:
            why = "was missed" if schedule["policy"] == "missed" else "came while its last run was not settled"
            self._events.emit(
                "schedule.skipped",
                f"schedule {schedule['schedule']}: {schedule['due_at']} {why}, next at {schedule['next_at']}",
                schedule=schedule["schedule"],
                policy=schedule["policy"],
            )
        for trouble in troubles:
            self._events.emit(
                "upkeep.trouble",
                f"{trouble['step']} {trouble['item']}: {trouble['message']}",
                level=logging.ERROR,
                step=trouble["step"],
                item=trouble["item"],
            )

    def _do_chores(self, conn: Connection[Any]) -> None:
        began = time.monotonic()
        self._tell(self._attempt(conn, "chores", lambda: worker_store.chores(conn)) or {})
        ended = time.monotonic()
        self._chores_at = ended + max(CHORES_EVERY, (ended - began) * CHORES_SHARE)

    def _vacuum(self, conn: Connection[Any], bloated: list[str]) -> None:
        """Vacuum these tables, less and less often if that does not help, as when an old snapshot keeps dead rows."""
        self._vacuumed = {table: when for table, when in self._vacuumed.items() if table in bloated}
        for table in bloated:
            due, pause = self._vacuumed.get(table, (self._vacuum_from, VACUUM_EVERY))
            if time.monotonic() >= due:
                self._vacuumed[table] = (time.monotonic() + pause, min(pause * 2, VACUUM_AT_LEAST_EVERY))
                self._attempt(conn, f"vacuum of {table}", lambda table=table: worker_store.vacuum(conn, table))
