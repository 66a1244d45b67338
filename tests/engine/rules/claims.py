"""Rules 7 to 12: who is alive, what may start, and who waits for whom."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from psycopg import Connection, Error, errors

from tests.engine.rules.stage import Stage
from tests.fixtures.worker import wait_until


def liveness_is_proven(stage: Stage) -> list[str]:
    """7. A worker is dead when its lease has ended, or its lock has been free for longer than the grace.

    A cut connection that comes back within the grace costs nothing, and nobody is known by name or pid.
    """
    problems = []
    by_lock, by_lease = stage.worker(has_lock=True), stage.worker()

    def dead(grace: str) -> set[int]:
        return set(stage.value("select worker.mark_dead_workers(%s::interval)", grace))

    def hold_lock() -> Connection[Any]:
        conn = stage.connect()
        conn.execute("select worker.hold_worker_lock(%s)", [by_lock])
        return conn

    def cut(conn: Connection[Any]) -> None:
        stage.conn.execute("select pg_terminate_backend(%s, 5000)", [conn.info.backend_pid])

    holder = hold_lock()
    if dead("0"):
        problems.append("a live worker was declared dead")
    cut(holder)
    if dead("1 hour"):
        problems.append("a worker was declared dead within its grace")
    holder = hold_lock()
    if dead("0"):
        problems.append("a worker was declared dead after it had its lock again")
    cut(holder)
    dead("0")
    if by_lock not in dead("0"):
        problems.append("a worker whose lock stays free is not dead")
    if by_lease in dead("0"):
        problems.append("a worker without a lock was declared dead before its lease ended")
    stage.conn.execute("select worker.heartbeat(%s, '-1 second')", [by_lease])
    if by_lease not in dead("1 hour"):
        problems.append("a worker whose lease has ended is not dead")

    for _ in range(2):
        stage.enqueue()
    ((abandoned, _),), ((kept, _),) = stage.claim(by_lock), stage.claim(stage.worker("probe"))
    stage.crash(by_lock)
    states = stage.engine.state(abandoned), stage.engine.state(kept)
    if states != ("interrupted", "processing"):
        problems.append(f"the task of a dead worker is {states[0]}, that of its live namesake {states[1]}")
    return problems


def complete_means_recorded(stage: Stage) -> list[str]:
    """8. Complete means durably recorded: a lane's next task starts after the commit that recorded its predecessor."""
    problems = []
    stage.conn.execute(
        "create procedure probe.durability(payload jsonb) language sql as"
        " $$ insert into probe.effect (note) values (current_setting('synchronous_commit')) $$"
    )
    stage.engine.command("durable", handler_procedure="probe.durability")
    for _ in range(2):
        stage.engine.enqueue("durable")
    stage.engine.process()
    if stage.engine.notes() != ["on", "on"]:
        problems.append(f"completions are recorded with synchronous_commit {stage.engine.notes()}")

    worker_id = stage.worker()
    first, second = (stage.enqueue(lane="a") for _ in range(2))
    (claim,) = stage.claim(worker_id, limit=2)
    assert claim[0] == first
    with stage.connect(autocommit=False) as completer:
        completer.execute("select worker.complete_task(%s, %s)", claim)
        if stage.claim(worker_id):
            problems.append("the next task of the lane started before its predecessor was recorded")
        completer.commit()
    if not problems and [task_id for task_id, _ in stage.claim(worker_id)] != [second]:
        problems.append("the next task of the lane did not start after the commit")
    return problems


def retry_keeps_its_place(stage: Stage) -> list[str]:
    """9. A task that waits for its retry keeps its place: the next one of its lane never overtakes it."""
    problems = []
    for queue, command, lane in [("flow", "work", "a"), ("line", "step", None)]:
        worker_id = stage.worker()
        first, second = (stage.enqueue(command, lane=lane) for _ in range(2))
        (claim,) = stage.claim(worker_id, queue, limit=2)
        assert stage.fail(claim, is_final=False) == "pending"
        started = [task_id for task_id, _ in stage.claim(worker_id, queue, limit=2)]
        stage.move_clock(hours=2)
        for _ in range(2):
            for claim in stage.claim(worker_id, queue, limit=2):
                started.append(claim[0])
                stage.complete(claim)
        if started != [first, second]:
            problems.append(f"on {queue} tasks {first} and {second} started as {started}")
    return problems


