"""A scope: a task waits for its children, settles after the last of them, and takes its fate from theirs."""

from __future__ import annotations

from tests.fixtures.engine import Engine
from tests.sql.support import FLAKY, advance_clock, hint, message, python_work, refused


def _open_scope(engine: Engine, *children: dict[str, object], **options: object) -> tuple[int, list[int]]:
    """A waiting task and its children."""
    parent = engine.enqueue(spawn=list(children), **options)
    engine.process()
    assert engine.state(parent) == "waiting"
    return parent, engine.children(parent)


def test_parent_waits_until_its_last_child_settles(engine: Engine) -> None:
    parent, children = _open_scope(engine, {}, {}, {})
    for done in range(1, 4):
        assert engine.state(parent) == "waiting"
        assert engine.value("select worker.has_pending_children(%s)", parent)
        engine.process(p_mode="child", p_batch_size=1)
        assert [engine.state(c) for c in children].count("completed") == done
        engine.check()
    assert engine.state(parent) == "completed"
    assert not engine.value("select worker.has_pending_children(%s)", parent)


def test_durations_are_of_the_handler_and_of_the_whole_scope(engine: Engine) -> None:
    parent, _ = _open_scope(engine, {"sleep": 0.02})
    engine.process()
    row = engine.task(parent)
    assert row["completion_duration_ms"] >= row["process_duration_ms"] + 20
    assert row["process_start_at"] < row["process_stop_at"] < row["completed_at"]


def test_progress_of_a_scope_is_visible_while_it_waits(engine: Engine) -> None:
    parent, _ = _open_scope(engine, {}, {"fail": "no"}, {})
    engine.process(p_mode="child", p_batch_size=2)
    assert engine.task(parent)["progress"] == {"done": 2, "total": 3, "failed": 1, "cancelled": 0}


def test_failed_child_fails_the_parent_after_all_have_settled(engine: Engine) -> None:
    parent, children = _open_scope(engine, {"fail": "no"}, {}, {})
    engine.process(p_mode="child", p_batch_size=1)
    assert engine.state(children[0]) == "failed"
    assert engine.state(parent) == "waiting"
    engine.process()
    assert [engine.state(c) for c in children] == ["failed", "completed", "completed"]
    row = engine.task(parent)
    assert (row["state"], row["error"]) == ("failed", "1 of 3 children failed: act: no")
    engine.check()


def test_has_failed_siblings_is_about_the_others(engine: Engine) -> None:
    parent, (failed, other) = _open_scope(engine, {"fail": "no"}, {})
    ask = "select worker.has_failed_siblings(%s)"
    assert not engine.value(ask, other)
    engine.process(p_mode="child", p_batch_size=1)
    assert engine.value(ask, other)
    assert not engine.value(ask, failed)
    assert not engine.value(ask, parent)
    assert not engine.value(ask, -1)


def test_complete_parent_if_ready_may_be_called_at_any_time(engine: Engine) -> None:
    parent, (first, second) = _open_scope(engine, {}, {})
    ask = "select worker.complete_parent_if_ready(%s)"
    assert not engine.value(ask, first)
    engine.process(p_mode="child", p_batch_size=1)
    assert not engine.value(ask, first)
    engine.process()
    settled = engine.task(parent)
    assert [engine.value(ask, child) for child in (first, second, first)] == [True, True, True]
    assert engine.task(parent) == settled
    assert not engine.value(ask, parent)
    assert not engine.value(ask, -1)
    engine.check()


def test_complete_parent_if_ready_closes_a_scope_left_open_by_hand(engine: Engine) -> None:
    parent, (child,) = _open_scope(engine, {})
    engine.conn.execute("delete from worker.ready where id = %s", [child])
    engine.conn.execute(
        "insert into worker.outcome (id, state, attempt, completed_at) values (%s, 'completed', 1, now())", [child]
    )
    engine.conn.execute("update worker.scope set open_children = 0 where id = %s", [parent])
    assert engine.value("select worker.complete_parent_if_ready(%s)", child)
    assert engine.state(parent) == "completed"
    engine.check()


def test_child_spawns_siblings_and_the_parent_waits_for_them(engine: Engine) -> None:
    parent, _ = _open_scope(engine, {"note": "a", "sibling": [{"note": "b", "sibling": [{"note": "c"}]}]})
    engine.process(p_mode="child", p_batch_size=1)
    assert engine.state(parent) == "waiting"
    engine.check()
    engine.process()
    assert engine.notes() == ["a", "b", "c"]
    assert engine.state(parent) == "completed"
    assert {engine.task(c)["depth"] for c in engine.children(parent)} == {1}
    engine.check()


