"""An idle fleet sends nothing but its heartbeats, and what it does not hear of is found all the same."""

from __future__ import annotations

import pytest

from tests.fixtures.worker import wait_until
from tests.worker.app import hold, step
from tests.worker.crew import Crew

# Sessions that an idle worker uses: all heartbeat, and two of them upkeep.
SPOKEN = """
select application_name, pid from pg_stat_activity
 where datname = current_database() and application_name like 'catchment%%'
   and application_name <> 'catchment heartbeat' and state_change > clock_timestamp() - %s::interval
"""


def _talkers(crew: Crew, within: str) -> list[str]:
    return [name for name, _ in crew.engine.conn.execute(SPOKEN, [within]).fetchall()]


@pytest.fixture(autouse=True)
def sql_queue(crew: Crew) -> None:
    """A serial queue with SQL handlers: one worker runs its top level, the others stand by."""
    crew.engine.conn.execute("create procedure probe.nothing(payload jsonb) language sql as 'select 1'")
    crew.engine.queue("sql")
    crew.engine.command("nothing", "sql", handler_procedure="probe.nothing")


def test_idle_workers_send_heartbeats_and_two_of_them_upkeep(crew: Crew) -> None:
    crew.hire(4, lease_seconds=6, wake_ups="true")
    assert crew.result(crew.enqueue(step, seconds=0)) == 0
    # The worker that ran the task continues with upkeep for ten seconds.
    wait_until(lambda: _talkers(crew, "4 seconds") in (["catchment upkeep"], ["catchment upkeep"] * 2), seconds=120)
    assert crew.result(crew.enqueue(step, seconds=0)) == 0
    task = crew.engine.enqueue("nothing")
    wait_until(lambda: crew.engine.state(task) == "completed")


def test_a_wake_up_that_is_lost_is_made_up_for_by_a_heartbeat(crew: Crew) -> None:
    crew.hire(1, lease_seconds=3, wake_ups="true")
    assert crew.result(crew.enqueue(step, seconds=0)) == 0
    wait_until(lambda: crew.engine.value("select count(*) from worker.sleeper where kind = 'p'") > 0)
    wait_until(lambda: "catchment claimer" not in _talkers(crew, "2 seconds"))
    with crew.engine.conn.transaction():
        crew.engine.conn.execute("delete from worker.sleeper")
        tasks = [crew.enqueue(step, seconds=0, conn=crew.engine.conn), crew.engine.enqueue("nothing")]
    wait_until(lambda: all(crew.engine.state(task) == "completed" for task in tasks))


@pytest.mark.long
def test_a_standby_that_hears_nothing_takes_over_by_its_heartbeat(crew: Crew) -> None:
    crew.hire(2, lease_seconds=3)
    leader = "select worker_id from worker.top join worker.queue_registry using (queue_id) where queue = 'sql'"
    wait_until(lambda: crew.engine.value(leader) is not None)
    first = crew.engine.value(leader)
    wait_until(lambda: len(crew.logged("queue.standby")) > 0)
    crew.engine.conn.execute("update worker.top set worker_id = null")  # and no notification
    wait_until(lambda: crew.engine.value(leader) not in (None, first))


def test_a_queue_that_was_made_while_nothing_was_heard_is_found(crew: Crew) -> None:
    crew.hire(1)
    first = crew.engine.enqueue("nothing")
    wait_until(lambda: crew.engine.state(first) == "completed")
    wait_until(lambda: "catchment worker" not in _talkers(crew, "1 hour"))
    conn = crew.engine.conn
    with conn.transaction():
        conn.execute("alter table worker.queue_registry disable trigger announce_queue")
        conn.execute("alter table worker.command_registry disable trigger announce_command")
        crew.engine.queue("late")
        crew.engine.command("late", "late", handler_procedure="probe.nothing")
    task = crew.engine.enqueue("late")
    conn.execute(
        "select pg_terminate_backend(pid) from pg_stat_activity"
        " where application_name = 'catchment listener' and datname = current_database()"
    )
    wait_until(lambda: crew.engine.state(task) == "completed")


@pytest.mark.parametrize("rank", [0, pytest.param(2, marks=pytest.mark.long)])
def test_upkeep_goes_on_whichever_workers_are_killed(crew: Crew, rank: int) -> None:
    """The two that keep it up, or others."""
    workers = crew.hire(4, lease_seconds=3)
    held = [crew.enqueue(hold, key=f"held {n}", gate="go") for n in range(8)]
    wait_until(lambda: crew.states().get("processing", 0) == 8)
    by_age = {
        pid: n for n, (pid,) in enumerate(crew.engine.conn.execute("select pid from worker.worker order by worker_id"))
    }
    for worker in workers:
        if by_age[worker.pid] in (rank, rank + 1):
            crew.kill(worker)
    wait_until(lambda: crew.registered() == 2)
    crew.records.open_gate("go")
    for task in held:
        crew.result(task)
    crew.engine.check()
