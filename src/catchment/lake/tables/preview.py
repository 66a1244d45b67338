"""The first rows of a dynamic table as text, read by a separate process: ``python -m catchment.lake.tables.preview``.

For a dashboard, which must neither wait for DuckDB nor crash with it: it can end the process at any time. It reads one
JSON object from standard input and writes one to standard output. The catalog is attached read-only, in sessions that
cannot write, as the role that is requested if the login may become it.

Values are DuckDB's own text, which has every digit, with NULL apart from the text ``NULL``.
"""

from __future__ import annotations

import json
import sys
import traceback
from typing import Any

import duckdb
from psycopg import Connection
from psycopg.conninfo import make_conninfo

from catchment.errors import CatchmentError, LakeError, TableNotFound
from catchment.lake.control.wire import content_ref
from catchment.lake.duck import extensions
from catchment.lake.duck.attach import attach
from catchment.lake.duck.catalog import read_address
from catchment.lake.names import lake_name, quoted
from catchment.lake.settings import LakeSettings
from catchment.store.connect import connect_ours, start_up_options

_TABLE = """
select d.generation, d.layout -> 'visible', f.data_snapshot is not null, format('%%s.%%s', d.schema_name, d.name)
  from lake.dt as d join lake.frontier as f on f.dt_id = d.id
 where d.id = %s and d.state <> 'creating'
"""
_MAY_BE = "select count(*) from pg_roles where rolname = %s and pg_has_role(oid, %s)"


def preview(request: dict[str, Any]) -> dict[str, Any]:
    """The columns and the first rows of a table; a long text is cut, and its length is given.

    The request has ``dsn``, ``table_id``, ``role``, ``rows``, ``letters``, ``memory`` and ``seconds``. Raises
    ``LakeError`` and DuckDB's own errors.
    """
    with connect_ours(request["dsn"], name="catchment preview") as conn:
        dsn = _reading(conn, request)
        address = read_address(conn)
        row = conn.execute(_TABLE, [request["table_id"]]).fetchone()
    if row is None:
        raise TableNotFound(f"there is no dynamic table {request['table_id']}")
    generation, columns, is_filled, name = row
    if not is_filled:
        raise LakeError(f"{name} has not been filled yet", code="NOT_FILLED", hint="Refresh it.")
    settings = LakeSettings.read()
    instance = extensions.take_instance(settings.temp_directory)
    instance.execute(f"SET memory_limit = '{request['memory']:d}B'")
    instance.execute("SET threads = 1")
    attach(instance, dsn, address, settings, is_read_only=True)
    most = request["letters"]
    texts = (f"CAST({quoted(column)} AS VARCHAR)" for column, _ in columns)
    shown = ", ".join(f"left({text}, {most:d}), length({text})" for text in texts)
    content = lake_name(content_ref(request["table_id"], generation))
    rows = instance.execute(f"SELECT {shown} FROM {content} LIMIT {request['rows']:d}").fetchall()
    return {
        "columns": columns,
        "rows": [
            [
                {"text": text, "length": length if length is not None and length > most else None}
                for text, length in zip(row[::2], row[1::2], strict=True)
            ]
            for row in rows
        ],
    }


def _reading(conn: Connection[Any], request: dict[str, Any]) -> str:
    """The DSN for sessions that only read, as the role if that is possible."""
    settings = {"default_transaction_read_only": "on", "statement_timeout": str(1000 * request["seconds"])}
    right = "set" if conn.info.server_version >= 160000 else "member"
    row = conn.execute(_MAY_BE, [request["role"], right]).fetchone()
    if row is not None and row[0]:
        settings["role"] = request["role"]
    return make_conninfo(request["dsn"], options=start_up_options(request["dsn"], settings))


def main() -> None:
    """Answer the request on standard input."""
    try:
        answer = preview(json.load(sys.stdin))
    except (CatchmentError, duckdb.Error) as error:
        hint = error.hint if isinstance(error, CatchmentError) else None
        answer = {"error": str(error), "hint": hint}
    except Exception:
        traceback.print_exc()
        sys.exit(1)
    json.dump(answer, sys.stdout)


if __name__ == "__main__":
    main()
