"""``catchment table sql``: a query over the lake, as a table, as JSON or CSV, or into a Parquet file."""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from catchment.cli.numbers import MOST_ROWS
from catchment.cli.table_lake import LakeOption, open_lake
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, errors, json_text, print_rows
from catchment.errors import LakeError, RequestRefused

if TYPE_CHECKING:
    from catchment.lake.tables.rows import OpenRows

LIMIT = 100
"""Rows that a terminal shows without ``--limit``."""

_QUOTED = set('",\n\r')


def sql(
    query: Annotated[
        str | None, typer.Argument(metavar="[QUERY]", help="The query. Defaults to standard input.")
    ] = None,
    file: Annotated[str | None, typer.Option("--file", help="Read the query from a file; - is stdin.")] = None,
    at: Annotated[
        str | None,
        typer.Option(metavar="SNAPSHOT|TIME", help="Read the lake as of this snapshot number or time."),
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=MOST_ROWS,
            help=f"Show at most this many rows; 0 shows all. Defaults to {LIMIT} in a terminal, else all.",
        ),
    ] = None,
    as_csv: Annotated[bool, typer.Option("--csv", help="Print CSV instead of text.")] = False,
    parquet: Annotated[
        str | None, typer.Option(metavar="FILE", help="Write a Parquet file; an existing file is replaced.")
    ] = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Run a query on the lake.

    The query is read-only and sees one snapshot. Names without a schema are in main, as in dynamic tables. Example:
    catchment table sql "SELECT region, sum(amount) FROM orders GROUP BY region"
    """
    if as_csv + as_json + (parquet is not None) > 1:
        raise RequestRefused("--json, --csv and --parquet do not go together", hint="Pass only one of them.")
    text = _read(query, file)
    moment = None if at is None else _moment(at)
    with open_lake(dsn, lake) as used, _told():
        rows = used.read(text, at=moment)
        if parquet is not None:
            if limit is not None:
                raise RequestRefused("--limit is for what is printed", hint="Write LIMIT in the query.")
            count = rows.parquet(parquet)
            errors.print(f"{count:,} rows are in {parquet}", markup=False, soft_wrap=True)
            return
        write = _print_csv if as_csv else _print_json if as_json else _print_table
        with rows.open() as result:
            write(result, limit)


def _read(query: str | None, file: str | None) -> str:
    if query is not None and file is not None:
        raise RequestRefused("a query and --file do not go together", hint="Pass only one of them.")
    if query is None and file is None and sys.stdin.isatty():
        raise RequestRefused("there is no query", hint='Such as: catchment table sql "SELECT count(*) FROM orders"')
    if query not in (None, "-"):
        return query or ""
    if file in (None, "-"):
        return sys.stdin.read()
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestRefused(f"{file} cannot be read: {error}", hint="Name a file with a query, or -.") from error


def _moment(at: str) -> int | datetime:
    """A snapshot by its number, or a time; one without a zone is local."""
    if at.strip().isdecimal():
        return int(at)
    try:
        moment = datetime.fromisoformat(at.strip())
    except ValueError:
        raise RequestRefused(
            f"{at!r} is neither a snapshot nor a time",
            hint="Such as --at 17, --at 2026-11-18T09:30, --at '2026-11-18 09:30:00+01:00'.",
        ) from None
    return moment if moment.tzinfo else moment.astimezone()


@contextmanager
def _told() -> Generator[None]:
    """Errors of DuckDB about the query, as ours."""
    import duckdb  # the lake is an extra

    try:
        yield
    except duckdb.Error as error:
        raise LakeError(f"the query is not valid: {str(error).strip()}", code="QUERY") from error


def _print_table(rows: OpenRows, limit: int | None) -> None:
    most = LIMIT if limit is None and console.is_terminal else limit or None
    columns = [column.name for column in rows.columns]
    shown = list(islice(rows, None if most is None else most + 1))
    is_cut = most is not None and len(shown) > most
    print_rows(
        [dict(zip(columns, map(_readable, row), strict=True)) for row in shown[:most]],
        columns,
        as_json=False,
        empty=f"No rows. Columns: {', '.join(columns)}",
    )
    if is_cut:
        errors.print(f"Only the first {most:,} rows are shown. --limit 0 shows all, --csv and --parquet write them.")


def _readable(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime | time) or not isinstance(value, list | dict):
        return value
    return json_text(value)


def _print_json(rows: OpenRows, limit: int | None) -> None:
    """An array, a row on each line, as it is read."""
    columns = [column.name for column in rows.columns]
    opening = "["
    for row in islice(rows, limit or None):
        sys.stdout.write(f"{opening}\n  {json_text(dict(zip(columns, row, strict=True)))}")
        opening = ","
    sys.stdout.write("[]\n" if opening == "[" else "\n]\n")


def _print_csv(rows: OpenRows, limit: int | None) -> None:
    """With names first, as it is read. NULL is nothing, an empty text is quoted."""
    columns = [column.name for column in rows.columns]
    sys.stdout.write(_line(columns))
    for row in islice(rows, limit or None):
        sys.stdout.write(_line(row))


def _line(values: Any) -> str:
    return ",".join(_field(value) for value in values) + "\n"


def _field(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        text = "true" if value else "false"
    elif isinstance(value, date | time):
        text = value.isoformat()
    elif isinstance(value, list | dict):
        text = json_text(value)
    else:
        text = str(json.loads(json_text(value))) if isinstance(value, bytes) else str(value)
    if not text or not _QUOTED.isdisjoint(text) or text != text.strip():
        return '"' + text.replace('"', '""') + '"'
    return text
