"""``catchment command …``."""

from __future__ import annotations

import typer

from catchment.cli.database import open_database
from catchment.commands.options import Dsn, Json
from catchment.commands.output import print_json, print_rows
from catchment.store import task as task_store

app = typer.Typer(no_args_is_help=True)

COLUMNS = ["command", "queue", "kind", "handler", "priority", "max_attempts", "description"]
WIDE_COLUMNS = ["kind", "handler", "priority", "max_attempts"]
CUT_COLUMNS = ["command", "queue", "handler", "description"]


@app.callback()
def commands() -> None:
    """List the commands that tasks can have."""


@app.command("list")
def list_commands(as_json: Json = False, dsn: Dsn = None) -> None:
    """List commands with their queues, handlers and rules."""
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_commands(conn)
    if as_json:
        print_json(rows)
        return
    shown = [{**row, "kind": row["handler_kind"], "handler": row["handler_procedure"]} for row in rows]
    print_rows(shown, COLUMNS, as_json=False, empty="No commands.", extra=WIDE_COLUMNS, cut=CUT_COLUMNS)
