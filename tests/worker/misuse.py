"""Handlers that use their transaction, or its connection, when and how they should not."""

from __future__ import annotations

import asyncio
import sys
import threading
from typing import Any

from psycopg.rows import dict_row
from psycopg.types.string import TextLoader

from catchment import App, Context
from tests.worker import probe

app = App(queue="misuse")
WRITE = "insert into probe.effect values (%s, %s)"
kept: list[Any] = []


def start(work: Any) -> None:
    """Leave something running behind the handler, and write what became of it."""

    async def run() -> None:
        try:
            await work
        except BaseException as error:
            probe.write("ended", error=type(error).__name__)
        else:
            probe.write("ended", error=None)

    kept.append(asyncio.get_running_loop().create_task(run()))


def start_thread(work: Any) -> None:
    def run() -> None:
        try:
            work()
        except BaseException as error:
            probe.write("ended", error=type(error).__name__)
        else:
            probe.write("ended", error=None)

    threading.Thread(target=run, daemon=True).start()


def wait_plainly(gate: str) -> None:
    while not probe.is_open(gate):
        threading.Event().wait(0.01)


@app.command
async def good(ctx: Context, note: str = "good", gate: str | None = None) -> str:
    async with ctx.transaction() as conn:
        await conn.execute(WRITE, [ctx.task_id, note])
        with probe.span(note):
            if gate is not None:
                await probe.wait_for_gate(gate)
    return "written"


@app.command
def good_plainly(ctx: Context, note: str = "good", gate: str | None = None) -> str:
    with ctx.transaction() as conn:
        conn.execute(WRITE, [ctx.task_id, note])
        with probe.span(note):
            if gate is not None:
                wait_plainly(gate)
    return "written"


@app.command
async def gather(ctx: Context) -> None:
    """One part fails, and the other continues behind it."""
    async with ctx.transaction() as conn:

        async def write() -> None:
            await probe.wait_for_gate("late")
            await conn.execute(WRITE, [ctx.task_id, "ghost"])

        await conn.execute(WRITE, [ctx.task_id, "first"])
        start(write())
        raise ValueError("this attempt fails")


@app.command
async def half(ctx: Context) -> str:
    """Return while the block is open in another coroutine."""
    started = asyncio.Event()

    async def use() -> None:
        async with ctx.transaction() as conn:
            await conn.execute(WRITE, [ctx.task_id, "half 1"])
            started.set()
            await probe.wait_for_gate("late")
            await conn.execute(WRITE, [ctx.task_id, "half 2"])

    start(use())
    await started.wait()
    return "returned early"


@app.command
def half_plainly(ctx: Context) -> str:
    started = threading.Event()

    def use() -> None:
        with ctx.transaction() as conn:
            conn.execute(WRITE, [ctx.task_id, "half 1"])
            started.set()
            wait_plainly("late")
            conn.execute(WRITE, [ctx.task_id, "half 2"])

    start_thread(use)
    started.wait()
    return "returned early"


@app.command
async def keep(ctx: Context, through: str) -> None:
    """Use the connection when the task has completed."""
    async with ctx.transaction() as conn:
        cursor = conn.cursor()
        await cursor.execute(WRITE, [ctx.task_id, "kept"])

    async def use() -> None:
        await probe.wait_for_gate("late")
        await (conn if through == "connection" else cursor).execute(WRITE, [ctx.task_id, "foreign"])

    start(use())


@app.command
def keep_plainly(ctx: Context, through: str) -> None:
    with ctx.transaction() as conn:
        cursor = conn.cursor()
        cursor.execute(WRITE, [ctx.task_id, "kept"])

    def use() -> None:
        wait_plainly("late")
        (conn if through == "connection" else cursor).execute("rollback")

    start_thread(use)


@app.command
async def disturb(ctx: Context) -> None:
    """Change all that a session and a connection object can keep."""
    async with ctx.transaction() as conn:
        for statement in DISTURBING:
            await conn.execute(statement)
        conn.row_factory = dict_row
        conn.adapters.register_loader("int4", TextLoader)


@app.command
def disturb_plainly(ctx: Context) -> None:
    with ctx.transaction() as conn:
        for statement in DISTURBING:
            conn.execute(statement)
        conn.row_factory = dict_row
        conn.adapters.register_loader("int4", TextLoader)


@app.command
async def look(ctx: Context) -> list[Any]:
    async with ctx.transaction() as conn:
        return list(await (await conn.execute(LOOK)).fetchone() or ())


@app.command
def look_plainly(ctx: Context) -> list[Any]:
    with ctx.transaction() as conn:
        return list(conn.execute(LOOK).fetchone() or ())


