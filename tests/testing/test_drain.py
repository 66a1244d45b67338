"""Tasks of both kinds run in the transaction of a test, which then rolls back."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

import psycopg
import pytest
from psycopg import AsyncConnection, Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from catchment import App, Child, Context, GiveUp, RequestRefused
from catchment.testing import drain, drain_async
from tests.fixtures.engine import Engine
from tests.sql.support import stop_clock


@pytest.fixture
def app() -> App:
    return App("host=nowhere.invalid", queue="work")


def note_in(conn: Connection[Any], text: str) -> None:
    conn.execute("insert into probe.effect (note) values (%s)", [text])


def note(app: App) -> None:
    """Two commands that write down what they are told and may fail afterwards: an async one and a plain one."""

    @app.command(name="note")
    async def _(ctx: Context, text: str, fails: bool = False) -> str:
        async with ctx.transaction() as conn:
            await conn.execute("insert into probe.effect (note) values (%s)", [text])
        if fails:
            raise GiveUp("after the write")
        return text

    @app.command(name="note_plainly")
    def _(ctx: Context, text: str, fails: bool = False) -> str:
        with ctx.transaction() as conn:
            note_in(conn, text)
        if fails:
            raise GiveUp("after the write")
        return text


def enqueue(engine: Engine, command: str, /, **payload: Any) -> int:
    return engine.value("select worker.enqueue(%s, %s)", command, Jsonb(payload))


def enqueue_python(app: App, engine: Engine, command: str, /, **payload: Any) -> int:
    return app.commands.get(command).sync.using(conn=engine.conn).enqueue(**payload).id


def test_handlers_of_both_kinds_run_in_one_tree(app: App, engine: Engine) -> None:
    note(app)

    @app.command
    async def both(ctx: Context) -> None:
        ctx.spawn("note", {"text": "python"})
        ctx.spawn("act", {"note": "sql"})

    @both.join
    async def gather(children: list[Child]) -> list[str]:
        return [child.command for child in children]

    task = enqueue_python(app, engine, "both")
    assert drain(app, engine.conn) == {"completed": 3}
    assert engine.task(task)["result"] == ["note", "act"]
    assert sorted(engine.notes()) == ["python", "sql"]
    engine.check()


def test_a_python_child_of_a_sql_handler_runs_before_the_next_top_level_task(app: App, engine: Engine) -> None:
    @app.command
    async def leaf(ctx: Context, command: str) -> None:
        async with ctx.transaction() as conn:
            await conn.execute("insert into probe.effect (note) values (%s)", [command])

    enqueue(engine, "act", note="parent", spawn=[{"command": "leaf"}])
    enqueue(engine, "act", note="next")
    assert drain(app, engine.conn) == {"completed": 3}
    assert engine.notes() == ["parent", "leaf", "next"]


def test_nothing_is_left_after_the_rollback(app: App, engine: Engine) -> None:
    note(app)
    enqueue_python(app, engine, "note", text="gone")
    drain(app, engine.conn)
    assert engine.notes() == ["gone"]
    engine.conn.rollback()
    left = (
        "select (select count(*) from worker.task), (select count(*) from worker.worker),"
        " (select count(*) from probe.effect)"
    )
    assert engine.conn.execute(left).fetchone() == (0, 0, 0)


@pytest.mark.parametrize("command", ["note", "note_plainly"])
def test_the_writes_of_a_handler_that_completes_stay(app: App, engine: Engine, command: str) -> None:
    note(app)
    task = enqueue_python(app, engine, command, text="kept")
    assert drain(app, engine.conn) == {"completed": 1}
    assert (engine.notes(), engine.task(task)["result"]) == (["kept"], "kept")


@pytest.mark.parametrize("command", ["note", "note_plainly"])
def test_the_writes_of_a_handler_that_fails_are_undone(app: App, engine: Engine, command: str) -> None:
    note(app)
    task = enqueue_python(app, engine, command, text="undone", fails=True)
    assert drain(app, engine.conn) == {"failed": 1}
    assert engine.notes() == []
    assert engine.task(task)["error"] == "after the write"
    engine.check()


def test_a_statement_that_fails_in_a_handler_does_not_end_the_transaction(app: App, engine: Engine) -> None:
    note(app)

    @app.command
    async def stumble(ctx: Context) -> None:
        async with ctx.transaction() as conn:
            await conn.execute("select 1 / 0")

    failed = enqueue_python(app, engine, "stumble")
    enqueue_python(app, engine, "note", text="after")
    assert drain(app, engine.conn) == {"completed": 1, "failed": 1}
    assert "division by zero" in engine.task(failed)["error"]
    assert engine.notes() == ["after"]


def test_a_retry_that_is_not_due_is_left(app: App, engine: Engine) -> None:
    @app.command(max_attempts=3)
    async def flaky() -> None:
        raise ValueError("not yet")

    task = enqueue_python(app, engine, "flaky")
    assert drain(app, engine.conn) == {"pending": 1}
    assert (engine.task(task)["attempt"], engine.task(task)["waits_for"]) == (1, "retry")


def test_a_retry_runs_once_the_clock_has_been_moved(app: App, engine: Engine) -> None:
    @app.command(max_attempts=2)
    async def flaky(ctx: Context) -> int:
        if ctx.attempt == 1:
            raise ValueError("not yet")
        return ctx.attempt

    task = enqueue_python(app, engine, "flaky")
    drain(app, engine.conn)
    engine.value("select set_config('worker.now', (worker.now() + interval '1 hour')::text, true)")
    assert drain(app, engine.conn) == {"completed": 1}
    assert engine.task(task)["result"] == 2


def test_follow_ups_run_too(app: App, engine: Engine) -> None:
    note(app)

    @app.command
    async def chain(ctx: Context) -> None:
        ctx.follow_up("act", {"note": "sql"})
        ctx.follow_up("note", {"text": "python"})

    enqueue_python(app, engine, "chain")
    assert drain(app, engine.conn) == {"completed": 3}
    assert engine.notes() == ["sql", "python"]


def test_an_end_that_the_engine_refuses_is_a_failure(app: App, engine: Engine) -> None:
    @app.command
    async def spawn_unknown(ctx: Context) -> None:
        ctx.spawn("unknown")

    task = enqueue_python(app, engine, "spawn_unknown")
    assert drain(app, engine.conn) == {"failed": 1}
    assert engine.task(task)["error_detail"]["kind"] == "CommandNotRegistered"


def test_tasks_of_another_app_are_left(app: App, engine: Engine) -> None:
    engine.command("foreign", handler_kind="python")
    note(app)
    enqueue(engine, "foreign")
    assert drain(app, engine.conn) == {"pending": 1}


def test_what_a_handler_cancels_does_not_run(app: App, engine: Engine) -> None:
    note(app)

    @app.command(priority=1)
    def think_better(ctx: Context, task_id: int) -> None:
        with ctx.transaction() as conn:
            conn.execute("select worker.cancel(%s, 'changed my mind')", [task_id])

    task = enqueue_python(app, engine, "note", text="never")
    enqueue_python(app, engine, "think_better", task_id=task)
    assert drain(app, engine.conn) == {"cancelled": 1, "completed": 1}
    assert engine.notes() == []


def test_tasks_that_had_settled_before_do_not_count(app: App, engine: Engine) -> None:
    note(app)
    enqueue_python(app, engine, "note", text="one")
    drain(app, engine.conn)
    assert drain(app, engine.conn) == {}


def test_middlewares_are_around_every_handler(app: App, engine: Engine) -> None:
    note(app)
    seen: list[str] = []

    @app.middleware
    async def around(ctx: Context, call: Callable[[], Awaitable[Any]]) -> Any:
        seen.append(ctx.command)
        return await call()

    enqueue_python(app, engine, "note", text="one")
    drain(app, engine.conn)
    assert seen == ["note"]


def test_a_tree_without_end_is_stopped(app: App, engine: Engine) -> None:
    @app.command
    async def again(ctx: Context) -> None:
        ctx.follow_up(again)

    enqueue_python(app, engine, "again")
    with pytest.raises(RequestRefused, match="20 attempts"):
        drain(app, engine.conn, max_tasks=20)


def test_rows_are_tuples_in_handlers_and_what_the_test_chose_outside(
    app: App, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    @app.command
    def look(ctx: Context) -> list[tuple[int]]:
        with ctx.transaction() as conn:
            return list(conn.execute("select 1 as one").fetchall())

    task = enqueue_python(app, engine, "look")
    # The session is that of later tests too.
    monkeypatch.setattr(engine.conn, "row_factory", dict_row)
    drain(app, engine.conn)
    (row,) = engine.conn.execute("select result from worker.tasks where id = %s", [task]).fetchall()
    assert row == {"result": [[1]]}


def test_a_connection_that_would_commit_is_refused(app: App, committed: Engine) -> None:
    with pytest.raises(RequestRefused, match="autocommit") as caught:
        drain(app, committed.conn)
    assert "force_rollback" in (caught.value.hint or "")


def test_an_open_transaction_of_a_connection_in_autocommit_mode_will_do(app: App, committed: Engine) -> None:
    note(app)
    with committed.conn.transaction(force_rollback=True):
        enqueue_python(app, committed, "note", text="gone")
        assert drain(app, committed.conn) == {"completed": 1}
    assert committed.notes() == []


def test_asyncio_tests_drain_on_their_own_connection(app: App, committed: Engine, db: str) -> None:
    note(app)

    async def work() -> dict[str, int]:
        async with await AsyncConnection.connect(db) as conn:
            await app.commands.get("note").using(conn=conn).enqueue(text="async")
            await app.commands.get("note_plainly").using(conn=conn).enqueue(text="plain")
            await conn.execute("select worker.enqueue('act', '{\"note\": \"sql\"}')")
            counts = await drain_async(app, conn)
            rows = await (await conn.execute("select note from probe.effect order by note")).fetchall()
            assert rows == [("async",), ("plain",), ("sql",)]
            await conn.rollback()
            return counts

    assert asyncio.run(work()) == {"completed": 3}
    assert committed.notes() == []


def test_the_connection_is_as_before_when_the_drain_is_over(app: App, engine: Engine) -> None:
    note(app)
    said: list[str | None] = []
    engine.conn.add_notice_handler(lambda diag: said.append(diag.message_primary))
    drain(app, engine.conn)
    engine.conn.execute("do $$ begin raise notice 'still heard'; end $$")
    assert "still heard" in said
    assert engine.conn.info.transaction_status == psycopg.pq.TransactionStatus.INTRANS


def test_a_handler_cannot_commit_the_transaction_of_the_test(app: App, engine: Engine) -> None:
    @app.command
    async def commit(ctx: Context) -> None:
        async with ctx.transaction() as conn:
            await conn.commit()

    @app.command
    def commit_plainly(ctx: Context) -> None:
        with ctx.transaction() as conn:
            conn.commit()

    tasks = [enqueue_python(app, engine, name) for name in ("commit", "commit_plainly")]
    assert drain(app, engine.conn) == {"failed": 2}
    assert all("commit()" in engine.task(task)["error_detail"]["message"] for task in tasks)


def test_a_task_that_snoozes_stays_pending_until_the_clock_is_moved(app: App, engine: Engine) -> None:
    stop_clock(engine, "2030-01-01 00:00:00+00")

    @app.command(queue="work")
    async def open_shop(ctx: Context) -> int:
        await ctx.sleep_until(datetime(2030, 1, 2, tzinfo=UTC))
        return ctx.attempt

    task = enqueue_python(app, engine, "open_shop")
    assert drain(app, engine.conn) == {"pending": 1}
    assert engine.task(task)["waits_for"] == "snooze"
    stop_clock(engine, "2030-01-02 00:00:00+00")
    assert drain(app, engine.conn) == {"completed": 1}
    assert engine.task(task)["result"] == 2
