"""What a history of tasks must look like: a plain model over two looks at ``worker.tasks`` and what came between."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from psycopg import Connection
from psycopg.rows import class_row

SETTLED = frozenset({"completed", "failed", "cancelled"})
# Everything a run can write; the registries stay.
DATA = [
    *("task", "ready", "running", "blocked", "scope", "outcome", "attempt", "snoozed", "pending_key"),
    *("cancel_request", "after_call", "warning", "lane", "arrival", "gate", "gate_arrival", "worker", "sleeper"),
]


@dataclass(frozen=True, slots=True)
class Task:
    id: int
    command: str
    state: str
    parent_id: int | None
    queue: str
    lane: str | None
    attempt: int
    fence: int | None
    waits_for: str | None
    follows_id: int | None
    merged_into: int | None
    ids: list[int] | None

    @property
    def is_settled(self) -> bool:
        return self.state in SETTLED

    @property
    def is_at_work(self) -> bool:
        """It has started and is not done: its lane is its own until it settles."""
        return self.state in ("processing", "waiting", "interrupted") or self.waits_for in ("retry", "snooze")


Look = dict[int, Task]


def look(conn: Connection[Any]) -> Look:
    """Every task as it is now."""
    with conn.cursor(row_factory=class_row(Task)) as cursor:
        rows = cursor.execute(
            "select t.id, t.command, t.state, t.parent_id, t.queue, t.lane, t.attempt, t.fence, b.reason as waits_for,"
            "       t.follows_id, t.merged_into, t.payload -> 'ids' as ids"
            "  from worker.tasks as t"
            "  left join worker.blocked as b on b.id = t.id and t.state = 'pending'"
            " order by t.id"
        )
        return {task.id: task for task in rows}


def clear(conn: Connection[Any]) -> None:
    """Forget every task, worker and lane."""
    with conn.transaction():
        conn.execute("set local lock_timeout = 0")  # a vacuum may be about
        conn.execute("truncate " + ", ".join(f"worker.{table}" for table in DATA))


def subtree(tasks: Look, root_id: int) -> set[int]:
    found = {root_id}
    for task in tasks.values():  # by id: parents come before their children
        if task.parent_id in found:
            found.add(task.id)
    return found


def reach_of_retry(tasks: Look, retried: Task) -> set[int]:
    """What a retry may take out of its settled state: the subtree, what was folded into it, and its follow-ups."""
    found = subtree(tasks, retried.id)
    found |= {task.id for task in tasks.values() if task.merged_into in found or task.follows_id == retried.id}
    return found


def assert_settled_stay_settled(
    before: Look, after: Look, reopened: Iterable[int], *, may_vanish: bool = False
) -> None:
    for task in before.values():
        if task.is_settled and task.id not in reopened:
            now = after.get(task.id)
            if now is None:
                assert may_vanish, f"{task} vanished"
            else:
                assert now.state == task.state, f"{task} became {now}"
        elif not task.is_settled:
            assert task.id in after, f"{task} vanished"


def assert_held_as_claimed(tasks: Look, held: dict[int, int]) -> None:
    """Exactly the claims that were given and not ended are in force, each under its own fence."""
    assert {task.id: task.fence for task in tasks.values() if task.state == "processing"} == held


def assert_lanes_are_exclusive(tasks: Look, serial_queue: str) -> None:
    at_work = [task for task in tasks.values() if task.parent_id is None and task.is_at_work]
    for (queue, lane), count in Counter((t.queue, t.lane) for t in at_work if t.lane is not None).items():
        assert count == 1, f"{count} tasks at work in lane {lane} of {queue}"
    on_serial = [task for task in at_work if task.queue == serial_queue]
    assert len(on_serial) <= 1, f"several at work on {serial_queue}: {on_serial}"


def assert_parents_outlive_children(tasks: Look) -> None:
    for task in tasks.values():
        if task.parent_id is not None and not task.is_settled:
            parent = tasks[task.parent_id]
            assert parent.state == "waiting", f"{task} under {parent}"


def assert_nothing_can_start_below(tasks: Look, cancelled_id: int) -> None:
    """After a cancel and its sweep the rest of the tree runs, waits, or has settled."""
    for task_id in subtree(tasks, cancelled_id):
        task = tasks[task_id]
        assert task.is_settled or task.state in ("processing", "waiting") or task.merged_into, f"{task} is left"


def assert_folded_work_is_done(tasks: Look) -> None:
    """What a folded task asked for is part of what its survivor was asked for."""
    for task in tasks.values():
        survivor = tasks.get(task.merged_into or 0)
        if survivor is not None:
            assert set(task.ids or ()) <= set(survivor.ids or ()), f"{task} in {survivor}"
