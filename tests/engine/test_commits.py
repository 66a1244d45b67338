"""process_tasks commits per task outside a transaction of its caller, and never inside one."""

from __future__ import annotations

import threading
import time
from typing import LiteralString

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

CALL = "call worker.process_tasks(p_queue => 'work')"
DRAIN = "call worker.drain('work')"


def test_a_call_by_itself_commits_each_claim_and_each_task(committed: Engine, connect: Connect) -> None:
    committed.conn.execute(
        "create procedure probe.pass_gate(payload jsonb) language sql as $$ select pg_advisory_xact_lock(42) $$"
    )
    committed.command("pass_gate", handler_procedure="probe.pass_gate")
    first, second = committed.enqueue(note="first"), committed.enqueue("pass_gate")
    committed.conn.execute("select pg_advisory_lock(42)")
    runner = connect()
    thread = threading.Thread(target=runner.execute, args=[CALL])
    thread.start()
    try:
        deadline = time.monotonic() + 10
        while committed.state(second) == "pending" and time.monotonic() < deadline:
            time.sleep(0.01)
        assert (committed.state(first), committed.state(second)) == ("completed", "processing")
    finally:
        committed.conn.execute("select pg_advisory_unlock(42)")
        thread.join()
    assert committed.state(second) == "completed"


@pytest.mark.parametrize("call", [CALL, DRAIN])
def test_a_call_in_a_transaction_of_its_caller_rolls_back_with_it(
    committed: Engine, connect: Connect, call: LiteralString
) -> None:
    task_id = committed.enqueue(note="undone")
    runner = connect()
    # Nothing has been written before the call, and the driver is in autocommit mode.
    runner.execute("begin")
    runner.execute(call)
    assert runner.execute("select state from worker.tasks where id = %s", [task_id]).fetchall() == [("completed",)]
    runner.execute("rollback")
    assert committed.state(task_id) == "pending"
    assert committed.notes() == []
    committed.check()


@pytest.mark.parametrize("call", [CALL, DRAIN])
def test_a_call_through_a_driver_that_opens_transactions_rolls_back(
    committed: Engine, connect: Connect, call: LiteralString
) -> None:
    task_id = committed.enqueue(note="undone")
    runner = connect(autocommit=False)
    runner.execute(call)
    runner.rollback()
    assert committed.state(task_id) == "pending"


@pytest.mark.parametrize("call", [CALL, DRAIN])
def test_a_call_in_one_message_with_its_begin_and_rollback_rolls_back(
    committed: Engine, connect: Connect, call: LiteralString
) -> None:
    task_id = committed.enqueue(note="undone")
    connect().execute(f"begin; {call}; rollback")
    assert committed.state(task_id) == "pending"


def test_the_children_of_a_rolled_back_tree_never_existed(committed: Engine, connect: Connect) -> None:
    task_id = committed.enqueue(spawn=[{}, {}])
    runner = connect(autocommit=False)
    runner.execute(DRAIN)
    assert runner.execute("select count(*) from worker.tasks where parent_id = %s", [task_id]).fetchall() == [(2,)]
    runner.rollback()
    assert committed.children(task_id) == []
    committed.check()
