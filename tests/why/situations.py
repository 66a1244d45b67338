"""Situations in which a task waits, each made for real. ``docs/how-to/find-out-why-a-task-waits.md`` shows what
``worker.explain`` says about them.

Queue ``mail`` runs tasks side by side, ``ledger`` one after another. The clock stands at ``NOW``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.sql.support import advance_clock, stop_clock

NOW = "2030-01-01 12:00:00+00"
Condition = dict[str, Any]
Build = Callable[["Stage"], int]


@dataclass(frozen=True)
class Situation:
    """``build`` makes it and returns the task to ask about; ``kinds`` are those of the answer, in order."""

    title: str
    kinds: tuple[str, ...]
    build: Build


SITUATIONS: list[Situation] = []


def situation(title: str, *kinds: str) -> Callable[[Build], Build]:
    def add(build: Build) -> Build:
        SITUATIONS.append(Situation(title, kinds, build))
        return build

    return add


class Stage:
    """The queues and commands of all situations, and a worker that has them."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        stop_clock(engine, NOW)
        engine.queue("mail", mode="concurrent", max_depth=3)
        engine.queue("ledger", mode="serial")
        retries = {"max_attempts": 3, "retry_delay": "30 seconds", "retry_jitter": 0}
        engine.command("send", "mail", handler_kind="python", **retries)
        engine.command("digest", "mail", handler_kind="python", dedup=["to"])
        engine.command("report", "mail", handler_kind="python", join_procedure="in Python")
        engine.command("call_api", "mail", handler_kind="python", limit_key=["customer"], max_running=1)
        engine.command("slow_api", "mail", handler_kind="python", limit_key=[], rate=1, rate_per="10 seconds")
        engine.command("book", "ledger", handler_kind="python")
        engine.command("tidy", "mail", handler_procedure="mail.tidy")
        self.worker_id = self.hire("host-a", python_queues=["mail", "ledger"])
        self.held: dict[int, int] = {}

    def hire(self, name: str, **options: Any) -> int:
        given = {"p_name": name, "p_queues": ["mail", "ledger"], "p_max_capacity": 10, "p_lease": "1 hour"}
        given |= {"p_pid": 4711, "p_version": "0.1.0"} | {f"p_{key}": value for key, value in options.items()}
        named = ", ".join(f"{key} => %({key})s" for key in given)
        row = self.engine.conn.execute(f"select worker_id from worker.register_worker({named})", given).fetchone()  # type: ignore[arg-type]
        assert row is not None
        return row[0]

    def enqueue(self, command: str = "send", *, lane: str | None = None, **payload: Any) -> int:
        return self.engine.enqueue(command, lane=lane, **payload)

    def claim(self, queue: str = "mail", limit: int = 10) -> list[int]:
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], %s)"
        claimed = dict(self.engine.conn.execute(sql, [self.worker_id, queue, limit]).fetchall())
        self.held |= claimed
        return list(claimed)

    def complete(self, task_id: int, **options: Any) -> None:
        given = {key: Jsonb(value) if isinstance(value, list) else value for key, value in options.items()}
        named = "".join(f", p_{key} => %({key})s" for key in given)
        sql = f"select worker.complete_task(%(id)s, %(fence)s{named})"
        self.engine.conn.execute(sql, given | {"id": task_id, "fence": self.held[task_id]})  # type: ignore[arg-type]

    def fail(self, task_id: int, *, retryable: bool = False) -> None:
        error = Jsonb({"kind": "ValueError", "message": "a secret", "retryable": retryable})
        self.engine.value("select worker.fail_task(%s, %s, %s)", task_id, self.held[task_id], error)

    def later(self, by: str = "1 minute") -> None:
        advance_clock(self.engine, by)

    def children(self, count: int, command: str = "send", **options: Any) -> tuple[int, list[int]]:
        """A parent that waits, and its children."""
        parent = self.enqueue()
        self.claim()
        self.complete(parent, spawns=[{"command": command, "payload": {"to": n}} for n in range(count)], **options)
        return parent, self.engine.children(parent)

    def explain(self, task_id: int) -> list[Condition]:
        with self.engine.conn.cursor(row_factory=dict_row) as cursor:
            return cursor.execute("select * from worker.explain(%s)", [task_id]).fetchall()


