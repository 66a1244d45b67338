"""What a context records and how an error is described: the engine takes both as they are."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from catchment import Context, GiveUp, RetryLater
from catchment.task.failure import describe_error
from tests.client.support import QUEUE, Shop
from tests.sql.support import Claim, Hand


def complete(hand: Hand, claim: Claim, context: Context) -> str:
    """Complete a claimed task with what its handler recorded, as a worker does."""
    made = context.recorded
    assert made is not None
    return hand.engine.value(
        "select worker.complete_task(%s, %s, %s::jsonb, null, %s::jsonb, %s, %s, %s::jsonb)",
        claim.id,
        claim.fence,
        made.info_json(),
        next(iter(made.spawns_json()), None),
        made.child_mode,
        made.on_child_failure,
        made.follow_ups_json(),
    )


@pytest.fixture
def parent(shop: Shop) -> tuple[Hand, Claim]:
    shop.app.sync.register()
    shop.send.sync.enqueue(to="parent")
    hand = shop.hand
    return hand, hand.claim_one(QUEUE)


def test_recorded_children_are_made_in_order_with_their_policy(shop: Shop, parent: tuple[Hand, Claim]) -> None:
    context = Context.local()
    with context.scope(mode="serial", on_child_failure="cancel_siblings"):
        context.spawn_many([shop.send.using(priority=5).item(to='"a"'), shop.send.using(priority=5).item(to="b\n")])
        context.spawn(shop.gather.using(delay=timedelta(hours=1)), customer=1, items=[1])
    assert complete(*parent, context) == "waiting"
    children = [shop.engine.task(child) for child in shop.engine.children(parent[1].id)]
    assert [child["payload"].get("to") for child in children] == ['"a"', "b\n", None]
    assert [child["priority"] for child in children] == [5, 5, 100]
    assert children[2]["scheduled_at"] is not None
    assert shop.engine.task(parent[1].id)["child_mode"] == "serial"
    shop.engine.check()


def test_recorded_figures_are_kept(shop: Shop, parent: tuple[Hand, Claim]) -> None:
    context = Context.local()
    context.info(rows=3)
    assert complete(*parent, context) == "completed"
    assert shop.engine.task(parent[1].id)["info"] == {"rows": 3}


def test_a_recorded_follow_up_waits_for_its_root(shop: Shop, parent: tuple[Hand, Claim]) -> None:
    context = Context.local()
    context.spawn(shop.send, to="child")
    context.follow_up(shop.send.using(lane="w", priority=9), to="after")
    complete(*parent, context)
    (after,) = shop.engine.conn.execute(
        "select lane, priority, waits_for from worker.tasks where follows_id is not null"
    )
    assert after == ("w", 9, "follow_up")
    shop.engine.check()


def test_a_recorded_sibling_joins_the_scope_of_its_parent(shop: Shop, parent: tuple[Hand, Claim]) -> None:
    hand, claim = parent
    context = Context.local()
    context.spawn(shop.send, to="child")
    complete(hand, claim, context)
    child = hand.claim_one(QUEUE)
    of_child = Context.local(parent_id=claim.id)
    of_child.spawn_sibling(shop.send, to="sibling")
    complete(hand, child, of_child)
    assert len(shop.engine.children(claim.id)) == 2
    assert shop.engine.state(claim.id) == "waiting"
    shop.engine.check()


def fail(hand: Hand, claim: Claim, error: Exception) -> dict[str, Any]:
    """Fail a claimed task with a described error, and look at it."""
    hand.fail(claim, **describe_error(error))
    return hand.engine.task(claim.id)


def test_an_error_is_retried_while_attempts_are_left(parent: tuple[Hand, Claim]) -> None:
    assert fail(*parent, ValueError("no"))["waits_for"] == "retry"


def test_giving_up_fails_the_task_at_once(parent: tuple[Hand, Claim]) -> None:
    row = fail(*parent, GiveUp("no use"))
    assert (row["state"], row["error"]) == ("failed", "no use")


def test_retry_later_sets_the_time_of_the_next_attempt(shop: Shop, parent: tuple[Hand, Claim]) -> None:
    fail(*parent, RetryLater(timedelta(hours=1), "busy"))
    assert shop.engine.value(
        "select due_at between now() + interval '59 minutes' and now() + interval '61 minutes'"
        " from worker.tasks where id = %s",
        parent[1].id,
    )
