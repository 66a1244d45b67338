"""worker.open_tasks: the unsettled tasks of a queue, at a cost that the backlog of others does not change."""

from __future__ import annotations

from typing import Any

import pytest
from psycopg import Connection

MANY = 20_000
# A backlog of another queue in each place that an unsettled task can be in.
BACKLOG = """
with made as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'm', q.queue_id, 's', '{}', 100, n, 1, now()
    from worker.queue_registry as q, generate_series(1, %(many)s::integer) as n where q.queue = 'many'
  returning id, queue_id, place
), ready as (
  insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
  select queue_id, 's', 1, 100, 1, place, id, now() from made where id %% 2 = 0
)
insert into worker.blocked (id, reason, wait_id, due_at, queue_id, kind, tier, band, rank, place, lane)
select m.id, r.reason, case when r.reason = 'serial' then 1 end,
       case when r.reason in ('scheduled', 'retry') then now() + interval '1 day' end, m.queue_id, 's', 1, 100, 1,
       m.place, case when r.reason in ('lane', 'limit') then 'x' end
  from made as m
 cross join lateral (select (array['lane', 'limit', 'serial', 'scheduled', 'retry'])[m.id %% 5 + 1] as reason) as r
 where m.id %% 2 = 1
"""


@pytest.mark.parametrize("is_analyzed", [False, True])
def test_a_backlog_of_other_queues_is_not_read(tx: Connection[Any], is_analyzed: bool) -> None:
    tx.execute("insert into worker.queue_registry (queue, mode) values ('many', 'concurrent'), ('few', 'concurrent')")
    tx.execute(
        "insert into worker.command_registry (command, queue, handler_procedure)"
        " values ('m', 'many', 'p'), ('f', 'few', 'p'), ('g', 'few', 'p')"
    )
    tx.execute(BACKLOG, {"many": MANY})
    tx.execute("select worker.enqueue(c) from unnest(array['f', 'f', 'g']) as c")
    tx.execute("select worker.enqueue('f', p_scheduled_at => now() + interval '1 hour')")
    if is_analyzed:
        tx.execute("analyze worker.task, worker.ready, worker.blocked, worker.running, worker.scope")
    call = "select command, state, reason from worker.open_tasks('{few}', '{f}')"
    assert sorted(tx.execute(call).fetchall(), key=str) == [
        ("f", "pending", "scheduled"),
        ("f", "pending", None),
        ("f", "pending", None),
    ]
    ((plan,),) = tx.execute(f"explain (analyze, buffers, format json) {call}").fetchall()
    pages = tx.execute(
        "select pg_relation_size('worker.task') / 8192, pg_relation_size('worker.blocked') / 8192"
    ).fetchall()
    assert min(pages[0]) > 100, "the tables are too small for this test"
    assert plan[0]["Plan"]["Shared Hit Blocks"] + plan[0]["Plan"]["Shared Read Blocks"] < 60
    assert len(tx.execute("select from worker.open_tasks('{many}')").fetchall()) == MANY
    assert tx.execute("select from worker.open_tasks('{nowhere}')").fetchall() == []
