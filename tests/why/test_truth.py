"""What ``worker.explain`` says is so: in random histories, a task starts at the next claim exactly if nothing is said
to hold it back, and it starts when what was named has been removed."""

from __future__ import annotations

import shlex
from datetime import datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import rule, run_state_machine_as_test
from psycopg import Connection
from psycopg.rows import dict_row

from tests.engine import choices
from tests.engine.choices import QUEUES, UPKEEP
from tests.engine.test_state_machine import Histories, conns

__all__ = ["conns"]

REGISTER = """
select worker_id from worker.register_worker('probe', %(queues)s, p_lease => '10 years', p_python_queues => %(queues)s)
"""
LET_IN = "select worker.let_in()"
UNLIMITED = "update worker.queue_registry set paused_at = null, max_running = null, rate = null"
TREE = """
with recursive tree as (
  select %s::bigint as id union all select t.id from tree as p join worker.task as t on t.parent_id = p.id
)
select r.id, r.fence from worker.running as r where r.id in (select t.id from tree as t)
"""
Condition = dict[str, Any]
# What a task stands in line for, also in its queue.
LINES = {"scheduled", "retry", "snooze", "serial", "lane", "halted", "follow_up", "merged", "limit", "limit_rate"}
LINES |= {"max_running", "rate"}


class Answers(Histories):
    """The histories of the engine, with queues that are paused and limited, and questions in between."""

    def __init__(self, conns: list[Connection[Any]]) -> None:
        super().__init__(conns)
        self.conn.execute(UNLIMITED)
        self.conn.execute("truncate worker.queue_meter")

    @rule(queue=choices.queue, is_paused=st.booleans())
    def pause(self, queue: str, is_paused: bool) -> None:
        self.execute(f"select worker.{'pause' if is_paused else 'resume'}_queue(%s)", queue)

    @rule(queue=choices.queue, most=st.sampled_from([None, 1, 2]), rate=st.sampled_from([None, None, 2]))
    def limit(self, queue: str, most: int | None, rate: int | None) -> None:
        self.execute(
            "update worker.queue_registry set max_running = %s, rate = %s, rate_per = '10 minutes' where queue = %s",
            *(most, rate, queue),
        )

    @rule()
    def explain(self) -> None:
        """About every unsettled task. An open transaction may hold rows, which claims pass over."""
        if self.has_open:
            return
        for task in self.seen.values():
            if not task.is_settled:
                with self.conn.transaction(force_rollback=True):
                    Question(self.conn, task.id, self.clock).check()

    def teardown(self) -> None:
        for conn in self.open_conns:
            conn.rollback()
        if self.is_sound:
            self.explain()
            self.execute(UNLIMITED)
        super().teardown()

    def register(self) -> int:
        return self.conn.execute(REGISTER, {"queues": list(QUEUES)}).fetchall()[0][0]


