"""A look for work does not read what is due later, so its cost does not grow with that."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine

LATER = """
with made as (
  insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
  select 'act', q.queue_id, 's', '{}', 100, 0, 1, now()
    from worker.queue_registry as q, generate_series(1, 20000)
   where q.queue = 'work'
  returning id, queue_id, now() + interval '1 day' + id * interval '1 second' as due_at
),
tasks as (
  insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place)
  select m.id, 'scheduled', m.due_at, m.queue_id, 's', 1, 100, 1, m.id from made as m where m.id % 2 = 0
),
deadlines as (
  insert into worker.running (id, fence, worker_id, queue_id, tier, band, phase, attempt, failures, interruptions,
                              started_at, deadline_at, is_plain, has_lane)
  select m.id, m.id, 1, m.queue_id, 1, 100, 0, 1, 0, 0, now(), m.due_at, true, false from made as m where m.id % 2 = 1
)
insert into worker.gate (gate, command, tokens, refilled_at, next_at)
select 'gate ' || m.id, 'act', 0, now(), m.due_at from made as m
"""


@pytest.mark.parametrize(
    "look", ["worker.upkeep_is_due()", "(worker.begin_tasks('work', 1, null)).id", "worker.let_in()"]
)
def test_what_is_due_later_is_not_read(engine: Engine, look: str) -> None:
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute("select worker.hold_backend_lock()")

    def rows() -> int:
        """Index entries that one look reads."""
        read = (
            "select sum(pg_stat_get_xact_tuples_returned(indexrelid)) from pg_index"
            " where indrelid in ('worker.blocked'::regclass, 'worker.running'::regclass, 'worker.gate'::regclass)"
        )
        before = engine.value(read)
        assert not engine.value(f"select {look}")
        return engine.value(read) - before

    few = rows()  # dead ones of other tests
    engine.conn.execute(LATER)
    assert rows() < few + 10
