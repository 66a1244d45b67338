"""Reads what ``catchment top`` shows: at a cost that grows neither with the backlog nor with the history."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from psycopg import Connection

from catchment.sql import ENGINE
from catchment.store.ends import server_time
from catchment.store.fetch import fetch_rows

Row = dict[str, Any]

# Counts stop here.
MOST = 10_000


@dataclass(frozen=True, slots=True)
class Overview:
    """The engine at one moment, by the clock of the server."""

    at: datetime
    database: str
    queues: list[Row]
    workers: list[Row]
    scopes: list[Row]
    failures: list[Row]
    running: list[Row]


def read_overview(conn: Connection[Any], *, limit: int) -> Overview:
    """All queues, and ``limit`` of each of the others."""
    return Overview(
        at=server_time(conn),
        database=conn.info.dbname,
        queues=fetch_rows(conn, ENGINE.query("top_queues")),
        workers=fetch_rows(conn, ENGINE.query("top_workers"), limit=limit),
        scopes=fetch_rows(conn, ENGINE.query("top_scopes"), limit=limit),
        failures=fetch_rows(conn, ENGINE.query("top_failures"), limit=limit),
        running=fetch_rows(conn, ENGINE.query("top_running"), limit=limit),
    )