class Question:
    """One task, and the transaction in which everything may be tried."""

    def __init__(self, conn: Connection[Any], task_id: int, clock: datetime) -> None:
        self.conn = conn
        self.id = task_id
        self.clock = clock
        self.story: list[Any] = []
        ((self.worker_id,),) = conn.execute(REGISTER, {"queues": list(QUEUES)}).fetchall()

    def check(self) -> None:
        if not self.has_begun():
            self.compare(is_exact=False)
            # What is due or has arrived is let in by the next claim, and may come before this task.
            self.conn.execute(LET_IN)
            self.compare(is_exact=True)
        seen: set[str] = set()
        for _ in range(100):
            self.conn.execute(LET_IN)
            if self.has_begun():
                return
            answer = self.explain()
            blocking = [condition for condition in answer if condition["is_blocking"]]
            self.story.append([(c["kind"], c["words"]) for c in answer])
            seen |= {condition["kind"] for condition in blocking}
            if answer[0]["kind"] == "settled":
                # With what it was merged into, by its cancel, its root, or as a parent when its children were removed.
                is_named = seen & {"merged", "cancel", "follow_up", "children"}
                assert is_named or ("lane" in seen and self.is_cancelled_by_its_lane()), self.story
                return
            if not blocking:
                self.claim()
                assert self.has_begun(), self.story
                return
            for kind in {condition["kind"]: None for condition in blocking}:
                # Some may have gone with another.
                left = [c for c in self.explain() if c["is_blocking"] and c["kind"] == kind]
                if left and not self.has_begun():
                    self.remove(left[0])
        raise AssertionError(f"task {self.id} does not start: {self.story}")

    def compare(self, *, is_exact: bool) -> None:
        """A claim starts the task exactly if nothing is said to hold it back."""
        answer = self.explain()
        blocking = {condition["kind"] for condition in answer if condition["is_blocking"]}
        self.compare_column(answer)
        with self.conn.transaction(force_rollback=True):
            self.claim()
            runs, has_begun = self.runs(), self.has_begun()
        if blocking:
            assert not runs, f"it starts, but {answer}"
        else:
            assert has_begun or not is_exact, f"it does not start, but {answer}"

    def compare_column(self, answer: list[Condition]) -> None:
        """``waits_for`` has a word exactly if the answer has a line that the task stands in."""
        sql = "select state, waits_for, parent_id from worker.tasks where id = %s"
        ((state, waits_for, parent_id),) = self.conn.execute(sql, [self.id]).fetchall()
        if state != "pending" or (waits_for == "serial" and parent_id is not None):
            return  # a child that has become due says so, whether or not a sibling has its turn
        lines = [c for c in answer if c["is_blocking"] and c["kind"] in LINES]
        assert (waits_for is None) == (not lines), (waits_for, answer)

    def explain(self, task_id: int | None = None) -> list[Condition]:
        with self.conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute("select * from worker.explain(%s)", [task_id or self.id]).fetchall()

    def runs(self) -> bool:
        return self.conn.execute("select from worker.running where id = %s", [self.id]).rowcount > 0

    def has_begun(self) -> bool:
        """It runs, or was folded into a task that does."""
        sql = "select from worker.blocked as b join worker.running as r on r.id = b.wait_id where b.id = %s"
        return self.runs() or self.conn.execute(sql + " and b.reason = 'merged'", [self.id]).rowcount > 0

    def claim(self) -> None:
        for queue in QUEUES:
            self.conn.execute("select worker.claim_tasks(%s, array[%s], 1000)", [self.worker_id, queue])

    def remove(self, condition: Condition) -> None:
        """Do away with what the condition names, and with nothing else."""
        evidence = condition["evidence"]
        other = evidence.get("task", {}).get("id")
        match condition["kind"]:
            case "scheduled" if condition["remedy"]:
                self.story.append(condition["remedy"])
                *_, sql = shlex.split(condition["remedy"], comments=True)  # catchment psql -c '…'
                self.conn.execute(sql.encode())
            case "scheduled" | "retry" | "snooze" | "rate" | "limit_rate":
                self.move_clock(datetime.fromisoformat(evidence.get("due_at") or evidence["next_at"]))
                if evidence.get("ahead"):
                    self.claim()  # those in front of it use what the rate allows
            case "halted":
                self.conn.execute("select worker.skip_halted(%s, %s)", [evidence["queue"], evidence["lane"]])
            case "paused":
                self.conn.execute("select worker.resume_queue(%s)", [evidence["queue"]])
            case "cancel":
                self.conn.execute(UPKEEP["sweep_cancelled"])
            case "follow_up":
                self.finish(other)
            case "limit" if evidence.get("holders"):
                for holder in evidence["holders"]:
                    self.settle(holder["id"])
            case "limit" | "max_running" if other is None:
                self.claim()  # those in front of it come first
            case "lane" | "serial" | "max_running" | "children" | "merged":
                self.settle(other)
            case kind:
                raise AssertionError(f"nothing removes {kind}: {condition}")

    def settle(self, task_id: int) -> None:
        """Cancel a task, and end what runs below it."""
        for _ in range(20):
            if self.is_settled(task_id):
                return
            self.conn.execute("select worker.cancel(%s)", [task_id])
            self.conn.execute(UPKEEP["sweep_cancelled"])
            self.end_running(task_id)
        raise AssertionError(f"task {task_id} does not settle: {self.story}")

    def finish(self, root_id: int) -> None:
        """Let a root complete, or fail."""
        self.conn.execute(UNLIMITED)
        for _ in range(40):
            if self.is_settled(root_id):
                return
            self.move_clock(self.clock + timedelta(hours=1))
            self.claim()
            for task_id, fence in self.conn.execute("select id, fence from worker.running").fetchall():
                if task_id != self.id:
                    self.conn.execute("select worker.complete_task(%s, %s)", [task_id, fence])
            self.conn.execute(UPKEEP["skip_halted"])
            self.conn.execute(UPKEEP["sweep_cancelled"])
        raise AssertionError(f"root {root_id} does not end: {self.chain(root_id)} {self.story}")

    def chain(self, task_id: int | None) -> list[Any]:
        """What holds a task back, and what holds that back, and so on."""
        found: list[Any] = []
        while task_id is not None and len(found) < 10:
            answer = self.explain(task_id)
            found.append([task_id, *((c["kind"], c["words"]) for c in answer)])
            task_id = next((c["evidence"]["task"]["id"] for c in answer if "task" in c["evidence"]), None)
        return found

    def end_running(self, task_id: int) -> None:
        for running, fence in self.conn.execute(TREE, [task_id]).fetchall():
            self.conn.execute("select worker.complete_task(%s, %s)", [running, fence])

    def is_settled(self, task_id: int) -> bool:
        return self.conn.execute("select from worker.outcome where id = %s", [task_id]).rowcount > 0

    def is_cancelled_by_its_lane(self) -> bool:
        """A head that fails cancels the rest of its lane, if that is its policy. One with ``cancel_siblings`` and a
        failed child fails even when it is cancelled."""
        sql = "select from worker.outcome where id = %s and error ->> 'message' ~ '^task [0-9]+ in front of it failed$'"
        return self.conn.execute(sql, [self.id]).rowcount > 0

    def move_clock(self, to: datetime) -> None:
        self.clock = max(self.clock, to + timedelta(milliseconds=1))
        self.conn.execute("select set_config('worker.now', %s, false)", [self.clock.isoformat()])


def run(conns: list[Connection[Any]], *, examples: int, steps: int) -> None:
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        report_multiple_bugs=False,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: Answers(conns), settings=profile)


@pytest.mark.timeout(600)
def test_answers_are_true_in_random_histories(conns: list[Connection[Any]]) -> None:
    run(conns, examples=3, steps=20)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(4))
def test_answers_are_true_in_many_long_histories(part: int, conns: list[Connection[Any]]) -> None:
    run(conns, examples=200, steps=60)
