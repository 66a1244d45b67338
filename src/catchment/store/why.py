"""Reads why a task waits."""

from __future__ import annotations

from typing import Any, LiteralString

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from catchment.model.ending import error_words
from catchment.model.why import Condition, Why, as_clause
from catchment.store.errors import translated
from catchment.store.json_text import loads_for_people
from catchment.store.obstacle import obstacles
from catchment.store.result import may_not_read

_EXPLAIN: LiteralString = (
    "select c.kind, c.is_blocking, c.evidence, c.words, c.remedy from worker.explain(%s::bigint) as c"
)
_ERROR: LiteralString = """
select left(t.error_detail ->> 'kind', 200), left(t.error, 1000)
  from worker.tasks as t
 where t.id = %s and t.state = 'failed' and t.error_detail is not null
"""


def explain(conn: Connection[Any], task_id: int) -> Why:
    """Why a task waits; raises ``TaskNotFound``."""
    cursor = Cursor(conn, row_factory=dict_row)
    set_json_loads(loads_for_people, cursor)
    with translated():
        return _why(task_id, cursor.execute(_EXPLAIN, [task_id], binary=True).fetchall())


def explain_to_the_cause(conn: Connection[Any], task_id: int) -> Why:
    """As ``explain``. If another task at the end of the chain waits for a person, that comes first, as ``cause``. Of a
    task that has failed, its error comes last, as ``error``."""
    answer = explain(conn, task_id)
    if not answer.blocking:
        return Why(task_id, (*answer.conditions, *_errors(conn, task_id)))
    causes = [
        Condition(
            kind="cause",
            is_blocking=True,
            evidence={"task_id": one.task_id, "command": one.command, "kind": one.kind},
            words=f"The cause is task {one.task_id} ({one.command}): {as_clause(one.words)}.",
            remedy=one.remedy,
        )
        for one in obstacles(conn, [task_id])
        if one.is_urgent and one.task_id != task_id
    ]
    return Why(task_id, (*causes, *answer.conditions))


def _errors(conn: Connection[Any], task_id: int) -> list[Condition]:
    """What a failed task says: the first line of its message. ``worker.explain`` shows no messages."""
    conditions: list[Condition] = []
    for kind, text in conn.execute(_ERROR, [task_id]).fetchall():
        message = (text or "").partition("\n")[0]
        words, remedy = error_words(kind, message), f"catchment task show {task_id}"
        evidence = {"kind": kind, "message": message}
        conditions.append(Condition(kind="error", is_blocking=False, evidence=evidence, words=words, remedy=remedy))
    return conditions


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
