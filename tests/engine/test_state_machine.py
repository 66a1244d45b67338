"""Random histories: every verb of the engine over several connections, with the rules checked after every step."""

from __future__ import annotations


from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from psycopg import Connection, Error
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from tests.engine import history
from tests.engine.history import Look, Task
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

T = TypeVar("T")
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
REFUSALS = {"CM005", "CM006", "CM007", "CM008", "CM011"}
# A wait is an error: no verb of these histories may wait for an open transaction.
LOCK_TIMEOUT = "set lock_timeout = '300ms'"
OPEN_SLOTS = 2
WORKERS = 2

QUEUES = {"line": {"mode": "serial"}, "flow": {"mode": "concurrent", "max_depth": 3}}
COMMANDS: dict[str, dict[str, Any]] = {
    "step": {"queue": "line", "max_attempts": 2},
    "work": {"queue": "flow", "max_attempts": 2},
    "fold": {"queue": "flow", "max_attempts": 2, "dedup": ["key"], "merge": {"ids": "union"}},
    "line_fold": {"queue": "line", "dedup": ["key"], "merge": {"ids": "union"}},
    "joined": {"queue": "flow", "join_procedure": "in Python", "max_attempts": 2},
    "careless": {"queue": "flow", "on_failure": "continue"},
    "brittle": {"queue": "flow", "on_failure": "cancel_rest"},
    "line_halt": {"queue": "line", "on_failure": "halt"},
}

index = st.integers(0, 10_000)
command = st.sampled_from(sorted(COMMANDS))
lane = st.sampled_from([None, "a", "b"])
minutes = st.sampled_from([0, 0, 0, 5])
spawn = st.fixed_dictionaries(
    {"command": command, "key": st.integers(0, 1), "is_sibling": st.sampled_from([False, False, True]), "delay": minutes}
)


