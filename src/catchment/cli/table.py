"""``catchment table …``: dynamic tables on a lake. Verbs that only look are in ``table_reads``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from catchment.cli import table_load, table_reads, table_sql
from catchment.cli.numbers import MOST_DAYS, MOST_PROCESSES
from catchment.cli.table_lake import (
    All,
    LakeOption,
    Name,
    Names,
    NoWait,
    SomeNames,
    TableGroup,
    Timeout,
    choose,
    find_lake,
    make_lake,
    open_lake,
    read_text,
    waiting,
)
from catchment.cli.table_show import counted, outcome_line, progress, rows_of, show_one, show_rows
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json
from catchment.errors import RequestRefused
from catchment.model.check import LARGEST_INTEGER

if TYPE_CHECKING:
    from catchment.lake.tables.rounds import RefreshInfo

app = typer.Typer(
    cls=TableGroup,
    help="Create, inspect and refresh dynamic tables.\n\n"
    "A dynamic table stores the result of a query and keeps it up to date with its sources.",
    no_args_is_help=True,
)

app.command("list")(table_reads.list_tables)
app.command("describe")(table_reads.describe)
app.command("show", hidden=True)(table_reads.describe)
app.command("explain")(table_reads.explain)
app.command("why")(table_reads.why)
app.command("history")(table_reads.history)
app.command("lag")(table_reads.lag)
app.command("graph")(table_reads.graph)
app.command("audit")(table_reads.audit)
app.command("attach")(table_reads.attach)
app.command("sql")(table_sql.sql)
app.command("load")(table_load.load)


def _report(refreshes: list[RefreshInfo], *, as_json: bool) -> None:
    if as_json:
        print_json(rows_of(refreshes, as_json=True))
    else:
        for item in refreshes:
            console.print(outcome_line(item))
    if any(item.is_failed for item in refreshes):
        raise typer.Exit(1)


@app.command("init")
def init(as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Create the lake of the database, or upgrade it.

    'catchment table create' does this too. Example: catchment table init --lake ./lake
    """
    with make_lake(dsn, lake) as used:
        where = used.address.data_path
    print_json({"data_path": where}) if as_json else console.print(f"The lake is at {where}", markup=False)


