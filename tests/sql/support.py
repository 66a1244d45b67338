"""What the SQL tests share: refusals, a clock to move, and a worker of Python tasks driven by hand."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from psycopg import Connection
from psycopg.types.json import Jsonb

from tests.fixtures.engine import Engine

# Raises until it has been called payload.fail_times times; a sequence counts the calls because it is never rolled back.
# payload.sqlstate chooses the error.
FLAKY = """
create sequence probe.tries;
create procedure probe.flaky(payload jsonb, inout info jsonb) language plpgsql as $$
begin
  if nextval('probe.tries') <= (payload ->> 'fail_times')::integer then
    raise exception using errcode = coalesce(payload ->> 'sqlstate', 'P0001'), message = 'not yet';
  end if;
  call probe.act(payload, info);
end; $$;
"""


# Stops the backends of SQL handlers that are cancelled or past their deadline, as upkeep does.
SIGNAL = "select pg_cancel_backend(pid) from unnest(worker.lock_signalled()) as pid"


@contextmanager
def refused(engine: Engine, sqlstate: str) -> Iterator[pytest.ExceptionInfo[psycopg.Error]]:
    """The block is refused with this SQLSTATE; the transaction around it continues."""
    with pytest.raises(psycopg.Error) as caught, engine.conn.transaction():
        yield caught
    assert caught.value.sqlstate == sqlstate, caught.value


def message(caught: pytest.ExceptionInfo[psycopg.Error]) -> str:
    return caught.value.diag.message_primary or ""


def hint(caught: pytest.ExceptionInfo[psycopg.Error]) -> str:
    return caught.value.diag.message_hint or ""


def stop_clock(engine: Engine, at: str = "2030-01-01 00:00:00+00") -> None:
    """Time stands still from here on, in this transaction (in autocommit mode: in this session)."""
    engine.value("select set_config('worker.now', %s, %s)", at, not engine.conn.autocommit)


def advance_clock(engine: Engine, by: str) -> None:
    """Move the engine's clock; it stands still afterwards."""
    stop_clock(engine, engine.value("select (worker.now() + %s::interval)::text", by))


def enqueue_in(engine: Engine, delay: str, command: str = "act", lane: str | None = None, **payload: Any) -> int:
    """Enqueue a task that is due after a delay."""
    return engine.value(
        "select worker.enqueue(%s, %s, p_lane => %s, p_scheduled_at => worker.now() + %s::interval)",
        command,
        Jsonb(payload),
        lane,
        delay,
    )


OPEN_TASKS = """
select id, command, queue, payload, state, merged_into, progress - 'note' from worker.tasks
 where state in ('pending', 'processing', 'waiting', 'interrupted') order by id
"""


def check_open_tasks(engine: Engine) -> None:
    """worker.open_tasks has the unsettled tasks of the view, with the same states."""
    truth = engine.conn.execute(OPEN_TASKS).fetchall()
    told = engine.conn.execute(
        "select id, command, queue, payload, state, merged_into, progress - 'note'"
        " from worker.open_tasks(array(select queue from worker.queue_registry)) order by id"
    ).fetchall()
    assert told == truth


def wait_until(engine: Engine, condition: str, *parameters: object) -> None:
    """Ask the server until it says yes."""
    deadline = time.monotonic() + 60
    while not engine.value(condition, *parameters):
        assert time.monotonic() < deadline, condition
        time.sleep(0.005)


def start_work(conn: Connection[Any]) -> threading.Thread:
    """One process_tasks call on this connection, in a thread of its own."""
    thread = threading.Thread(target=lambda: Engine(conn).process())
    thread.start()
    return thread


def attempts(engine: Engine, task_id: int) -> list[dict[str, Any]]:
    """The recorded attempts of a task that did not complete."""
    return engine.value(
        "select coalesce(jsonb_agg(to_jsonb(a) order by attempt), '[]') from worker.attempt as a where task_id = %s",
        task_id,
    )


@dataclass(frozen=True)
class Claim:
    id: int
    fence: int
    payload: dict[str, Any]
    attempt: int
    phase: int


@dataclass(frozen=True)
class Hand:
    """A worker of Python tasks whose every step a test takes by hand."""

    engine: Engine
    worker_id: int

    @classmethod
    def hired(cls, conn: Connection[Any]) -> Hand:
        engine = Engine(conn)
        return cls(engine, engine.value("select worker_id from worker.register_worker('hand', p_has_lock => false)"))

    def claim(self, limit: int = 1, queue: str = "work") -> list[Claim]:
        rows = self.engine.conn.execute(
            "select id, fence, payload, attempt, phase from worker.claim_tasks(%s, array[%s], %s)",
            [self.worker_id, queue, limit],
        )
        return [Claim(*row) for row in rows]

    def claim_one(self, queue: str = "work") -> Claim:
        (claim,) = self.claim(1, queue)
        return claim

    def complete(self, claim: Claim, **options: Any) -> str:
        arguments = {k: Jsonb(v) if isinstance(v, dict | list) else v for k, v in options.items()}
        named = "".join(f", {k} => %({k})s" for k in arguments)
        row = self.engine.conn.execute(
            f"select worker.complete_task(%(id)s, %(fence)s{named})",  # type: ignore[arg-type]
            arguments | {"id": claim.id, "fence": claim.fence},
        ).fetchone()
        assert row is not None
        return row[0]

    def fail(self, claim: Claim, **error: Any) -> str:
        error = {"kind": "error", "message": "it failed"} | error
        return self.engine.value("select worker.fail_task(%s, %s, %s)", claim.id, claim.fence, Jsonb(error))

    def interrupt(self, claim: Claim) -> str:
        return self.engine.value(
            "select state from worker.settle(array[%s::bigint], array[%s::bigint], array['interrupted'])",
            claim.id,
            claim.fence,
        )

    def release(self, claim: Claim) -> str:
        return self.engine.value("select worker.release_task(%s, %s)", claim.id, claim.fence)


def python_work(engine: Engine, mode: str = "concurrent", **options: Any) -> Hand:
    """Make command ``act`` a Python task on a queue of this mode, and hire a hand for it."""
    engine.conn.execute("update worker.queue_registry set mode = %s where queue = 'work'", [mode])
    engine.conn.execute("delete from worker.command_registry where command = 'act'")
    engine.command(handler_kind="python", **options)
    return Hand.hired(engine.conn)