class Histories(RuleBasedStateMachine):
    """Workers, callers and operators at random. ``held`` is what the workers believe, ``seen`` the last look."""

    def __init__(self, conns: list[Connection[Any]]) -> None:
        super().__init__()
        self.conn, *others = conns
        self.open_conns, self.worker_conns = others[:OPEN_SLOTS], others[OPEN_SLOTS:]
        self.clock = EPOCH
        self.held: dict[int, int] = {}
        self.owner: dict[int, int] = {}
        self.lost: list[tuple[int, int]] = []
        self.retried: set[int] = set()
        self.seen: Look = {}
        self.must_not_change = False
        self.may_vanish = False
        self.is_sound = True
        self.number = 0

    # Callers

    @initialize()
    def begin(self) -> None:
        history.clear(self.conn)
        self.set_clock()
        self.workers = [self.register() for _ in self.worker_conns]

    @rule(command=command, lane=lane, key=st.integers(0, 1), priority=st.sampled_from([None, 10]), delay=minutes)
    def enqueue(self, command: str, lane: str | None, key: int, priority: int | None, delay: int) -> None:
        self.make(self.conn, command, lane, key, priority, delay)

    @rule(slot=st.integers(0, OPEN_SLOTS - 1), command=command, lane=lane, key=st.integers(0, 1))
    def enqueue_and_stay_open(self, slot: int, command: str, lane: str | None, key: int) -> None:
        conn = self.begun(slot)
        self.make(conn, command, lane, key, None, 0)

    @precondition(lambda self: self.in_state("waiting"))
    @rule(which=index, command=command, key=st.integers(0, 1), slot=st.sampled_from([None, *range(OPEN_SLOTS)]), delay=minutes)
    def spawn_late(self, which: int, command: str, key: int, slot: int | None, delay: int) -> None:
        conn = self.conn if slot is None else self.begun(slot)
        parent = self.choose(self.in_state("waiting"), which)
        self.ask(
            conn,
            "select worker.spawn_child(%s, %s, %s, p_scheduled_at => %s)",
            command,
            self.payload(key),
            parent.id,
            self.due(delay),
        )

    @precondition(lambda self: any(self.is_open(c) for c in self.open_conns))
    @rule(slot=index, commits=st.sampled_from([True, True, False]))
    def close(self, slot: int, commits: bool) -> None:
        conn = self.choose([c for c in self.open_conns if self.is_open(c)], slot)
        self.ask(conn, "commit" if commits else "rollback")
        self.set_clock()

    # Workers

    @rule(worker=st.integers(0, WORKERS - 1), queue=st.sampled_from(["flow", "flow", "line"]), limit=st.integers(1, 5))
    def claim(self, worker: int, queue: str, limit: int) -> None:
        rows = self.worker_conns[worker].execute(
            "select id, fence from worker.claim_tasks(%s, %s, %s)", [self.workers[worker], queue, limit]
        )
        for task_id, fence in rows.fetchall():
            assert task_id not in self.held, f"task {task_id} was claimed twice"
            assert all(fence > old for _, old in self.lost), f"fence {fence} is not new"
            self.held[task_id] = fence
            self.owner[task_id] = worker

    @precondition(lambda self: self.held)
    @rule(which=index, key=st.integers(0, 1))
    def complete(self, which: int, key: int) -> None:
        task_id = self.choose(sorted(self.held), which)
        if self.end(task_id, "complete_task", Jsonb({"n": key})) is not None:
            self.drop(task_id)

    @precondition(lambda self: self.held)
    @rule(
        which=index,
        spawns=st.lists(spawn, max_size=3),
        follow_ups=st.lists(st.tuples(command, lane), max_size=2),
        mode=st.sampled_from(["concurrent", "serial"]),
        on_failure=st.sampled_from(["wait", "cancel_siblings"]),
    )
    def complete_with_offspring(
        self, which: int, spawns: list[dict[str, Any]], follow_ups: list[tuple[str, str | None]], mode: str, on_failure: str
    ) -> None:
        task_id = self.choose(sorted(self.held), which)
        made = [
            {
                "command": s["command"],
                "payload": self.payload(s["key"]).obj,
                "is_sibling": s["is_sibling"] and self.seen[task_id].parent_id is not None,
                "scheduled_at": due.isoformat() if (due := self.due(s["delay"])) else None,
            }
            for s in spawns
        ]
        after = [
            {"command": c, "payload": self.payload(0).obj, "lane": where} for c, where in follow_ups
        ]
        if self.end(task_id, "complete_task", None, None, Jsonb(made), mode, on_failure, Jsonb(after)) is not None:
            self.drop(task_id)

    @precondition(lambda self: self.held)
    @rule(which=index, is_retryable=st.booleans())
    def fail(self, which: int, is_retryable: bool) -> None:
        task_id = self.choose(sorted(self.held), which)
        error = {"kind": "probe", "message": "failed", "retryable": is_retryable}
        assert self.end(task_id, "fail_task", Jsonb(error)) is not None
        self.drop(task_id)

    @precondition(lambda self: self.held)
    @rule(which=index)
    def release(self, which: int) -> None:
        task_id = self.choose(sorted(self.held), which)
        assert self.end(task_id, "release_task") is not None
        self.drop(task_id)

    @precondition(lambda self: self.lost)
    @rule(which=index, verb=st.sampled_from(["complete_task", "spawning complete_task", "fail_task", "release_task"]))
    def act_under_a_lost_fence(self, which: int, verb: str) -> None:
        task_id, fence = self.choose(self.lost, which)
        arguments = {
            "complete_task": "",
            "spawning complete_task": """, p_spawns => '[{"command": "work", "payload": {}}]'""",
            "fail_task": ", '{}'",
            "release_task": "",
        }
        with pytest.raises(Error) as raised:
            self.conn.execute(f"select worker.{verb.split()[-1]}({task_id}, {fence}{arguments[verb]})")
        assert raised.value.sqlstate == "CM001"
        self.must_not_change = True

    @rule(worker=st.integers(0, WORKERS - 1))
    def crash(self, worker: int) -> None:
        self.conn.execute("select worker.interrupt_abandoned(array[%s]::bigint[])", [self.workers[worker]])
        for task_id in [t for t, owner in self.owner.items() if owner == worker]:
            self.drop(task_id)
        self.workers[worker] = self.register()

    # Operators and upkeep

    @precondition(lambda self: self.seen)
    @rule(which=index, sweeps=st.booleans())
    def cancel(self, which: int, sweeps: bool) -> None:
        task = self.choose(list(self.seen.values()), which)
        # An open enqueue may hold the row of the task it merged into; only cancel waits for it.
        self.ask(self.conn, "select worker.cancel(%s)", task.id, also={"55P03"} if self.seen_open() else set())
        if sweeps:
            self.conn.execute("select worker.sweep_cancelled()")

    @rule()
    def sweep(self) -> None:
        self.conn.execute("select worker.sweep_cancelled()")

    @precondition(lambda self: self.in_state("failed", "cancelled"))
    @rule(which=index)
    def retry(self, which: int) -> None:
        task = self.choose(self.in_state("failed", "cancelled"), which)
        self.retried = history.subtree(self.seen, task.id)
        self.ask(self.conn, "select worker.retry(%s)", task.id)

    @rule(queue=st.sampled_from(["line", "flow"]), lane=st.sampled_from(["a", "b", ""]))
    def skip_halted(self, queue: str, lane: str) -> None:
        self.ask(self.conn, "select worker.skip_halted(%s, %s)", queue, lane, also={"CM009"})

    @rule(minutes=st.sampled_from([1, 10]))
    def move_the_clock(self, minutes: int) -> None:
        self.clock += timedelta(minutes=minutes)
        self.set_clock()

    @rule(verb=st.sampled_from(["promote_due", "admit_arrivals", "age_ready"]))
    def upkeep(self, verb: str) -> None:
        self.conn.execute(f"select worker.{verb}()")

    @rule()
    def delete_settled(self) -> None:
        self.conn.execute("select worker.delete_settled(worker.now(), worker.now() - interval '5 minutes', 2)")
        self.may_vanish = True

    # What holds after every step

    @invariant()
    def rules_hold(self) -> None:
        before, self.seen = self.seen, history.look(self.conn)
        assert self.conn.execute("select * from worker.check_invariants()").fetchall() == []
        history.assert_settled_stay_settled(before, self.seen, self.retried, may_vanish=self.may_vanish)
        history.assert_held_as_claimed(self.seen, self.held)
        history.assert_lanes_are_exclusive(self.seen, serial_queue="line")
        history.assert_parents_outlive_children(self.seen)
        history.assert_folded_work_is_done(self.seen)
        if self.must_not_change:
            assert self.seen == before
        self.retried, self.must_not_change, self.may_vanish = set(), False, False
        self.is_sound = True

    def teardown(self) -> None:
        """Everything comes to rest: no history leaves a task that nothing will ever move."""
        for conn in self.open_conns:
            conn.rollback()
        if not self.is_sound:
            return
        for _ in range(100):
            self.clock += timedelta(hours=1)
            self.set_clock()
            self.conn.execute("select worker.sweep_cancelled()")
            for queue in QUEUES:
                self.claim(0, queue, 50)
            for task_id in list(self.held):
                if self.end(task_id, "complete_task") is not None:
                    self.drop(task_id)
            self.conn.execute(
                "select worker.skip_halted(queue, lane) from worker.lanes where halted_at is not null"
            )
            self.rules_hold()
            if all(task.is_settled for task in self.seen.values()):
                break
        assert [task for task in self.seen.values() if not task.is_settled] == []
        self.conn.execute("select worker.admit_arrivals(), worker.sweep_cancelled()")
        for table in ("ready", "blocked", "running", "arrival", "pending_key", "cancel_request"):
            assert self.conn.execute(f"select * from worker.{table}").fetchall() == [], table
        assert self.conn.execute("select * from worker.lane where lane <> '' or head_id is not null").fetchall() == []

    # Means

    def in_state(self, *states: str) -> list[Task]:
        return [task for task in self.seen.values() if task.state in states]

    @staticmethod
    def choose(items: list[T], number: int) -> T:
        return items[number % len(items)]

    def payload(self, key: int) -> Jsonb:
        self.number += 1
        return Jsonb({"key": key, "ids": [self.number]})

    def due(self, delay: int) -> datetime | None:
        return self.clock + timedelta(minutes=delay) if delay else None

    def make(
        self, conn: Connection[Any], command: str, lane: str | None, key: int, priority: int | None, delay: int
    ) -> None:
        self.ask(
            conn,
            "select worker.enqueue(%s, %s, %s, %s, %s)",
            command,
            self.payload(key),
            priority,
            lane,
            self.due(delay),
        )

    def ask(self, conn: Connection[Any], sql: str, *arguments: Any, also: set[str] = frozenset()) -> Any:  # type: ignore[assignment]
        """Run one statement. The engine may refuse it; then nothing may have changed."""
        self.is_sound = False
        try:
            cursor = conn.execute(sql, arguments)  # type: ignore[arg-type]
        except Error as error:
            if error.sqlstate not in REFUSALS | also:
                raise
            if self.is_open(conn):
                conn.rollback()
                self.set_clock()
            self.must_not_change = True
            return None
        return row[0] if cursor.description and (row := cursor.fetchone()) else None

    def end(self, task_id: int, verb: str, *arguments: Any) -> str | None:
        marks = ", %s" * len(arguments)
        conn = self.worker_conns[self.owner[task_id]]
        return self.ask(conn, f"select worker.{verb}(%s, %s{marks})", task_id, self.held[task_id], *arguments)

    def drop(self, task_id: int) -> None:
        self.lost.append((task_id, self.held.pop(task_id)))
        del self.owner[task_id]

    def register(self) -> int:
        row = self.conn.execute("select worker_id from worker.register_worker('probe')").fetchone()
        assert row is not None
        return row[0]

    @staticmethod
    def is_open(conn: Connection[Any]) -> bool:
        return conn.info.transaction_status != TransactionStatus.IDLE

    def seen_open(self) -> bool:
        return any(self.is_open(conn) for conn in self.open_conns)

    def begun(self, slot: int) -> Connection[Any]:
        conn = self.open_conns[slot]
        if not self.is_open(conn):
            conn.execute("begin")
        return conn

    def set_clock(self) -> None:
        for conn in [self.conn, *self.open_conns, *self.worker_conns]:
            conn.execute("select set_config('worker.now', %s, false)", [self.clock.isoformat()])


@pytest.fixture
def conns(committed: Engine, connect: Connect) -> list[Connection[Any]]:
    for queue, options in QUEUES.items():
        committed.queue(queue, **options)
    for name, options in COMMANDS.items():
        committed.command(name, handler_kind="python", retry_delay="1 minute", **options)
    opened = [committed.conn, *(connect() for _ in range(OPEN_SLOTS + WORKERS))]
    for conn in opened:
        conn.execute(LOCK_TIMEOUT)
    return opened


def run(conns: list[Connection[Any]], *, examples: int, steps: int) -> None:
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        database=None,
        derandomize=False,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: Histories(conns), settings=profile)


@pytest.mark.timeout(600)
def test_rules_hold_after_every_step_of_random_histories(conns: list[Connection[Any]]) -> None:
    run(conns, examples=300, steps=60)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_rules_hold_after_every_step_of_many_long_histories(conns: list[Connection[Any]]) -> None:
    run(conns, examples=3000, steps=100)
