"""``catchment migrate``."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from catchment.commands.options import Dsn, Json, Roles
from catchment.commands.output import console, print_json
from catchment.lake.control.grants import grant_lake
from catchment.model.release import VERSION
from catchment.sql import ENGINE
from catchment.store import embedded
from catchment.store.connect import connect_ours, given_dsn
from catchment.store.migrate import migrate as run_migrations
from catchment.store.migrate import migration_script


def migrate(
    dsn: Dsn = None,
    roles: Roles = None,
    as_sql: Annotated[
        bool, typer.Option("--sql", help="Print the SQL script and change nothing. Run the script in one transaction.")
    ] = False,
    since: Annotated[
        int | None,
        typer.Option(
            "--from", min=0, help="With --sql: number of the last applied migration. The database is not read."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Install or upgrade the schema in a database.

    Safe to run repeatedly, and while workers run. The embedded server does not need it: its schema is always current.
    """
    if as_json and as_sql:
        raise typer.BadParameter("a script is no JSON: leave one of them out", param_hint="--json and --sql")
    if since is not None:
        if not as_sql:
            raise typer.BadParameter("it is for a script: add --sql", param_hint="--from")
        print(migration_script(since=since, roles=roles), end="")
        return
    with connect_ours(given_dsn(dsn) or embedded.start()) as conn:
        if as_sql:
            print(migration_script(conn, roles=roles), end="")
            return
        show = _hide if as_json else _show
        upgrade = run_migrations(conn, on_step=show, roles=roles)
        if upgrade.has_roles:
            grant_lake(conn, show)
    if as_json:
        print_json({**asdict(upgrade), "version": VERSION})
        return
    if upgrade.newer:
        console.print(
            f"The schema was written by a newer version of Catchment ({upgrade.newer}); this one, {VERSION}, "
            "can work with it and has left it as it is."
        )
    elif upgrade.applied or upgrade.routines_changed:
        console.print(f"The schema is up to date ({len(upgrade.applied)} migrations applied).")
    else:
        console.print("The schema was up to date already.")
    if upgrade.has_roles and roles is False:
        console.print(
            "It has roles, and keeps them: --no-roles is for a new schema. Members of "
            f"{', '.join(ENGINE.roles)} can use it as before.",
            markup=False,
        )
    if not upgrade.has_roles:
        console.print(
            f"It has no roles: only {upgrade.owner} can use it. catchment migrate --roles makes them.", markup=False
        )


def _show(step: str) -> None:
    console.print(f"  {step}", markup=False)


def _hide(_: str) -> None:
    pass