@app.command("create")
def create(
    source: Annotated[
        str, typer.Argument(metavar="FILE", help="File with CREATE DYNAMIC TABLE statements; - is stdin.")
    ],
    no_wait: NoWait = False,
    timeout: Timeout = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Create dynamic tables and fill them.

    Example: catchment table create tables.sql --lake ./lake
    """
    text = read_text(source)
    with make_lake(dsn, lake) as used, waiting(), progress(is_quiet=as_json) as tell:
        made = used.create(text, wait=not no_wait, timeout=timeout, on_progress=tell)
        counts = {table.name: table.rows for table in used.tables()}
    if as_json:
        print_json(rows_of(made, as_json=True))
        return
    for item in made:
        how = "full" if item.reason is None and item.strategy == "full" else item.strategy
        why = f" ({item.reason})" if item.reason else ""
        if not item.is_new:
            done = "its properties were set" if item.change == "altered" else "nothing was done"
            console.print(f"{item.name} exists; {done}.", markup=False)
            continue
        if item.replaces is not None and (no_wait or item.initialize != "on_create"):
            console.print(f"{item.name} keeps its rows until its new definition is filled.", markup=False)
            continue
        count = counts[item.name]
        filled = "not filled yet" if count is None else f"{count:,} rows"
        console.print(f"{item.name}: {filled}, refreshed by {how}{why}.", markup=False)


@app.command("refresh")
def refresh(
    names: SomeNames = None,
    is_all: All = False,
    no_wait: NoWait = False,
    timeout: Timeout = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Refresh tables now.

    The dynamic tables that they read are refreshed too, all as of the same time. The exit code is 1 if a refresh fails.
    """
    with open_lake(dsn, lake, *(names or ())) as used:
        chosen = choose(used, names, is_all)
        if not chosen:
            _report([], as_json=as_json)
        elif no_wait:
            round_id = used.request_refresh(*chosen)
            print_json({"round_id": round_id}) if as_json else console.print(f"Round {round_id} has been requested.")
        else:
            with waiting(), progress(is_quiet=as_json) as tell:
                refreshes = used.refresh(*chosen, timeout=timeout, on_progress=tell)
            _report(refreshes, as_json=as_json)


@app.command("cancel")
def cancel(names: Names, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Cancel running refreshes.

    Published data stays. A new definition of a table that is not in force yet is discarded.
    """
    with open_lake(dsn, lake, *names) as used:
        rows = [{"name": used.describe(name).dynamic_table, "cancelled": used.cancel(name)} for name in names]
    show_rows(rows, ["name", "cancelled"], as_json=as_json, empty="")


@app.command("suspend")
def suspend(names: Names, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Stop the scheduled refreshes of tables.

    The tables that read them are suspended too. 'catchment table refresh' still refreshes them.
    """
    _each(names, "suspended", as_json, lake, dsn)


@app.command("resume")
def resume(names: Names, as_json: Json = False, lake: LakeOption = None, dsn: Dsn = None) -> None:
    """Resume the scheduled refreshes of tables.

    Tables that were suspended with them are resumed too.
    """
    _each(names, "resumed", as_json, lake, dsn)


def _each(names: list[str], verb: str, as_json: bool, lake: str | None, dsn: str | None) -> None:
    changed: list[str] = []
    with open_lake(dsn, lake, *names) as used:
        for name in names:
            changed += used.suspend(name) if verb == "suspended" else used.resume(name)
    rows = [{"name": name, "state": verb.upper() if verb == "suspended" else "ACTIVE"} for name in changed]
    show_rows(rows, ["name", "state"], as_json=as_json, empty=f"Nothing to be {verb}: they are already.")


@app.command("alter")
def alter(
    name: Name,
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="PROPERTY=VALUE", help="Property and value, as in CREATE DYNAMIC TABLE; can be repeated."
        ),
    ] = None,
    rename_to: Annotated[str | None, typer.Option(metavar="NAME", help="New name of the table.")] = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Change the properties or the name of a table.

    Example: catchment table alter orders_by_day --set 'TARGET_LAG=10 minutes'
    """
    properties = dict(_pair(change) for change in changes or ())
    if not properties and rename_to is None:
        raise RequestRefused("there is nothing to change", hint="Pass --set PROPERTY=VALUE or --rename-to NAME.")
    with open_lake(dsn, lake, name) as used:
        if properties:
            used.alter(name, **properties)
        if rename_to is not None:
            used.rename(name, rename_to)
        table = used.describe(rename_to or name)
    shown = {"name": table.dynamic_table, **rows_of([table.properties], as_json=as_json)[0]}
    show_one(shown, as_json=as_json, names={key: key for key in shown})


def _pair(change: str) -> tuple[str, str]:
    name, separator, value = change.partition("=")
    if not separator or not name.strip():
        raise RequestRefused(f"{change!r} is not PROPERTY=VALUE", hint="Such as --set 'TARGET_LAG=10 minutes'.")
    return name.strip().lower(), value.strip().strip("'")


@app.command("drop")
def drop(
    names: Names,
    cascade: Annotated[bool, typer.Option("--cascade", help="Drop the tables that read them too.")] = False,
    if_exists: Annotated[bool, typer.Option("--if-exists", help="Ignore tables that do not exist.")] = False,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Drop dynamic tables.

    Their sources stay.
    """
    dropped: list[str] = []
    with find_lake(dsn, lake, *(() if if_exists else names)) as used:
        for name in names:
            if used is None:
                break
            # A cascade of an earlier one may have taken it along.
            dropped += used.drop(name, cascade=cascade, if_exists=if_exists or (cascade and bool(dropped)))
    show_rows([{"name": name} for name in dropped], ["name"], as_json=as_json, empty="Nothing to drop.")


@app.command("maintain")
def maintain(
    names: SomeNames = None,
    is_all: All = False,
    expire_days: Annotated[
        float | None,
        typer.Option(min=1, max=MOST_DAYS, help="Expire unneeded snapshots older than this many days."),
    ] = None,
    orphan_days: Annotated[
        float | None,
        typer.Option(min=1, max=MOST_DAYS, help="Remove files older than this many days that belong to no table."),
    ] = None,
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Compact the files of tables.

    Rewrites tables with many files or many deleted rows into few files, and removes what interrupted refreshes left
    behind.
    """
    with open_lake(dsn, lake, *(names or ())) as used:
        chosen = choose(used, names, is_all)
        rows = [
            {"name": used.describe(name).dynamic_table, **asdict(used.maintain(name))}
            for name in counted(chosen, "compacting")
        ]
        removed = used.sweep()
        expired = None if expire_days is None else used.expire(expire_days * 86400)
        removed += 0 if orphan_days is None else used.remove_orphans(orphan_days * 86400)
    if as_json:
        print_json({"tables": rows, "removed_files": removed, "expired_snapshots": expired})
        return
    show_rows(rows, ["name", "files_before", "files"], as_json=False, empty="No tables.")
    if expired is not None:
        console.print(f"{expired} snapshots have expired.")


def _check_size(text: str | None) -> str | None:
    from catchment.lake.settings import bytes_of

    try:
        if text is not None:
            bytes_of(text)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
    return text


@app.command("worker")
def worker(
    processes: Annotated[
        int,
        typer.Option(min=1, max=MOST_PROCESSES, help="Number of processes; each runs one refresh or bucket at a time."),
    ] = 1,
    memory: Annotated[
        str | None,
        typer.Option(
            callback=_check_size, help="Memory per process, such as 2GB. Defaults to an equal share of the machine."
        ),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, max=LARGEST_INTEGER, help="Threads per process. Defaults to an equal share of the cores."),
    ] = None,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Refresh tables as they become due.

    SIGTERM and Ctrl-C shut down gracefully: running work finishes or is released.
    """
    with make_lake(dsn, lake) as used:
        from catchment.lake.tasks.worker import run_workers

        code = run_workers(used.dsn, processes, memory=memory, threads=threads)
    raise typer.Exit(code)
