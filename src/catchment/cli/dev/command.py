"""``catchment dev``."""

from __future__ import annotations

from typing import Annotated

import typer

from catchment.cli.dev.dashboard import DevDashboard
from catchment.cli.dev.outputs import show
from catchment.cli.dev.supervisor import Supervisor
from catchment.commands.options import Dsn


def dev(
    apps: Annotated[
        list[str],
        typer.Argument(
            metavar="MODULE:APP", help="Apps to run, such as shop.tasks:app; shop.tasks is enough if it has one app."
        ),
    ],
    migrate: Annotated[
        bool,
        typer.Option(
            "--migrate", help="Install or upgrade the schema of your database first. The embedded server always has it."
        ),
    ] = False,
    dashboard: Annotated[bool, typer.Option(help="Serve the dashboard too, if it is installed.")] = True,
    dashboard_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Port of the dashboard. Defaults to 8240, or the next free port.", show_default=False
        ),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Run the tasks of an app while you develop it.

    Prints the end of each task and each failed attempt, and reloads when the files of the app change. The dashboard
    shows the same in a browser. Stop with Ctrl-C.

    Example: catchment dev shop.tasks:app
    """

    def say(text: str) -> None:
        show(f"catchment dev: {text}")

    supervisor = Supervisor(
        {"apps": apps, "dsn": dsn, "migrates": migrate, "is_first": True, "since": None},
        say,
        DevDashboard(dashboard_port, say) if dashboard else None,
    )
    raise typer.Exit(supervisor.run())
