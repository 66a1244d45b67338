"""What the watching commands read does not grow with the history nor with the backlog."""

from __future__ import annotations

from typing import Any, LiteralString

import pytest
from psycopg import Connection

from catchment.sql import ENGINE

FINISHED = 1_000_000
PENDING = 100_000

# Behind the back of the engine: half an hour of its work in half a minute.
FILL = f"""
set session_replication_role = replica;
insert into worker.queue_registry (queue, mode) select 'q' || n, 'concurrent' from generate_series(0, 4) as n;
insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at, lane)
select 'act', (select q.queue_id from worker.queue_registry as q where q.queue = 'q' || n % 5), 'p', '{{}}', 100, n, 1,
       clock_timestamp() - ({FINISHED + PENDING} - n) * interval '30 ms',
       case when n % 10 = 0 then 'lane' || n % 1000 end
  from generate_series(1, {FINISHED + PENDING}) as n;
insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error)
select t.id, case when t.id % 50 = 0 then 'failed' else 'completed' end, 1, t.created_at, t.created_at, t.created_at,
       case when t.id % 50 = 0 then '{{"message": "odd"}}'::jsonb end
  from worker.task as t
 where t.place <= {FINISHED};
insert into worker.scope (id, state, open_children, total_children, child_mode, on_child_failure, command, queue_id,
                          kind, band, place, depth, attempt, has_after, has_merged, started_at, stopped_at)
select t.id, case when t.place <= 3 then 'waiting' else 'completed' end, 0, 10, 'concurrent', 'wait', 'act', t.queue_id,
       'p', 100, t.place, 0, 1, false, false, t.created_at, t.created_at
  from worker.task as t
 where t.place <= {FINISHED // 2};
insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
select t.queue_id, t.kind, 1, 100, 1, t.place, t.id, t.created_at from worker.task as t where t.place > {FINISHED};
set session_replication_role = default;
"""

# Pages that each may read, warm; each table has tens of thousands.
READS: list[tuple[str, LiteralString, int]] = [
    ("nothing new", "select * from worker.ended_tasks(clock_timestamp())", 40),
    ("a busy second", "select * from worker.ended_tasks((select max(completed_at) - interval '9 s' from o))", 1_000),
    ("a page", "select * from worker.ended_tasks('-infinity', p_most => 1000)", 2_500),
    ("a page of a lane", "select * from worker.ended_tasks('-infinity', p_lane => 'lane10', p_most => 1000)", 7_500),
    ("failures in pages", "select * from worker.ended_tasks('-infinity', 0, '{failed}', p_most => 100)", 500),
    ("the rate", "select * from worker.recent_ends()", 40),
    ("the rate of a busy server", "select * from worker.recent_ends('5 days', 1000)", 7_500),
    ("workers", ENGINE.query("top_workers"), 40),
    ("scopes", ENGINE.query("top_scopes"), 100),
    ("failures", ENGINE.query("top_failures"), 7_500),
    # 10,000 ready tasks of each of five queues, at most.
    ("queues", ENGINE.query("top_queues"), 80_000),
    ("one task", ENGINE.query("task_progress"), 60),
    ("ends of tasks", ENGINE.query("task_ended"), 300),
]


def _pages(conn: Connection[Any], sql: LiteralString, values: dict[str, Any]) -> int:
    sql = sql.replace("from o)", "from worker.outcome)")
    ((plan,),) = conn.execute("explain (analyze, buffers, format json) " + sql, values).fetchall()
    return plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]


@pytest.mark.long
def test_a_look_reads_a_few_pages_of_a_million_tasks(connect: Any) -> None:
    conn: Connection[Any] = connect()
    conn.execute(FILL)  # type: ignore[arg-type]
    conn.execute("vacuum analyze worker.task, worker.outcome, worker.scope, worker.ready")
    values = {"limit": 200, "id": FINISHED, "ids": list(range(FINISHED - 20, FINISHED))}
    read: dict[str, int] = {}
    for name, sql, _ in READS:
        _pages(conn, sql, values)
        read[name] = _pages(conn, sql, values)
    assert {name: read[name] for name, _, most in READS if read[name] > most} == {}, read
