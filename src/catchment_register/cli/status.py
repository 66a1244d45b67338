"""``catchment register status``: what is running, its progress, and how the last rounds ended."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from psycopg import Connection
from psycopg.rows import dict_row

from catchment.commands import Dsn, Json, console, print_json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.cli.import_job import held_text
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.cli.waiting import show
from catchment_register.schema import REGISTER
from catchment_register.watch import failure_text, find_failure, watch_round

Row = dict[str, Any]

PROGRESS = ("phase", "active", "pending", "step", "completed", "total", "percent")
ROUND = (
    "id",
    "kind",
    "state",
    "started_at",
    "seconds",
    "seconds_to_units",
)
# Columns that only fit into a wide terminal.
ROUND_EXTRA = ("establishments", "legal_units", "enterprises")
JOB = ("job_id", "slug", "state", "total_rows", "imported_rows", "error_rows")
JOB_EXTRA = ("analysis_percent", "import_percent")


def status(
    follow: Annotated[bool, typer.Option("--follow", help="Show progress until everything is published.")] = False,
    rounds: Annotated[
        int,
        typer.Option("--rounds", metavar="N", min=0, max=LARGEST_INTEGER, help="Show this many of the last rounds."),
    ] = 1,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Show running imports and derivations, and what is waiting."""
    with open_register(dsn) as conn:
        if follow:
            show(conn, watch_round(conn), "analytics", quietly=as_json)
        now = _rows(conn, REGISTER.query("status"))[0]
        phases = _rows(conn, "select * from register.pipeline_progress()")
        jobs = _rows(conn, "select * from register.import_progress()")
        last = last_rounds(conn, rounds)
        failure = find_failure(conn)
    if as_json:
        print_json(now | {"phases": phases, "jobs": jobs, "rounds": last, "failure": failure})
        return
    _print(now, phases, jobs, last, failure)


def last_rounds(conn: Connection[Any], count: int) -> list[Row]:
    """The last rounds, the newest first."""
    return _rows(conn, REGISTER.query("rounds"), {"limit": count})


def _print(now: Row, phases: list[Row], jobs: list[Row], rounds: list[Row], failure: Row | None) -> None:
    busy = [
        text
        for name, text in (
            ("is_importing", "importing"),
            ("is_deriving_statistical_units", "deriving statistical units"),
            ("is_deriving_reports", "deriving reports"),
        )
        if now[name]
    ]
    console.print(f"today is {now['today']}; {', '.join(busy) if busy else 'everything is published'}")
    if now["changes_waiting"]:
        console.print(f"{now['changes_waiting']} logged changes wait for a round")
    if failure is not None:
        console.print(failure_text(failure), markup=False)
    for job in jobs:
        if job["held_by"] is not None:
            console.print(held_text(job["job_id"], job["held_by"]), markup=False)
    if busy:
        print_rows(phases, PROGRESS, as_json=False, empty="")
    if jobs:
        print_rows(jobs, JOB, as_json=False, empty="", extra=JOB_EXTRA)
    if rounds:
        shown = [row | {"started_at": f"{row['started_at']:%Y-%m-%d %H:%M:%S}"} for row in rounds]
        print_rows(shown, ROUND, as_json=False, empty="", extra=ROUND_EXTRA)


def _rows(conn: Connection[Any], query: Any, parameters: Row | None = None) -> list[Row]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(query, parameters).fetchall()
