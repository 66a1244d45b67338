"""Options that every command has alike."""

from __future__ import annotations

from typing import Annotated

import typer

from catchment.store.connect import DSN_VARIABLE

Dsn = Annotated[
    str | None,
    typer.Option(
        "--dsn",
        envvar=DSN_VARIABLE,
        show_envvar=True,
        help="Connection string of the database. Defaults to the embedded server.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

Roles = Annotated[
    bool | None,
    typer.Option(
        "--roles/--no-roles",
        help="Create the roles of Catchment and grant them their rights, now or later. --no-roles creates none: only"
        " the owner can use the schema. Defaults to what the database already has; a new database gets roles.",
        show_default=False,
    ),
]
