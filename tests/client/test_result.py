"""Results: how each end of a task reaches whoever waits for it."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from catchment import ResultTimeout, TaskCancelled, TaskFailed, TaskNotFound, TaskState
from tests.client.support import QUEUE, Shop, until


def test_the_value_of_a_completed_task_is_returned(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result={"sent": [1, None]})
    assert shop.run(lambda: shop.app.task(task).result()) == {"sent": [1, None]}


def test_a_result_arrives_while_it_is_waited_for(shop: Shop) -> None:
    async def scenario() -> Any:
        task = (await shop.send.enqueue(to="a")).id
        waiting = asyncio.create_task(shop.app.task(task).result(timeout=20))
        await _until_asked(shop, task)
        hand = shop.hand
        hand.complete(hand.claim_one(QUEUE), p_result={"n": 1})
        return await waiting

    assert shop.run(scenario) == {"n": 1}


def test_a_failed_task_raises_with_its_error(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    hand = shop.hand
    hand.fail(hand.claim_one(QUEUE), kind="ValueError", message="no such address", retryable=False)
    with pytest.raises(TaskFailed, match=rf"task {task} \(send\) failed with ValueError: no such address") as caught:
        shop.run(lambda: shop.app.task(task).result(timeout=5))
    assert (caught.value.task_id, caught.value.command, caught.value.kind) == (task, "send", "ValueError")
    assert caught.value.error["retryable"] is False


def test_a_task_that_failed_by_a_grandchild_raises_with_that_as_its_cause(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="root").id
    hand = shop.hand
    for _ in range(2):
        hand.complete(hand.claim_one(QUEUE), p_spawns=[{"command": "send", "payload": {}}])
    last = hand.claim_one(QUEUE)
    hand.fail(last, kind="KeyError", message="no street", hint="Run: pip install streets", retryable=False)
    with pytest.raises(TaskFailed, match="failed: 1 of 1 children failed: send: no street") as caught:
        shop.run(lambda: shop.app.task(task).result(timeout=5))
    child = caught.value.child
    assert child is caught.value.__cause__
    assert isinstance(child, TaskFailed)
    assert (child.task_id, child.command, child.kind, child.message) == (last.id, "send", "KeyError", "no street")
    assert f"Run: pip install streets; 'catchment task show {last.id}'" in (caught.value.hint or "")
    assert f"task retry {task}" in (caught.value.hint or "")
    with pytest.raises(TaskFailed) as caught:
        shop.run(lambda: shop.app.task(last.id).result(timeout=5))
    assert (caught.value.hint or "").startswith("Run: pip install streets; ")
    assert f"task retry {task}" in (caught.value.hint or ""), "a child is retried with its tree"


def test_a_cancelled_task_raises_with_the_reason(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    assert shop.run(lambda: shop.app.task(task).cancel("not needed")) == "cancelled"
    with pytest.raises(TaskCancelled, match="was cancelled: not needed"):
        shop.run(lambda: shop.app.task(task).result())


def test_a_cancelled_scope_says_how_far_it_was(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="root").id
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_spawns=[{"command": "send", "payload": {}}] * 3)
    hand.complete(hand.claim_one(QUEUE))
    hand.fail(hand.claim_one(QUEUE), kind="ValueError", message="no", retryable=False)
    shop.run(lambda: shop.app.task(task).cancel("stop"))
    hand.engine.value("select worker.sweep_cancelled()")
    info = shop.run(lambda: shop.app.task(task).info())
    assert info.progress == {"done": 3, "total": 3, "failed": 1, "cancelled": 1}
    words = r"was cancelled: stop \(1 of 3 children completed, 1 failed, 1 cancelled\)"
    with pytest.raises(TaskCancelled, match=words) as caught:
        shop.run(lambda: shop.app.task(task).result(timeout=5))
    assert caught.value.reason == "stop"
    assert f"'catchment task retry {task}' runs what did not complete again" in (caught.value.hint or "")


def test_an_unknown_task_is_reported_at_once(shop: Shop) -> None:
    with pytest.raises(TaskNotFound, match="there is no task 123456, or it is not committed yet"):
        shop.run(lambda: shop.app.task(123456).result())


@pytest.mark.usefixtures("last_look")
@pytest.mark.parametrize("timeout", [0, 0.01, timedelta(milliseconds=10)])
def test_a_timeout_names_the_state_of_the_task(shop: Shop, timeout: Any) -> None:
    task = shop.send.sync.enqueue(to="a").id
    shop.hand.claim_one(QUEUE)
    with pytest.raises(ResultTimeout, match=rf"task {task} \(send\) is still processing after") as caught:
        shop.run(lambda: shop.app.task(task).result(timeout=timeout))
    assert isinstance(caught.value, TimeoutError)
    assert caught.value.state == "processing"


def test_a_settled_task_has_a_result_even_without_time(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result={"n": 1})
    assert shop.run(lambda: shop.app.task(task).result(timeout=0)) == {"n": 1}


def test_a_merged_task_has_the_result_of_its_survivor(shop: Shop) -> None:
    # In a lane duplicates are not merged at once: the claim folds them.
    first, second = [
        task.id
        for task in shop.gather.sync.using(lane="w").enqueue_many(
            [shop.gather.item(customer=1, items=[n]) for n in (1, 2)]
        )
    ]
    hand = shop.hand
    hand.complete(hand.claim_one(QUEUE), p_result={"n": 2})
    assert shop.engine.task(second)["merged_into"] == first
    assert shop.run(lambda: shop.app.task(second).result()) == {"n": 2}


def test_a_merged_task_fails_with_the_error_of_its_survivor(shop: Shop) -> None:
    _, second = [
        task.id
        for task in shop.gather.sync.using(lane="w").enqueue_many(
            [shop.gather.item(customer=1, items=[n]) for n in (1, 2)]
        )
    ]
    hand = shop.hand
    hand.fail(hand.claim_one(QUEUE), kind="ValueError", message="bad")
    with pytest.raises(TaskFailed, match="failed with ValueError: bad"):
        shop.run(lambda: shop.app.task(second).result())


def test_many_waiters_get_their_own_results(shop: Shop) -> None:
    async def scenario() -> list[Any]:
        ids = [task.id for task in await shop.send.enqueue_many([shop.send.item(to=str(n)) for n in range(20)])]
        async with asyncio.TaskGroup() as group:
            waiting = [group.create_task(shop.app.task(task).result(timeout=20)) for task in ids]
            await _until_asked(shop, ids[0])
            hand = shop.hand
            for claim in hand.claim(20, QUEUE):
                hand.complete(claim, p_result={"to": claim.payload["to"]})
        return [task.result()["to"] for task in waiting]

    assert shop.run(scenario) == [str(n) for n in range(20)]


def test_waiters_go_on_when_the_one_that_asks_for_all_is_cancelled(shop: Shop) -> None:
    async def scenario() -> Any:
        ids = [task.id for task in await shop.send.enqueue_many([shop.send.item(to="a"), shop.send.item(to="b")])]
        leader, other = [asyncio.create_task(shop.app.task(task).result(timeout=20)) for task in ids]
        await _until_asked(shop, ids[0])
        leader.cancel()
        hand = shop.hand
        for claim in hand.claim(2, QUEUE):
            hand.complete(claim, p_result={"to": claim.payload["to"]})
        return await other

    assert shop.run(scenario) == {"to": "b"}


def test_the_rest_is_asked_for_after_two_had_their_answers_at_once(shop: Shop) -> None:
    async def scenario() -> list[Any]:
        ids = [task.id for task in await shop.send.enqueue_many([shop.send.item(to=to) for to in "abc"])]
        waiting = [asyncio.create_task(shop.app.task(task).result()) for task in ids]
        for task in ids:
            await _until_asked(shop, task)
        hand = shop.hand
        *both, last = sorted(hand.claim(3, QUEUE), key=lambda claim: claim.id)
        with shop.engine.conn.transaction():
            for claim in both:
                hand.complete(claim, p_result={"to": claim.payload["to"]})
        first = [(await task)["to"] for task in waiting[:2]]
        hand.complete(last, p_result={"to": "c"})
        return [*first, (await asyncio.wait_for(waiting[2], 30))["to"]]

    assert shop.run(scenario) == ["a", "b", "c"]


def test_a_newcomer_does_not_wait_for_the_pause_of_the_others(shop: Shop) -> None:
    async def scenario() -> Any:
        slow, done = [
            task.id for task in await shop.send.enqueue_many([shop.send.item(to="a"), shop.send.item(to="b")])
        ]
        hand = shop.hand
        for claim in hand.claim(2, QUEUE):
            if claim.id == done:
                hand.complete(claim, p_result={"n": 1})
        waiting = asyncio.create_task(shop.app.task(slow).result(timeout=20))
        await _until_asked(shop, slow)
        value = await shop.app.task(done).result(timeout=20)
        waiting.cancel()
        return value

    assert shop.run(scenario) == {"n": 1}


def test_a_task_can_be_looked_at(shop: Shop) -> None:
    task = shop.send.sync.using(lane="w", priority=3).enqueue(to="a").id
    info = shop.run(lambda: shop.app.task(task).info())
    assert (info.id, info.command, info.queue, info.state) == (task, "send", "mail", TaskState.PENDING)
    assert (info.lane, info.priority, info.attempt, info.max_attempts) == ("w", 3, 0, 3)
    assert info.payload == {"to": "a", "body": ""}
    assert info.result is None
    assert info.created_at.tzinfo is not None


def test_a_failed_task_can_be_retried(shop: Shop) -> None:
    task = shop.send.sync.enqueue(to="a").id
    hand = shop.hand
    hand.fail(hand.claim_one(QUEUE), retryable=False)
    assert shop.run(lambda: shop.app.task(task).retry()) == "pending"
    info = shop.run(lambda: shop.app.task(task).info())
    assert (info.state, info.attempt) == (TaskState.PENDING, 1)


def test_looking_at_an_unknown_task_is_refused(shop: Shop) -> None:
    with pytest.raises(TaskNotFound):
        shop.run(lambda: shop.app.task(123456).info())


async def _until_asked(shop: Shop, task: int) -> None:
    """Wait until the app has asked for this task and is waiting for it."""
    side = await shop.app.connections.side()
    waiters = side.results._waiters  # pyright: ignore[reportPrivateUsage]
    await until(lambda: any(waiter.task_id == task and not waiter.is_new for waiter in waiters))
