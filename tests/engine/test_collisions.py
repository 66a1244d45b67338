"""Every pair of verbs meets on the same small trees and lanes: nobody deadlocks, and the rules hold afterwards."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations_with_replacement
from typing import Any

import pytest
from psycopg import Connection, Error
from psycopg.types.json import Jsonb

from tests.engine import history
from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

# What a verb may answer when the other came first.
REFUSALS = {"CM001", "CM005", "CM007", "CM008", "CM009", "CM011"}
FAILED = Jsonb({"kind": "probe", "message": "failed", "retryable": False})
CHILD = {"command": "work", "payload": {}}
# Builders live an hour before those who collide, so that retries and scheduled tasks are due for the latter.
BUILD_TIME, COLLISION_TIME = "2030-01-01 12:00+00", "2030-01-01 13:00+00"
LIMITS = "set lock_timeout = '10s'; set deadlock_timeout = '100ms'"
# Whoever locks a row lingers before asking for the next, so that the verbs really meet.
SLOW_LOCKS = """
create function probe.linger() returns trigger language plpgsql as $$
begin
  perform pg_sleep(random() * 0.003);
  return coalesce(new, old);
end;
$$;
create trigger linger before update or delete on worker.running for each row execute function probe.linger();
create trigger linger before update or delete on worker.scope for each row execute function probe.linger();
create trigger linger before update or delete on worker.lane for each row execute function probe.linger();
create trigger linger before delete on worker.blocked for each row execute function probe.linger();
create trigger linger before delete on worker.outcome for each row execute function probe.linger();
"""
MEETINGS_PER_WORLD = 4

Claim = tuple[int, int]


class World:
    """Two like trees, their lanes and what stands behind them. Each side holds claims in both trees."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        history.clear(conn)
        self.worker_id = self.value("select worker_id from worker.register_worker('probe')")
        self.held: list[list[Claim]] = [[], []]
        self.crossing: list[list[Claim]] = [[], []]
        self.build_failures()
        self.build_trees()
        self.build_lines()

    def build_failures(self) -> None:
        # A lane that halted on a failed scope and was skipped, so that it has no row any more.
        self.failed_scope = self.enqueue("work", lane="c")
        self.complete(self.claim_all()[0], spawns=1)
        self.fail(self.claim_all()[0])
        self.conn.execute("select worker.skip_halted('flow', 'c')")
        self.failed_root = self.enqueue("work")
        self.fail(self.claim_all()[0])

    def build_trees(self) -> None:
        """In each tree a child has failed, one waits for two grandchildren, one is held, one is ready."""
        self.roots = [self.enqueue("work", lane=lane) for lane in "ab"]
        for claim in self.claim_all():
            self.complete(claim, spawns=4)
        children = self.claim_all()
        trees = [children[:4], children[4:]]
        self.failed_children = [failed[0] for failed, *_ in trees]
        self.ready_children = [ready[0] for *_, ready in trees]
        for side, (failed, parent, held, _) in enumerate(trees):
            self.fail(failed)
            self.complete(parent, spawns=2)
            self.held[side].append(held)
        grandchildren = self.claim_all()
        for *_, ready in trees:
            self.release(ready)
        for n, claim in enumerate(grandchildren):
            self.held[n % 2].append(claim)
        # A child of one tree with a grandchild of the other: the deeper scope comes first, whichever tree does.
        self.crossing = [[self.held[0][0], grandchildren[2]], [self.held[1][0], grandchildren[1]]]

    def build_lines(self) -> None:
        """Tasks that wait in both queues, in the lanes of the trees, and for their time."""
        self.enqueue("step")
        self.held[0][:0] = self.claim_all("line")
        for command, lane in [("step", None), ("line_twin", None), ("work", "a"), ("work", "b"), ("twin", None)]:
            self.enqueue(command, lane=lane)
        self.conn.execute("select worker.admit_arrivals()")
        self.arrived = [self.enqueue("work", lane=lane) for lane in "abc"]
        self.conn.execute("select worker.enqueue('work', p_scheduled_at => worker.now() + interval '5 minutes')")

    def forget_ended_claims(self) -> None:
        running = set(self.conn.execute("select id, fence from worker.running").fetchall())
        for claims in (*self.held, *self.crossing):
            claims[:] = [claim for claim in claims if claim in running]

    def value(self, sql: str, *arguments: Any) -> Any:
        row = self.conn.execute(sql, arguments).fetchone()  # type: ignore[arg-type]
        return None if row is None else row[0]

    def enqueue(self, command: str, *, lane: str | None = None) -> int:
        return self.value("select worker.enqueue(%s, p_lane => %s)", command, lane)

    def claim_all(self, queue: str = "flow") -> list[Claim]:
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], 100) order by id"
        return self.conn.execute(sql, [self.worker_id, queue]).fetchall()

    def complete(self, claim: Claim, *, spawns: int) -> None:
        sql = "select worker.complete_task(%s, %s, p_spawns => %s)"
        self.conn.execute(sql, [*claim, Jsonb([CHILD] * spawns)])

    def fail(self, claim: Claim) -> None:
        self.conn.execute("select worker.fail_task(%s, %s, %s)", [*claim, FAILED])

    def release(self, claim: Claim) -> None:
        self.conn.execute("select worker.release_task(%s, %s)", claim)


