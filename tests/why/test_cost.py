"""An answer reads by index, and a bounded number of rows, however many tasks there are."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from bench.engine.harness import HANDLERS
from bench.engine.why import Crowd, ask
from tests.fixtures.server import Connect

# Registries without an index for this: a row for each live worker, for each cancel that has not been carried out.
SMALL = {"worker", "cancel_request"}
READ = """
select relname, seq_scan, coalesce(idx_tup_fetch, 0)
  from pg_stat_xact_user_tables
 where schemaname = 'worker' and relname <> all (%s)
"""
EXPECTED = {
    "parent of a large scope": "children",
    "child of a large scope": "ready",
    "running child": "running",
    "parent of a serial scope": "children",
    "last of a serial scope": "serial",
    "leaf of a deep tree": "running",
    "last at a limit": "limit",
    "last of a lane": "lane",
    "last of a serial queue": "lane",
    "behind max_running": "max_running",
    "last of a queue": "ready",
}


def test_answers_read_a_bounded_number_of_rows_by_index(connect: Connect) -> None:
    conn = connect()
    conn.execute(HANDLERS)
    crowd = Crowd(conn, 25_000)
    assert {name: ask(conn, task_id)[0][0] for name, task_id in crowd.asked.items()} == EXPECTED
    for name, task_id in crowd.asked.items():
        with conn.transaction():
            before = read(conn)
            ask(conn, task_id)
            for table, (scans, rows) in read(conn).items():
                assert scans == before[table][0], f"{name}: {table} was scanned"
                # 1000 is the bound of each look; a large scope has 2500 children, a lane as many tasks.
                assert rows - before[table][1] <= 2100, f"{name}: too many rows of {table}"


def read(conn: Connection[Any]) -> dict[str, tuple[int, int]]:
    """Of each table: how often it was scanned, and how many rows were fetched by an index."""
    return {table: (scans, rows) for table, scans, rows in conn.execute(READ, [list(SMALL)])}
