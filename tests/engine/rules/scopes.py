"""Rules 1 to 5: what a parent and its children owe each other."""

from __future__ import annotations

from contextlib import suppress

from psycopg import errors
from psycopg.types.json import Jsonb

from tests.engine import history
from tests.engine.rules.stage import CHILD, Stage


def parent_outlasts_its_children(stage: Stage) -> list[str]:
    """1. While a child is unsettled its parent cannot settle: the stored tables refuse that even to a superuser."""
    parent = stage.scope(stage.worker(), children=1)
    writes = {
        "scope.state was set": "update worker.scope set state = 'completed' where id = %s",
        "scope.state was set, and the counter to fit": (
            "update worker.scope set state = 'completed', open_children = 0 where id = %s"
        ),
        "an outcome was inserted": (
            "insert into worker.outcome (id, state, attempt, completed_at) values (%s, 'completed', 1, now())"
        ),
        "the open scope was deleted": "delete from worker.scope where id = %s",
    }
    assert stage.value("select current_setting('is_superuser')") == "on"
    return [problem for problem, sql in writes.items() if stage.refusal(sql, parent) is None]


def attempt_takes_effect_as_a_whole(stage: Stage) -> list[str]:
    """2. What a handler wrote, its children, its follow-ups and its own transition commit together or not at all.

    No child can be claimed while the attempt that spawned it can still fail.
    """
    problems = []
    # A handler that raises at its end.
    stage.engine.enqueue(note="failed", spawn=[{}], follow_up=[{}], fail="no")
    stage.engine.process()
    # A handler that has returned in a transaction which does not commit.
    stage.engine.enqueue(note="open", spawn=[{}], follow_up=[{}])
    with stage.connect(autocommit=False) as attempt:
        attempt.execute("call worker.process_tasks(p_queue => 'work')")
        if stage.value("select count(*) from worker.task where parent_id is not null or follows_id is not null"):
            problems.append("offspring was visible before its parent's transition")
        attempt.rollback()
    problems += [f"the write of a {note} attempt stayed" for note in stage.engine.notes()]

    # A worker that lost its claim to another and does not know it.
    stage.enqueue()
    stale, other = stage.worker(), stage.worker()
    (lost,) = stage.claim(stale)
    stage.crash(stale)
    (held,) = stage.claim(other)
    assert held[0] == lost[0]
    with suppress(errors.DatabaseError):
        sql = "select worker.complete_task(%s, %s, p_spawns => %s, p_follow_ups => %s)"
        stage.conn.execute(sql, [*lost, Jsonb([CHILD]), Jsonb([CHILD])])
        problems.append("an attempt that had lost its claim made offspring")
    if stage.claim(other, limit=10):
        problems.append("a child was claimed while its parent's attempt was running")
    return problems


def last_child_settles_its_parent_once(stage: Stage) -> list[str]:
    """3. The last child settles its parent, exactly once, at a cost that does not depend on the number of siblings.

    Spawning only inserts; a batch of children writes their parent's counter once.
    """
    problems = []
    updates = "select sum(n_tup_upd) from pg_stat_xact_user_tables where relname in ('scope', 'running', 'task')"
    written = []
    for children in (2, 40):
        with stage.connect(autocommit=False) as handler:
            payload = Jsonb({"spawn": [{}] * children})
            handler.execute("select worker.enqueue('act', %s)", [payload])
            handler.execute("call worker.process_tasks(p_queue => 'work', p_batch_size => 1)")
            written.append(handler.execute(updates).fetchall()[0][0])
            handler.rollback()
    if written[0] != written[1]:
        problems.append(f"2 spawns wrote {written[0]} rows over, 40 spawns {written[1]}")

    stage.conn.execute("update worker.command_registry set after_procedure = 'probe.note' where command = 'work'")
    worker_id = stage.worker()
    parent = stage.scope(worker_id, children=40)
    ids, fences = (list(column) for column in zip(*stage.claim(worker_id, limit=40), strict=True))
    settle = "select worker.settle(%s::bigint[], %s::bigint[], array_fill('completed'::text, array[cardinality(%s)]))"
    with stage.conn.transaction():
        stage.conn.execute(settle, [ids[1:], fences[1:], ids[1:]])
        counted = stage.value("select n_tup_upd from pg_stat_xact_user_tables where relname = 'scope'")
    if counted != 1:
        problems.append(f"a batch of 39 children wrote their parent {counted} times")
    if stage.engine.state(parent) != "waiting":
        problems.append("the parent settled before its last child")
    stage.conn.execute(settle, [ids[:1], fences[:1], ids[:1]])
    if stage.engine.state(parent) != "completed":
        problems.append(f"the parent is {stage.engine.state(parent)} after its last child")
    elif stage.value("select count(*) from worker.after_call where task_id = %s", parent) != 1:
        problems.append("the parent settled more than once")
    return problems


