"""Registers Python commands and their queues."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psycopg import AsyncConnection, AsyncCursor, Connection, Cursor
from psycopg.rows import tuple_row
from pydantic_core import to_json

from catchment.store.errors import translated

Definition = dict[str, Any]

# Asked first, because a refused call would break the caller's transaction.
_MAY_REGISTER = "select pg_catalog.has_function_privilege('worker.register_commands(jsonb, jsonb, boolean)', 'execute')"
_REGISTER = "select worker.register_commands(%s::pg_catalog.jsonb, %s::pg_catalog.jsonb, %s)"


async def may_register_async(conn: AsyncConnection[Any]) -> bool:
    """May this user register commands?"""
    cursor = AsyncCursor(conn, row_factory=tuple_row)
    with translated():
        await cursor.execute(_MAY_REGISTER)
        ((allowed,),) = await cursor.fetchall()
    return allowed


def may_register(conn: Connection[Any]) -> bool:
    """As ``may_register_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=tuple_row)
    with translated():
        ((allowed,),) = cursor.execute(_MAY_REGISTER).fetchall()
    return allowed


async def register_commands_async(
    conn: AsyncConnection[Any], queues: Sequence[Definition], definitions: Sequence[Definition], *, overwrite: bool
) -> int:
    """Register what is missing, and with ``overwrite`` change what differs; returns the number of rows written."""
    cursor = AsyncCursor(conn, row_factory=tuple_row)
    with translated():
        await cursor.execute(_REGISTER, _parameters(queues, definitions, overwrite))
        ((count,),) = await cursor.fetchall()
    return count


def register_commands(
    conn: Connection[Any], queues: Sequence[Definition], definitions: Sequence[Definition], *, overwrite: bool
) -> int:
    """As ``register_commands_async``, without asyncio."""
    cursor = Cursor(conn, row_factory=tuple_row)
    with translated():
        ((count,),) = cursor.execute(_REGISTER, _parameters(queues, definitions, overwrite)).fetchall()
    return count


def _parameters(
    queues: Sequence[Definition], definitions: Sequence[Definition], overwrite: bool
) -> tuple[str, str, bool]:
    return to_json(list(queues)).decode(), to_json(list(definitions)).decode(), overwrite