def test_children_may_run_on_another_queue(engine: Engine) -> None:
    engine.queue("other")
    engine.command("elsewhere", "other")
    parent = engine.enqueue(spawn=[{"command": "elsewhere", "note": "away"}, {"note": "at home"}])
    engine.drain()
    assert engine.state(parent) == "waiting"
    assert engine.notes() == ["at home"]
    engine.drain("other")
    assert engine.state(parent) == "completed"
    engine.check()


def test_failed_attempt_leaves_no_children(engine: Engine) -> None:
    parent = engine.enqueue(spawn=[{}, {}], fail="after spawning")
    engine.drain()
    assert engine.states() == {parent: "failed"}
    engine.check()


def test_failed_attempt_of_a_child_leaves_no_siblings(engine: Engine) -> None:
    parent, _ = _open_scope(engine, {"sibling": [{}, {}], "fail": "after spawning"}, {})
    engine.drain()
    assert len(engine.children(parent)) == 2
    assert engine.state(parent) == "failed"
    engine.check()


def test_retried_attempt_spawns_its_children_once(engine: Engine) -> None:
    engine.conn.execute(FLAKY)
    engine.command("flaky", handler_procedure="probe.flaky", max_attempts=3, retry_delay="1 second")
    engine.conn.execute(
        """create procedure probe.spawn_then_flaky(payload jsonb, inout info jsonb) language plpgsql as $$
           begin call worker.spawn('act'); call probe.flaky(payload, info); end; $$"""
    )
    engine.conn.execute(
        "update worker.command_registry set handler_procedure = 'probe.spawn_then_flaky' where command = 'flaky'"
    )
    parent = engine.enqueue("flaky", fail_times=2)
    for _ in range(3):
        engine.drain()
        advance_clock(engine, "1 minute")
    assert len(engine.children(parent)) == 1
    assert engine.state(parent) == "completed"
    engine.check()


def test_grandchildren_are_refused(engine: Engine) -> None:
    parent, (child,) = _open_scope(engine, {"spawn": [{}]})
    engine.process()
    row = engine.task(child)
    assert row["state"] == "failed"
    assert row["error_detail"]["kind"] == "CM006"
    assert "worker.current_parent_id()" in row["error_detail"]["hint"]
    assert engine.state(parent) == "failed"
    assert engine.children(child) == []
    engine.check()


def test_trigger_refuses_a_grandchild_from_any_user(engine: Engine) -> None:
    _, (child,) = _open_scope(engine, {})
    with refused(engine, "CM006"):
        engine.conn.execute(
            "insert into worker.task (command, queue_id, kind, payload, priority, parent_id, root_id, depth, place,"
            " max_attempts, created_at)"
            " select command, queue_id, kind, '{}', 1, id, root_id, 2, 1, 1, now() from worker.task where id = %s",
            [child],
        )