def failure_travels_up(stage: Stage) -> list[str]:
    """4. A failed child fails its parent at the end, siblings continue unless the scope says cancel_siblings.

    A parent that failed or was cancelled leaves nothing below it that could run.
    """
    problems = []
    parent = stage.engine.enqueue(spawn=[{}, {"fail": "no"}, {}])
    stage.engine.drain()
    states = [stage.engine.state(task_id) for task_id in [parent, *stage.engine.children(parent)]]
    if states != ["failed", "completed", "failed", "completed"]:
        problems.append(f"parent and children ended as {states}")

    worker_id = stage.worker()
    strict, cancelled = stage.enqueue(), stage.enqueue()
    for claim in stage.claim(worker_id, limit=2):
        stage.complete(claim, children=3, on_failure="cancel_siblings")
    (child,) = stage.claim(worker_id)
    stage.fail(child)
    stage.conn.execute("select worker.cancel(%s)", [cancelled])
    if early := stage.claim(worker_id, limit=10):
        return [*problems, f"{len(early)} tasks could be claimed before the sweep"]
    stage.conn.execute("select worker.sweep_cancelled()")
    if left := stage.claim(worker_id, limit=10):
        problems.append(f"{len(left)} tasks below a failed or cancelled parent could be claimed")
    elif (ends := [stage.engine.state(strict), stage.engine.state(cancelled)]) != ["failed", "cancelled"]:
        problems.append(f"the scopes ended as {ends}")
    return problems


def depth_is_limited(stage: Stage) -> list[str]:
    """5. Children have no children unless their queue allows the depth."""
    parent = stage.engine.enqueue(spawn=[{"spawn": [{}]}])
    stage.engine.drain()
    (child,) = stage.engine.children(parent)
    if stage.engine.children(child):
        return ["a child has a child on a queue of depth 1"]
    assert "allows 1" in stage.engine.task(child)["error"]

    stage.conn.execute("update worker.queue_registry set max_depth = 2")
    stage.value("select worker.retry(%s)", parent)
    stage.engine.drain()
    return [] if len(stage.engine.children(child)) == 1 else ["a queue of depth 2 took no grandchild"]


def lost_claim_changes_nothing(stage: Stage) -> list[str]:
    """6. Each attempt has a fence and each write of a worker carries it; one that lost its claim changes nothing."""
    stage.enqueue()
    stale, other = stage.worker(), stage.worker()
    (lost,) = stage.claim(stale)
    stage.crash(stale)
    (held,) = stage.claim(other)
    assert held[0] == lost[0]
    assert held[1] > lost[1]

    problems = []
    before = history.look(stage.conn)
    for arguments in ("complete_task(%s, %s)", "fail_task(%s, %s, '{}')", "release_task(%s, %s)"):
        refusal = stage.refusal(f"select worker.{arguments}", *lost)
        if refusal != "CM001":
            problems.append(f"{arguments} under a lost fence ended with {refusal}")
    if stage.refusal("select worker.report_progress(%s, %s, '{}')", *lost) != "CM001":
        problems.append("progress was reported under a lost fence")
    stage.conn.execute("select worker.settle(array[%s], array[%s], array['completed'])", lost)
    if history.look(stage.conn) != before:
        problems.append("a batch settled a task under a lost fence")
    return problems
