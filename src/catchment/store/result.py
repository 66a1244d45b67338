"""Reads how tasks stand and how they ended, many in one query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import class_row, dict_row
from psycopg.types.json import set_json_loads

from catchment.errors import RequestRefused, TaskNotFound, ValueUnreadable
from catchment.model.state import TaskState
from catchment.model.task import TaskId, TaskInfo
from catchment.sql import ENGINE
from catchment.store.errors import translated
from catchment.store.json_text import JsonText, loads


@dataclass(frozen=True, slots=True)
class Standing:
    """A task's state and, once it has settled, its outcome: that of its survivor if it was merged. ``progress`` is how
    far a scope was that was cancelled.

    An outcome that Python cannot read is a ``JsonText``.
    """

    id: TaskId
    root_id: TaskId | None
    command: str
    state: str
    result: Any
    error: dict[str, Any] | JsonText | None
    progress: dict[str, Any] | JsonText | None = None

    @property
    def is_settled(self) -> bool:
        """Has the task reached its end?"""
        return TaskState(self.state).is_settled


async def look_async(conn: AsyncConnection[Any], ids: Sequence[int]) -> list[Standing]:
    """The standing of each of these tasks that exists."""
    return await _standings_async(conn, "result_look", ids)


async def settled_async(conn: AsyncConnection[Any], ids: Sequence[int]) -> list[Standing]:
    """Those of these tasks that have settled; cheaper than a look."""
    return await _standings_async(conn, "result_settled", ids)


def look(conn: Connection[Any], ids: Sequence[int]) -> list[Standing]:
    """As ``look_async``, without asyncio."""
    return _standings(conn, "result_look", ids)


def settled(conn: Connection[Any], ids: Sequence[int]) -> list[Standing]:
    """As ``settled_async``, without asyncio."""
    return _standings(conn, "result_settled", ids)


async def read_task_async(conn: AsyncConnection[Any], task_id: int) -> TaskInfo:
    """One task; raises ``TaskNotFound``."""
    cursor = AsyncCursor(conn, row_factory=dict_row)
    set_json_loads(loads, cursor)
    try:
        with translated():
            await cursor.execute(ENGINE.query("task_info"), {"id": task_id}, binary=True)
            return _task_info(task_id, await cursor.fetchall())
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


def read_task(conn: Connection[Any], task_id: int) -> TaskInfo:
    """As ``read_task_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=dict_row)
    set_json_loads(loads, cursor)
    try:
        with translated():
            return _task_info(
                task_id, cursor.execute(ENGINE.query("task_info"), {"id": task_id}, binary=True).fetchall()
            )
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


async def _standings_async(conn: AsyncConnection[Any], query: str, ids: Sequence[int]) -> list[Standing]:
    cursor = AsyncCursor(conn, row_factory=class_row(Standing))
    set_json_loads(loads, cursor)
    try:
        with translated():
            await cursor.execute(ENGINE.query(query), {"ids": list(ids)}, prepare=True)
            return await cursor.fetchall()
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


def _standings(conn: Connection[Any], query: str, ids: Sequence[int]) -> list[Standing]:
    cursor = Cursor(conn, row_factory=class_row(Standing))
    set_json_loads(loads, cursor)
    try:
        with translated():
            return cursor.execute(ENGINE.query(query), {"ids": list(ids)}, prepare=True).fetchall()
    except psycopg.errors.InsufficientPrivilege as error:
        raise may_not_read(error) from error


def _task_info(task_id: int, rows: list[dict[str, Any]]) -> TaskInfo:
    if not rows:
        raise task_not_found(task_id)
    (row,) = rows
    for name, value in row.items():
        if isinstance(value, JsonText):
            raise unreadable(task_id, row["command"], name, value)
    return TaskInfo(state=TaskState(row.pop("state")), **row)


def unreadable(task_id: int, command: str, name: str, value: JsonText) -> ValueUnreadable:
    """The answer about a value that PostgreSQL holds and Python cannot read."""
    return ValueUnreadable(
        f"the {name} of task {task_id} ({command}) cannot be read: {value.reason}",
        task_id=task_id,
        command=command,
        hint=f"'catchment task show {task_id}' prints it as text.",
    )


def task_not_found(task_id: int) -> TaskNotFound:
    """The answer to an id that does not exist, yet or any more."""
    return TaskNotFound(
        f"there is no task {task_id}, or it is not committed yet",
        hint="A task can be seen when the transaction that made it commits, until some days after it has settled.",
    )


def check_command(task_id: int, actual: str, expected: str | None) -> None:
    """Raise ``TaskNotFound`` for a task of another command: its id was mistaken, or is of another database."""
    if expected is not None and actual != expected:
        raise another_command(task_id, actual, expected)


def another_command(task_id: int, actual: str, expected: str) -> TaskNotFound:
    """The answer to an id that a task of another command has."""
    return TaskNotFound(
        f"there is no task {task_id} of {expected} in the database of this app: task {task_id} is one of {actual}",
        hint=f"app.task({task_id}) is a handle of it. A task that was made on a connection to another database is found"
        f" there: {expected}.using(app=…).task({task_id}), with an app of that database.",
    )


def check_look(task_id: int, standings: Sequence[Standing], expected: str | None) -> None:
    """As ``check_command``, for what a look has found."""
    for standing in standings:
        check_command(task_id, standing.command, expected)


def may_not_read(error: psycopg.Error) -> RequestRefused:
    return RequestRefused(
        f"this user may not read tasks: {error.diag.message_primary}",
        hint="Grant it catchment_read (or catchment_worker): catchment_enqueue makes tasks and does not see them.",
    )
