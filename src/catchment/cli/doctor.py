"""``catchment doctor``."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import Any

import psycopg
import typer
from psycopg import Connection
from rich.markup import escape
from rich.padding import Padding

from catchment.cli.database import open_database
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json
from catchment.lake.sql import LAKE
from catchment.model.terminal import one_line
from catchment.store import task as task_store
from catchment.store.fetch import fetch_rows, fetch_value

OLDEST_SERVER = 150000


def doctor(as_json: Json = False, dsn: Dsn = None) -> None:
    """Check for problems, and say what to do about each.

    Such as a halted lane, a queue without a worker, or a broken rule of the engine. The exit code is 1 if one of them
    is an error.
    """
    with open_database(dsn, "catchment_read") as conn:
        findings = [*_server_findings(conn), *task_store.diagnose(conn), *_lake_findings(conn)]
    if as_json:
        print_json(findings)
    elif not findings:
        console.print("[green]All is well.[/]")
    else:
        for finding in findings:
            style = {"error": "red", "warning": "yellow"}.get(finding["level"], "dim")
            console.print(f"[{style}]{finding['level']}[/] {_line(finding['subject'])}: {_line(finding['finding'])}")
            remedy = f"[dim]{_line(finding['remedy'])}[/]"
            console.print(f"  {remedy}" if console.is_pipe else Padding(remedy, (0, 0, 0, 2)))
    if any(f["level"] == "error" for f in findings):
        raise typer.Exit(1)


def _line(text: str) -> str:
    """A text of many lines as one: it may hold the message of an error."""
    return escape(one_line(text))


def _server_findings(conn: Connection[Any]) -> list[dict[str, Any]]:
    findings: list[dict[str, Any]] = []
    if conn.info.server_version < OLDEST_SERVER:
        findings.append(
            _finding(
                "error", "server", f"PostgreSQL {conn.info.server_version} is too old", "Use PostgreSQL 15 or newer."
            )
        )
    began = time.perf_counter()
    conn.execute("listen worker_doctor")
    heard = None
    # Where the server has no more room for it, the findings below say so and name the session that is in the way.
    with suppress(psycopg.OperationalError):
        conn.execute("notify worker_doctor")
        heard = next(conn.notifies(timeout=2, stop_after=1), None)
    if heard is None:
        findings.append(
            _finding(
                "warning",
                "notifications",
                "a NOTIFY did not come back in 2 s",
                "Behind a transaction pooler workers only poll: give them a direct connection.",
            )
        )
    elif (took := time.perf_counter() - began) > 0.5:
        findings.append(
            _finding("warning", "notifications", f"a NOTIFY took {took:.1f} s", "The server is overloaded.")
        )
    skew = abs(fetch_value(conn, "select extract(epoch from clock_timestamp())::float8") - time.time())
    if skew > 5:
        findings.append(
            _finding(
                "warning", "clock", f"this machine's clock is off by {skew:.0f} s", "Leases use the database's clock."
            )
        )
    return findings


def _lake_findings(conn: Connection[Any]) -> list[dict[str, Any]]:
    """What is wrong with the lake of this database, if it has one."""
    # Needs PostgreSQL alone, so it works where the extra is not installed.
    from catchment.lake.duck.verify import has_lake, verify

    if not has_lake(conn):
        return []
    problems = verify(conn)
    if problems:
        remedy = "'catchment table init' by the user that installed it puts it in order."
        return [_finding("error", "lake", problem, remedy) for problem in problems]
    return fetch_rows(conn, LAKE.query("doctor"))


def _finding(level: str, subject: str, finding: str, remedy: str) -> dict[str, Any]:
    return {"level": level, "subject": subject, "finding": finding, "remedy": remedy}
