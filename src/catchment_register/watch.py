"""Follows work that others do: an import job, or the round that publishes a change.

Notifications only trigger a look; events come from the tables, which are read once a second anyway, so a lost
notification does no harm.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.sql import SQL, Identifier

IMPORT_CHANNELS = ("import_job_progress", "worker_status")
DERIVE_CHANNELS = ("worker_status",)
ENDED = ("finished", "rejected", "failed", "waiting_for_review")
# Of all that a round does, from and to what per cent a phase goes: about the time they take.
PHASES = {"units": (0.0, 60.0), "reports": (60.0, 100.0)}

GoesOn = Callable[[], bool]
"""Whether anybody may still be at work."""


def always() -> bool:
    """A worker may still come and do it."""
    return True


@dataclass(frozen=True, slots=True)
class Event:
    """How far something is. ``is_over``: nothing more will come of itself."""

    kind: str
    percent: float
    text: str
    is_over: bool = False


def follow(
    conn: Connection[Any],
    read: Callable[[], Event],
    channels: Sequence[str],
    *,
    goes_on: GoesOn = always,
    seconds: float = 1.0,
) -> Iterator[Event]:
    """Look again at each notification and each second, and yield what is new, up to the event that is the last one, or
    until nobody is at work any more."""
    for channel in channels:
        conn.execute(SQL("listen {}").format(Identifier(channel)))
    try:
        before: Event | None = None
        while True:
            is_last = not goes_on()  # asked first: what it did last is seen
            event = read()
            if event != before:
                yield event
            if event.is_over or is_last:
                return
            before = event
            for _ in conn.notifies(timeout=seconds, stop_after=1):
                pass
    finally:
        if not conn.closed:
            for channel in channels:
                conn.execute(SQL("unlisten {}").format(Identifier(channel)))


def watch_import(conn: Connection[Any], job_id: int, goes_on: GoesOn = always) -> Iterator[Event]:
    """An import job until it has ended or waits for a review, by itself or behind another job. Analysis is the first
    half."""
    return follow(conn, lambda: _import_event(conn, job_id), IMPORT_CHANNELS, goes_on=goes_on)


def watch_round(conn: Connection[Any], goes_on: GoesOn = always) -> Iterator[Event]:
    """What is derived, until everything that was changed is published."""
    return follow(conn, lambda: _round_event(conn), DERIVE_CHANNELS, goes_on=goes_on)


def find_job(conn: Connection[Any], job_id: int) -> dict[str, Any] | None:
    """A job with its progress."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute("select * from register.import_job_progress where id = %s", [job_id]).fetchone()


def find_failure(conn: Connection[Any]) -> dict[str, Any] | None:
    """What went wrong last in derivation, and when it is tried again; None if nothing did, or all is done since."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute("select * from register.last_failure()").fetchone()


def failure_text(failure: dict[str, Any]) -> str:
    """What went wrong, in a line."""
    what = f"round {failure['round_id']}" if failure["round_id"] is not None else "the collection of changes"
    reason = (failure["error"] or "no reason was given").splitlines()[0]
    next_try = failure["next_try"]
    again = "now" if next_try is None else f"at {next_try:%H:%M:%S}"
    times = f", {failure['failures']} failures in a row" if failure["failures"] > 1 else ""
    return f"{what} failed in {failure['command']}{times}: {reason}; next attempt {again}"


def is_served(conn: Connection[Any], queue: str) -> bool:
    """Whether a worker serves a queue."""
    row = conn.execute("select register.is_served(%s)", [queue]).fetchone()
    return bool(row and row[0])


def _import_event(conn: Connection[Any], job_id: int) -> Event:
    job = find_job(conn, job_id)
    if job is None:
        return Event("import", 100, "deleted", True)
    percent = (float(job["analysis_percent"]) + float(job["import_percent"])) / 2
    if job["held_by"] is not None:
        return Event("import", percent, f"held up by job {job['held_by']}, which waits for review", True)
    return Event("import", percent, job["current_step"] or job["state"].replace("_", " "), job["state"] in ENDED)


def _round_event(conn: Connection[Any]) -> Event:
    with conn.cursor(row_factory=dict_row) as cursor:
        # In one statement, which sees one state: a round that ends between two would be neither active nor done.
        phases = cursor.execute(
            "select *, register.is_deriving_statistical_units() or register.is_deriving_reports() as derives"
            " from register.pipeline_progress()"
        ).fetchall()
    if any(p["active"] for p in phases) and not any(p["step"] for p in phases):
        failure = find_failure(conn)
        if failure is not None:
            return Event("derive", 0, failure_text(failure))
    if not any(p["derives"] for p in phases):
        return Event("derive", 100, "published", True)
    active = next((p for p in phases if p["active"]), None)
    if active is None:
        return Event("derive", 0, "waiting for a worker")
    first, last = PHASES[active["phase"]]
    percent = first + (last - first) * float(active["percent"] or 0) / 100
    return Event("derive", percent, (active["step"] or active["phase"]).replace("_", " "))
