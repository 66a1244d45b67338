"""Handlers that end the transaction which was lent to them, by every route."""

from __future__ import annotations

from typing import Any

import psycopg

from catchment import App, Context
from tests.worker import probe

__all__ = ["probe"]

app = App(queue="enders")
WRITE = "insert into probe.effect values (%s, %s)"
METHODS = ("commit", "rollback", "close", "set_autocommit", "with")
STATEMENTS = (
    "commit",
    "COMMIT AND CHAIN",
    "/* at last */ end",
    "rollback",
    "rollback and chain",
    "abort",
    "prepare transaction 'lent'",
    "insert into probe.effect values (0, 'one of several'); rollback; insert into probe.effect values (0, 'after it')",
    "rollback and chain; insert into probe.effect values (0, 'chained'); commit",
    "set constraints all immediate; commit",
    "close all",
)
# Of those, what fails or is found when the text of the statement was not looked at.
UNSEEN = (
    "commit",
    "commit and chain",
    "rollback",
    "prepare transaction 'lent'",
    "set constraints all immediate; insert into probe.effect values (0, 'unseen'); commit",
    "savepoint a; rollback to a; end",
    "set role catchment_enqueue; commit",
)


@app.command
async def end_it(ctx: Context, how: str, route: str, is_swallowed: bool) -> str:
    async with ctx.transaction() as conn:
        await conn.execute(WRITE, [ctx.task_id, "written"])
        try:
            if how == "method":
                await _method(conn, route)
            elif how == "statement":
                await conn.execute(route)
            else:
                await psycopg.AsyncClientCursor(conn).execute(route)
                await psycopg.AsyncClientCursor(conn).execute("insert into probe.effect values (0, 'later')")
                await psycopg.AsyncClientCursor(conn).execute("commit")
        except Exception:
            if not is_swallowed:
                raise
    return "written"


async def _method(conn: Any, name: str) -> None:
    if name == "with":
        async with conn:
            pass
    else:
        await getattr(conn, name)(*([True] if name == "set_autocommit" else []))


@app.command
def end_it_plainly(ctx: Context, how: str, route: str, is_swallowed: bool) -> str:
    with ctx.transaction() as conn:
        conn.execute(WRITE, [ctx.task_id, "written"])
        try:
            if how == "method":
                _method_plainly(conn, route)
            elif how == "statement":
                conn.execute(route)
            else:
                psycopg.ClientCursor(conn).execute(route)
                psycopg.ClientCursor(conn).execute("insert into probe.effect values (0, 'later')")
                psycopg.ClientCursor(conn).execute("commit")
        except Exception:
            if not is_swallowed:
                raise
    return "written"


def _method_plainly(conn: Any, name: str) -> None:
    if name == "with":
        with conn:
            pass
    elif name == "set_autocommit":
        conn.autocommit = True
    else:
        getattr(conn, name)()


@app.command
def end_it_in_libpq(ctx: Context) -> str:
    """Past psycopg altogether, and on without a look at the answer."""
    with ctx.transaction() as conn:
        conn.execute(WRITE, [ctx.task_id, "written"])
        for statement in (b"commit", b"insert into probe.effect values (0, 'later')"):
            conn.pgconn.exec_(statement)
    return "written"


@app.command
def commit_past_the_guard(ctx: Context, then: str) -> str:
    """In libpq nobody looks at the text, and the guard is a cursor like others."""
    with ctx.transaction() as conn:
        conn.execute(WRITE, [ctx.task_id, "kept"])
        conn.pgconn.exec_(b"close all; commit")
        if then == "begin":
            conn.pgconn.exec_(b"begin")
            conn.execute(WRITE, [ctx.task_id, "lost"])
        if then == "use":
            conn.execute(WRITE, [ctx.task_id, "lost"])
        if then == "raise":
            raise ValueError(then)
    return "written"


@app.command
def behave(ctx: Context, note: str) -> str:
    """Write, and undo a part in a savepoint."""
    with ctx.transaction() as conn:
        conn.execute(WRITE, [ctx.task_id, note])
        with conn.transaction():
            conn.execute(WRITE, [ctx.task_id, "undone"])
            raise psycopg.Rollback
        conn.execute("savepoint a; insert into probe.effect values (0, 'undone'); rollback to a; release a")
    return "behaved"
