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
        help="The database. Without one, Catchment starts its own server.",
    ),
]

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]

Roles = Annotated[
    bool | None,
    typer.Option(
        "--roles/--no-roles",
        help="--no-roles needs no right to make roles: what is new can be used by its owner alone. --roles makes roles"
        " and gives them their rights, also later. By default a database keeps what it has, and a new one gets roles.",
        show_default=False,
    ),
]
