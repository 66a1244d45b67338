"""The client without asyncio."""

from __future__ import annotations

import os
import threading

import psycopg
import pytest
from psycopg import AsyncConnection

from catchment import RequestRefused, ResultTimeout, TaskCancelled, TaskFailed, TaskNotFound, TaskState
from tests.client.support import QUEUE, Shop


def test_a_task_is_made_and_its_result_returned(shop: Shop) -> None:
    task = shop.send.sync.using(lane="w").enqueue(to="a").id
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result={"n": 1})
    assert shop.app.sync.task(task).result(timeout=5) == {"n": 1}
    assert shop.app.sync.task(task).info().state is TaskState.COMPLETED


def test_a_result_arrives_while_it_is_waited_for(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    hand = shop.hand
    claim = hand.claim_one(QUEUE)
    settler = threading.Timer(0.02, lambda: hand.complete(claim, p_result={"n": 1}))
    settler.start()
    assert shop.app.sync.task(task).result(timeout=20) == {"n": 1}
    settler.join()


def test_many_tasks_are_made_in_order(shop: Shop) -> None:
    ids = [
        task.id
        for task in shop.app.sync.enqueue_many(
            "send", [{"to": str(n)} for n in range(5)], lane=list("abcab"), batch_size=2
        )
    ]
    assert ids == shop.column("id")
    assert shop.column("lane") == list("abcab")


@pytest.mark.usefixtures("last_look")
def test_failures_cancels_and_timeouts_raise_as_in_asyncio(shop: Shop) -> None:
    failed, cancelled, pending = [
        task.id
        for task in shop.send.sync.enqueue_many(
            [shop.send.item(to="a"), shop.send.item(to="b"), shop.send.item(to="c")]
        )
    ]
    hand = shop.hand
    hand.fail(hand.claim_one(QUEUE), retryable=False)
    assert shop.app.sync.task(cancelled).cancel() == "cancelled"
    with pytest.raises(TaskFailed):
        shop.app.sync.task(failed).result()
    with pytest.raises(TaskCancelled, match="cancelled on request"):
        shop.app.sync.task(cancelled).result()
    with pytest.raises(ResultTimeout, match="still pending"):
        shop.app.sync.task(pending).result(timeout=0.01)
    with pytest.raises(TaskNotFound):
        shop.app.sync.task(123456).result()


def test_the_info_of_a_task_says_when_it_can_start(shop: Shop) -> None:
    due = shop.send.sync.using(delay=90).enqueue(to="a").info()
    assert due.waits_for == "scheduled"
    assert due.due_at is not None
    assert due.due_at == due.scheduled_at
    assert shop.send.sync.enqueue(to="a").info().due_at is None


def test_a_failed_task_can_be_retried(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    shop.app.sync.task(task).cancel()
    assert shop.app.sync.task(task).retry() == "pending"


@pytest.mark.parametrize("is_committed", [True, False])
def test_tasks_belong_to_the_transaction_of_the_caller(shop: Shop, db: str, is_committed: bool) -> None:
    with psycopg.connect(db) as conn:
        shop.send.sync.using(conn=conn).enqueue(to="a")
        shop.send.sync.using(conn=conn).enqueue_many([shop.send.item(to="b"), shop.send.item(to="c")], batch_size=1)
        assert shop.column("id") == []
        if not is_committed:
            conn.rollback()
    assert len(shop.column("id")) == (3 if is_committed else 0)


def test_an_async_connection_is_refused_with_what_to_use(shop: Shop, db: str) -> None:
    async def scenario() -> None:
        async with await AsyncConnection.connect(db) as conn:
            with pytest.raises(RequestRefused, match=r"psycopg AsyncConnection.* expected one that blocks") as caught:
                shop.send.sync.using(conn=conn).enqueue(to="a")  # type: ignore[arg-type]
            assert "with await" in (caught.value.hint or "")

    shop.run(scenario)


def test_threads_share_a_few_connections(shop: Shop) -> None:
    threads = [threading.Thread(target=shop.send.sync.enqueue, kwargs={"to": "a"}) for _ in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(shop.column("id")) == 12


def test_a_connection_that_the_server_closed_is_replaced(shop: Shop) -> None:
    shop.send.sync.enqueue(to="a")
    shop.engine.conn.execute(
        "select pg_terminate_backend(pid, 5000) from pg_stat_activity"
        " where application_name = 'catchment client' and datname = current_database()"
    )
    shop.send.sync.enqueue(to="b")
    assert shop.column("payload ->> 'to'") == ["a", "b"]


def test_a_forked_process_uses_its_own_connections(shop: Shop) -> None:
    shop.send.sync.enqueue(to="parent")
    child = os.fork()
    if child == 0:
        try:
            shop.send.sync.enqueue(to="child")
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    shop.send.sync.enqueue(to="parent again")
    assert shop.column("payload ->> 'to'") == ["parent", "child", "parent again"]


def test_nothing_connects_before_the_first_use(db: str) -> None:
    from catchment import App

    with psycopg.connect(db) as conn:
        App(db)
        count = conn.execute(
            "select count(*) from pg_stat_activity where application_name = 'catchment client'"
            " and datname = current_database()"
        ).fetchone()
    assert count == (0,)
