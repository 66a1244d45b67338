"""Small reads: one value, or rows by name. SQL comes from a file or stands in this package.

Values come in binary: no setting of the session, which may be that of a caller or of a pooler, changes how they look.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any, LiteralString

from psycopg import AsyncConnection, Connection
from psycopg.pq import TransactionStatus
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from catchment.store.errors import translated
from catchment.store.json_text import loads_for_people
from catchment.store.times import AnyTimeLoader


def fetch_value(conn: Connection[Any], sql: LiteralString, *parameters: Any) -> Any:
    """The first column of the one row that a call returns."""
    with translated():
        ((value,),) = conn.execute(sql, parameters or None, binary=True).fetchall()
    return value


async def fetch_value_async(conn: AsyncConnection[Any], sql: LiteralString, *parameters: Any) -> Any:
    """As ``fetch_value``, in asyncio."""
    with translated():
        ((value,),) = await (await conn.execute(sql, parameters or None, binary=True)).fetchall()
    return value


def fetch_rows(conn: Connection[Any], sql: LiteralString, **parameters: Any) -> list[dict[str, Any]]:
    """Rows as dictionaries, for people and screens. A time or a JSON value that Python cannot hold is text.

    Outside a transaction they are read under a path of ours: an operator in a schema of others runs with our rights.
    """
    with translated(), ExitStack() as stack:
        if conn.pgconn.transaction_status == TransactionStatus.IDLE:
            stack.enter_context(conn.transaction())
            conn.execute("set local search_path = pg_catalog, pg_temp")
        cursor = stack.enter_context(conn.cursor(row_factory=dict_row))
        cursor.adapters.register_loader("timestamptz", AnyTimeLoader)
        set_json_loads(loads_for_people, cursor)
        return cursor.execute(sql, parameters or None, binary=True).fetchall()
