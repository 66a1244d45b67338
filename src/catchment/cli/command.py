"""``catchment command …``."""

from __future__ import annotations

import typer

from catchment.cli.database import open_database
from catchment.commands.options import Dsn, Json
from catchment.commands.output import print_rows
from catchment.store import task as task_store

app = typer.Typer(help="Look at the registered commands.", no_args_is_help=True)


@app.callback()
def commands() -> None:
    """Look at the registered commands."""


@app.command("list")
def list_commands(as_json: Json = False, dsn: Dsn = None) -> None:
    """Each command with its queue, its handler and its rules."""
    columns = ["command", "queue", "handler_kind", "handler_procedure", "priority", "max_attempts", "description"]
    with open_database(dsn, "catchment_read") as conn:
        print_rows(task_store.list_commands(conn), columns, as_json=as_json, empty="No commands.")
