"""What can happen to the world: everything that a worker, a caller, an operator or upkeep may do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.engine.world import CHILD, FAILED, Claim, World
from tests.sql.support import SIGNAL

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
statement("admit_to_gates", "select worker.admit_to_gates()")
statement("rouse_limited", "select worker.rouse_limited()")
statement("enqueue_to_gate", "select worker.enqueue('narrow')")
statement("expire_deadlines", "select worker.expire_deadlines()")
statement("skip_halted", "select worker.skip_halted('flow', 'halted')")
statement("process_sql", "call worker.process_tasks(p_queue => 'work')")
statement("process_sql_children", "call worker.process_tasks(p_queue => 'work', p_mode => 'child')")
statement("upkeep", "select worker.upkeep()")
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
def snooze(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.held[side][-1:]:
        conn.execute("select worker.snooze_task(%s, %s, worker.now() + interval '1 minute')", claim)


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
def retry_failed(conn: Connection[Any], world: World, side: int) -> None:
    """Of an open scope: the children that failed and one that is running share a parent."""
    sql = "select worker.retry_failed(t.parent_id) from worker.tasks as t where t.id = %s"
    conn.execute(sql, [world.failed_children[side]])


@verb
def retry_scope(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.retry(%s)", [world.failed_scope])


@verb
def retry_halted(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("select worker.retry(%s)", [world.failed_head])


@verb
def complete_and_go_on(conn: Connection[Any], world: World, side: int) -> None:
    """The fast way of a worker: what has ended, and the next of its lanes."""
    claims = world.heads[side][::-1] + world.held[side]
    ids, fences = [task_id for task_id, _ in claims], [fence for _, fence in claims]
    nothing = Jsonb(None)
    sql = (
        "select (g.next).id, (g.next).fence from worker.complete_and_go_on"
        "(%s, %s::bigint[], %s::bigint[], %s::jsonb[], %s::jsonb[], 5) as g where (g.next).id is not null"
    )
    nothings = [nothing] * len(claims)
    world.heads[side] += conn.execute(sql, [world.worker_id, ids, fences, nothings, nothings]).fetchall()


@verb
def complete_limited(conn: Connection[Any], world: World, side: int) -> None:
    for claim in world.limited[side][-1:]:
        conn.execute("select worker.complete_task(%s, %s)", claim)


@verb
def claim_limited(conn: Connection[Any], world: World, side: int) -> None:
    sql = "select id, fence from worker.claim_tasks(%s, array['tight'], 5)"
    world.limited[side] += conn.execute(sql, [world.worker_id]).fetchall()


@verb
def update_ready(conn: Connection[Any], world: World, side: int) -> None:
    for task_id in (world.ready_children[0], world.queued[side]):
        update = """update worker.tasks set payload = '{"n": 1}', priority = 7 where id = %s"""
        conn.execute(update, [task_id])


@verb
def put_off_child(conn: Connection[Any], world: World, side: int) -> None:
    put_off(conn, world.ready_children[0])


@verb
def put_off_in_lane(conn: Connection[Any], world: World, side: int) -> None:
    put_off(conn, world.queued[side])
    put_off(conn, world.arrived[0])


@verb
def put_off_let_in(conn: Connection[Any], world: World, side: int) -> None:
    put_off(conn, world.let_in[-1])


def put_off(conn: Connection[Any], task_id: int) -> None:
    update = "update worker.tasks set scheduled_at = worker.now() + interval '1 hour' where id = %s"
    conn.execute(update, [task_id])


@verb
def bring_forward(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("update worker.tasks set scheduled_at = worker.now() where id = %s", [world.scheduled])


@verb
def cancel_by_update(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("update worker.tasks set state = 'cancelled' where id = %s", [world.roots[side]])


@verb
def retry_by_update(conn: Connection[Any], world: World, side: int) -> None:
    conn.execute("update worker.tasks set state = 'pending' where id = %s", [world.failed_children[0]])


@verb
def cancel_sql(conn: Connection[Any], world: World, side: int) -> None:
    """The tree that runs in SQL, and its backend."""
    conn.execute("select worker.cancel(%s)", [world.sql_roots[0]])
    conn.execute("select worker.sweep_cancelled()")
    conn.execute(SIGNAL)
