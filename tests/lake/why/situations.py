"""Situations of dynamic tables, each made for real. ``docs/how-to/find-out-why-a-table-is-late.md`` shows what
``lake.explain`` says about them.

``daily`` reads ``orders`` and ``totals`` reads ``daily``; ``visits`` is not connected with them. All three were filled
at ``NOW``, and since then ``orders`` and ``clicks`` have changed. ``spare`` is DOWNSTREAM, and nothing reads it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from psycopg import Connection
from psycopg.conninfo import make_conninfo
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import add, work

NOW = "2030-01-01T12:00:00Z"
CLOCK = f"-c worker.now={NOW}"
Condition = dict[str, Any]
Build = Callable[["Stage"], str]


@dataclass(frozen=True)
class Situation:
    """``build`` makes it and returns the table to ask about; ``kinds`` are those of the answer, in order."""

    title: str
    kinds: tuple[str, ...]
    build: Build


SITUATIONS: list[Situation] = []


def situation(title: str, *kinds: str) -> Callable[[Build], Build]:
    def add_one(build: Build) -> Build:
        SITUATIONS.append(Situation(title, kinds, build))
        return build

    return add_one


def fill(case: LakeCase) -> None:
    """The tables of all situations. The clock of the case stands at ``NOW``."""
    for source in ("orders", "clicks"):
        case.make(source, "k BIGINT, n BIGINT", [(1, 1)])
    minute = timedelta(minutes=1)
    made = [
        add(case, "daily", "orders", lag=minute),
        add(case, "totals", "daily", lag=5 * minute),
        add(case, "visits", "clicks", lag=minute),
    ]
    case.control.request_round([table.dt_id for table in made])
    work(case)
    # It does refreshes without their tasks.
    case.pg("select worker.cancel(id) from worker.tasks where state = 'pending'")
    add(case, "spare", "orders", lag=None)
    for source in ("orders", "clicks"):
        case.add(source, [(2, 2)])
    case.pg("update lake.dt set expected_ms = 2000 where name <> 'spare'")


def stopped(dsn: str) -> str:
    """The DSN, with a clock that stands still."""
    return make_conninfo(dsn, options=CLOCK)


class Stage:
    """A transaction on that lake, which is rolled back, and a worker of the lake that does one task at a time."""

    def __init__(self, conn: Connection[Any]) -> None:
        self.conn = conn
        self.held: dict[int, int] = {}
        self.value("select set_config('worker.now', %s, true)", NOW)
        self.worker_id: int | None = None
        self.hire()

    def value(self, sql: str, *parameters: Any) -> Any:
        row = self.conn.execute(sql, parameters or None).fetchone()  # type: ignore[call-overload]
        return row[0] if row else None

    def hire(self) -> None:
        self.worker_id = self.value(
            "select worker_id from worker.register_worker(p_name => 'host-a', p_queues => array['lake_schedule'],"
            " p_python_queues => array['lake'], p_max_capacity => 1, p_lease => '1 day')"
        )

    def dismiss(self) -> None:
        self.value("select worker.unregister_worker(%s)", self.worker_id)
        self.worker_id = None

    def later(self, by: str) -> None:
        self.value("select set_config('worker.now', (worker.now() + %s::interval)::text, true)", by)

    def id(self, name: str) -> int:
        return self.value("select id from lake.dt where name = %s", name)

    def tick(self) -> None:
        """What the schedule does: it opens rounds of the tables that are due."""
        self.value("select lake.tick()")

    def request(self, name: str) -> int:
        return self.value("select lake.request_round(array[%s::bigint])", self.id(name))

    def claim(self) -> list[int]:
        """The next task of the lake. Upkeep that the schedule asked for is done at once."""
        sql = "select id, fence, command from worker.claim_tasks(%s, array['lake'], 1)"
        for task_id, fence, command in self.conn.execute(sql, [self.worker_id]).fetchall():
            if command in ("lake_refresh", "lake_bucket"):
                self.held[task_id] = fence
                return [task_id]
            self.value("select worker.complete_task(%s, %s)", task_id, fence)
            return self.claim()
        return []

    def begin(self, name: str) -> tuple[int, int]:
        """A worker takes the open refresh of a table over; returns its id and its task."""
        sql = "select id, task_id from lake.refresh where dt_id = %s and finished_at is null order by id limit 1"
        ((refresh_id, task_id),) = self.conn.execute(sql, [self.id(name)]).fetchall()
        while task_id not in self.held:
            assert self.claim(), f"task {task_id} cannot be claimed"
        self.value("select lake.begin_refresh(%s, %s, '1 hour')", refresh_id, self.held[task_id])
        return refresh_id, task_id

    def fail(self, name: str) -> None:
        """The refresh of a table fails."""
        refresh_id, task_id = self.begin(name)
        error = 'Conversion Error: Could not convert string "x" to INT64'
        self.value("select lake.fail_refresh(%s, %s, 'QUERY', %s)", refresh_id, self.held[task_id], error)
        self.value("select worker.complete_task(%s, %s)", task_id, self.held.pop(task_id))

    def succeed(self, task_id: int) -> None:
        """The refresh that a task is for finds nothing to write, and succeeds."""
        fence = self.held.pop(task_id)
        sql = "select id, fence = %s from lake.refresh where task_id = %s"
        ((refresh_id, has_begun),) = self.conn.execute(sql, [fence, task_id]).fetchall()
        if not has_begun:
            self.value("select lake.begin_refresh(%s, %s, '1 hour', true)", refresh_id, fence)
        order = self.value("select lake.order_of(%s)", refresh_id)
        reads = [{"table_id": r["table_id"], "snapshot": r["new"], "rows": 1, "columns": {}} for r in order["reads"]]
        publication = {"action": "full", "inserted": 0, "deleted": 0, "rows_after": 1, "reads": reads}
        self.value("select lake.prepare_publish(%s, %s, %s)", refresh_id, fence, Jsonb(publication))
        self.value("select lake.move_frontier(%s, %s)", refresh_id, fence)
        self.value("select lake.finish_refresh(%s, %s)", refresh_id, fence)
        self.value("select worker.complete_task(%s, %s)", task_id, fence)

    def go_on(self) -> None:
        """What happens by itself: the schedule when it is due, and the worker with the tasks that it can claim."""
        if self.worker_id is None:
            return
        self.value("select worker.fire_schedules()")
        self.conn.execute("call worker.process_tasks(p_queue => 'lake_schedule')")
        while not self.held and self.claim():
            for task_id in list(self.held):
                self.succeed(task_id)

    def data_at(self, name: str) -> Any:
        return self.value("select data_at from lake.frontier where dt_id = %s", self.id(name))

    def explain(self, name: str) -> list[Condition]:
        with self.conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute("select * from lake.explain(%s)", [self.id(name)]).fetchall()


class Names:
    """Ids as small numbers, in the order in which they appear: each database gives others."""

    def __init__(self) -> None:
        self._known: dict[str, dict[str, str]] = {}

    def __call__(self, text: str) -> str:
        return re.sub(r"\b(task (?:why |show )?|round )(\d+)", self._small, text)

    def _small(self, match: re.Match[str]) -> str:
        known = self._known.setdefault(match[1][:4], {})
        return match[1] + known.setdefault(match[2], str(len(known) + 1))


@situation("It is fresh", "fresh", "next")
def fresh(stage: Stage) -> str:
    stage.later("10 seconds")
    return "daily"


@situation("It is due", "late", "next")
def due(stage: Stage) -> str:
    stage.later("6 minutes")
    return "totals"


@situation("It was never filled", "not_filled", "next")
def not_filled(stage: Stage) -> str:
    stage.conn.execute("update lake.dt set target_lag = '1 minute' where name = 'spare'")
    return "spare"


@situation("It is being refreshed", "late", "running")
def running(stage: Stage) -> str:
    stage.later("2 minutes")
    stage.tick()
    stage.begin("daily")
    stage.later("20 seconds")
    return "daily"


@situation("It is being refreshed in buckets", "late", "running")
def buckets(stage: Stage) -> str:
    stage.later("2 minutes")
    stage.tick()
    split(stage, "daily")
    return "daily"


def split(stage: Stage, name: str) -> int:
    """A worker takes the open refresh of a table over, and makes four buckets of it: one is done, one is being done.
    Returns the refresh."""
    refresh_id, task_id = stage.begin(name)
    fence = stage.held.pop(task_id)
    stage.value("select lake.store_plan(%s, %s, '{}', 1000)", refresh_id, fence)
    spawns = [{"command": "lake_bucket", "payload": {"slot": str(n), "partition": n}} for n in range(4)]
    stage.value("select worker.complete_task(%s, %s, p_spawns => %s)", task_id, fence, Jsonb(spawns))
    (first,) = stage.claim()
    stage.value("select worker.complete_task(%s, %s)", first, stage.held.pop(first))
    stage.claim()
    return refresh_id


@situation("All workers are busy", "late", "queued", "slots")
def slots(stage: Stage) -> str:
    stage.request("visits")
    stage.begin("visits")
    stage.later("2 minutes")
    stage.tick()
    return "daily"


@situation("A table that it reads is being refreshed", "late", "upstream")
def upstream(stage: Stage) -> str:
    stage.later("6 minutes")
    stage.tick()
    stage.begin("daily")
    stage.later("20 seconds")
    return "totals"


@situation("A round of connected tables is not finished", "late", "round")
def connected(stage: Stage) -> str:
    stage.later("4 minutes")
    stage.request("daily")
    stage.begin("daily")
    stage.later("2 minutes")
    return "totals"


@situation("Its refreshes fail", "late", "failed", "next")
def failed(stage: Stage) -> str:
    for _ in range(2):
        stage.later("2 minutes")
        stage.tick()
        stage.fail("daily")
    return "daily"


@situation("A table that it reads fails", "late", "upstream_failed", "next")
def upstream_failed(stage: Stage) -> str:
    stage.later("6 minutes")
    stage.tick()
    stage.fail("daily")
    stage.later("30 seconds")
    return "totals"


@situation("It failed, and is being refreshed again", "late", "failed", "running")
def tried_again(stage: Stage) -> str:
    stage.later("2 minutes")
    stage.tick()
    stage.fail("daily")
    stage.later("1 minute")
    stage.tick()
    stage.begin("daily")
    return "daily"


@situation("Its last refresh was cancelled", "late", "cancelled", "next")
def cancelled(stage: Stage) -> str:
    stage.later("2 minutes")
    stage.tick()
    stage.value("select lake.cancel_refreshes(%s, 'not now')", stage.id("daily"))
    return "daily"


@situation("It is suspended", "late", "suspended")
def suspended(stage: Stage) -> str:
    stage.value("select lake.suspend(%s)", stage.id("daily"))
    stage.later("5 minutes")
    return "daily"


@situation("A table that it reads is suspended", "late", "upstream_suspended")
def upstream_suspended(stage: Stage) -> str:
    stage.value("select lake.suspend(%s)", stage.id("daily"))
    stage.later("6 minutes")
    return "totals"


@situation("It was suspended after failures", "late", "suspended", "failed")
def suspended_by_failures(stage: Stage) -> str:
    for _ in range(5):
        stage.later("2 minutes")
        stage.tick()
        stage.fail("daily")
    return "daily"


@situation("No scheduled table reads it", "not_filled", "not_requested")
def unasked(stage: Stage) -> str:
    return "spare"


@situation("Its schedule is disabled", "late", "not_requested")
def no_scheduler(stage: Stage) -> str:
    stage.conn.execute("update lake.dt set scheduler = false where name = 'visits'")
    stage.later("2 minutes")
    return "visits"


@situation("A refresh takes longer than its lag allows", "late", "next", "too_slow")
def too_slow(stage: Stage) -> str:
    stage.conn.execute("update lake.dt set expected_ms = 40000 where name = 'daily'")
    stage.later("2 minutes")
    return "daily"


@situation("No worker is running", "late", "no_worker", "no_worker")
def no_worker(stage: Stage) -> str:
    stage.dismiss()
    stage.later("2 minutes")
    return "daily"


@situation("No worker refreshes tables", "late", "queued", "no_worker")
def no_worker_for_task(stage: Stage) -> str:
    stage.later("2 minutes")
    stage.tick()
    stage.dismiss()
    return "daily"


@situation("Queue lake is paused", "late", "queued", "paused")
def paused(stage: Stage) -> str:
    stage.value("select worker.pause_queue('lake', p_by => 'ada')")
    stage.later("2 minutes")
    stage.tick()
    return "daily"


@situation("Queue lake_schedule is paused", "late", "paused")
def schedule_paused(stage: Stage) -> str:
    stage.value("select worker.pause_queue('lake_schedule', p_by => 'ada')")
    stage.later("2 minutes")
    stage.conn.execute("update worker.schedule set next_at = worker.now() where name = 'lake_tick'")
    stage.value("select worker.fire_schedules()")
    return "daily"


@situation("The scheduler is disabled", "late", "no_schedule")
def no_schedule(stage: Stage) -> str:
    stage.conn.execute("update worker.schedule set enabled = false where name = 'lake_tick'")
    stage.later("2 minutes")
    return "daily"
