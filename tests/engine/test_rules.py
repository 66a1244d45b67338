"""The twelve rules of the engine, each with proof that its check can fail: the rule is broken on purpose and noticed.

Breaking happens in a database of the test's own, by a statement or by one text of one function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from tests.engine.rules import claims, scopes
from tests.engine.rules.breaking import Break, Statements, Swap, trigger
from tests.engine.rules.stage import Stage
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

Check = Callable[[Stage], list[str]]


@dataclass(frozen=True)
class Rule:
    number: int
    check: Check
    breaks: dict[str, tuple[Break, ...]]


RULES = [
    Rule(
        1,
        scopes.parent_outlasts_its_children,
        {
            "state can be written": (
                Statements("drop trigger refuse_early_settle on worker.scope"),
                Statements("alter table worker.scope drop constraint scope_settles_after_its_children"),
            ),
            "outcomes can be inserted": (Statements("drop trigger refuse_outcome_of_open_scope on worker.outcome"),),
            "scopes can be deleted": (Statements("drop trigger refuse_open_scope_delete on worker.scope"),),
        },
    ),
    Rule(
        2,
        scopes.attempt_takes_effect_as_a_whole,
        {
            "a lost claim makes offspring": (
                Swap("raise_fenced", "raise exception using", "raise notice using"),
                Statements(
                    "create or replace function worker.holds_task(p_run worker.running) returns boolean"
                    " language sql return true"
                ),
            ),
        },
    ),
    Rule(
        3,
        scopes.last_child_settles_its_parent_once,
        {
            "a batch counts as one": (Swap("change_scopes", "- c.settled", "- least(c.settled, 1)"),),
            "each spawn is counted": (
                trigger(
                    "insert on worker.task for each row when (new.parent_id is not null)",
                    "update worker.running set progress = '{}' where id = new.parent_id",
                ),
            ),
        },
    ),
    Rule(
        4,
        scopes.failure_travels_up,
        {
            "failed children are overlooked": (
                Swap("close_scopes", "s.failed_children > 0 or s.cancelled_children > 0", "false"),
            ),
            "the sweep leaves what is ready": (
                Swap("sweep_cancelled", "perform worker.settle_unstarted(v_tree, v_request.reason);", ""),
                Swap("is_cancelling", "return v_reason is not null", "return false"),
            ),
            "claims take what is cancelled": (Swap("is_cancelling", "return v_reason is not null", "return false"),),
        },
    ),
    Rule(
        5,
        scopes.depth_is_limited,
        {"nobody looks at the depth": (Statements("drop trigger enforce_no_grandchildren on worker.task"),)},
    ),
    Rule(
        6,
        scopes.lost_claim_changes_nothing,
        {
            "the fence is not compared": (
                Swap("take_attempts", "and r.fence = u.fence for update", "for update"),
                Swap("take_attempts", "and r.fence = i.fence limit 1", "limit 1"),
            ),
            "the fence is not compared on the fast way": (Swap("finish_plain", "and x.fence = u.fence", ""),),
        },
    ),
    Rule(
        7,
        claims.liveness_is_proven,
        {
            "there is no grace": (
                Swap("mark_dead_workers", "w.lock_lost_at < v_now - p_grace", "w.lock_lost_at <= v_now"),
            ),
            "workers are known by name": (
                Swap(
                    "interrupt_abandoned",
                    "r.worker_id = any (p_dead)",
                    "exists (select from worker.worker as a, worker.worker as b where a.worker_id = r.worker_id"
                    " and b.worker_id = any (p_dead) and a.name = b.name)",
                ),
            ),
        },
    ),
    Rule(
        8,
        claims.complete_means_recorded,
        {
            "the lane moves on at the claim": (
                trigger(
                    "insert on worker.running for each row",
                    "perform worker.unblock(array(select b.id from worker.blocked as b join worker.task as t"
                    " on t.lane = b.lane where t.id = new.id limit 1))",
                ),
            ),
            "completions need not reach the disk": (
                Swap(
                    "run_tasks",
                    "set_config('synchronous_commit', 'off', true)",
                    "set_config('synchronous_commit', 'off', false)",
                ),
            ),
        },
    ),
    Rule(
        9,
        claims.retry_keeps_its_place,
        {
            "a retry gives the queue away": (
                trigger(
                    "insert on worker.blocked for each row when (new.reason = 'retry')",
                    "update worker.lane set head_id = null where queue_id = new.queue_id and lane = ''",
                ),
            ),
        },
    ),
    Rule(
        10,
        claims.claim_ignores_what_cannot_start,
        {"scheduled tasks are scanned": (Statements("drop index worker.blocked_due"),)},
    ),
    Rule(
        11,
        claims.enqueue_only_appends,
        {
            "a merge waits for its twin": (Swap("merge_into_pending", "for update skip locked", "for update"),),
            "twins in a lane are merged in place": (
                Swap("insert_task", "if p_lane is null and not p_is_serial then", "if true then"),
                Swap("merge_into_pending", "t.reason = 'scheduled'", "t.reason = 'lane'"),
                Swap(
                    "merge_into_pending",
                    "due_at = least(b.due_at, coalesce(p_scheduled_at, worker.now()))",
                    "due_at = null",
                ),
            ),
            "an enqueue writes its lane": (
                trigger(
                    "insert on worker.arrival for each row",
                    "update worker.lane set last_place = new.last_place where lane = new.lane",
                ),
            ),
            "a serial queue waits for its first task": (
                Swap("pick_serial", "or v_lane.head_id is not null", "or true"),
            ),
        },
    ),
    Rule(
        12,
        claims.locks_have_one_order,
        {
            "cancel locks the parent first": (
                Swap(
                    "cancel",
                    "update worker.running as r",
                    "perform s.id from worker.scope as s join worker.task as t on t.parent_id = s.id"
                    " where t.id = p_task_id for update of s; update worker.running as r",
                ),
            ),
        },
    ),
]

BREAKS = [
    pytest.param(rule.check, breaks, id=f"{rule.number} {name}")
    for rule in RULES
    for name, breaks in rule.breaks.items()
]


@pytest.fixture
def stage(committed: Engine, connect: Connect) -> Stage:
    return Stage.set(committed, connect)


@pytest.mark.parametrize("check", [pytest.param(rule.check, id=str(rule.number)) for rule in RULES])
def test_rule_holds(stage: Stage, check: Check) -> None:
    assert check(stage) == [], check.__doc__
    stage.engine.check()


@pytest.mark.long
@pytest.mark.parametrize(("check", "breaks"), BREAKS)
def test_broken_rule_is_noticed(stage: Stage, check: Check, breaks: tuple[Break, ...]) -> None:
    for broken in breaks:
        broken.apply(stage.conn)
    assert check(stage) != []


def test_every_rule_is_here() -> None:
    assert [rule.number for rule in RULES] == list(range(1, 13))
    assert all(rule.check.__doc__ for rule in RULES)
