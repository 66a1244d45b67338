"""How deep a tree may be, and how the cause of a failure comes up through its levels."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import Claim, Hand, hint, message, python_work, refused

CHILD = [{"command": "act", "payload": {}}]


@pytest.fixture
def hand(engine: Engine) -> Hand:
    """Python tasks on a queue without a limit."""
    hand = python_work(engine)
    engine.conn.execute("update worker.queue_registry set max_depth = null where queue = 'work'")
    return hand


def _descend(hand: Hand, levels: int) -> tuple[int, Claim]:
    """A chain of this many levels below its root, and the claimed task at its end."""
    root = hand.engine.enqueue()
    for _ in range(levels):
        assert hand.complete(hand.claim_one(), p_spawns=CHILD) == "waiting"
    return root, hand.claim_one()


def test_a_chain_of_200_levels_completes_at_once_when_its_last_task_does(hand: Hand) -> None:
    root, last = _descend(hand, 200)
    assert hand.engine.task(last.id)["depth"] == 200
    assert hand.complete(last) == "completed"
    assert hand.engine.state(root) == "completed"
    hand.engine.check()


def test_the_cause_of_a_failure_comes_up_with_the_same_length_on_every_level(hand: Hand) -> None:
    root, last = _descend(hand, 20)
    hand.fail(last, kind="KeyError", message="x" * 5000, where="secrets.py:1", detail="not for the parents")
    errors = [row[0] for row in hand.engine.conn.execute("select error from worker.outcome where id <> %s", [last.id])]
    assert len(errors) == 20
    assert all(error == errors[0] for error in errors)
    error = hand.engine.task(root)["error_detail"]
    cut = "x" * 999 + "…"
    assert error == {
        "kind": "children",
        "message": f"1 of 1 children failed: act: {cut}",
        "child": {"id": last.id, "command": "act", "kind": "KeyError", "message": cut},
    }
    hand.engine.check()


def test_the_first_failed_child_is_blamed_not_one_that_was_cancelled_before_it(hand: Hand) -> None:
    root = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[*CHILD, *CHILD, *CHILD])
    cancelled, first, _ = hand.engine.children(root)
    hand.engine.value("select worker.cancel(%s, 'not needed')", cancelled)
    claims = {claim.id: claim for claim in hand.claim(2)}
    other = claims[max(claims)]
    hand.fail(other, message="second to be spawned, first to fail")
    hand.fail(claims[first], message="first to be spawned")
    error = hand.engine.task(root)["error_detail"]
    assert error["message"] == "2 of 3 children failed, 1 cancelled: act: first to be spawned"
    assert error["child"]["id"] == first


def test_a_retried_scope_that_fails_again_names_the_child_that_failed_then(hand: Hand) -> None:
    root = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[*CHILD, *CHILD])
    for claim in hand.claim(2):
        hand.fail(claim, message="both")
    hand.engine.value("select worker.retry(%s)", root)
    first, second = hand.claim(2)
    hand.complete(first)
    hand.fail(second, message="again")
    assert hand.engine.task(root)["error"] == "1 of 2 children failed: act: again"


def test_endless_recursion_ends_with_a_clear_error(hand: Hand) -> None:
    _, last = _descend(hand, 2)
    hand.engine.conn.execute("update worker.task set depth = 1000 where id = %s", [last.id])
    with refused(hand.engine, "CM006") as caught:
        hand.complete(last, p_spawns=CHILD)
    assert message(caught) == "act would be 1001 levels below its root, queue work allows 1000"
    assert "spawn itself without end" in hint(caught)
    hand.engine.conn.execute("update worker.queue_registry set max_depth = 1001 where queue = 'work'")
    assert hand.complete(last, p_spawns=CHILD) == "waiting"


def test_a_queue_made_by_sql_allows_children_alone(engine: Engine) -> None:
    assert engine.value("select max_depth from worker.queue_registry where queue = 'work'") == 1
    parent = engine.enqueue(spawn=[{"spawn": [{}]}])
    engine.drain()
    assert engine.task(parent)["error"] == (
        "1 of 1 children failed: act: act would be 2 levels below its root, queue work allows 1"
    )