def claim_ignores_what_cannot_start(stage: Stage) -> list[str]:
    """10. A claim never looks at work that cannot start, be it blocked, finished or foreign: that costs it nothing."""
    worker_id = stage.worker()
    stage.conn.execute("select worker.enqueue_many('work', array_fill('{}'::jsonb, array[200]))")

    def cost() -> int:
        """Pages touched by a claim of ten tasks."""
        plan = f"explain (analyze, buffers, format json) select * from worker.claim_tasks({worker_id}, '{{flow}}', 10)"
        pages = []
        for _ in range(5):  # the first ones also touch catalogs
            with stage.conn.transaction(force_rollback=True):
                (found,) = stage.value(plan)
            assert found["Plan"]["Actual Rows"] == 10, json.dumps(found)
            pages.append(found["Plan"]["Shared Hit Blocks"] + found["Plan"]["Shared Read Blocks"])
        return min(pages)

    stage.conn.execute("vacuum (analyze) worker.task, worker.ready, worker.blocked, worker.running")
    before = cost()
    many = "array_fill('{}'::jsonb, array[20000])"
    stage.engine.queue("other", mode="concurrent")
    stage.engine.command("foreign", "flow")
    stage.engine.command("elsewhere", "other", handler_kind="python")
    stage.conn.execute(
        f"""
        select worker.enqueue_many('work', {many}, p_lanes => array_fill('a'::text, array[20000])),
               worker.enqueue_many('foreign', {many}), worker.enqueue_many('elsewhere', {many});
        select worker.admit_arrivals();
        with made as (
          insert into worker.task (command, queue_id, kind, payload, priority, place, max_attempts, created_at)
          select 'work', t.queue_id, 'p', '{{}}', 100, 0, 1, now()
            from (select queue_id from worker.task limit 1) as t, generate_series(1, 40000)
          returning id, queue_id
        ),
        later as (
          insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place)
          select m.id, 'scheduled', now() + m.id * interval '1 day', m.queue_id, 'p', 1, 100, 1, m.id
            from made as m where m.id % 2 = 0
        ),
        gates as (
          insert into worker.gate (gate, command, tokens, refilled_at, next_at)
          select 'gate ' || m.id, 'work', 0, now(), now() + m.id * interval '1 day' from made as m
        )
        insert into worker.outcome (id, state, attempt, completed_at)
        select m.id, 'completed', 1, now() from made as m where m.id % 2 = 1
        """
    )
    stage.engine.check()
    stage.conn.execute("vacuum (analyze) worker.task, worker.ready, worker.blocked, worker.running")
    after = cost()
    return [f"a claim of 10 tasks touched {before} pages, then {after}"] if after > 1.5 * before else []


def enqueue_only_appends(stage: Stage) -> list[str]:
    """11. An enqueue only appends: it waits for no open transaction and makes none wait."""
    problems: list[str] = []
    worker_id = stage.worker()
    kinds = [("work", "a"), ("fold", None), ("fold", "b"), ("line_fold", None), ("step", None)]
    for command, lane in kinds:
        stage.enqueue(command, lane=lane)
    running = stage.claim(worker_id, limit=10)
    running += stage.claim(worker_id, "line")
    for command, lane in kinds:
        stage.enqueue(command, lane=lane)

    with stage.connect(autocommit=False) as opened:
        for command, lane in kinds:
            stage.enqueue(command, lane=lane, conn=opened)

        with stage.connect() as other:
            # Waiting is an error from here on.
            other.execute("set lock_timeout = '200ms'")
            stage.conn.execute("set lock_timeout = '200ms'")
            for command, lane in kinds:
                try:
                    stage.enqueue(command, lane=lane, conn=other)
                except Error as error:
                    problems.append(f"{command} could not be enqueued to lane {lane}: {error.sqlstate}")
        # What stands behind the running ones, then what the others have enqueued.
        try:
            while running:
                for claim in running:
                    stage.complete(claim)
                running = stage.claim(worker_id, limit=10) + stage.claim(worker_id, "line")
        except errors.LockNotAvailable:
            problems.append("work had to wait for the open transaction")
        for command, lane in [("work", "a"), ("fold", "b"), ("step", None)]:
            left = "select array_agg(state) from worker.tasks where (command, coalesce(lane, '')) = (%s, %s)"
            if set(states := stage.value(left, command, lane or "")) != {"completed"}:
                problems.append(f"{command} in lane {lane} did not move on: {states}")
        opened.commit()
    return problems


def locks_have_one_order(stage: Stage) -> list[str]:
    """12. All verbs take their locks in one order. A completion and a cancel meet here, the rest in test_collisions."""
    stage.conn.execute(
        """
        create function probe.linger() returns trigger language plpgsql as
          $$ begin perform pg_sleep(0.5); return old; end; $$;
        create trigger linger before delete on worker.running for each row execute function probe.linger();
        """
    )
    worker_id = stage.worker()
    stage.scope(worker_id, children=1)
    (claim,) = stage.claim(worker_id)
    problems = []
    verbs = {
        "complete": ("select worker.complete_task(%s, %s)", claim),
        "cancel": ("select worker.cancel(%s)", claim[:1]),
    }
    with ThreadPoolExecutor(2) as pool:
        futures = {}
        for name, (sql, arguments) in verbs.items():
            conn = stage.connect()
            conn.execute("set deadlock_timeout = '200ms'")
            futures[name] = pool.submit(conn.execute, sql, arguments)
            wait_for_linger(stage.conn)
    for name, future in futures.items():
        if isinstance(error := future.exception(), errors.DeadlockDetected):
            problems.append(f"{name} met a deadlock")
        elif error is not None:
            raise error
    return problems


def wait_for_linger(conn: Connection[Any]) -> None:
    """Until a backend sleeps in its trigger."""
    lingers = "select count(*) from pg_stat_activity where wait_event = 'PgSleep' and datname = current_database()"
    wait_until(lambda: conn.execute(lingers).fetchall()[0][0] > 0)
