"""What ``task tree`` reads of a large scope that is so new that the planner does not know how large it is."""

from __future__ import annotations

from typing import Any

from psycopg import Connection

from catchment.sql import ENGINE
from catchment.store import task as task_store

CHILDREN = 20_000

# Behind the back of the engine: a task and its children, half of them completed. The statistics are those of
# the time before.
FILL = """
analyze;
set session_replication_role = replica;
insert into worker.queue_registry (queue, mode) values ('q', 'concurrent');
insert into worker.task (id, command, queue_id, kind, payload, priority, parent_id, root_id, depth, place, max_attempts,
                         created_at)
overriding system value
select n, case n when 1 then 'fan' else 'leaf' end, q.queue_id, 'p', '{}', 100, case when n > 1 then 1 end,
       case when n > 1 then 1 end, case n when 1 then 0 else 1 end, n, 1, clock_timestamp()
  from generate_series(1, CHILDREN + 1) as n
  join worker.queue_registry as q on q.queue = 'q';
insert into worker.scope (id, open_children, total_children, child_mode, on_child_failure, command, queue_id, kind,
                          band, place, depth, attempt, has_after, has_merged, started_at, stopped_at)
select 1, CHILDREN / 2, CHILDREN, 'concurrent', 'wait', 'fan', t.queue_id, 'p', 100, 1, 0, 1, false, false,
       t.created_at, t.created_at
  from worker.task as t
 where t.id = 1;
insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error)
select t.id, case when t.id % 5000 = 0 then 'failed' else 'completed' end, 1, t.created_at, t.created_at, t.created_at,
       case when t.id % 5000 = 0 then '{"message": "odd"}'::jsonb end
  from worker.task as t
 where t.id > 1 and t.id % 2 = 0;
insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
select t.queue_id, t.kind, 0, 100, 1, t.place, t.id, t.created_at from worker.task as t where t.id > 1 and t.id % 2 = 1;
set session_replication_role = default;
"""


def _fill(conn: Connection[Any], children: int) -> None:
    conn.execute(FILL.replace("CHILDREN", str(children)))  # type: ignore[arg-type]


def _pages(conn: Connection[Any], values: dict[str, Any]) -> int:
    sql = "explain (analyze, buffers, format json) " + ENGINE.query("task_tree")
    ((plan,),) = conn.execute(sql, values).fetchall()
    return plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"]


def test_a_fresh_scope_is_read_by_the_index_alone(connect: Any) -> None:
    """A planner that takes a large table for an empty one reads all of it for each child."""
    conn: Connection[Any] = connect()
    _fill(conn, CHILDREN)
    values = {"id": 1, "state": None, "limit": 50}
    assert _pages(conn, values) < 15 * CHILDREN

    (root, *children) = task_store.task_tree(conn, 1, limit=50)
    assert len(children) == 49
    assert [row["id"] for row in children if row["state"] == "failed"] == [5000, 10_000, 15_000, 20_000]
    counts = {(one["command"], one["state"]): one["tasks"] for one in root["counts"]}
    assert counts == {
        ("fan", "waiting"): 1,
        ("leaf", "completed"): CHILDREN // 2 - 4,
        ("leaf", "failed"): 4,
        ("leaf", "pending"): CHILDREN // 2,
    }
    assert root["children"] == CHILDREN
    assert root["at_least"] is False


def test_a_tree_is_counted_up_to_a_bound(connect: Any) -> None:
    """The task that was asked for is shown, and everything above it, wherever the count stops."""
    conn: Connection[Any] = connect()
    _fill(conn, 30)
    rows = conn.execute("select id, at_least, counts from worker.task_tree(30, p_limit => 1, p_most => 9)").fetchall()
    assert [row[0] for row in rows] == [1, 30]
    assert rows[0][1] is True
    assert sum(one["tasks"] for one in rows[0][2]) == 10
