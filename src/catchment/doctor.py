"""What is wrong, and what mends it: ``catchment doctor`` and the screen *Health* of the dashboard.

Every check has a cost that does not grow with the number of tasks, but for the rules of the engine, which are checked
against every task: only in a small database, or if that is requested.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import Connection

from catchment.sql import ENGINE
from catchment.store import task as task_store
from catchment.store.fetch import fetch_rows, fetch_value

OLDEST_SERVER = 150000
NOTIFY_SECONDS = 2.0
SLOW_NOTIFY = 0.5
MOST_SKEW = 5.0
# Of the table of tasks: about 100,000 of them, whose rules are checked in a second.
SMALL_BYTES = 16 * 1024 * 1024

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Health:
    """The findings, and figures of the server."""

    findings: list[Row]
    notify_seconds: float | None
    are_rules_checked: bool
    tables: list[Row]
    transactions: list[Row]
    facts: Row


def diagnose(conn: Connection[Any], *, deep: bool = False) -> list[Row]:
    """Findings: level (error, warning or info), subject, finding, remedy, which ``ways_of`` splits. None: all is
    well. The connection is in autocommit mode. ``deep``: the rules of the engine are checked in a large one too."""
    return _findings(conn, measure_notify(conn), has_rules=deep or _is_small(conn))


def read_health(conn: Connection[Any]) -> Health:
    """The findings, and what they are about."""
    notify_seconds = measure_notify(conn)
    is_small = _is_small(conn)
    (facts,) = fetch_rows(conn, ENGINE.query("health_facts"))
    return Health(
        findings=_findings(conn, notify_seconds, has_rules=is_small),
        notify_seconds=notify_seconds,
        are_rules_checked=is_small,
        tables=fetch_rows(conn, ENGINE.query("health_tables")),
        transactions=fetch_rows(conn, ENGINE.query("health_transactions")),
        facts=facts,
    )


def measure_notify(conn: Connection[Any]) -> float | None:
    """How many seconds a notification takes; None if it does not come back, or if this is a standby."""
    if _is_standby(conn):
        return None
    began = time.perf_counter()
    conn.execute("listen worker_doctor")
    # Where the server has no more room for it, a finding says so and names the session that is in the way.
    with suppress(psycopg.OperationalError):
        conn.execute("notify worker_doctor")
        if next(conn.notifies(timeout=NOTIFY_SECONDS, stop_after=1), None) is not None:
            return time.perf_counter() - began
    return None


def _is_standby(conn: Connection[Any]) -> bool:
    return fetch_value(conn, "select pg_is_in_recovery()")


def _is_small(conn: Connection[Any]) -> bool:
    return fetch_value(conn, "select pg_relation_size('worker.task') <= %s", SMALL_BYTES)


def _findings(conn: Connection[Any], notify_seconds: float | None, *, has_rules: bool) -> list[Row]:
    rules = task_store.diagnose_rules(conn) if has_rules else []
    findings = [*_server_findings(conn, notify_seconds), *rules, *task_store.diagnose(conn), *_lake_findings(conn)]
    if not has_rules:
        what = "its rules were not checked: that reads every task, and there are many"
        findings.append(_finding("info", "engine", what, "catchment doctor --deep"))
    return findings


def _server_findings(conn: Connection[Any], notify_seconds: float | None) -> list[Row]:
    findings: list[Row] = []
    if conn.info.server_version < OLDEST_SERVER:
        what = f"PostgreSQL {conn.info.server_version} is too old"
        findings.append(_finding("error", "server", what, "# Use PostgreSQL 15 or newer."))
    misfit = ENGINE.find_misfit(conn)
    if misfit is not None:
        findings.append(_finding("error", "schema", str(misfit), f"# {misfit.hint}"))
    if _is_standby(conn):
        what = "it is a standby: it can be read, and changes nothing"
        findings.append(_finding("info", "server", what, "# To change something, connect to the primary."))
    elif notify_seconds is None:
        what = "a NOTIFY did not come back in 2 s"
        remedy = "# Behind a transaction pooler workers only poll: give them a direct connection."
        findings.append(_finding("warning", "notifications", what, remedy))
    elif notify_seconds > SLOW_NOTIFY:
        what = f"a NOTIFY took {notify_seconds:.1f} s"
        findings.append(_finding("warning", "notifications", what, "# The server is overloaded."))
    skew = abs(fetch_value(conn, "select extract(epoch from clock_timestamp())::float8") - time.time())
    if skew > MOST_SKEW:
        what = f"this machine's clock is off by {skew:.0f} s"
        findings.append(_finding("warning", "clock", what, "# Leases use the database's clock."))
    return findings


def _lake_findings(conn: Connection[Any]) -> list[Row]:
    """What is wrong with the lake of this database, if it has one."""
    # Needs PostgreSQL alone, so it works where the extra is not installed.
    from catchment.lake.duck.verify import has_lake, verify
    from catchment.lake.sql import LAKE

    if not has_lake(conn):
        return []
    problems = verify(conn)
    if problems:
        remedy = "catchment table init  # by the user that installed it: puts it in order"
        return [_finding("error", "lake", problem, remedy) for problem in problems]
    return fetch_rows(conn, LAKE.query("doctor"))


def _finding(level: str, subject: str, finding: str, remedy: str) -> Row:
    return {"level": level, "subject": subject, "finding": finding, "remedy": remedy}
