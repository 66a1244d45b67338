"""A handler in SQL that waits for a lock of another session."""

from __future__ import annotations

import threading

import psycopg

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import wait_until

EXPLAIN = "select words, evidence -> 'blocked_by' from worker.explain(%s)"
IS_BLOCKED = "select count(*) from pg_stat_activity where %s = any (pg_blocking_pids(pid))"
TIDY = "create procedure probe.tidy(payload jsonb) language sql as 'delete from probe.room'"


def test_the_sessions_that_hold_up_a_handler_are_named(committed: Engine, connect: Connect, db: str) -> None:
    committed.conn.execute("create table probe.room (n integer)")
    committed.conn.execute(TIDY)
    committed.queue("rooms", mode="concurrent")
    committed.command("tidy", "rooms", handler_procedure="probe.tidy")
    task = committed.enqueue("tidy")
    other, asking = Engine(connect()), Engine(connect())
    running = threading.Thread(target=lambda: other.process("rooms"))
    with psycopg.connect(db, application_name="a copy") as holder:
        holder.execute("lock table probe.room in share mode")
        pid = holder.info.backend_pid
        running.start()
        wait_until(lambda: asking.value(IS_BLOCKED, pid) == 1)
        ((words, blocked_by),) = asking.conn.execute(EXPLAIN, [task]).fetchall()
    running.join()
    # The state is known to the owner of the engine if the session is its own, or if it may see all of them.
    assert f"; it waits for a lock that is held by session {pid} (a copy" in words
    assert blocked_by == [pid]
    assert committed.state(task) == "completed"
