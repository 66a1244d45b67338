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
