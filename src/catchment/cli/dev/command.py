"""``catchment dev``."""

from __future__ import annotations

from typing import Annotated

import typer

from catchment.cli.dev.outputs import show
from catchment.cli.dev.supervisor import Supervisor
from catchment.commands.options import Dsn


def dev(
    apps: Annotated[list[str], typer.Argument(metavar="MODULE:APP", help="The apps to serve, such as shop.tasks:app.")],
    migrate: Annotated[
        bool,
        typer.Option(
            "--migrate", help="Install or upgrade the schema of your database first; the embedded one always is."
        ),
    ] = False,
    dsn: Dsn = None,
) -> None:
    """Run the tasks of an app while you develop it.

    Shows the end of each task, and reloads when the files of the app change. Ctrl-C stops it.

    Example: catchment dev shop.tasks:app
    """
    supervisor = Supervisor(
        {"apps": apps, "dsn": dsn, "migrates": migrate, "is_first": True, "waiting": []},
        lambda text: show(f"catchment dev: {text}"),
    )
    raise typer.Exit(supervisor.run())
