"""Spawn, scope, join and follow-up from end to end."""

from __future__ import annotations

import itertools

import pytest

from catchment import TaskFailed
from tests.fixtures.worker import wait_until
from tests.worker.app import fail_after_spawn, parent, plain_parent
from tests.worker.crew import Crew
from tests.worker.probe import Span, overlaps, peak_overlap

# Nothing may depend on notifications: with them, and without.
pytestmark = pytest.mark.parametrize("staffed", ["true", "false"], indirect=True, scope="module")


def _run(crew: Crew, key: str) -> Span:
    (span,) = crew.records.spans(key)
    return span


def _wait_all_settled(crew: Crew, root: int) -> None:
    wait_until(
        lambda: (
            crew.engine.value(
                "select count(*) from worker.tasks where (id = %s or root_id = %s or follows_id = %s)"
                " and state not in ('completed', 'failed', 'cancelled')",
                root,
                root,
                root,
            )
            == 0
        )
    )


@pytest.mark.parametrize("mode", ["concurrent", "serial"])
def test_children_then_join_then_follow_up(staffed: Crew, mode: str) -> None:
    root = staffed.enqueue(parent, key=mode, count=6, mode=mode)
    assert staffed.result(root) == sum(range(6))
    _wait_all_settled(staffed, root)
    children = staffed.records.spans(f"{mode} child")
    assert _run(staffed, f"{mode} parent").end <= min(child.start for child in children)
    assert max(child.end for child in children) <= _run(staffed, f"{mode} join").start
    assert _run(staffed, f"{mode} join").end <= _run(staffed, f"{mode} after").start
    if mode == "serial":
        assert overlaps(children) == []
        assert [child.seq for child in children] == list(range(6))
    else:
        assert peak_overlap(children) > 1


def test_a_join_of_a_plain_function(staffed: Crew) -> None:
    assert staffed.result(staffed.enqueue(plain_parent, key="plain", values=[3, 1, 2])) == [3, 1, 2]


def test_a_parent_without_children_is_done_at_once(staffed: Crew) -> None:
    root = staffed.enqueue(parent, key="childless")
    assert staffed.result(root) is None
    _wait_all_settled(staffed, root)
    assert staffed.records.spans("childless join") == []
    assert len(staffed.records.spans("childless after")) == 1


def test_a_failed_child_fails_its_parent_after_its_siblings_and_stops_what_follows(staffed: Crew) -> None:
    root = staffed.enqueue(parent, key="wait", count=4, fails_at=0)
    with pytest.raises(TaskFailed):
        staffed.result(root)
    _wait_all_settled(staffed, root)
    assert len(staffed.records.spans("wait child")) == 4
    assert staffed.records.spans("wait join") == []
    assert staffed.records.spans("wait after") == []
    states = [staffed.engine.state(child) for child in staffed.engine.children(root)]
    assert states == ["failed", "completed", "completed", "completed"]


@pytest.mark.parametrize(("mode", "seconds"), [("serial", 0.01), ("concurrent", 0.3)])
def test_a_failed_child_can_cancel_its_siblings(staffed: Crew, mode: str, seconds: float) -> None:
    key = f"cancel {mode}"
    root = staffed.enqueue(
        parent, key=key, count=8, mode=mode, on_failure="cancel_siblings", fails_at=2, seconds=seconds
    )
    with pytest.raises(TaskFailed):
        staffed.result(root)
    _wait_all_settled(staffed, root)
    states = [staffed.engine.state(child) for child in staffed.engine.children(root)]
    assert states[2] == "failed"
    if mode == "serial":
        assert states == ["completed", "completed", "failed", *itertools.repeat("cancelled", 5)]
        assert len(staffed.records.spans(f"{key} child")) == 3


def test_an_attempt_that_fails_leaves_no_children(staffed: Crew) -> None:
    root = staffed.enqueue(fail_after_spawn, key="vain")
    with pytest.raises(TaskFailed, match="in vain"):
        staffed.result(root)
    assert staffed.engine.children(root) == []
    assert staffed.records.spans("vain child") == []


def test_cancelling_a_parent_stops_its_running_children(staffed: Crew) -> None:
    root = staffed.enqueue(parent, key="stop", count=3, seconds=3600)
    wait_until(lambda: len(staffed.records.spans("stop child")) == 3)
    staffed.client.sync.task(root).cancel()
    _wait_all_settled(staffed, root)
    assert staffed.engine.state(root) == "cancelled"
    assert all(child.end < float("inf") for child in staffed.records.spans("stop child"))
    assert staffed.records.spans("stop after") == []


def test_lanes_wait_for_the_whole_scope_of_a_task(staffed: Crew) -> None:
    first = staffed.enqueue(parent, key="scope 1", count=4, lane="scopes")
    second = staffed.enqueue(parent, key="scope 2", count=4, lane="scopes")
    staffed.result(second)
    assert staffed.engine.state(first) == "completed"
    assert _run(staffed, "scope 1 join").end <= _run(staffed, "scope 2 parent").start
    staffed.engine.check()
