"""Random histories: every verb of the engine over several connections, with the rules checked after every step."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from psycopg import Connection, Error
from psycopg.pq import TransactionStatus
from psycopg.types.json import Jsonb

from tests.engine import choices, history
from tests.engine.choices import (
    CHANGES,
    COMMANDS,
    LATE_VERBS,
    LIMITED,
    OPEN_SLOTS,
    QUEUES,
    UPKEEP,
    WORKERS,
    Offspring,
    Request,
    Spawn,
)
from tests.engine.history import Look, Task
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

T = TypeVar("T")
EPOCH = datetime(2030, 1, 1, tzinfo=UTC)
REFUSALS = {"CM005", "CM006", "CM007", "CM008", "CM011", "CM021", "CM022", "CM024", "CM026"}
# A wait is an error: no verb of these histories may wait for an open transaction.
LOCK_TIMEOUT = "set lock_timeout = '300ms'"


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
        self.retries: dict[int, set[int]] = {}
        self.seen: Look = {}
        self.must_not_change = False
        self.may_vanish = False
        self.is_sound = True
        self.number = 0

    # Callers

    @initialize(requests=st.lists(choices.request, min_size=2, max_size=6))
    def begin(self, requests: list[Request]) -> None:
        history.clear(self.conn)
        self.set_clock()
        self.workers = [self.register() for _ in self.worker_conns]
        self.enqueue(requests)

    @rule(requests=st.lists(choices.request, min_size=1, max_size=3))
    def enqueue(self, requests: list[Request]) -> None:
        for asked in requests:
            self.make(self.conn, asked)

    @rule(slot=st.integers(0, OPEN_SLOTS - 1), requests=st.lists(choices.request, min_size=1, max_size=2))
    def enqueue_and_stay_open(self, slot: int, requests: list[Request]) -> None:
        for asked in requests:
            self.make(self.begun(slot), asked)

    @rule(which=choices.index, child=choices.spawn, slot=st.sampled_from([None, *range(OPEN_SLOTS)]))
    def spawn_late(self, which: int, child: Spawn, slot: int | None) -> None:
        if (parent := self.choose(self.in_state("waiting"), which)) is None:
            return
        conn = self.conn if slot is None else self.begun(slot)
        arguments = child.command, self.payload(child.key), parent.id, self.due(child.delay)
        self.ask(conn, "select worker.spawn_child(%s, %s, %s, p_scheduled_at => %s)", *arguments)

    @rule(which=choices.index, commits=st.sampled_from([True, True, False]))
    def close(self, which: int, commits: bool) -> None:
        if conn := self.choose([c for c in self.open_conns if self.is_open(c)], which):
            self.ask(conn, "commit" if commits else "rollback")
            self.set_clock()

    # Workers

    @rule(
        worker=choices.worker,
        queue=choices.queue,
        limit=st.integers(1, 5),
        fates=st.lists(choices.fate, min_size=1, max_size=5),
    )
    def take_turn(self, worker: int, queue: str, limit: int, fates: list[Offspring | str]) -> None:
        """Claim, and end what is held, one after the other."""
        self.claim(worker, queue, limit)
        self.rules_hold()
        for task_id, fate in zip(sorted(self.held), fates, strict=False):
            self.end(task_id, fate)
            self.rules_hold()

    @rule(
        worker=choices.worker,
        requests=st.lists(choices.request, min_size=1, max_size=4),
        fates=st.lists(choices.fate, min_size=2, max_size=6),
    )
    def enqueue_and_take_turns(self, worker: int, requests: list[Request], fates: list[Offspring | str]) -> None:
        self.enqueue(requests)
        self.rules_hold()
        for queue in QUEUES:
            self.take_turn(worker, queue, 5, fates)

    @rule(worker=choices.worker, queue=choices.queue, limit=st.integers(1, 5))
    def claim(self, worker: int, queue: str, limit: int) -> None:
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], %s)"
        rows = self.execute(sql, self.workers[worker], queue, limit, conn=self.worker_conns[worker])
        for task_id, fence in rows:
            assert task_id not in self.held, f"task {task_id} was claimed twice"
            assert all(fence > old for _, old in self.lost), f"fence {fence} is not new"
            self.held[task_id] = fence
            self.owner[task_id] = worker
        marked = "select id from worker.scope where state = 'waiting' and cancel_reason is not null"
        for (root,) in self.execute(marked) if rows else ():
            below = history.subtree(self.seen, root).intersection(task_id for task_id, _ in rows)
            assert not below, f"{below} started below task {root}, which was asked to stop"

    @rule(which=choices.index, fate=choices.fate)
    def end_one(self, which: int, fate: Offspring | str) -> None:
        if task_id := self.choose(sorted(self.held), which):
            self.end(task_id, fate)

    @rule(which=choices.index, verb=st.sampled_from(sorted(LATE_VERBS)))
    def act_under_a_lost_fence(self, which: int, verb: str) -> None:
        again = [claim for claim in self.lost if claim[0] in self.held]  # where another attempt could be hit
        if (claim := self.choose(again or self.lost, which)) is None:
            return
        with pytest.raises(Error) as raised:
            self.execute(LATE_VERBS[verb], *claim)
        assert raised.value.sqlstate == "CM001"
        self.must_not_change = True

    @rule(worker=choices.worker)
    def crash(self, worker: int) -> None:
        self.execute("select worker.interrupt_abandoned(array[%s]::bigint[])", self.workers[worker])
        self.execute("select worker.forget_workers(array[%s]::bigint[])", self.workers[worker])
        for task_id in [t for t, owner in self.owner.items() if owner == worker]:
            self.drop(task_id)
        self.workers[worker] = self.register()

    # Operators and upkeep

    @rule(which=choices.index, sweeps=st.booleans())
    def cancel(self, which: int, sweeps: bool) -> None:
        if (task := self.choose(list(self.seen.values()), which)) is None:
            return
        # An open enqueue may hold the row of the task it merged into; only cancel waits for it.
        self.ask(self.conn, "select worker.cancel(%s)", task.id, also=frozenset({"55P03"} if self.has_open else ()))
        self.rules_hold()
        if sweeps:
            self.execute(UPKEEP["sweep_cancelled"])
            self.rules_hold()
            if not self.has_open:
                history.assert_nothing_can_start_below(self.seen, task.id)

    @rule(
        which=choices.index,
        change=st.sampled_from(CHANGES),
        delay=choices.minutes,
        key=choices.key,
        prefers_limited=st.booleans(),
    )
    def change(self, which: int, change: str, delay: int, key: int, prefers_limited: bool) -> None:
        """UPDATE of a task: legal while it has never been tried, else refused."""
        tasks = self.in_state("pending") or list(self.seen.values())
        limited = [task for task in tasks if task.command in LIMITED]
        if (task := self.choose((prefers_limited and limited) or tasks, which)) is None:
            return
        sets, value = {
            "scheduled_at": ("scheduled_at = %s", self.due(delay)),
            "priority": ("priority = %s", 10 + key),
            "key": ("payload = payload || jsonb_build_object('key', %s::integer)", key),
        }[change]
        # An open enqueue may hold the row of the task it merged into.
        also = frozenset({"55P03"} if self.has_open else ())
        self.ask(self.conn, f"update worker.tasks set {sets} where id = %s", value, task.id, also=also)

    @rule(which=choices.index, prefers_scopes=st.booleans())
    def retry(self, which: int, prefers_scopes: bool) -> None:
        tasks = self.in_state("failed") or self.in_state("cancelled")
        parents = {task.parent_id for task in self.seen.values()}
        scopes = [task for task in tasks if task.id in parents]
        if task := self.choose((prefers_scopes and scopes) or tasks, which):
            self.retries[task.id] = history.reach_of_retry(self.seen, task)
            self.ask(self.conn, "select worker.retry(%s)", task.id)

    @rule(verb=st.sampled_from(sorted(UPKEEP)), minutes=st.sampled_from([0, 1, 10]))
    def upkeep(self, verb: str, minutes: int) -> None:
        self.clock += timedelta(minutes=minutes)
        self.set_clock()
        self.may_vanish = verb == "delete_settled"
        self.execute(UPKEEP[verb])

    # What holds after every step

    @invariant()
    def rules_hold(self) -> None:
        if self.is_sound:
            return  # nothing has been done since
        before, self.seen = self.seen, history.look(self.conn)
        assert self.conn.execute("select * from worker.check_invariants()").fetchall() == []
        reopened = set().union(*self.retries.values())
        history.assert_settled_stay_settled(before, self.seen, reopened, may_vanish=self.may_vanish)
        history.assert_held_as_claimed(self.seen, self.held)
        history.assert_lanes_are_exclusive(self.seen, serial_queue="line")
        history.assert_parents_outlive_children(self.seen)
        history.assert_folded_work_is_done(self.seen)
        if self.must_not_change:
            assert self.seen == before
        # A serial scope opens its retried child scopes in turn, so a retry reaches its tasks until its own has settled.
        self.retries = {i: reach for i, reach in self.retries.items() if i in self.seen and not self.seen[i].is_settled}
        self.must_not_change = self.may_vanish = False
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
            self.execute(UPKEEP["sweep_cancelled"])
            for queue in QUEUES:
                self.claim(0, queue, 50)
            for task_id in list(self.held):
                self.end(task_id, "complete")
            self.execute(UPKEEP["skip_halted"])
            self.rules_hold()
            if all(task.is_settled for task in self.seen.values()):
                break
        assert [task for task in self.seen.values() if not task.is_settled] == []
        self.execute("select worker.admit_arrivals(), worker.admit_to_gates(), worker.sweep_cancelled()")
        for table in ("ready", "blocked", "running", "arrival", "gate_arrival", "pending_key", "cancel_request"):
            assert self.conn.execute(f"select * from worker.{table}").fetchall() == [], table
        assert self.conn.execute("select * from worker.lane where lane <> '' or head_id is not null").fetchall() == []

    # Means

    def in_state(self, *states: str) -> list[Task]:
        return [task for task in self.seen.values() if task.state in states]

    @staticmethod
    def choose(items: list[T], number: int) -> T | None:
        """One of them, or none. A rule without an object does nothing: what is drawn never depends on the database."""
        return items[number % len(items)] if items else None

    def payload(self, key: int) -> Jsonb:
        self.number += 1
        return Jsonb({"key": key, "ids": [self.number]})

    def due(self, delay: int) -> datetime | None:
        return self.clock + timedelta(minutes=delay) if delay else None

    def make(self, conn: Connection[Any], asked: Request) -> None:
        arguments = asked.command, self.payload(asked.key), asked.priority, asked.lane, self.due(asked.delay)
        self.execute("select worker.enqueue(%s, %s, %s, %s, %s)", *arguments, conn=conn)

    def execute(self, sql: str, *arguments: Any, conn: Connection[Any] | None = None) -> list[tuple[Any, ...]]:
        self.is_sound = False  # until the rules have been checked
        cursor = (conn or self.conn).execute(sql, arguments)  # type: ignore[arg-type]
        return cursor.fetchall() if cursor.description else []

    def ask(self, conn: Connection[Any], sql: str, *arguments: Any, also: frozenset[str] = frozenset()) -> Any:
        """Run one statement. The engine may refuse it; then nothing may have changed."""
        try:
            rows = self.execute(sql, *arguments, conn=conn)
        except Error as error:
            if error.sqlstate not in REFUSALS | also:
                raise
            if self.is_open(conn):
                conn.rollback()
                self.set_clock()
            self.must_not_change = True
            return None
        return rows[0][0] if rows else None

    def end(self, task_id: int, fate: Offspring | str) -> None:
        arguments: tuple[Any, ...] = ()
        if self.seen[task_id].command == "narrow" and isinstance(fate, Offspring):
            fate = "complete"
        match fate:
            case Offspring():
                verb, arguments = "complete_task", (None, None, *self.recorded(task_id, fate))
            case "complete":
                verb, arguments = "complete_task", (Jsonb({"n": 1}),)
            case "fail" | "give up":
                verb, arguments = "fail_task", (Jsonb({"kind": "probe", "message": fate, "retryable": fate == "fail"}),)
            case "release":
                verb = "release_task"
            case "snooze":
                verb, arguments = "snooze_task", (self.clock + timedelta(minutes=3),)
            case _:
                raise AssertionError(fate)
        statement = f"select worker.{verb}(%s, %s{', %s' * len(arguments)})"
        conn = self.worker_conns[self.owner[task_id]]
        state = self.ask(conn, statement, task_id, self.held[task_id], *arguments)
        if state is not None:
            self.drop(task_id)
            assert fate != "snooze" or state in ("pending", "cancelled"), f"task {task_id} is {state} after a snooze"
        else:
            assert isinstance(fate, Offspring), f"{verb} was refused to the holder of task {task_id}"

    def recorded(self, task_id: int, made: Offspring) -> tuple[Jsonb, str, str, Jsonb]:
        """Offspring as a worker hands it over."""
        has_parent = self.seen[task_id].parent_id is not None
        spawns = [
            {
                "command": child.command,
                "payload": self.payload(child.key).obj,
                "is_sibling": child.is_sibling and has_parent,
                "scheduled_at": due.isoformat() if (due := self.due(child.delay)) else None,
            }
            for child in made.spawns
        ]
        follow_ups = [
            {"command": f.command, "payload": self.payload(f.key).obj, "lane": f.lane} for f in made.follow_ups
        ]
        return Jsonb(spawns), made.child_mode, made.on_failure, Jsonb(follow_ups)

    def drop(self, task_id: int) -> None:
        self.lost.append((task_id, self.held.pop(task_id)))
        del self.owner[task_id]

    def register(self) -> int:
        return self.execute("select worker_id from worker.register_worker('probe')")[0][0]

    @staticmethod
    def is_open(conn: Connection[Any]) -> bool:
        return conn.info.transaction_status != TransactionStatus.IDLE

    @property
    def has_open(self) -> bool:
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
        committed.command(name, handler_kind="python", retry_delay="1 minute", retry_jitter=0, **options)
    opened = [committed.conn, *(connect() for _ in range(OPEN_SLOTS + WORKERS))]
    for conn in opened:
        conn.execute(LOCK_TIMEOUT)
    return opened


def run(conns: list[Connection[Any]], *, examples: int, steps: int) -> None:
    profile = settings(
        max_examples=examples,
        stateful_step_count=steps,
        deadline=None,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    run_state_machine_as_test(lambda: Histories(conns), settings=profile)


@pytest.mark.timeout(600)
def test_rules_hold_after_every_step_of_random_histories(conns: list[Connection[Any]]) -> None:
    run(conns, examples=8, steps=40)


@pytest.mark.long
@pytest.mark.timeout(7200)
@pytest.mark.parametrize("part", range(10))
def test_rules_hold_after_every_step_of_many_long_histories(part: int, conns: list[Connection[Any]]) -> None:
    run(conns, examples=300, steps=100)
