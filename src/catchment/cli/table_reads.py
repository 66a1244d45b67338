"""Verbs of ``catchment table`` that only look."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from catchment.cli.numbers import MOST_HOURS, MOST_ROWS
from catchment.cli.table_lake import (
    CREATE_ONE,
    All,
    LakeOption,
    Name,
    SomeNames,
    choose,
    find_lake,
    open_lake,
    read_text,
)
from catchment.cli.table_show import counted, rows_of, show_one, show_rows, show_statement, statement_row
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json
from catchment.commands.why import print_conditions
from catchment.errors import RequestRefused

NO_TABLES = f"No dynamic tables. {CREATE_ONE}"
LIST_COLUMNS = ["name", "state", "target_lag", "lag", "mode", "strategy", "rows", "bytes", "last_state", "last_action"]
WIDE_LIST_COLUMNS = ["strategy", "bytes", "mode", "last_action"]
HISTORY_COLUMNS = [
    *("id", "name", "trigger", "state", "action", "reason", "data_timestamp", "queued_ms", "execute_ms"),
    *("inserted", "deleted", "keys", "error"),
]
WIDE_HISTORY_COLUMNS = ["reason", "trigger", "data_timestamp", "keys", "queued_ms"]
LAG_COLUMNS = ["name", "target_lag", "lag", "mean_lag", "max_lag", "within_target", "refreshes", "last_state"]
WIDE_LAG_COLUMNS = ["refreshes", "last_state"]
DESCRIBED = {
    "dynamic_table": "name", "scheduling_state": "state", "suspended_by": "suspended by", "comment": "comment",
    "target_lag": "target lag", "effective_lag": "effective lag", "lag": "lag now", "data_timestamp": "data of",
    "data_snapshot": "data snapshot", "is_filled": "filled", "refresh_mode": "refresh mode", "strategy": "strategy",
    "refresh_mode_reason": "reason", "reason_text": "", "rows": "rows", "bytes": "size", "files": "files",
    "open_state": "now", "open_subtasks": "buckets", "last_state": "last refresh", "last_action": "action",
    "last_reason": "because",
    "last_finished_at": "ended", "last_error_code": "error", "last_error": "", "error_streak": "failures in a row",
    "lag_last_day": "last 24 hours", "last_audit": "last audit", "sources": "reads", "read_by": "read by",
    "columns": "columns", "definition": "definition",
}  # fmt: skip
EXPLAINED = {
    "name": "name", "refresh_mode": "refresh mode", "strategy": "strategy", "reason": "reason", "reason_text": "",
    "is_always_due": "always due", "parts": "keys", "sources": "reads", "columns": "columns",
    "hidden_columns": "stored besides", "parallel": "parallel", "next": "next refresh",
}  # fmt: skip


def list_tables(as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """List dynamic tables with their state, lag and last refresh."""
    with find_lake(dsn, lake) as used:
        rows = rows_of(used.tables() if used else [], as_json=as_json)
    show_rows(rows, LIST_COLUMNS, as_json=as_json, empty=NO_TABLES, extra=WIDE_LIST_COLUMNS, cut=["name"])


def describe(name: Name, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Show a table: state, lag, data, sources and last refresh."""
    with open_lake(dsn, lake, name) as used:
        table = used.describe(name)
    show_one(rows_of([table], as_json=as_json)[0], as_json=as_json, names=DESCRIBED)
    if not as_json and not table.is_filled:
        console.print("[yellow]It has not been filled yet: reading it is an error in the Python API.[/]")


