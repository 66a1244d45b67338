"""What runs after a root: uncles enqueued plainly, and follow-ups held until the root has completed."""

from __future__ import annotations

import pytest

from tests.fixtures.engine import Engine
from tests.sql.support import Hand, advance_clock, enqueue_in, hint, python_work, refused


def _follow(hand: Hand, **options: object) -> None:
    """Claim the next task and complete it with one follow-up."""
    hand.complete(hand.claim_one(), p_follow_ups=[{"command": "act"} | options])


def test_plain_enqueue_on_a_serial_queue_runs_after_the_scope(engine: Engine) -> None:
    engine.enqueue(note="parent", enqueue=[{"note": "uncle"}], spawn=[{"note": "child"}, {"note": "child"}])
    engine.drain()
    assert engine.notes() == ["parent", "child", "child", "uncle"]
    engine.check()


def test_plain_enqueue_runs_even_if_its_maker_fails_later(engine: Engine) -> None:
    parent = engine.enqueue(enqueue=[{"note": "uncle"}], spawn=[{"fail": "no"}])
    engine.drain()
    assert engine.state(parent) == "failed"
    assert engine.notes() == ["uncle"]


def test_follow_up_is_held_until_its_root_has_completed(engine: Engine) -> None:
    engine.conn.execute("update worker.queue_registry set mode = 'concurrent' where queue = 'work'")
    root = engine.enqueue(follow_up=[{"note": "after"}], spawn=[{"note": "child"}])
    engine.process()
    follower = engine.value("select id from worker.tasks where follows_id = %s", root)
    row = engine.task(follower)
    assert (row["state"], row["waits_for"], row["parent_id"]) == ("pending", "follow_up", None)
    engine.process(p_mode="top")
    assert engine.notes() == []
    engine.drain()
    assert engine.notes() == ["child", "after"]
    engine.check()


def test_follow_ups_run_in_the_order_made(engine: Engine) -> None:
    engine.enqueue(note="root", follow_up=[{"note": "1"}, {"note": "2"}, {"note": "3"}])
    engine.drain()
    assert engine.notes() == ["root", "1", "2", "3"]
    engine.check()


def test_follow_up_stands_in_its_roots_place(engine: Engine) -> None:
    engine.enqueue(note="root", follow_up=[{"note": "after"}], spawn=[{"note": "child"}])
    engine.enqueue(note="next")
    engine.drain()
    assert engine.notes() == ["root", "child", "after", "next"]
    engine.check()


def test_rounds_do_not_interleave_whatever_the_priority_of_their_commands(engine: Engine) -> None:
    engine.command("round", priority=10)
    for n in (1, 2):
        engine.enqueue("round", note=f"root {n}", follow_up=[{"note": f"after {n}"}])
    engine.drain()
    assert engine.notes() == ["root 1", "after 1", "root 2", "after 2"]


def test_follow_up_of_a_root_that_aged_keeps_its_band(engine: Engine) -> None:
    engine.enqueue(note="root 1", follow_up=[{"note": "after 1"}])
    engine.enqueue(note="root 2")
    urgent = engine.enqueue(note="urgent", priority=1)
    advance_clock(engine, "2 minutes")
    engine.value("select worker.age_ready()")
    engine.value("select worker.cancel(%s)", urgent)
    engine.drain()
    assert engine.notes() == ["root 1", "after 1", "root 2"]


def test_follow_up_may_have_another_priority(engine: Engine) -> None:
    engine.conn.execute(
        """create procedure probe.defer(payload jsonb) language plpgsql as $$
           begin perform worker.follow_up('act', '{"note": "after"}', p_priority => 900); end; $$"""
    )
    engine.command("defer", handler_procedure="probe.defer")
    engine.enqueue("defer")
    engine.enqueue(note="next")
    engine.drain()
    assert engine.notes() == ["next", "after"]


def test_follow_ups_of_follow_ups_stay_in_the_first_roots_place(engine: Engine) -> None:
    engine.enqueue(note="1", follow_up=[{"note": "2", "follow_up": [{"note": "3", "follow_up": [{"note": "4"}]}]}])
    engine.enqueue(note="next")
    engine.drain()
    assert engine.notes() == ["1", "2", "3", "4", "next"]
    engine.check()


def test_follow_up_made_by_a_child_waits_for_the_whole_scope(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{"note": "a", "follow_up": [{"note": "after"}]}, {"note": "b"}])
    engine.drain()
    assert engine.notes() == ["a", "b", "after"]
    assert engine.value("select follows_id from worker.tasks where payload ->> 'note' = 'after'") == root
    engine.check()


@pytest.mark.parametrize("maker", ["root", "child"])
def test_follow_up_is_cancelled_and_says_why_if_the_root_fails(engine: Engine, maker: str) -> None:
    after = [{"note": "after"}]
    root = engine.enqueue(
        spawn=[{"follow_up": after if maker == "child" else []}, {"fail": "no"}],
        follow_up=after if maker == "root" else [],
    )
    engine.drain()
    follower = engine.task(engine.value("select id from worker.tasks where follows_id = %s", root))
    assert (follower["state"], follower["error"]) == ("cancelled", f"it follows task {root}, which is failed")
    assert engine.notes() == []
    engine.check()


