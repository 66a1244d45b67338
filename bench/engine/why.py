"""worker.explain: what an answer takes must not grow with the number of tasks."""

from __future__ import annotations

import statistics
from functools import partial
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from bench.engine.harness import Bench, processor_ms, report, seconds

CALLS = 200
SETUP = """
insert into worker.queue_registry (queue, mode, max_depth, max_running)
values ('flow', 'concurrent', null, null), ('tight', 'concurrent', 1, 100), ('line', 'serial', 1, null);
insert into worker.command_registry (command, queue, handler_kind, limit_key, max_running)
values ('item', 'flow', 'python', null, null), ('limited', 'flow', 'python', '{}', 2),
       ('held', 'tight', 'python', null, null), ('step', 'line', 'python', null, null);
select worker.register_worker('bench', '{flow,tight,line}', p_lease => '1 day',
                              p_python_queues => '{flow,tight,line}');
"""
FINISHED = """
with made as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'item', q.queue_id, 'p', '{}', 100, n, 1, now()
    from generate_series(1, %s) as n, worker.queue_registry as q where q.queue = 'flow'
  returning id
)
insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at, error)
select m.id, case when m.id %% 100 = 0 then 'failed' else 'completed' end, 1, now(), now(), now(),
       case when m.id %% 100 = 0 then '{"kind": "error"}'::jsonb end
  from made as m
"""
COMPLETE = """
select worker.complete_tasks(array_agg(c.id), array_agg(c.fence), array_agg('null'::jsonb), array_agg('null'::jsonb))
  from (select max(worker_id) as id from worker.worker) as w,
       worker.claim_tasks(w.id, '{flow}', %s) as c
"""


class Crowd:
    """A database with about ``count`` tasks of all kinds; ``asked`` are those to ask about, by name."""

    def __init__(self, conn: Connection[Any], count: int) -> None:
        self.conn = conn
        self.asked: dict[str, int] = {}
        share = count // 10
        conn.execute(SETUP)
        conn.execute(FINISHED, [6 * share])
        self.fill_scope(share)
        self.fill_line(share // 20)
        self.fill_tree(min(share // 20, 500))
        self.fill_limits(share // 2)
        self.enqueue("item", share, lane="hot")
        self.claim()
        self.asked["last of a lane"] = self.newest("item")
        self.enqueue("step", share // 2)
        self.claim("line")
        self.asked["last of a serial queue"] = self.newest("step")
        self.enqueue("held", 1000)
        self.claim("tight", 100)
        self.asked["behind max_running"] = self.newest("held")
        self.enqueue("item", share // 2)
        self.asked["last of a queue"] = self.newest("item")
        conn.execute("vacuum (analyze) worker.task, worker.outcome, worker.ready, worker.blocked, worker.scope")

    def fill_scope(self, count: int) -> None:
        """Half of the children have completed, some run, the others are ready."""
        self.asked["parent of a large scope"] = self.spawn(self.enqueue("item", 1), count)
        for _ in range(max(1, count // 10_000)):
            self.conn.execute(COMPLETE, [count // 2 // max(1, count // 10_000)])
        self.asked["child of a large scope"] = self.newest("item")
        self.asked["running child"] = self.claim()

    def fill_line(self, count: int) -> None:
        self.conn.execute("update worker.ready set band = 200 where tier = 0")  # the children of the large scope wait
        self.asked["parent of a serial scope"] = self.spawn(self.enqueue("item", 1, priority=1), count, "serial")
        for _ in range(count // 2):
            self.conn.execute(COMPLETE, [1])
        self.claim()
        self.asked["last of a serial scope"] = self.newest("item")

    def fill_tree(self, depth: int) -> None:
        task = self.enqueue("item", 1, priority=0)
        for _ in range(depth):
            task = self.children(self.spawn(task, 1))[0]
        self.asked["leaf of a deep tree"] = task

    def fill_limits(self, count: int) -> None:
        self.enqueue("limited", count, priority=0)
        self.claim(limit=2)
        self.asked["last at a limit"] = self.newest("limited")

    def enqueue(self, command: str, count: int, *, lane: str | None = None, priority: int | None = None) -> int:
        ((ids,),) = self.conn.execute(
            "select worker.enqueue_many(%s, array_fill('{}'::jsonb, array[%s]), p_priority => %s,"
            " p_lanes => case when %s::text is not null then array_fill(%s::text, array[%s]) end)",
            [command, count, priority, lane, lane, count],
        ).fetchall()
        return ids[0]

    def spawn(self, task_id: int, count: int, child_mode: str | None = None) -> int:
        """The task is claimed, spawns, and waits."""
        fence = self.take(task_id)
        spawns = Jsonb([{"command": "item", "payload": {}, "priority": 0 if child_mode or count == 1 else 100}] * count)
        self.conn.execute(
            "select worker.complete_task(%s, %s, p_spawns => %s, p_child_mode => %s)",
            [task_id, fence, spawns, child_mode],
        )
        return task_id

    def take(self, task_id: int) -> int:
        self.conn.execute("update worker.ready set tier = 0, band = -1 where id = %s", [task_id])
        self.claim()
        ((fence,),) = self.conn.execute("select fence from worker.running where id = %s", [task_id]).fetchall()
        return fence

    def claim(self, queue: str = "flow", limit: int = 1) -> int:
        sql = "select max(c.id) from worker.claim_tasks((select max(worker_id) from worker.worker), array[%s], %s) as c"
        ((task_id,),) = self.conn.execute(sql, [queue, limit]).fetchall()
        return task_id

    def children(self, task_id: int) -> list[int]:
        return [row[0] for row in self.conn.execute("select id from worker.task where parent_id = %s", [task_id])]

    def newest(self, command: str) -> int:
        ((task_id,),) = self.conn.execute("select max(id) from worker.task where command = %s", [command]).fetchall()
        return task_id


def explain_cost(bench: Bench, *, quick: bool) -> None:
    count = 20_000 if quick else 1_000_000
    with bench.database() as connect, connect() as conn:
        crowd = Crowd(conn, count)
        ((total,),) = conn.execute("select count(*) from worker.task").fetchall()
        report("explain, tasks in the database", str(total))
        for name, task_id in crowd.asked.items():
            with connect() as fresh:
                first = seconds(partial(ask, fresh, task_id)) * 1e3
                kinds = ", ".join(row[0] for row in ask(fresh, task_id))
                used = processor_ms(fresh)
                took = [seconds(partial(ask, fresh, task_id)) * 1e3 for _ in range(CALLS)]
                used = (processor_ms(fresh) - used) / CALLS
            figures = f"{statistics.median(took):.2f} ms, {used:.2f} CPU"
            report(f"  {name}: {kinds}", figures, bar=f"<= 5 ms (first {first:.0f} ms)")


def ask(conn: Connection[Any], task_id: int) -> list[Any]:
    return conn.execute("select * from worker.explain(%s)", [task_id]).fetchall()
