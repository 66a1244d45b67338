"""The transaction that a worker lends to a handler: begun and committed by the worker alone.

It begins with a guard, a cursor with hold for a call of ``worker.refuse_commit``: any COMMIT fails on the server with
nothing written, unless the guard was closed right before it. The guard writes nothing, so it costs neither WAL nor dead
rows, and it goes with the transaction. ``SET CONSTRAINTS`` does not touch it, and PREPARE TRANSACTION refuses it.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.sql import SQL, Composed, Literal

from catchment.errors import TransactionEndRefused
from catchment.store.attempt import BEGAN_AT

GUARD = "catchment_transaction"
# One round trip. Of the time limits that PostgreSQL 15 to 18 share, these two together end a transaction that hangs,
# active or idle.
_BEGIN = (
    f"begin; declare {GUARD} no scroll cursor with hold for select worker.refuse_commit();"
    " set local idle_in_transaction_session_timeout = {limit}; set local statement_timeout = {limit};"
    f" select {BEGAN_AT}, pg_catalog.current_setting('transaction_read_only')::boolean"
)
_COMMIT = f"close {GUARD}; commit"


def begin_text(limit: timedelta) -> Composed:
    """The statements that begin a transaction with this time limit."""
    return SQL(_BEGIN).format(limit=Literal(int(limit.total_seconds() * 1000)))


async def begin(conn: AsyncConnection[Any], text: Composed) -> tuple[str, bool]:
    """Begin; returns what tells this transaction from others of the session, and whether it is read-only."""
    cursor = await conn.execute(text)
    while cursor.nextset():
        pass
    ((began_at, is_read_only),) = await cursor.fetchall()
    return began_at, is_read_only


async def commit(conn: AsyncConnection[Any]) -> None:
    """Commit. Raises ``TransactionEndRefused`` if the handler has closed the guard."""
    try:
        await conn.execute(_COMMIT)
    except psycopg.errors.InvalidCursorName as error:
        raise TransactionEndRefused(
            f"the cursor {GUARD}, which guards the transaction of ctx.transaction(), was closed",
            hint="Nothing is committed. Close cursors by their names, not with CLOSE ALL.",
        ) from error
