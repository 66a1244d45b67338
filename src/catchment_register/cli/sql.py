"""``catchment register sql``: statements from the command line or the standard input, and what they return."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable
from typing import Annotated, Any

import psycopg
import typer
from psycopg import Connection
from psycopg.pq import TransactionStatus
from psycopg.types.json import set_json_loads

from catchment.commands import Dsn, Json, console, errors, print_json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.errors import ReportRefused

Result = tuple[list[str], list[tuple[Any, ...]]]


def sql(
    statements: Annotated[str | None, typer.Argument(help="SQL statements. Defaults to standard input.")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Run SQL and show the result.

    Without --dsn, the embedded server is started for it.
    """
    if statements is None and sys.stdin.isatty():
        errors.print("Write SQL, and Ctrl-D at the end.")
    text = sys.stdin.read() if statements is None else statements
    with open_register(dsn) as conn:
        if not as_json:
            set_json_loads(_as_written, conn)
        results = _run(conn, text)
    if as_json:
        print_json([[dict(zip(columns, row, strict=True)) for row in rows] for columns, rows in results])
        return
    for columns, rows in results:
        shown = [dict(zip(columns, map(_cell, row), strict=True)) for row in rows]
        print_rows(shown, columns, as_json=False, empty="no rows")
    if not results:
        console.print("done")


def _run(conn: Connection[Any], text: str) -> list[Result]:
    """What the statements return, each with the names of its columns."""
    results: list[Result] = []
    try:
        with conn.cursor() as cursor:
            cursor.execute(text.encode())
            while True:
                if cursor.description is not None:
                    results.append((_distinct(column.name for column in cursor.description), cursor.fetchall()))
                if not cursor.nextset():
                    return results
    except psycopg.Error as error:
        if conn.info.transaction_status == TransactionStatus.ACTIVE:
            # The server continues sending or waits for data: this connection is of no more use.
            conn.close()
            raise ReportRefused(
                "COPY from and to the terminal is not supported", hint="Use SELECT with --json, or psql."
            ) from error
        raise ReportRefused(
            error.diag.message_primary or str(error), hint=error.diag.message_hint or "Tables are register.NAME."
        ) from error


def _distinct(names: Iterable[str]) -> list[str]:
    """The names, with a number behind those that were there before."""
    given = list(names)
    distinct: list[str] = []
    for name in given:
        other, number = name, 2
        while other in distinct or (other != name and other in given):
            other, number = f"{name}_{number}", number + 1
        distinct.append(other)
    return distinct


def _as_written(data: str | bytes) -> str:
    """JSON as the server writes it."""
    return data if isinstance(data, str) else data.decode()


def _cell(value: Any) -> Any:
    """A value of a table: NULL, false and an empty text differ."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    return json.dumps(value, ensure_ascii=False, default=str) if isinstance(value, list) else value
