"""What the bare server takes for the two things that everything here is made of: commits and rows.

A figure is divided by the probe that limits it, taken just before and just after it. So the speed of the machine, and
what else it does at that moment, cancels out as far as it can.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench, seconds

COMMITS = 300
ROWS = 150_000


class Bare(StrEnum):
    """What limits a figure."""

    COMMITS = "commits"
    ROWS = "rows"


def bare_seconds(bench: Bench, kind: Bare) -> float:
    """Seconds of one probe in a fresh database."""
    with bench.database() as connect, connect() as conn:
        conn.execute("create table bare (id bigint primary key, key integer not null, payload jsonb not null)")
        return seconds(lambda: _commit(conn) if kind is Bare.COMMITS else _write(conn))


def _commit(conn: Connection[Any]) -> None:
    for n in range(COMMITS):
        conn.execute("insert into bare values (%s, 0, '{}')", [n])


def _write(conn: Connection[Any]) -> None:
    conn.execute("create index on bare (key)")
    conn.execute(
        "insert into bare select n, n * 7919 %% 1000, jsonb_build_object('n', n) from generate_series(1, %s) as n",
        [ROWS],
    )
    conn.execute("select key, count(*), max(payload ->> 'n') from bare group by key")
    conn.execute("delete from bare where key % 2 = 0")
