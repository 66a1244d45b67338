"""The least that a pickup can be: a process hears a notification and commits one row on another connection.

The benchmark runs this file as a process. A pickup by a worker does the same, with a claim for the row.
"""

from __future__ import annotations

import os

import psycopg

from bench.worker.app import probe

CHANNEL = "bench_bare"
TABLE = "create table public.bare (i integer primary key)"
NOTIFY = "select pg_notify('bench_bare', %s)"


def main() -> None:
    dsn = os.environ["BENCH_DSN"]
    assert probe is not None
    with psycopg.connect(dsn, autocommit=True) as heard, psycopg.connect(dsn, autocommit=True) as conn:
        heard.execute(f"listen {CHANNEL}")
        conn.execute("create table public.bare_is_ready ()")
        for notification in heard.notifies():
            i = int(notification.payload)
            conn.execute("insert into public.bare values (%s)", [i], prepare=True)
            probe.start(i)
            probe.end(i)


if __name__ == "__main__":
    main()
