"""``catchment register sql``: statements from the command line or the standard input, and what they return."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import psycopg
import typer
from psycopg.rows import dict_row

from catchment.commands import Dsn, Json, console, errors, print_json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.errors import ReportRefused

Row = dict[str, Any]


def sql(
    statements: Annotated[str | None, typer.Argument(help="SQL; what is typed or piped in if not given.")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Run SQL and show what it returns. Without a DSN the embedded server runs meanwhile."""
    if statements is None and sys.stdin.isatty():
        errors.print("Write SQL, and Ctrl-D at the end.")
    text = sys.stdin.read() if statements is None else statements
    with open_register(dsn) as conn, conn.cursor(row_factory=dict_row) as cursor:
        results: list[list[Row]] = []
        try:
            cursor.execute(text.encode())
            while True:
                if cursor.description is not None:
                    results.append(cursor.fetchall())
                if not cursor.nextset():
                    break
        except psycopg.Error as error:
            raise ReportRefused(
                error.diag.message_primary or str(error), hint=error.diag.message_hint or "Tables are register.NAME."
            ) from error
    if as_json:
        print_json(results)
        return
    for rows in results:
        print_rows(rows, list(rows[0]) if rows else [], as_json=False, empty="no rows")
    if not results:
        console.print("done")
