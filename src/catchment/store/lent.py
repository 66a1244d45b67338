"""The transaction that a worker lends to a handler: begun and committed by the worker alone.

It begins with a guard, a cursor with hold for a call of ``worker.refuse_commit``: any COMMIT fails on the server with
nothing written, unless the guard was closed right before it. The guard writes nothing, so it costs neither WAL nor dead
rows, and it goes with the transaction. ``SET CONSTRAINTS`` does not touch it, and PREPARE TRANSACTION refuses it.

A handler that closes the guard past the connection that was lent can commit. That is found by a setting of the session
that the transaction makes: PostgreSQL keeps it if the transaction is committed, and the worker resets it before its own
COMMIT.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
from psycopg import AsyncConnection
from psycopg.pq import TransactionStatus
from psycopg.sql import SQL, Composed, Literal

from catchment.errors import TransactionEndRefused
from catchment.store.attempt import BEGAN_AT

GUARD = "catchment_transaction"
MARK = "catchment.transaction"
# One round trip. Of the time limits that PostgreSQL 15 to 18 share, these two together end a transaction that hangs,
# active or idle.
_BEGIN = (
    f"begin; declare {GUARD} no scroll cursor with hold for select worker.refuse_commit();"
    " set local idle_in_transaction_session_timeout = {limit}; set local statement_timeout = {limit};"
    f" select pg_catalog.set_config('{MARK}', {BEGAN_AT}, false),"
    " pg_catalog.current_setting('transaction_read_only')::boolean"
)
_COMMIT = f"close {GUARD}; reset {MARK}; commit"
# DISCARD ALL without DISCARD PLANS: cached plans hold no state, and planning the engine's functions again costs the
# next transaction about 1 ms. Measured, this takes as long as "select 1": one round trip.
_RESET = (
    f"select pg_catalog.current_setting('{MARK}', true);"
    " close all; set session authorization default; reset all; deallocate all; unlisten *;"
    " select pg_catalog.pg_advisory_unlock_all(); discard temp; discard sequences"
)


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


async def reset(conn: AsyncConnection[Any], began_at: str) -> bool:
    """Roll back what is open, and reset what the handler has changed in the session. Returns whether the transaction
    that began then was committed, although not by ``commit``."""
    is_open = conn.pgconn.transaction_status != TransactionStatus.IDLE
    cursor = await conn.execute(f"rollback; {_RESET}" if is_open else _RESET)
    while cursor.description is None and cursor.nextset():
        pass
    row = await cursor.fetchone()
    return row is not None and row[0] == began_at
