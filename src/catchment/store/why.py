"""Reads why a task waits."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from catchment.model.why import Condition, Why
from catchment.store.errors import translated
from catchment.store.json_text import loads_for_people
from catchment.store.result import may_not_read

_EXPLAIN: LiteralString = (
    "select c.kind, c.is_blocking, c.evidence, c.words, c.remedy from worker.explain(%s::bigint) as c"
)


def explain(conn: Connection[Any], task_id: int) -> Why:
    """Why a task waits; raises ``TaskNotFound``."""
    cursor = Cursor(conn, row_factory=dict_row)
    set_json_loads(loads_for_people, cursor)
    with translated():
        return _why(task_id, cursor.execute(_EXPLAIN, [task_id], binary=True).fetchall())


def read_why(conn: Connection[Any], task_id: int) -> Why:
    """As ``explain``, for a caller who may lack the right to read tasks."""
    try:
        return explain(conn, task_id)
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


async def read_why_async(conn: AsyncConnection[Any], task_id: int) -> Why:
    """As ``read_why``, in asyncio."""
    cursor = AsyncCursor(conn, row_factory=dict_row)
    set_json_loads(loads_for_people, cursor)
    try:
        with translated():
            await cursor.execute(_EXPLAIN, [task_id], binary=True)
            return _why(task_id, await cursor.fetchall())
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


def _why(task_id: int, rows: list[dict[str, Any]]) -> Why:
    return Why(task_id, tuple(Condition(**row) for row in rows))
