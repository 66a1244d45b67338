"""A scope that waits although none of its children is open is closed by the chores of upkeep, once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from psycopg import Connection

from tests.fixtures.engine import Engine
from tests.sql.support import Claim, Hand, python_work

Connect = Callable[..., Connection[Any]]


def left_open(hand: Hand, **options: Any) -> int:
    """A parent whose only child has settled and whose scope was left waiting."""
    engine = hand.engine
    parent = engine.enqueue(**options)
    claim = _claim(hand, parent)
    hand.complete(claim, p_spawns=[{"command": "act"}])
    child = engine.children(parent)[0]
    hand.complete(_claim(hand, child))
    return reopen(engine, parent)


def _claim(hand: Hand, task_id: int) -> Claim:
    (claim,) = [claim for claim in hand.claim(10) if claim.id == task_id]
    return claim


def reopen(engine: Engine, parent: int) -> int:
    """As if the last step had never been written: the scope waits, and nothing else is left of its end."""
    engine.conn.execute("delete from worker.outcome where id = %s", [parent])
    engine.conn.execute("update worker.scope set state = 'waiting' where id = %s", [parent])
    assert engine.state(parent) == "waiting"
    return parent


def chores(engine: Engine) -> dict[str, Any]:
    return engine.value("select worker.chores()")


@pytest.fixture
def hand(engine: Engine) -> Hand:
    return python_work(engine)


def test_scope_without_open_children_is_closed_once(hand: Hand) -> None:
    parents = [left_open(hand) for _ in range(3)]
    assert chores(hand.engine)["closed"] == 3
    assert {hand.engine.state(p) for p in parents} == {"completed"}
    assert chores(hand.engine)["closed"] == 0
    hand.engine.check()


def test_join_of_a_scope_that_was_left_open_runs_once(hand: Hand) -> None:
    hand.engine.conn.execute("update worker.command_registry set join_procedure = 'joined' where command = 'act'")
    parent = hand.engine.enqueue()
    hand.complete(_claim(hand, parent), p_spawns=[{"command": "act"}])
    child = hand.engine.children(parent)[0]
    hand.complete(_claim(hand, child))
    hand.engine.conn.execute("delete from worker.ready where id = %s", [parent])
    hand.engine.conn.execute("update worker.scope set is_joining = false where id = %s", [parent])
    assert chores(hand.engine)["closed"] == 1
    assert chores(hand.engine)["closed"] == 0
    (join,) = hand.claim(10)
    assert (join.id, join.phase) == (parent, 1)
    hand.complete(join)
    assert hand.engine.state(parent) == "completed"
    hand.engine.check()


def test_scope_that_says_it_has_no_open_children_and_has_is_named_and_left(hand: Hand) -> None:
    good = left_open(hand)
    parent = hand.engine.enqueue()
    hand.complete(_claim(hand, parent), p_spawns=[{"command": "act"}])
    hand.engine.conn.execute("update worker.scope set open_children = 0 where id = %s", [parent])
    assert chores(hand.engine)["closed"] == 1
    assert [hand.engine.state(good), hand.engine.state(parent)] == ["completed", "waiting"]
    assert hand.engine.conn.execute("select step, item from worker.trouble").fetchall() == [("scope", str(parent))]


def test_large_table_is_walked_through_in_stretches(hand: Hand) -> None:
    parents = [left_open(hand) for _ in range(5)]
    closed = [hand.engine.value("select worker.close_idle_scopes(p_limit => 2)") for _ in range(4)]
    assert closed == [2, 2, 1, 0]
    assert {hand.engine.state(p) for p in parents} == {"completed"}


def test_of_two_sessions_one_closes_a_scope(committed: Engine, connect: Connect) -> None:
    parent = left_open(python_work(committed))
    other = Engine(connect())
    with committed.conn.transaction():
        assert committed.value("select worker.close_idle_scopes(%s)", parent) == 1
        assert other.value("select worker.close_idle_scopes(%s)", parent) == 0
        assert chores(other) == {} or chores(other)["closed"] == 0
    assert chores(other)["closed"] == 0
    committed.check()


def test_counters_of_a_scope_are_updated_in_place(committed: Engine) -> None:
    """No index may hold a column that each batch of children writes."""
    hand = python_work(committed)
    parent = committed.enqueue()
    hand.complete(_claim(hand, parent), p_spawns=[{"command": "act"} for _ in range(5)])
    for claim in hand.claim(4):
        hand.complete(claim)
    committed.conn.execute("select pg_stat_force_next_flush()")
    updated, in_place = committed.conn.execute(
        "select n_tup_upd, n_tup_hot_upd from pg_stat_user_tables where relname = 'scope' and schemaname = 'worker'"
    ).fetchone() or (0, 0)
    assert updated >= 4
    assert in_place == updated