Verb = Callable[[Connection[Any], World, int], None]
VERBS: dict[str, Verb] = {}


def verb(function: Verb) -> Verb:
    VERBS[function.__name__] = function
    return function


def statement(name: str, sql: str) -> None:
    """A verb that is one statement, whatever the world."""
    VERBS[name] = lambda conn, _world, _side: void(conn.execute(sql))  # type: ignore[arg-type]


def void(_: object) -> None: ...


statement("enqueue_to_lane", "select worker.enqueue('work', p_lane => 'a')")
statement("enqueue_to_key", "select worker.enqueue('twin')")
statement("sweep", "select worker.sweep_cancelled()")
statement("promote_due", "select worker.promote_due()")
statement("admit_arrivals", "select worker.admit_arrivals()")
statement("age_ready", "select worker.age_ready()")
statement("clean_up", "select worker.delete_settled(worker.now(), worker.now(), 10)")


@verb
def complete(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.held[side][-1:]:
        conn.execute("select worker.complete_task(%s, %s)", claim)


@verb
def complete_spawning(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.held[side][-1:]:
        offspring = Jsonb([CHILD, CHILD | {"is_sibling": True}]), Jsonb([CHILD])
        sql = "select worker.complete_task(%s, %s, p_spawns => %s, p_follow_ups => %s)"
        conn.execute(sql, [*claim, *offspring])


@verb
def complete_batch(conn: Connection[Any], world: World, side: int) -> None:
    settle(conn, world.held[side][::-1])


@verb
def complete_crosswise(conn: Connection[Any], world: World, side: int) -> None:
    settle(conn, world.crossing[side])


def settle(conn: Connection[Any], claims: list[Claim]) -> None:
    ids, fences = [task_id for task_id, _ in claims], [fence for _, fence in claims]
    asked = ["completed"] * len(claims)
    conn.execute("select worker.settle(%s::bigint[], %s::bigint[], %s::text[])", [ids, fences, asked])


@verb
def fail(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.held[side][-1:]:
        conn.execute("select worker.fail_task(%s, %s, %s)", [*claim, FAILED])


@verb
def release(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.held[side][-1:]:
        conn.execute("select worker.release_task(%s, %s)", claim)


@verb
def claim(conn: Connection[Any], world: World, side: int) -> None:
    for queue in ("flow", "line"):
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], 5)"
        world.held[side] += conn.execute(sql, [world.worker_id, queue]).fetchall()


@verb
def reap(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.interrupt_abandoned(array[%s]::bigint[])", [world.worker_id])


@verb
def unregister(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.unregister_worker(%s)", [world.worker_id])


@verb
def spawn_late(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.spawn_child('work', '{}', %s)", [world.roots[0]])


@verb
def cancel_tree(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.cancel(%s)", [world.roots[side]])
    conn.execute("select worker.sweep_cancelled()")


@verb
def cancel_both_trees(conn: Connection[Any], world: World, side: int) -> None:
    for root in reversed(world.roots):
        conn.execute("select worker.cancel(%s)", [root])
    conn.execute("select worker.sweep_cancelled()")


@verb
def cancel_running(conn: Connection[Any], world: World, side: int) -> None:
    for task_id, _ in world.held[1 - side][-1:]:
        conn.execute("select worker.cancel(%s)", [task_id])


@verb
def cancel_ready(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.cancel(%s)", [world.ready_children[0]])


@verb
def cancel_arrived(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.cancel(%s)", [world.arrived[-1]])


@verb
def retry_child(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.retry(%s)", [world.failed_children[0]])


@verb
def retry_root(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.retry(%s)", [world.failed_root])


@verb
def retry_scope(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.retry(%s)", [world.failed_scope])


# These reach for each other's rows from two ends, so they meet more often.
CLOSE_PAIRS = [
    ("cancel_running", "complete"),
    ("complete_crosswise", "cancel_both_trees"),
    ("complete_batch", "unregister"),
    ("retry_scope", "admit_arrivals"),
    ("cancel_arrived", "admit_arrivals"),
    ("retry_scope", "clean_up"),
]


class Collider:
    """Two connections in two threads."""

    def __init__(self, conns: list[Connection[Any]], pool: ThreadPoolExecutor) -> None:
        self.conns, self.pool = conns, pool
        self.barrier = threading.Barrier(2)

    def meet(self, world: World, names: tuple[str, str]) -> None:
        futures = [self.pool.submit(self._run, world, side, name) for side, name in enumerate(names)]
        for name, future in zip(names, futures, strict=True):
            error = future.exception(timeout=60)
            if isinstance(error, Error) and error.sqlstate in REFUSALS:
                continue
            assert error is None, f"{name} of {names}: {error!r}"

    def _run(self, world: World, side: int, name: str) -> None:
        self.barrier.wait(timeout=30)
        VERBS[name](self.conns[side], world, side)


@pytest.fixture
def builder(committed: Engine) -> Engine:
    committed.queue("line", mode="serial")
    committed.queue("flow", mode="concurrent", max_depth=3)
    committed.command("step", "line", handler_kind="python")
    committed.command("line_twin", "line", handler_kind="python", dedup=[])
    committed.command("work", "flow", handler_kind="python")
    committed.command("twin", "flow", handler_kind="python", dedup=[], priority=50)
    committed.conn.execute(SLOW_LOCKS)
    committed.conn.execute("select set_config('worker.now', %s, false)", [BUILD_TIME])
    return committed


@pytest.fixture
def collider(builder: Engine, connect: Connect) -> Iterator[Collider]:
    conns = [connect(), connect()]
    for conn in conns:
        conn.execute(LIMITS)
        conn.execute("select set_config('worker.now', %s, false)", [COLLISION_TIME])
    with ThreadPoolExecutor(2) as pool:
        yield Collider(conns, pool)


def meet_in_turn(builder: Engine, collider: Collider, pairs: list[tuple[str, str]]) -> None:
    """These pairs one after the other in one new world."""
    world = World(builder.conn)
    builder.check()
    for names in pairs:
        collider.meet(world, names)
        problems = builder.conn.execute("select * from worker.check_invariants()").fetchall()
        assert problems == [], f"after {names}"
        world.forget_ended_claims()


def meet_all(builder: Engine, collider: Collider, seed: int) -> None:
    """Every pair of verbs, several in one world."""
    chance = random.Random(seed)
    pairs = [(a, b) if chance.random() < 0.5 else (b, a) for a, b in combinations_with_replacement(sorted(VERBS), 2)]
    chance.shuffle(pairs)
    for start in range(0, len(pairs), MEETINGS_PER_WORLD):
        meet_in_turn(builder, collider, pairs[start : start + MEETINGS_PER_WORLD])


def test_no_pair_of_verbs_deadlocks_or_breaks_a_rule(builder: Engine, collider: Collider) -> None:
    meet_all(builder, collider, seed=1)


@pytest.mark.parametrize("pair", CLOSE_PAIRS, ids="-".join)
def test_pairs_that_want_the_same_rows_never_deadlock(
    builder: Engine, collider: Collider, pair: tuple[str, str]
) -> None:
    for _ in range(15):
        meet_in_turn(builder, collider, [pair])


@pytest.mark.long
@pytest.mark.timeout(1800)
def test_no_pair_of_verbs_deadlocks_or_breaks_a_rule_in_many_orders(builder: Engine, collider: Collider) -> None:
    for seed in range(100, 150):
        meet_all(builder, collider, seed)
