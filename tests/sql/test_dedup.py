"""Declared deduplication: a duplicate merges into the pending task of its key, or is folded into it by the claim."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, enqueue_in, hint, message, python_work, refused

Connect = Callable[..., Connection]
RULES = {"ids": "union", "n": "add"}


def _declare(engine: Engine, mode: str = "concurrent", dedup: list[str] | None = None, **options: Any) -> Hand:
    return python_work(engine, mode, dedup=dedup or [], merge=RULES, **options)


@pytest.fixture
def hand(engine: Engine) -> Hand:
    """Command ``act`` is deduplicated by itself, by hand."""
    return _declare(engine)


def test_duplicate_merges_into_the_pending_task(hand: Hand) -> None:
    first = hand.engine.enqueue(ids=[1, 2], n=1)
    assert hand.engine.enqueue(ids=[2, 3], n=10) == first
    assert hand.engine.task(first)["payload"] == {"ids": [1, 2, 3], "n": 11}
    assert len(hand.engine.states()) == 1
    hand.engine.check()


def test_every_way_to_enqueue_merges(hand: Hand) -> None:
    first = hand.engine.enqueue(n=1)
    insert = """insert into worker.tasks (command, payload) values ('act', '{"n": 1}') returning id"""
    assert hand.engine.value(insert) == first
    many = "select worker.enqueue_many('act', array['{\"n\": 1}', '{\"n\": 1}']::jsonb[])"
    assert hand.engine.value(many) == [first, first]
    assert hand.engine.task(first)["payload"] == {"n": 4}
    hand.engine.check()


def test_declared_payload_keys_are_part_of_the_key(engine: Engine) -> None:
    _declare(engine, dedup=["region", "year"])
    north = engine.enqueue(region="north", year=2024, n=1)
    assert engine.enqueue(region="south", year=2024, n=1) != north
    assert engine.enqueue(region="north", year=2025, n=1) != north
    assert engine.enqueue(region="north", n=1) != north
    assert engine.enqueue(year=2024, region="north", n=1) == north
    engine.check()


def test_command_without_dedup_never_merges(engine: Engine) -> None:
    assert engine.enqueue() != engine.enqueue()


def test_running_task_takes_no_duplicates(hand: Hand) -> None:
    first = hand.engine.enqueue(ids=[1])
    claim = hand.claim_one()
    second = hand.engine.enqueue(ids=[2])
    assert second != first
    assert hand.engine.enqueue(ids=[3]) == second
    assert hand.engine.task(first)["payload"] == {"ids": [1]}
    hand.complete(claim)
    assert hand.claim_one().payload == {"ids": [2, 3]}
    hand.engine.check()


def test_settled_task_takes_no_duplicates(hand: Hand) -> None:
    first = hand.engine.enqueue()
    hand.complete(hand.claim_one())
    assert hand.engine.enqueue() != first
    hand.engine.check()


def test_cancelled_task_takes_no_duplicates(hand: Hand) -> None:
    first = hand.engine.enqueue()
    hand.engine.value("select worker.cancel(%s)", first)
    assert hand.engine.enqueue() != first
    hand.engine.check()


def test_task_being_retried_takes_no_duplicates(engine: Engine) -> None:
    hand = _declare(engine, max_attempts=2)
    first = engine.enqueue()
    hand.fail(hand.claim_one())
    assert engine.state(first) == "pending"
    assert engine.enqueue() != first
    engine.check()


def test_more_urgent_duplicate_makes_the_task_urgent(hand: Hand) -> None:
    hand.engine.command("plain", handler_kind="python")
    first = hand.engine.enqueue()
    hand.engine.enqueue("plain", priority=50)
    assert hand.engine.enqueue(priority=10) == first
    assert hand.engine.enqueue(priority=200) == first
    assert hand.engine.task(first)["priority"] == 10
    assert hand.claim_one().id == first


def test_duplicate_of_a_scheduled_task_brings_it_forward(hand: Hand) -> None:
    first = enqueue_in(hand.engine, "2 hours", n=1)
    assert enqueue_in(hand.engine, "1 hour", n=1) == first
    assert enqueue_in(hand.engine, "3 hours", n=1) == first
    assert hand.claim() == []
    advance_clock(hand.engine, "61 minutes")
    assert hand.claim_one().payload == {"n": 3}
    hand.engine.check()


def test_duplicate_without_a_due_time_makes_a_scheduled_task_due(hand: Hand) -> None:
    first = enqueue_in(hand.engine, "2 hours", n=1)
    assert hand.engine.enqueue(n=1) == first
    claim = hand.claim_one()
    assert (claim.id, claim.payload) == (first, {"n": 2})
    hand.engine.check()


def test_scheduled_duplicate_of_a_ready_task_runs_with_it(hand: Hand) -> None:
    first = hand.engine.enqueue(n=1)
    assert enqueue_in(hand.engine, "1 hour", n=1) == first
    assert hand.claim_one().payload == {"n": 2}


def test_children_merge_within_their_scope_only(engine: Engine) -> None:
    engine.command("batch", dedup=[], merge=RULES)
    top = engine.enqueue("batch", ids=[0])
    parents = [
        engine.enqueue(spawn=[{"command": "batch", "ids": [n]}, {"command": "batch", "ids": [n + 1]}]) for n in (1, 5)
    ]
    engine.drain()
    assert engine.task(top)["payload"] == {"ids": [0]}
    for parent, first in zip(parents, (1, 5), strict=True):
        (child,) = engine.children(parent)
        assert engine.task(child)["payload"]["ids"] == [first, first + 1]
        assert engine.state(parent) == "completed"
    engine.check()


def test_follow_ups_are_not_merged(engine: Engine) -> None:
    engine.command("once", dedup=[], merge=RULES)
    free = engine.enqueue("once", priority=500)
    engine.enqueue(follow_up=[{"command": "once", "note": "after"}])
    engine.process()
    assert engine.value("select count(*) from worker.tasks where command = 'once' and id <> %s", free) == 1
    engine.drain()
    assert engine.notes() == ["after"]
    engine.check()


def test_changed_payload_moves_a_pending_task_to_its_new_key(engine: Engine) -> None:
    _declare(engine, dedup=["region"])
    first = engine.enqueue(region="north", n=1)
    engine.conn.execute("""update worker.tasks set payload = '{"region": "south", "n": 1}'""")
    assert engine.enqueue(region="south", n=1) == first
    assert engine.enqueue(region="north", n=1) != first
    engine.check()


def test_value_that_does_not_fit_its_rule_is_refused_at_once(hand: Hand) -> None:
    with refused(hand.engine, "CM020") as error:
        hand.engine.enqueue(ids="all of them")
    assert "payload key ids cannot be merged by" in message(error)
    assert "worker.command_registry.merge" in hint(error)
    hand.engine.enqueue(ids=[1])
    with refused(hand.engine, "CM020"):
        hand.engine.conn.execute("update worker.tasks set payload = '{\"ids\": 1}'")
    assert hand.claim_one().payload == {"ids": [1]}
    hand.engine.check()


def _from_open_transactions(
    engine: Engine, connect: Connect, *payloads: dict[str, Any], lane: str | None = None
) -> list[int]:
    """Enqueue each payload from a transaction of its own, all open at once, then commit them in turn."""
    others = [Engine(connect(autocommit=False)) for _ in payloads]
    for other in others:
        other.conn.execute("set local lock_timeout = '300ms'")
    tasks = [other.enqueue(lane=lane, **payload) for other, payload in zip(others, payloads, strict=True)]
    for other in others:
        other.conn.commit()
    assert len(set(tasks)) == len(tasks)
    return tasks


def test_open_transactions_append_without_waiting_and_the_claim_folds(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(
        committed, connect, {"ids": [1], "n": 1}, {"ids": [2], "n": 1}, {"ids": [3], "n": 1}
    )
    claim = hand.claim_one()
    assert claim.payload == {"ids": [1, 2, 3], "n": 3}
    assert committed.state(claim.id) == "processing"
    folded = [t for t in tasks if t != claim.id]
    assert [committed.task(t)["merged_into"] for t in folded] == [claim.id, claim.id]
    assert hand.claim() == []
    committed.check()
    hand.complete(claim)
    assert [committed.state(t) for t in tasks] == ["completed"] * 3
    committed.check()


def test_duplicate_appends_while_an_open_transaction_merges(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    first = committed.enqueue(n=1)
    other = Engine(connect(autocommit=False))
    assert other.enqueue(n=1) == first
    committed.conn.execute("set lock_timeout = '300ms'")
    assert committed.enqueue(n=1) != first
    other.conn.commit()
    assert hand.claim_one().payload == {"n": 3}
    committed.check()


def test_claim_does_not_wait_for_an_open_merge(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    committed.enqueue(n=1)
    other = Engine(connect(autocommit=False))
    other.enqueue(n=1)
    committed.conn.execute("set lock_timeout = '300ms'")
    assert hand.claim() == []
    other.conn.commit()
    assert hand.claim_one().payload == {"n": 2}


def test_folded_task_fails_with_its_survivor_and_says_so(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    claim = hand.claim_one()
    hand.fail(claim)
    (folded,) = [t for t in tasks if t != claim.id]
    row = committed.task(folded)
    assert (row["state"], row["error"]) == ("failed", f"merged into task {claim.id}, which is failed")
    committed.check()


def test_folded_task_follows_its_survivor_through_a_retry_by_hand(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    claim = hand.claim_one()
    hand.fail(claim)
    (folded,) = [t for t in tasks if t != claim.id]
    with refused(committed, "CM008") as error:
        committed.value("select worker.retry(%s)", folded)
    assert f"Retry task {claim.id}" in hint(error)
    committed.value("select worker.retry(%s)", claim.id)
    assert committed.task(folded)["merged_into"] == claim.id
    assert committed.state(folded) == "pending"
    committed.check()
    hand.complete(hand.claim_one())
    assert [committed.state(t) for t in tasks] == ["completed", "completed"]
    committed.check()


def test_folded_task_settles_after_the_whole_scope_of_its_survivor(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    committed.command("child", handler_kind="python")
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    hand.complete(hand.claim_one(), p_spawns=[{"command": "child"}])
    assert set(committed.states().values()) == {"waiting", "pending"}
    hand.complete(hand.claim_one())
    assert [committed.state(t) for t in tasks] == ["completed", "completed"]
    committed.check()


@pytest.mark.parametrize("end", ["interrupt", "release"])
def test_folded_task_stays_with_a_survivor_that_starts_again(committed: Engine, connect: Connect, end: str) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    getattr(hand, end)(hand.claim_one())
    committed.check()
    claim = hand.claim_one()
    assert claim.payload == {"n": 2}
    hand.complete(claim)
    assert [committed.state(t) for t in tasks] == ["completed", "completed"]
    committed.check()


def test_folded_children_count_in_their_scope(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    committed.command("parent", handler_kind="python")
    committed.command("anchor", handler_kind="python")
    parent = committed.enqueue("parent")
    hand.complete(hand.claim_one(), p_spawns=[{"command": "anchor"}])
    anchor = hand.claim_one()
    others = [connect(autocommit=False) for _ in range(2)]
    for other in others:
        other.execute("select worker.spawn_child('act', %s, %s)", [Jsonb({"n": 1}), parent])
    for other in others:
        other.commit()
    assert committed.task(parent)["progress"]["total"] == 3
    claim = hand.claim_one()
    assert claim.payload == {"n": 2}
    hand.complete(claim)
    hand.complete(anchor)
    assert committed.state(parent) == "completed"
    committed.check()


def test_tasks_of_a_lane_are_deduplicated(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1}, {"n": 1}, lane="a")
    other_lane = committed.enqueue(lane="b", n=1)
    claims = {c.id: c.payload for c in hand.claim(5)}
    assert claims == {tasks[0]: {"n": 3}, other_lane: {"n": 1}}
    committed.check()


def test_serial_queue_folds_its_duplicates(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed, mode="serial")
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    claim = hand.claim_one()
    assert claim.payload == {"n": 2}
    hand.complete(claim)
    assert hand.claim() == []
    assert [committed.state(t) for t in tasks] == ["completed", "completed"]
    committed.check()


def test_serial_children_are_deduplicated(engine: Engine) -> None:
    hand = _declare(engine)
    engine.command("parent", handler_kind="python")
    parent = engine.enqueue("parent")
    spawns = [{"command": "act", "payload": {"n": 1}}] * 3
    hand.complete(hand.claim_one(), p_spawns=spawns, p_child_mode="serial")
    claim = hand.claim_one()
    assert claim.payload == {"n": 3}
    hand.complete(claim)
    assert engine.state(parent) == "completed"
    engine.check()


def test_cancel_of_a_folded_task_names_its_survivor(committed: Engine, connect: Connect) -> None:
    hand = _declare(committed)
    tasks = _from_open_transactions(committed, connect, {"n": 1}, {"n": 1})
    claim = hand.claim_one()
    (folded,) = [t for t in tasks if t != claim.id]
    with refused(committed, "CM026") as error:
        committed.value("select worker.cancel(%s)", folded)
    assert f"Cancel task {claim.id}" in hint(error)
