"""What scope_figures, scope_groups and find_children say of a scope is what worker.tasks says, for every state."""

from __future__ import annotations

import random

import pytest

from catchment.model.state import TaskState
from tests.fixtures.engine import Engine
from tests.sql.support import Hand, check_open_tasks, python_work

SPAWN = {"command": "act", "payload": {}}


def random_scope(hand: Hand, children: int, seed: int) -> int:
    """A scope whose children have come as far as chance would have it."""
    chance = random.Random(seed)
    hand.engine.conn.execute("update worker.queue_registry set max_depth = null where queue = 'work'")
    task = hand.engine.enqueue()
    hand.complete(hand.claim_one(), p_spawns=[SPAWN] * children)
    for claim in hand.claim(children * 3 // 4):
        match chance.choice(["complete", "fail", "interrupt", "spawn", "cancel", "run", "join"]):
            case "complete":
                hand.complete(claim)
            case "fail":
                hand.fail(claim)
            case "interrupt":
                hand.interrupt(claim)
            case "spawn":
                hand.complete(claim, p_spawns=[SPAWN] * 2)
            case "cancel":
                hand.interrupt(claim)
                hand.engine.value("select worker.cancel(%s)", claim.id)
            case _:
                pass
    return task


def pages(engine: Engine, task: int, state: str, *, page: int, looked: int, backward: bool) -> list[int]:
    seen: list[int] = []
    after: int | None = None
    while True:
        *rows, (_, _, last, has_more) = engine.conn.execute(
            "select * from worker.find_children(%s, %s, null, %s, %s, %s, %s)",
            [task, state, after, backward, page, looked],
        ).fetchall()
        seen += [row[0] for row in rows]
        after = seen[-1] if len(rows) == page else last
        if len(rows) < page and not has_more:
            return seen


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 30))])
def test_reads_of_a_scope_agree_with_the_view(engine: Engine, seed: int) -> None:
    task = random_scope(python_work(engine), 60, seed)
    engine.check()
    check_open_tasks(engine)
    truth: dict[str, list[int]] = {state: [] for state in TaskState}
    for task_id, state in engine.conn.execute(
        "select id, state from worker.tasks where parent_id = %s order by id", [task]
    ):
        truth[state].append(task_id)
    assert all(truth.values()), "chance has left a state out"
    figures = engine.value("select to_jsonb(f) from worker.scope_figures(%s) as f", task)
    known = {state: figures[state] for state in ("failed", "cancelled", "interrupted", "processing", "waiting")}
    assert known == {state: len(truth[state]) for state in known}
    assert figures["open"] - sum(figures[s] for s in ("interrupted", "processing", "waiting")) == len(truth["pending"])
    assert figures["total"] - figures["open"] - figures["failed"] - figures["cancelled"] == len(truth["completed"])
    for most in (1000, 30):
        groups = engine.conn.execute(
            "select state, tasks from worker.scope_groups(%s, now() - interval '1 h', now(), p_most => %s) "
            "where bin is null",
            [task, most],
        ).fetchall()
        assert dict(groups) == {state: len(ids) for state, ids in truth.items()}
    for state, ids in truth.items():
        for page, looked in ((50, 20_000), (2, 5), (1, 1)):
            assert pages(engine, task, state, page=page, looked=looked, backward=False) == ids, (state, page)
    assert pages(engine, task, "pending", page=2, looked=5, backward=True) == truth["pending"][::-1]