def test_follow_up_is_cancelled_if_the_root_is_cancelled(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{}], follow_up=[{"note": "after"}])
    engine.process()
    engine.value("select worker.cancel(%s)", root)
    engine.drain()
    follower = engine.task(engine.value("select id from worker.tasks where follows_id = %s", root))
    assert (follower["state"], follower["error"]) == ("cancelled", f"it follows task {root}, which is cancelled")
    engine.check()


def test_follow_up_comes_back_when_its_root_is_retried(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{"fail": "no", "note": "child"}], follow_up=[{"note": "after"}])
    engine.drain()
    follower = engine.value("select id from worker.tasks where follows_id = %s", root)
    assert engine.state(follower) == "cancelled"
    engine.conn.execute("update worker.task set payload = payload - 'fail' where parent_id = %s", [root])
    engine.value("select worker.retry(%s)", root)
    assert engine.task(follower)["waits_for"] == "follow_up"
    engine.check()
    engine.drain()
    assert engine.notes() == ["child", "after"]
    assert engine.state(follower) == "completed"
    engine.check()


def test_follow_up_cancelled_by_hand_stays_cancelled_when_its_root_is_retried(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{"fail": "no"}], follow_up=[{"note": "after"}])
    engine.process()
    follower = engine.value("select id from worker.tasks where follows_id = %s", root)
    assert engine.value("select worker.cancel(%s)", follower) == "cancelled"
    engine.drain()
    engine.value("select worker.retry(%s)", root)
    assert engine.state(follower) == "cancelled"
    engine.check()


def test_follow_up_of_a_failed_attempt_is_not_made(engine: Engine) -> None:
    root = engine.enqueue(follow_up=[{"note": "after"}], fail="no")
    engine.drain()
    assert engine.states() == {root: "failed"}


def test_follow_up_outside_a_handler_is_refused(engine: Engine) -> None:
    with refused(engine, "CM042") as error:
        engine.value("select worker.follow_up('act')")
    assert "worker.enqueue" in hint(error)


def test_follow_up_on_another_queue_starts_when_the_root_has_completed(engine: Engine) -> None:
    engine.queue("other")
    engine.command("elsewhere", "other")
    root = engine.enqueue(spawn=[{"note": "child"}], follow_up=[{"command": "elsewhere", "note": "after"}])
    engine.process()
    engine.drain("other")
    assert engine.notes() == []
    engine.drain()
    assert engine.state(root) == "completed"
    engine.drain("other")
    assert engine.notes() == ["child", "after"]
    engine.check()


def test_follow_up_stands_first_in_its_roots_lane(engine: Engine) -> None:
    hand = python_work(engine)
    root = engine.enqueue(lane="a")
    behind = engine.enqueue(lane="a")
    _follow(hand)
    follower = hand.claim_one()
    row = engine.task(follower.id)
    assert (row["follows_id"], row["lane"]) == (root, "a")
    assert hand.claim() == []
    engine.check()
    hand.complete(follower)
    assert hand.claim_one().id == behind
    engine.check()


def test_follow_up_of_the_only_task_of_a_lane_runs(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue(lane="a")
    _follow(hand)
    _follow(hand)
    hand.complete(hand.claim_one())
    assert engine.value("select count(*) from worker.lanes") == 0
    engine.check()


def test_follow_up_may_name_another_lane(engine: Engine) -> None:
    hand = python_work(engine)
    ahead = engine.enqueue(lane="b")
    held = hand.claim_one()
    assert held.id == ahead
    engine.enqueue(lane="a")
    _follow(hand, lane="b")
    assert hand.claim() == []
    hand.complete(held)
    assert engine.task(hand.claim_one().id)["lane"] == "b"
    engine.check()


def test_follow_up_with_a_due_time_waits_for_both(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue(lane="a")
    _follow(hand, scheduled_at=engine.value("select worker.now() + interval '1 hour'").isoformat())
    behind = engine.enqueue(lane="a")
    assert hand.claim_one().id == behind
    engine.check()
    advance_clock(engine, "2 hours")
    assert hand.claim() == []
    engine.check()


def test_due_time_already_past_does_not_hold_a_follow_up(engine: Engine) -> None:
    hand = python_work(engine)
    engine.enqueue()
    _follow(hand, scheduled_at="2020-01-01T00:00:00Z")
    assert len(hand.claim()) == 1
    enqueue_in(engine, "-1 hour")
    assert len(hand.claim()) == 1
    engine.check()


def test_gated_follow_up_can_be_cancelled(engine: Engine) -> None:
    root = engine.enqueue(spawn=[{}], follow_up=[{"note": "after"}])
    engine.process()
    follower = engine.value("select id from worker.tasks where follows_id = %s", root)
    assert engine.value("select worker.cancel(%s)", follower) == "cancelled"
    engine.drain()
    assert engine.state(root) == "completed"
    assert engine.notes() == []
    engine.check()