class Names:
    """Ids as small numbers, in the order in which they appear: each database gives others."""

    def __init__(self) -> None:
        self._tasks: dict[str, str] = {}
        self._workers: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        text = re.sub(r"\b(task (?:why |retry )?|id = )(\d+)", lambda m: m[1] + self._small(self._tasks, m[2]), text)
        return re.sub(r"\b([Ww]orker |workers resume )(\d+)", lambda m: m[1] + self._small(self._workers, m[2]), text)

    @staticmethod
    def _small(known: dict[str, str], number: str) -> str:
        return known.setdefault(number, str(len(known) + 1))


@situation("It is next", "ready")
def ready(stage: Stage) -> int:
    return stage.enqueue()


@situation("Others are before it", "ready")
def in_order(stage: Stage) -> int:
    return [stage.enqueue() for _ in range(3)][-1]


@situation("A worker runs it", "running")
def running(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    stage.engine.value(
        "select worker.report_progress(%s, %s, %s)", task, stage.held[task], Jsonb({"done": 40, "total": 100})
    )
    stage.later()
    return task


@situation("It is scheduled", "scheduled")
def scheduled(stage: Stage) -> int:
    return stage.engine.value("select worker.enqueue('send', p_scheduled_at => worker.now() + interval '5 minutes')")


@situation("Its last attempt failed", "retry")
def retry(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    stage.fail(task, retryable=True)
    return task


@situation("Its handler snoozes", "snooze")
def snooze(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    until = "worker.now() + interval '10 minutes'"
    stage.engine.value(
        f"select worker.snooze_task(%s, %s, {until}, %s)", task, stage.held[task], "the file is not there"
    )
    return task


@situation("It waits for its children", "children")
def children(stage: Stage) -> int:
    parent, (first, second, third) = stage.children(3)
    stage.claim()
    stage.complete(first)
    stage.later()
    stage.fail(third)
    assert second
    return parent


@situation("Its join is next", "join", "ready")
def join(stage: Stage) -> int:
    parent = stage.enqueue("report")
    stage.claim()
    stage.complete(parent, spawns=[{"command": "send"}, {"command": "send"}])
    for child in stage.claim():
        stage.complete(child)
    return parent


@situation("A sibling runs before it", "serial")
def serial(stage: Stage) -> int:
    _, (*_, last) = stage.children(3, child_mode="serial")
    stage.claim()
    stage.later()
    return last


@situation("Its lane is busy", "lane")
def lane(stage: Stage) -> int:
    *_, last = (stage.enqueue(lane="customer-7") for _ in range(3))
    stage.claim()
    stage.later()
    return last


@situation("Its lane is halted", "halted")
def halted(stage: Stage) -> int:
    first, second = (stage.enqueue(lane="customer-7") for _ in range(2))
    stage.claim()
    stage.fail(first)
    stage.later()
    return second


@situation("Its serial queue is busy", "lane")
def serial_queue(stage: Stage) -> int:
    _, second = (stage.enqueue("book") for _ in range(2))
    stage.claim("ledger")
    stage.later()
    return second


@situation("The limit of its command is reached", "limit")
def limit(stage: Stage) -> int:
    *_, last = (stage.enqueue("call_api", customer=7) for _ in range(3))
    stage.claim()
    stage.later()
    return last


@situation("The rate of its command is reached", "limit_rate")
def limit_rate(stage: Stage) -> int:
    _, second = (stage.enqueue("slow_api") for _ in range(2))
    stage.claim()
    return second


@situation("Its queue is paused", "paused", "ready")
def paused(stage: Stage) -> int:
    task = stage.enqueue()
    stage.engine.value("select worker.pause_queue('mail', worker.now() + interval '1 hour', 'ada')")
    stage.later()
    return task


@situation("The limit of its queue is reached", "max_running")
def max_running(stage: Stage) -> int:
    stage.engine.conn.execute("update worker.queue_registry set max_running = 1 where queue = 'mail'")
    *_, last = (stage.enqueue() for _ in range(3))
    stage.claim()
    return last


@situation("The rate of its queue is reached", "rate")
def rate(stage: Stage) -> int:
    stage.engine.conn.execute("update worker.queue_registry set rate = 1, rate_per = '10 seconds' where queue = 'mail'")
    _, second = (stage.enqueue() for _ in range(2))
    stage.claim()
    return second


@situation("It was merged into another task", "merged")
def merged(stage: Stage) -> int:
    # What an enqueue could not merge at once, because another transaction held the row, the claim folds.
    first = stage.enqueue("digest", to="ada")
    key = stage.engine.value("delete from worker.pending_key where id = %s returning dedup_key", first)
    second = stage.enqueue("digest", to="ada")
    stage.engine.conn.execute("insert into worker.pending_key (dedup_key, id) values (%s, %s)", [key, first])
    stage.claim()
    return second


@situation("It follows a task that has not completed", "follow_up")
def follow_up(stage: Stage) -> int:
    root = stage.enqueue()
    stage.claim()
    stage.complete(root, spawns=[{"command": "send"}], follow_ups=[{"command": "send", "payload": {}}])
    return stage.engine.value("select id from worker.tasks where follows_id = %s", root)


@situation("The cancellation of its parent was requested", "cancel", "ready")
def cancel(stage: Stage) -> int:
    parent, (child,) = stage.children(1)
    stage.engine.value("select worker.cancel(%s, 'not needed')", parent)
    return child


@situation("Its cancellation was requested while it runs", "cancel", "running")
def cancel_running(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    stage.engine.value("select worker.cancel(%s, 'not needed')", task)
    return task


@situation("The worker that ran it has died", "ready")
def interrupted(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    stage.engine.value("select worker.interrupt_abandoned(array[%s]::bigint[])", stage.worker_id)
    return task


@situation("No worker serves its queue", "no_worker", "ready")
def no_worker(stage: Stage) -> int:
    stage.engine.value("select worker.unregister_worker(%s)", stage.worker_id)
    # One of another app takes SQL handlers of all queues, and Python handlers of its own alone.
    stage.hire("host-b", python_queues=["ledger"], python_commands=["book"])
    return stage.enqueue()


@situation("The only worker that has its command is paused", "worker_paused", "ready")
def worker_paused(stage: Stage) -> int:
    stage.engine.value("select worker.ask_worker(%s, 'pause', 'ada')", stage.worker_id)
    return stage.enqueue()


@situation("No worker has its command", "no_command", "ready")
def no_command(stage: Stage) -> int:
    stage.engine.value("select worker.unregister_worker(%s)", stage.worker_id)
    stage.hire("host-b", python_queues=["mail"], python_commands=["digest"])
    return stage.enqueue()


@situation("Several things at once", "lane", "paused")
def several(stage: Stage) -> int:
    _, second = (stage.enqueue(lane="customer-7") for _ in range(2))
    stage.claim()
    stage.engine.value("select worker.pause_queue('mail', p_by => 'ada')")
    return second


@situation("It has completed", "settled")
def completed(stage: Stage) -> int:
    task = stage.enqueue()
    stage.claim()
    stage.complete(task)
    stage.later()
    return task


@situation("It has failed and halts its lane", "settled")
def halting(stage: Stage) -> int:
    first, _ = (stage.enqueue(lane="customer-7") for _ in range(2))
    stage.claim()
    stage.fail(first)
    stage.later()
    return first


@situation("It has failed, and its lane has continued without it", "settled")
def skipped(stage: Stage) -> int:
    first = halting(stage)
    stage.engine.value("select worker.skip_halted('mail', 'customer-7')")
    return first


@situation("It has failed", "settled")
def failed(stage: Stage) -> int:
    parent, (child,) = stage.children(1)
    stage.claim()
    stage.fail(child)
    return parent