def explain(
    name: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="Name of a dynamic table.")] = None,
    file: Annotated[
        str | None,
        typer.Option("--file", help="Explain the statements of this file without creating tables; - is stdin."),
    ] = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Explain how a table is refreshed, and what comes next.

    With --file, explain the tables that CREATE DYNAMIC TABLE statements would create; a statement may read the tables
    of earlier ones. The exit code is 1 if a statement is refused.
    """
    if (name is None) == (file is None):
        raise RequestRefused("name a table, or a file with --file")
    text = read_text(file) if file is not None else None
    with open_lake(dsn, lake, name) as used:
        if name is not None:
            show_one(rows_of([used.explain(name)], as_json=as_json)[0], as_json=as_json, names=EXPLAINED)
            return
        explained = used.explain_each(text or "")
    if as_json:
        print_json([statement_row(item) for item in explained])
    else:
        for item in explained:
            show_statement(item, EXPLAINED)
    if any(item.error is not None for item in explained):
        raise typer.Exit(1)


def why(name: Name, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Explain why a table is late: every cause, with the command that resolves it."""
    with open_lake(dsn, lake, name) as used:
        answer = used.why(name)
    if as_json:
        print_json(rows_of([answer], as_json=True)[0])
    else:
        print_conditions(answer.headline, answer.conditions)


def history(
    name: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="Only this table.")] = None,
    state: Annotated[str | None, typer.Option(help="Only refreshes in this state, such as FAILED.")] = None,
    with_idle: Annotated[bool, typer.Option("--with-idle", help="Show refreshes that had nothing to do too.")] = False,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many refreshes, newest first.")
    ] = 50,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """List refreshes, newest first."""
    with find_lake(dsn, lake, name) as used:
        rows = rows_of(
            used.history(name, state=state, with_idle=with_idle, limit=limit) if used else [], as_json=as_json
        )
    cut = ["name", "reason", "error"]
    show_rows(rows, HISTORY_COLUMNS, as_json=as_json, empty="No refreshes.", extra=WIDE_HISTORY_COLUMNS, cut=cut)


def lag(
    name: Annotated[str | None, typer.Argument(metavar="[TABLE]", help="Only this table.")] = None,
    hours: Annotated[float, typer.Option(min=0, max=MOST_HOURS, help="Look back this many hours.")] = 24,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Show how old the data was: mean and largest lag, and the share of time within the target."""
    with find_lake(dsn, lake, name) as used:
        rows = rows_of(used.lag(name, since=hours * 3600) if used else [], as_json=as_json)
    show_rows(rows, LAG_COLUMNS, as_json=as_json, empty=NO_TABLES, extra=WIDE_LAG_COLUMNS, cut=["name"])


def graph(as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Show which table reads which."""
    with find_lake(dsn, lake) as used:
        tables = rows_of(used.graph() if used else [], as_json=as_json)
    if as_json:
        print_json(tables)
        return
    rows = [{**row, "reads": [item["name"] for item in row["reads"]]} for row in tables]
    show_rows(rows, ["name", "state", "reads"], as_json=False, empty=NO_TABLES)


def audit(
    names: SomeNames = None, is_all: All = False, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None
) -> None:
    """Compare tables with their queries.

    Runs each query at the snapshot of the data in its table. The exit code is 1 if a table differs.
    """
    rows: list[dict[str, Any]] = []
    with open_lake(dsn, lake, *(names or ())) as used:
        for name in counted(choose(used, names, is_all), "comparing"):
            compared = used.audit(name)
            row = rows_of([compared], as_json=as_json)[0]
            rows.append({"name": used.describe(name).dynamic_table, **row, "is_equal": compared.is_equal})
    show_rows(rows, ["name", "snapshot", "rows", "missing", "extra", "seconds"], as_json=as_json, empty="No tables.")
    if not all(row["is_equal"] for row in rows):
        raise typer.Exit(1)


def attach(
    alias: Annotated[str, typer.Option(help="Name of the lake in DuckDB.")] = "lake",
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Print the statement that attaches this lake to DuckDB.

    Any DuckDB with the DuckLake extension can run it. It may contain a password.
    """
    with open_lake(dsn, lake) as used:
        statement = used.attach_statement(alias)
    print_json({"statement": statement}) if as_json else print(f"{statement};")
