"""Where a rule is tried: a throw-away database with a serial and a concurrent queue of Python tasks, and SQL tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psycopg import Connection, Error
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine
from tests.fixtures.server import Connect

Claim = tuple[int, int]
CHILD = {"command": "work", "payload": {}}
FINAL = {"kind": "probe", "message": "failed", "retryable": False}


@dataclass(frozen=True)
class Stage:
    engine: Engine
    connect: Connect

    @classmethod
    def set(cls, engine: Engine, connect: Connect) -> Stage:
        """Queues ``flow`` and ``line``, commands ``work``, ``fold`` (one key) and ``step``, ``line_fold``."""
        engine.queue("flow", mode="concurrent")
        engine.queue("line", mode="serial")
        for command, options in {
            "work": {"queue": "flow", "max_attempts": 2, "retry_delay": "1 hour"},
            "fold": {"queue": "flow", "dedup": []},
            "step": {"queue": "line", "max_attempts": 2, "retry_delay": "1 hour"},
            "line_fold": {"queue": "line", "dedup": []},
        }.items():
            engine.command(command, handler_kind="python", retry_jitter=0, **options)
        return cls(engine, connect)

    @property
    def conn(self) -> Connection[Any]:
        return self.engine.conn

    def value(self, sql: str, *arguments: Any) -> Any:
        return self.engine.value(sql, *arguments)

    def worker(self, name: str = "probe", *, has_lock: bool = False, lease: str = "1 hour") -> int:
        sql = "select worker_id from worker.register_worker(%s, p_lease => %s, p_has_lock => %s)"
        return self.value(sql, name, lease, has_lock)

    def enqueue(self, command: str = "work", *, lane: str | None = None, conn: Connection[Any] | None = None) -> int:
        cursor = (conn or self.conn).execute("select worker.enqueue(%s, p_lane => %s)", [command, lane])
        return cursor.fetchall()[0][0]

    def claim(
        self, worker_id: int, queue: str = "flow", *, limit: int = 1, conn: Connection[Any] | None = None
    ) -> list[Claim]:
        sql = "select id, fence from worker.claim_tasks(%s, array[%s], %s)"
        return (conn or self.conn).execute(sql, [worker_id, queue, limit]).fetchall()

    def complete(self, claim: Claim, *, children: int = 0, on_failure: str | None = None) -> str:
        sql = "select worker.complete_task(%s, %s, p_spawns => %s, p_on_child_failure => %s)"
        return self.value(sql, *claim, Jsonb([CHILD] * children) if children else None, on_failure)

    def fail(self, claim: Claim, *, is_final: bool = True) -> str:
        error = FINAL | {"retryable": not is_final}
        return self.value("select worker.fail_task(%s, %s, %s)", *claim, Jsonb(error))

    def scope(self, worker_id: int, *, children: int, on_failure: str | None = None) -> int:
        """A task that waits for that many children."""
        parent = self.enqueue()
        (claim,) = self.claim(worker_id)
        assert claim[0] == parent
        assert self.complete(claim, children=children, on_failure=on_failure) == "waiting"
        return parent

    def crash(self, worker_id: int) -> None:
        self.conn.execute("select worker.interrupt_abandoned(array[%s]::bigint[])", [worker_id])

    def move_clock(self, hours: int) -> None:
        self.conn.execute(
            "select set_config('worker.now', (worker.now() + make_interval(hours => %s))::text, false)", [hours]
        )

    def refusal(self, sql: str, *arguments: Any) -> str | None:
        """SQLSTATE of the error that a statement ends with; it is rolled back in any case."""
        with self.conn.transaction(force_rollback=True):
            try:
                with self.conn.transaction():
                    self.conn.execute(sql, arguments)  # type: ignore[arg-type]
            except Error as error:
                return error.sqlstate
        return None
