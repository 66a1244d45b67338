"""``catchment register derive``: ask for derivation, and wait for it."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from psycopg import Connection

from catchment.commands import Dsn, Json, console, print_json
from catchment_register.cli.database import open_register
from catchment_register.cli.init import read_day
from catchment_register.cli.status import last_rounds
from catchment_register.cli.waiting import Wait, Work, show, working
from catchment_register.watch import watch_round


def derive(
    full: Annotated[bool, typer.Option("--full", help="Derive everything, not only what has changed.")] = False,
    reports: Annotated[
        bool, typer.Option("--reports", help="Derive only the reports, from the published units.")
    ] = False,
    today: Annotated[
        str | None, typer.Option(help="Set the current day first, as 2026-02-13; 'real' follows the clock.")
    ] = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Derive what has changed.

    Changes trigger derivation on their own; use this command to derive on request.
    """
    if full and reports:
        raise typer.BadParameter("choose one of --full and --reports")
    with open_register(dsn) as conn:
        if today is not None:
            conn.execute("update register.settings set today = %s", [read_day(today)])
        task_id = _ask(conn, full=full, reports=reports)
        if wait or work:
            with working(conn, dsn, starts=work) as goes_on:
                show(conn, watch_round(conn, goes_on), "analytics", quietly=as_json, works=work)
        done = last_rounds(conn, 1) if wait or work else []
    if as_json:
        print_json({"task_id": task_id, "round": done[0] if done else None})
    elif done:
        console.print(f"round {done[0]['id']} ({done[0]['kind']}): {done[0]['state']} in {done[0]['seconds']} s")
    else:
        console.print(f"asked for: task {task_id}")
    if done and done[0]["state"] == "broken":
        raise typer.Exit(1)


def _ask(conn: Connection[Any], *, full: bool, reports: bool) -> int:
    if reports:
        row = conn.execute("select worker.enqueue_derive_reports()").fetchone()
    elif full:
        row = conn.execute("select worker.enqueue_collect_changes('all')").fetchone()
    else:
        row = conn.execute("select worker.enqueue_collect_changes()").fetchone()
    return row[0] if row is not None else 0
