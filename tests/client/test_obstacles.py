"""What is in the way of a task that nobody runs is said to those who wait for it: by the error, and before that by a
warning."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from catchment import LaneNotHalted, ResultTimeout
from catchment.client import result, sync_verbs
from tests.client.support import QUEUE, Shop

Wait = Callable[[Shop, int], ResultTimeout]
pytestmark = pytest.mark.usefixtures("last_look")


def _sync(shop: Shop, task: int) -> ResultTimeout:
    with pytest.raises(ResultTimeout) as caught:
        shop.app.sync.task(task).result(timeout=0.01)
    return caught.value


def _async(shop: Shop, task: int) -> ResultTimeout:
    with pytest.raises(ResultTimeout) as caught:
        shop.run(lambda: shop.app.task(task).result(timeout=0.01))
    return caught.value


both = pytest.mark.parametrize("wait", [_sync, _async])


@both
def test_a_timeout_says_that_no_worker_has_the_command(shop: Shop, wait: Wait) -> None:
    task = shop.send.sync.enqueue(to="a").id
    error = wait(shop, task)
    assert str(error) == f"task {task} (send) is still pending after 0.01 s: no live worker serves queue {QUEUE}"
    assert error.hint == (
        "Start a worker while you develop: catchment dev tests.client.support; start one in production: catchment"
        " worker --app tests.client.support; or in this program: async with app.worker()"
    )
    register = "select worker.register_worker('other', array['mail'], p_python_queues => array['mail'],"
    shop.engine.value(f"{register} p_python_commands => array['gather'])")
    assert _missing("send") in str(wait(shop, task))
    shop.engine.value(f"{register} p_python_commands => array['send'])")
    error = wait(shop, task)
    assert str(error) == f"task {task} (send) is still pending after 0.01 s"
    assert f"catchment task why {task}" in (error.hint or "")


def _missing(command: str) -> str:
    return f"no live worker of queue {QUEUE} has command {command}"


@both
def test_a_timeout_names_a_queue_that_nobody_serves_or_that_is_paused(shop: Shop, wait: Wait) -> None:
    shop.engine.queue("press", mode="concurrent")
    shop.engine.command("print", "press")
    task = shop.engine.enqueue("print")
    error = wait(shop, task)
    assert "no live worker serves queue press" in str(error)
    assert error.hint == "Start one: catchment worker --queue press"
    shop.engine.value("select worker.pause_queue('press')")
    error = wait(shop, task)
    assert "queue press has been paused" in str(error)
    assert error.hint == "Resume it: catchment queue resume press"


def test_a_halted_lane_is_named_and_can_be_skipped(shop: Shop) -> None:
    first, second = (shop.send.sync.using(lane="it's").enqueue(to="a").id for _ in range(2))
    hand = shop.hand
    hand.fail(hand.claim_one(QUEUE), retryable=False)
    error = _sync(shop, second)
    assert "lane it's of queue mail has been halted since" in str(error)
    assert f"because task {first} (send) failed" in str(error)
    assert f"Run the failed task again: catchment task retry {first}; skip it: " in (error.hint or "")
    assert """catchment lane skip mail 'it'"'"'s'""" in (error.hint or "")
    assert shop.app.sync.skip_halted("it's", queue=QUEUE) == first
    with pytest.raises(LaneNotHalted, match="is not halted"):
        shop.run(lambda: shop.app.skip_halted("it's", queue=QUEUE))
    assert hand.claim_one(QUEUE).id == second


@both
def test_a_long_wait_warns_once(
    shop: Shop, wait: Wait, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    task = shop.send.sync.enqueue(to="a").id
    for module in (result, sync_verbs):
        monkeypatch.setattr(module, "PATIENCE", 0.0)
    with caplog.at_level(logging.WARNING, "catchment.client"), pytest.raises(ResultTimeout):
        _wait_for_long(shop, wait, task)
    (record,) = caplog.records
    assert f"task {task} (send) waits: no live worker serves queue {QUEUE}. Start a worker" in record.message


@both
def test_a_timeout_names_the_child_that_nobody_can_run(shop: Shop, wait: Wait) -> None:
    parent = shop.send.sync.enqueue(to="a").id
    claim = shop.hand.claim_one(QUEUE)
    spawns = Jsonb([{"command": "send", "payload": {"to": "b"}}])
    shop.engine.value("select worker.complete_task(%s, %s, p_spawns => %s)", claim.id, claim.fence, spawns)
    ((child,),) = shop.engine.conn.execute("select id from worker.tasks where parent_id = %s", [parent]).fetchall()
    shop.engine.conn.execute("delete from worker.worker")
    said = f"is still waiting after 0.01 s: it waits for task {child} (send): no live worker serves queue {QUEUE}"
    assert said in str(wait(shop, parent))


@both
def test_a_task_in_a_new_lane_is_explained_like_any_other(shop: Shop, wait: Wait) -> None:
    task = shop.send.sync.using(lane="new").enqueue(to="a")
    assert task.info().waits_for is None
    assert f"no live worker serves queue {QUEUE}" in str(wait(shop, task.id))


def _wait_for_long(shop: Shop, wait: Wait, task: int) -> Any:
    if wait is _sync:
        return shop.app.sync.task(task).result(timeout=1)
    return shop.run(lambda: shop.app.task(task).result(timeout=1))