def test_deeper_trees_settle_bottom_up_where_the_queue_allows_them(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    tree = {"spawn": [{"spawn": [{"note": "deepest"}]}, {}]}
    root, _ = _open_scope(engine, tree, {})
    engine.process(p_mode="child", p_batch_size=1)
    engine.check()
    engine.drain()
    assert set(engine.states().values()) == {"completed"}
    order = engine.conn.execute("select depth from worker.tasks order by completed_at").fetchall()
    assert order[-1] == (0,)
    assert not engine.value(
        "select exists (select from worker.tasks as c join worker.tasks as p on p.id = c.parent_id"
        " where p.completed_at < c.completed_at)"
    )
    assert engine.value("select max(depth) from worker.tasks where root_id = %s", root) == 3
    engine.check()


def test_depth_beyond_the_queues_limit_is_refused(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    root, _ = _open_scope(engine, {"spawn": [{"spawn": [{}]}]})
    engine.drain()
    assert engine.value("select max(depth) from worker.tasks") == 2
    assert engine.state(root) == "failed"
    engine.check()


def test_failure_travels_up_every_level(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 3 where queue = 'work'")
    _open_scope(engine, {"spawn": [{"spawn": [{"fail": "deep"}]}]})
    engine.drain()
    assert set(engine.states().values()) == {"failed"}
    engine.check()


def test_waiting_task_cannot_be_settled_past_its_children_even_by_a_superuser(engine: Engine) -> None:
    parent, _ = _open_scope(engine, {})
    for statement in (
        "update worker.scope set state = 'completed' where id = %(id)s",
        "update worker.scope set state = 'completed', open_children = 0 where id = %(id)s",
        "insert into worker.outcome (id, state, attempt, completed_at) values (%(id)s, 'completed', 1, now())",
        "delete from worker.scope where id = %(id)s",
    ):
        with refused(engine, "CM023"):
            engine.conn.execute(statement, {"id": parent})
    assert engine.state(parent) == "waiting"
    engine.check()


def test_cancel_siblings_stops_the_rest_and_fails_the_parent(engine: Engine) -> None:
    parent, children = _open_scope(engine, {}, {"fail": "no"}, {}, {}, on_failure="cancel_siblings")
    engine.process()
    assert [engine.state(c) for c in children] == ["completed", "failed", "cancelled", "cancelled"]
    assert engine.task(children[2])["error"] == "a sibling failed"
    row = engine.task(parent)
    assert (row["state"], row["error"]) == ("failed", "1 of 4 children failed, 2 cancelled: act: no")
    engine.check()


def test_cancel_siblings_reaches_their_descendants(engine: Engine) -> None:
    hand = python_work(engine)
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    parent = engine.enqueue()
    hand.complete(
        hand.claim_one(), p_spawns=[{"command": "act"}, {"command": "act"}], p_on_child_failure="cancel_siblings"
    )
    opener, failing = hand.claim(2)
    hand.complete(opener, p_spawns=[{"command": "act"}])
    (grandchild,) = engine.children(opener.id)
    hand.fail(failing)
    engine.value("select worker.sweep_cancelled()")
    assert engine.state(grandchild) == "cancelled"
    assert engine.state(opener.id) == "cancelled"
    assert engine.state(parent) == "failed"
    engine.check()


def test_info_of_children_adds_up_in_the_parent(engine: Engine) -> None:
    parent, _ = _open_scope(
        engine,
        {"info": {"rows": 10, "region": "north"}},
        {"info": {"rows": 5.5, "region": "south"}},
        {},
        info={"region": "all", "batches": 3},
    )
    engine.process()
    assert engine.task(parent)["info"] == {"rows": 15.5, "region": "all", "batches": 3}
    engine.check()


def test_info_travels_up_every_level(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set max_depth = 2 where queue = 'work'")
    root, _ = _open_scope(engine, {"spawn": [{"info": {"n": 1}}, {"info": {"n": 2}}]}, {"info": {"n": 4}})
    engine.drain()
    assert engine.task(root)["info"] == {"n": 7}


def test_info_that_is_no_object_is_kept_and_spoils_nothing(engine: Engine) -> None:
    parent, (odd, _) = _open_scope(engine, {"info": [1, 2]}, {"info": {"n": 1}}, info="just text")
    engine.process()
    assert engine.task(odd)["info"] == [1, 2]
    assert engine.state(parent) == "completed"
    engine.check()


def test_spawn_without_a_parent_outside_a_handler_is_refused(engine: Engine) -> None:
    with refused(engine, "CM021") as error:
        engine.conn.execute("call worker.spawn('act')")
    assert "worker.enqueue" in hint(error)


def test_spawn_under_a_task_that_is_not_open_is_refused(engine: Engine) -> None:
    settled = engine.enqueue()
    engine.process()
    pending = engine.enqueue()
    for parent, state in ((settled, "completed"), (pending, "pending"), (987654321, "unknown")):
        with refused(engine, "CM005") as error:
            engine.conn.execute("call worker.spawn('act', p_parent_id => %s)", [parent])
        assert message(error) == f"task {parent} takes no children: it is {state}"
    engine.check()


def test_spawn_under_a_running_task_from_elsewhere_is_refused(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue()
    claim = hand.claim_one()
    with refused(engine, "CM005") as error:
        engine.conn.execute("call worker.spawn('act', p_parent_id => %s)", [claim.id])
    assert "only its own handler" in message(error)


def test_current_task_is_known_inside_a_handler_only(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.who(payload jsonb) language sql as $$
           insert into probe.effect (note)
           values (worker.current_task_id() || ' under ' || worker.current_parent_id()) $$"""
    )
    engine.command("who", handler_procedure="probe.who")
    parent, (child,) = _open_scope(engine, {"command": "who"})
    engine.process()
    assert engine.notes() == [f"{child} under {parent}"]
    assert engine.value("select worker.current_task_id()") is None
    assert engine.value("select worker.current_parent_id()") is None


def test_a_task_with_children_cannot_be_deleted_by_anyone(engine: Engine) -> None:
    """The tests run as a superuser. Whole settled trees go by retention."""
    parent, (child,) = _open_scope(engine, {})
    for state in ("waiting", "completed"):
        assert engine.state(parent) == state
        with refused(engine, "CM007") as caught:
            engine.conn.execute("delete from worker.task where id = %s", [parent])
        assert f"task {parent} cannot be deleted" in message(caught)
        engine.process()
    alone = engine.enqueue()
    with refused(engine, "CM007"):
        engine.conn.execute("delete from worker.task where id = %s", [alone])
    engine.process()
    advance_clock(engine, "1 year")
    assert engine.value("select worker.delete_settled(worker.now(), worker.now(), 10)") == 2
    assert engine.value("select count(*) from worker.task where id = any (%s)", [parent, child, alone]) == 0
    engine.check()
