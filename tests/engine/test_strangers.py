"""A login without any right takes every advisory lock it can think of: the engine continues."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from psycopg import Connection

from catchment.errors import SchemaMismatch
from catchment.store.migrate import migrate
from catchment.store.task import diagnose
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect
from tests.fixtures.worker import StartWorker, wait_until
from tests.sql.support import python_work

# Names that the engine uses for turns and tops, or that look as if it did.
NAMES = ("worker.upkeep", "worker.admit_arrivals", "worker.admission", "worker.top/work", "worker.position/work")


@pytest.fixture
def stranger(db: str, committed: Engine) -> Iterator[Connection[Any]]:
    """A session of a user who has no right in the engine."""
    committed.conn.execute("drop role if exists a_stranger")
    committed.conn.execute("create role a_stranger login")
    with psycopg.connect(db, user="a_stranger", autocommit=True, application_name="strange") as conn:
        yield conn


def _take_all(stranger: Connection[Any], queue_id: int) -> None:
    for name in (*NAMES, f"worker.lane/{queue_id}"):
        stranger.execute("select pg_advisory_lock(hashtextextended(%s, 0))", [name])


def test_tasks_lanes_and_upkeep_go_on_while_a_stranger_holds_locks(
    committed: Engine, stranger: Connection[Any], start_worker: StartWorker
) -> None:
    _take_all(stranger, committed.value("select queue_id from worker.queue_registry where queue = 'work'"))
    committed.queue("lanes", mode="concurrent")
    committed.command("laned", "lanes")
    committed.command("brief", timeout="300 ms")
    start_worker()
    task = committed.enqueue()
    laned = committed.enqueue("laned", lane="a")
    wait_until(lambda: {committed.state(task), committed.state(laned)} == {"completed"})
    late = committed.enqueue("brief", sleep=60)
    wait_until(lambda: committed.state(late) == "failed")


def test_upkeep_has_its_turn_while_a_stranger_holds_locks(committed: Engine, stranger: Connection[Any]) -> None:
    _take_all(stranger, 1)
    assert committed.value("select worker.upkeep()") != {}


def test_stranger_cannot_take_a_turn_or_a_top(stranger: Connection[Any]) -> None:
    for query in (
        "select from worker.turn for update",
        "select from worker.top for update",
        "select worker.take_turn('upkeep')",
        "select worker.take_top(1, '{work}')",
    ):
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            stranger.execute(query)


def test_stranger_with_the_lock_of_a_dead_worker_does_not_keep_it_alive(
    committed: Engine, stranger: Connection[Any], connect: Connect
) -> None:
    worker_id, key = committed.conn.execute(
        "select worker_id, lock_key from worker.register_worker('hand', p_lease => '1 hour')"
    ).fetchone() or (0, 0)
    heart = connect()
    assert heart.execute("select worker.hold_worker_lock(%s)", [worker_id]).fetchone() == (True,)
    assert committed.value("select worker.mark_dead_workers('0')") == []
    heart.close()
    wait_until(lambda: stranger.execute("select pg_try_advisory_lock(%s)", [key]).fetchone() == (True,))
    committed.value("select worker.mark_dead_workers('0')")
    wait_until(lambda: committed.value("select worker.mark_dead_workers('0')") == [worker_id])


def test_stranger_with_the_lock_of_a_dead_backend_does_not_keep_its_task(
    committed: Engine, stranger: Connection[Any], connect: Connect
) -> None:
    task = committed.enqueue()
    runner = connect()
    runner.execute("select worker.begin_session('work', null)")
    runner.execute("select worker.begin_tasks('work', 1, null)")
    key = committed.value("select backend_key from worker.running where id = %s", task)
    runner.close()
    wait_until(lambda: stranger.execute("select pg_try_advisory_lock(%s)", [key]).fetchone() == (True,))
    assert committed.value("select worker.upkeep() ->> 'interrupted'") == "1"
    assert committed.state(task) == "interrupted"


def test_worker_whose_lock_a_stranger_has_lives_by_its_lease(
    committed: Engine, stranger: Connection[Any], connect: Connect
) -> None:
    hand = python_work(committed)
    worker_id, key = committed.conn.execute(
        "select worker_id, lock_key from worker.register_worker('hand', p_lease => '1 hour')"
    ).fetchone() or (0, 0)
    stranger.execute("select pg_advisory_lock(%s)", [key])
    heart = connect()
    assert heart.execute("select worker.hold_worker_lock(%s)", [worker_id]).fetchone() == (False,)
    for _ in range(2):
        assert committed.value("select worker.mark_dead_workers('0')") == []
    committed.conn.execute("select worker.heartbeat(%s, '-1 second')", [worker_id])
    assert committed.value("select worker.mark_dead_workers('0')") == [worker_id]
    assert hand.worker_id != worker_id


def test_session_that_was_cut_is_ended_when_its_worker_takes_the_lock_again(
    committed: Engine, connect: Connect
) -> None:
    worker_id = committed.value("select worker_id from worker.register_worker('hand', p_lease => '1 hour')")
    ghost, heart = connect(), connect()
    ghost.execute("select worker.hold_worker_lock(%s)", [worker_id])
    assert heart.execute("select worker.hold_worker_lock(%s)", [worker_id]).fetchone() == (True,)
    with pytest.raises(psycopg.OperationalError):
        ghost.execute("select 1")
    assert committed.value("select worker.mark_dead_workers('0')") == []


def test_doctor_names_a_stranger_that_holds_a_lock_of_the_engine(committed: Engine, stranger: Connection[Any]) -> None:
    worker_id, key = committed.conn.execute(
        "select worker_id, lock_key from worker.register_worker('hand', p_lease => '1 hour')"
    ).fetchone() or (0, 0)
    assert not [f for f in diagnose(committed.conn) if f["subject"].startswith("backend")]
    stranger.execute("select pg_advisory_lock(%s)", [key])
    (finding,) = [f for f in diagnose(committed.conn) if f["subject"] == f"backend {stranger.info.backend_pid}"]
    assert finding["finding"] == f"user a_stranger (strange) holds the lock of worker {worker_id}"


def test_migrate_names_a_stranger_that_holds_its_lock_and_does_not_wait_forever(
    stranger: Connection[Any], connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("catchment.schema.alone.WAIT_SECONDS", 0.3)
    stranger.execute("select pg_advisory_lock(hashtextextended('worker.migrate', 0))")
    steps: list[str] = []
    with pytest.raises(SchemaMismatch, match=f"backend {stranger.info.backend_pid} of user a_stranger") as caught:
        migrate(connect(), on_step=steps.append)
    assert caught.value.hint
    assert steps == [
        f"waiting for backend {stranger.info.backend_pid} of user a_stranger (strange), which holds the lock"
        " worker.migrate"
    ]
    stranger.execute("select pg_advisory_unlock_all()")
    assert migrate(connect()).applied == ()