DISTURBING = (
    "create temporary table left_over (id integer)",
    "set search_path = nowhere",
    "set session characteristics as transaction isolation level serializable",
    "select pg_advisory_lock(4711)",
    "prepare left_over as select 1",
    "listen left_over",
    "declare left_over cursor with hold for select 1",
)
LOOK = """
select 1::int4, pg_catalog.to_regclass('pg_temp.left_over')::text, current_setting('search_path'),
       current_setting('transaction_isolation'),
       (select count(*)::int4 from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()),
       (select count(*)::int4 from pg_prepared_statements), (select count(*)::int4 from pg_listening_channels()),
       (select count(*)::int4 from pg_cursors where is_holdable and name <> 'catchment_transaction')
"""


@app.command
async def begin_late(ctx: Context, how: str) -> None:
    """Begin a transaction when the handler has returned."""
    transaction = ctx.transaction() if how == "asked before" else None

    async def use() -> None:
        await probe.wait_for_gate("late")
        async with transaction or ctx.transaction() as conn:
            await conn.execute(WRITE, [ctx.task_id, "late"])

    start(use())


@app.command
def begin_late_plainly(ctx: Context, how: str) -> None:
    transaction = ctx.transaction() if how == "asked before" else None

    def use() -> None:
        wait_plainly("late")
        with transaction or ctx.transaction() as conn:
            conn.execute(WRITE, [ctx.task_id, "late"])

    start_thread(use)


@app.command
async def stream(ctx: Context, is_kept: bool = True) -> None:
    """Leave a stream open."""
    async with ctx.transaction() as conn:
        rows = conn.cursor().stream("select generate_series(1, 100000)")
        if is_kept:
            kept.append(rows)
        async for _ in rows:
            break
        del rows


@app.command
def stream_plainly(ctx: Context, is_kept: bool = True) -> None:
    with ctx.transaction() as conn:
        rows = conn.cursor().stream("select generate_series(1, 100000)")
        if is_kept:
            kept.append(rows)
        for _ in rows:
            break
        del rows


@app.command
async def write_or(ctx: Context, then: str) -> str:
    """Write, and make something of an error."""
    try:
        async with ctx.transaction() as conn, conn.transaction():
            await conn.execute(WRITE, [ctx.task_id, "full"])
    except Exception as error:
        if then == "wrap":
            raise ValueError("it did not work") from error
        if then == "own":
            raise
        return "swallowed"
    return "written"


@app.command
def write_or_plainly(ctx: Context, then: str) -> str:
    try:
        with ctx.transaction() as conn, conn.transaction():
            conn.execute(WRITE, [ctx.task_id, "full"])
    except Exception as error:
        if then == "wrap":
            raise ValueError("it did not work") from error
        if then == "own":
            raise
        return "swallowed"
    return "written"


@app.command
async def read_only(ctx: Context, then: str) -> None:
    """Promise not to write, and write; or leave that to the completion."""
    async with ctx.transaction() as conn:
        await conn.execute("set transaction read only")
        if then != "read":
            try:
                await conn.execute(WRITE, [ctx.task_id, "never"])
            except Exception:
                if then == "write":
                    raise


@app.command
def read_only_plainly(ctx: Context, then: str) -> None:
    with ctx.transaction() as conn:
        conn.execute("set transaction read only")
        if then != "read":
            try:
                conn.execute(WRITE, [ctx.task_id, "never"])
            except Exception:
                if then == "write":
                    raise


RAISE = "do $$ begin raise notice 'look'; end $$"


@app.command
async def notice(ctx: Context) -> str:
    """A notice handler that raises SystemExit, in a callback of libpq."""
    async with ctx.transaction() as conn:
        conn.add_notice_handler(lambda _: sys.exit(3))
        await conn.execute(RAISE)
    return "noticed"


@app.command
def notice_plainly(ctx: Context) -> str:
    with ctx.transaction() as conn:
        conn.add_notice_handler(lambda _: sys.exit(3))
        conn.execute(RAISE)
    return "noticed"


@app.command
async def settle_itself(ctx: Context, verb: str) -> None:
    """Settle its own task in the transaction in which the worker completes it."""
    async with ctx.transaction() as conn:
        await conn.execute(
            f"select worker.{verb}(%s, (select fence from worker.running where id = %s))", [ctx.task_id] * 2
        )


@app.command(timeout=0.1)
async def outlive(ctx: Context) -> str:
    """Swallow the cancellation of its timeout, write, and return."""
    try:
        await asyncio.sleep(30)
    except asyncio.CancelledError:
        async with ctx.transaction() as conn:
            await conn.execute(WRITE, [ctx.task_id, "late"])
    return "late"
