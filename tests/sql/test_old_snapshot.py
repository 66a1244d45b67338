"""An old snapshot keeps the rows of finished work: claims continue from where they were instead of reading those again.

Without one, a look that was slow for another reason changes nothing.
"""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.sql.support import Hand, wait_until

FINISHED = 30_000
FINISH = """
do $$
declare
  v_ids    bigint[];
  v_fences bigint[];
begin
  loop
    select array_agg(c.id), array_agg(c.fence) into v_ids, v_fences
      from worker.claim_tasks((select max(worker_id) from worker.worker), '{flow}', 2000) as c;
    exit when v_ids is null;
    perform worker.complete_tasks(v_ids, v_fences);
  end loop;
end;
$$
"""


@pytest.fixture
def holder(committed: Engine, connect: Connect) -> Connection:
    """A session with an open snapshot."""
    holder = connect(autocommit=False)
    holder.execute("set transaction isolation level repeatable read")
    holder.execute("select count(*) from worker.ready")
    return holder


@pytest.fixture
def worn(committed: Engine, holder: Connection) -> Engine:
    """Much work was done since the snapshot was opened."""
    committed.queue("flow", mode="concurrent")
    committed.command("step", "flow", handler_kind="python")
    committed.conn.execute("select worker.register_worker('busy', p_has_lock => false)")
    _enqueue(committed, FINISHED)
    committed.conn.execute(FINISH)
    return committed


@pytest.fixture
def cleaned(worn: Engine, holder: Connection) -> Engine:
    """The snapshot is gone: the next look through the rows of finished work is the last slow one."""
    holder.rollback()
    worn.conn.execute("delete from worker.claim_position")
    return worn


def _enqueue(engine: Engine, count: int, **options: int) -> None:
    named = "".join(f", p_{name} => {value}" for name, value in options.items())
    engine.conn.execute(
        f"select worker.enqueue_many('step', array_fill('{{}}'::jsonb, array[{count}]){named})"  # type: ignore[arg-type]
    )


def _pages(hand: Hand) -> int:
    """Pages that a claim of ten tasks touches."""
    plan = f"explain (analyze, buffers, format json) select * from worker.claim_tasks({hand.worker_id}, '{{flow}}', 10)"
    (found,) = hand.engine.value(plan)
    assert found["Plan"]["Actual Rows"] == 10, json.dumps(found)
    return found["Plan"]["Shared Hit Blocks"] + found["Plan"]["Shared Read Blocks"]


@pytest.mark.long
def test_claims_do_not_read_dead_rows_again_and_again(worn: Engine) -> None:
    hand = Hand.hired(worn.conn)
    _enqueue(worn, 100)
    first = _pages(hand)
    assert min(_pages(hand) for _ in range(5)) < first / 3


@pytest.mark.long
def test_new_session_starts_where_the_others_are(worn: Engine, connect: Connect) -> None:
    hand = Hand.hired(worn.conn)
    _enqueue(worn, 100)
    first = _pages(hand)
    # Published, and not forgotten before this test is done.
    assert worn.conn.execute("update worker.claim_position set cost = '10 seconds'").rowcount == 1
    with connect() as conn:
        newcomer = Hand.hired(conn)
        worn.queue("other", mode="concurrent")
        worn.command("warm_up", "other", handler_kind="python")
        worn.conn.execute("select worker.enqueue('warm_up')")
        assert len(newcomer.claim(1, "other")) == 1  # a first claim also reads catalogs
        assert _pages(newcomer) < first / 3


def test_urgent_task_is_found_in_front_of_the_position(worn: Engine) -> None:
    hand = Hand.hired(worn.conn)
    _enqueue(worn, 100)
    _pages(hand)
    urgent = worn.value("select worker.enqueue('step', p_priority => 1)")
    assert [c.id for c in hand.claim(1, "flow")] == [urgent]


@pytest.mark.long
def test_task_given_back_behind_the_position_is_found_when_the_rest_is_done(worn: Engine) -> None:
    hand = Hand.hired(worn.conn)
    _enqueue(worn, 100)
    claimed = hand.claim(10, "flow")
    assert len(hand.claim(50, "flow")) == 50
    hand.release(claimed[0])
    found = hand.claim(100, "flow")
    while claimed[0].id not in [c.id for c in found]:
        found += hand.claim(100, "flow")
    assert len(found) == 41
    worn.check()


@pytest.mark.long
def test_a_look_that_was_slow_once_hides_no_task(cleaned: Engine, connect: Connect) -> None:
    hand = Hand.hired(connect())
    _enqueue(cleaned, 3)
    first, _ = hand.claim(2, "flow")
    hand.release(first)
    assert [c.id for c in hand.claim(1, "flow")] == [first.id]


@pytest.mark.long
def test_a_look_that_had_to_wait_is_not_taken_for_a_long_one(worn: Engine, connect: Connect) -> None:
    conn, other = connect(), connect(autocommit=False)
    hand = Hand.hired(conn)
    _enqueue(worn, 100)
    hand.claim(10, "flow")
    cost = "select max(cost) from worker.claim_position"
    assert worn.value(cost) < timedelta(seconds=1)
    # Not before the next claim looks from the start; the list of ready tasks is locked for two seconds from then on.
    wait_until(worn, "select bool_and(looked_at < clock_timestamp() - 21 * cost) from worker.claim_position")
    other.execute("lock table worker.ready in exclusive mode")
    claiming = threading.Thread(target=hand.claim, args=(10, "flow"))
    claiming.start()
    wait_until(
        worn,
        "select exists (select from pg_stat_activity where pid = %s and wait_event_type = 'Lock'"
        " and query_start < clock_timestamp() - interval '2 seconds')",
        conn.info.backend_pid,
    )
    other.rollback()
    claiming.join()
    remembered = "select current_setting('worker.position_' || queue_id || 'p')::jsonb from worker.queue_registry"
    assert Engine(conn).value(remembered + " where queue = 'flow'")["cost"] < "00:00:01"
