"""What a task in a lane costs the server: the engine beside two plain statements that write the same rows.

The plain statements check nothing: no fence, no cancel, no policy, no lock of a lane, no other queue. Both write a row
of ``running`` and its deletion, an outcome, the new head of the lane, and the way of the next task from ``blocked``
over ``ready``.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from psycopg import Connection

from bench.engine.harness import Bench, processor_ms, report
from catchment.store.array_text import numbers

BATCH = 500
FILL = "select worker.enqueue_many('in_lane', array_fill('{\"i\": 1}'::jsonb, array[%s]), p_lanes => %s::text[])"
CLAIM = "select c.id, c.fence, c.payload, c.lane from worker.claim_tasks(%s, array['lanes'], %s) as c"
COMPLETE = "select worker.complete_tasks(%s::bigint[], %s::bigint[])"
PLAIN_CLAIM = """
with gone as (
  delete from worker.ready as r
   where r.ctid = any (array(select x.ctid from worker.ready as x where x.queue_id = %(queue_id)s
                              order by x.tier, x.band, x.rank, x.place, x.id limit %(limit)s for update skip locked))
  returning r.*
), made as (
  insert into worker.running (id, fence, worker_id, queue_id, tier, band, phase, attempt, failures, interruptions,
                              started_at, is_plain, has_lane)
  select g.id, nextval('worker.fence'), 1, g.queue_id, g.tier, g.band, 0, 1, 0, 0, now(), true, true from gone as g
)
select t.id, 0, t.payload, t.lane from gone as g join worker.task as t on t.id = g.id
"""
PLAIN_COMPLETE = """
with ended as materialized (
  select l.ctid as lane_row, n.id as next_id, n.place as next_place
    from unnest(%(lanes)s::text[]) as u (lane)
    join worker.lane as l on l.queue_id = %(queue_id)s and l.lane = u.lane
    left join lateral (select b.id, b.place from worker.blocked as b
                        where b.reason = 'lane' and b.queue_id = l.queue_id and b.lane = l.lane
                        order by b.place, b.id limit 1) as n on true
), gone as (
  delete from worker.running as r where r.id = any (%(ids)s::bigint[]) returning r.id, r.attempt, r.started_at
), kept as (
  insert into worker.outcome (id, state, attempt, started_at, stopped_at, completed_at)
  select g.id, 'completed', g.attempt, g.started_at, now(), now() from gone as g
), moved as (
  update worker.lane as l set head_id = e.next_id, first_place = e.next_place
    from ended as e where l.ctid = e.lane_row and e.next_id is not null
), closed as (
  delete from worker.lane as l using ended as e where l.ctid = e.lane_row and e.next_id is null
), unblocked as (
  delete from worker.blocked as b where b.id = any (array(select e.next_id from ended as e)) returning b.*
)
insert into worker.ready (queue_id, kind, tier, band, rank, place, id, since)
select u.queue_id, u.kind, u.tier, u.band, u.rank, u.place, u.id, now() from unblocked as u
"""


def lanes(bench: Bench, *, quick: bool) -> None:
    tasks, times = (2_000, 1) if quick else (30_000, 3)
    for name, run in (("by the engine", _by_engine), ("by plain statements", _by_statements)):
        costs = sorted(_measure(bench, tasks, run) for _ in range(times))
        claim, complete = costs[len(costs) // 2]
        report(f"server CPU of a task in one of 1,000 lanes, {name}", f"{claim + complete:.1f} us")
        report("  its claim / its completion", f"{claim:.1f} / {complete:.1f} us")


Step = Callable[[Connection[Any], int, list[Any] | None], list[Any]]


def _measure(bench: Bench, tasks: int, step: Step) -> tuple[float, float]:
    """Microseconds of each session, one that claims and one that completes, for each task."""
    with bench.database() as connect, connect() as claimer, connect() as completer:
        queue_id = _fill(claimer, tasks)
        before = processor_ms(claimer), processor_ms(completer)
        left = tasks
        while left:
            claimed = step(claimer, queue_id, None)
            step(completer, queue_id, claimed)
            left -= len(claimed)
        after = processor_ms(claimer), processor_ms(completer)
        row = claimer.execute("select count(*) from worker.outcome").fetchone()
        assert row == (tasks,), row
    return (after[0] - before[0]) / tasks * 1e3, (after[1] - before[1]) / tasks * 1e3


def _fill(conn: Connection[Any], tasks: int) -> int:
    conn.execute("insert into worker.queue_registry (queue, mode) values ('lanes', 'concurrent')")
    conn.execute(
        "insert into worker.command_registry (command, queue, handler_kind) values ('in_lane', 'lanes', 'python')"
    )
    conn.execute("select worker.register_worker('bench', array['lanes'], 10, interval '1 hour', false, array['lanes'])")
    names = [f"lane {n % 1_000}" for n in range(tasks)]
    random.Random(1).shuffle(names)
    for first in range(0, tasks, 5_000):
        some = names[first : first + 5_000]
        conn.execute(FILL, [len(some), some])
    conn.execute("select worker.let_in(array['lanes'], false, true, false)")
    conn.execute("analyze")
    row = conn.execute("select queue_id from worker.queue_registry where queue = 'lanes'").fetchone()
    assert row is not None
    return row[0]


def _by_engine(conn: Connection[Any], queue_id: int, ended: list[Any] | None) -> list[Any]:  # noqa: ARG001
    if ended is None:
        return conn.execute(CLAIM, [1, BATCH], prepare=True).fetchall()
    conn.execute(COMPLETE, [numbers(e[0] for e in ended), numbers(e[1] for e in ended)], prepare=True)
    return ended


def _by_statements(conn: Connection[Any], queue_id: int, ended: list[Any] | None) -> list[Any]:
    if ended is None:
        return conn.execute(PLAIN_CLAIM, {"queue_id": queue_id, "limit": BATCH}, prepare=True).fetchall()
    given = {"queue_id": queue_id, "ids": numbers(e[0] for e in ended), "lanes": [e[3] for e in ended]}
    conn.execute(PLAIN_COMPLETE, given, prepare=True)
    return ended
