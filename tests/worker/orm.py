"""Handlers with sessions of SQLAlchemy."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from catchment import App, Context
from tests.worker import probe

__all__ = ["probe"]

app = App(queue="orm")
ROUTES = (
    *("commit", "rollback", "close", "reset", "invalidate"),
    *("begin", "transaction", "connection", "invalid", "text", "flush", "autocommit"),
)


class Base(DeclarativeBase): ...


class Effect(Base):
    """Rows of ``probe.effect``; its note is unique here."""

    __tablename__ = "order"
    __table_args__ = ({"schema": "probe"},)
    note: Mapped[str] = mapped_column(primary_key=True)
    task_id: Mapped[int]


@app.command
def follow(note: str) -> None: ...


@app.command
async def write(ctx: Context, note: str) -> str:
    """Write, undo a part in a savepoint, and enqueue."""
    async with ctx.transaction(sqlalchemy=True) as session:
        session.add(Effect(note=f"{note} 1", task_id=ctx.task_id))
        await session.flush()
        try:
            async with session.begin_nested():
                session.add(Effect(note=f"{note} 1", task_id=0))
        except IntegrityError:
            pass
        await follow.using(conn=session).enqueue(note=note)
        seen = (await session.scalars(sa.select(Effect.note).where(Effect.task_id == ctx.task_id))).all()
        last = Effect(note=f"{note} 2", task_id=ctx.task_id)
        session.add(last)
    return f"{seen} {last.note}"


@app.command
def write_plainly(ctx: Context, note: str) -> str:
    with ctx.transaction(sqlalchemy=True) as session:
        session.add(Effect(note=f"{note} 1", task_id=ctx.task_id))
        session.flush()
        try:
            with session.begin_nested():
                session.add(Effect(note=f"{note} 1", task_id=0))
        except IntegrityError:
            pass
        follow.sync.using(conn=session).enqueue(note=note)
        seen = session.scalars(sa.select(Effect.note).where(Effect.task_id == ctx.task_id)).all()
        last = Effect(note=f"{note} 2", task_id=ctx.task_id)
        session.add(last)
    return f"{seen} {last.note}"


@app.command
async def end_it(ctx: Context, route: str, is_swallowed: bool) -> None:
    async with ctx.transaction(sqlalchemy=True) as session:
        try:
            if route == "begin":
                async with session.begin():
                    session.add(Effect(note="written", task_id=ctx.task_id))
            if route == "autocommit":
                await session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
            session.add(Effect(note="written", task_id=ctx.task_id))
            await session.flush()
            await _end(session, route)
        except Exception:
            if not is_swallowed:
                raise


async def _end(session: Any, route: str) -> None:
    if route == "transaction":
        await session.run_sync(lambda below: below.get_transaction().commit())
    elif route == "connection":
        await (await session.connection()).commit()
    elif route == "invalid":
        await (await session.connection()).invalidate()
    elif route == "text":
        await session.execute(sa.text("commit"))
    elif route == "flush":
        session.add(Effect(note="there", task_id=0))
        await session.flush()
    else:
        await getattr(session, route)()


@app.command
def end_it_plainly(ctx: Context, route: str, is_swallowed: bool) -> None:
    with ctx.transaction(sqlalchemy=True) as session:
        try:
            if route == "begin":
                with session.begin():
                    session.add(Effect(note="written", task_id=ctx.task_id))
            if route == "autocommit":
                session.connection(execution_options={"isolation_level": "AUTOCOMMIT"})
            session.add(Effect(note="written", task_id=ctx.task_id))
            session.flush()
            _end_plainly(session, route)
        except Exception:
            if not is_swallowed:
                raise


def _end_plainly(session: Any, route: str) -> None:
    if route == "transaction":
        session.get_transaction().commit()
    elif route == "connection":
        session.connection().commit()
    elif route == "invalid":
        session.connection().invalidate()
    elif route == "text":
        session.execute(sa.text("commit"))
    elif route == "flush":
        session.add(Effect(note="there", task_id=0))
        session.flush()
    else:
        getattr(session, route)()


@app.command
async def fail_late(ctx: Context) -> None:
    """What the block has not written yet is refused at its end."""
    async with ctx.transaction(sqlalchemy=True) as session:
        session.add(Effect(note="there", task_id=0))


@app.command
async def open_another(ctx: Context) -> None:
    async with ctx.transaction(sqlalchemy=True) as session:
        await (await session.connection()).engine.connect()


@app.command
def open_another_plainly(ctx: Context) -> None:
    with ctx.transaction(sqlalchemy=True) as session:
        session.connection().engine.connect()


@app.command
async def leave_open(ctx: Context) -> None:
    """Savepoints are still open at the end of the block."""
    async with ctx.transaction(sqlalchemy=True) as session:
        await session.begin_nested()
        session.add(Effect(note="outer", task_id=ctx.task_id))
        await session.begin_nested()
        session.add(Effect(note="inner", task_id=ctx.task_id))
        await session.flush()
        session.add(Effect(note="late", task_id=ctx.task_id))


@app.command
def leave_open_plainly(ctx: Context) -> None:
    with ctx.transaction(sqlalchemy=True) as session:
        session.begin_nested()
        session.add(Effect(note="outer", task_id=ctx.task_id))
        session.begin_nested()
        session.add(Effect(note="inner", task_id=ctx.task_id))
        session.flush()
        session.add(Effect(note="late", task_id=ctx.task_id))
