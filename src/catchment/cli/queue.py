"""``catchment queue …``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.markup import escape

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_SECONDS
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json, print_rows
from catchment.commands.times import local
from catchment.model.span import span
from catchment.model.terminal import harmless
from catchment.store import task as task_store
from catchment.store.depth import read_desired
from catchment.store.names import check_names

app = typer.Typer(help="List queues, show the capacity they need, pause and resume them.", no_args_is_help=True)

QueueName = Annotated[str, typer.Argument(metavar="QUEUE", help="Name of a registered queue.")]

COLUMNS = ["queue", "mode", "concurrency", "paused", "ready", "running", "waiting", "held", "oldest", "workers"]
WIDE_COLUMNS = ["mode", "concurrency"]
CAPACITY_COLUMNS = ["command", "ready", "running", "due_soon", "desired"]


@app.command("list")
def list_queues(as_json: Json = False, dsn: Dsn = None) -> None:
    """List queues with their tasks and workers.

    Ready tasks can start now. Held tasks wait for their time, their lane, their siblings or a limit; waiting tasks wait
    for their children. Oldest is how long the oldest ready task has waited. Workers counts the live workers that have a
    handler for a command of the queue. The JSON says "processing" for running and "blocked" for held tasks. Concurrency
    is how many SQL handlers of the queue a worker runs at once; Python handlers are limited per worker, with
    CATCHMENT_MAX_CONCURRENT_TASKS.
    """
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_queues(conn)
    if as_json:
        print_json(rows)
        return
    shown = [
        {
            **row,
            "paused": row["is_paused"],
            "running": row["processing"],
            "held": row["blocked"],
            "oldest": _age(row["oldest_ready_seconds"]),
        }
        for row in rows
    ]
    print_rows(shown, COLUMNS, as_json=False, empty="No queues.", extra=WIDE_COLUMNS, cut=["queue"])


def _age(seconds: int | None) -> str | None:
    """How long the oldest task that could start has waited."""
    return None if seconds is None else span(seconds)


@app.command("capacity")
def capacity(
    queue: QueueName,
    seconds: Annotated[
        float,
        typer.Option("--soon", min=0, max=MOST_SECONDS, help="Count tasks due within this many seconds."),
    ] = 60,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Show how many tasks of a queue need a slot, for autoscalers.

    Counts tasks that can start, that are running, and that are due soon: at most 10,000 of each, and in total no more
    than the limit of the queue allows. In SQL: select sum(desired) from worker.desired_capacity('mail')

    Example: catchment queue capacity mail --json
    """
    with open_database(dsn, "catchment_read") as conn:
        check_names(conn, queue=queue)
        rows = read_desired(conn, queue, soon=timedelta(seconds=seconds))
    desired = sum(row["desired"] for row in rows)
    if as_json:
        print_json({"queue": queue, "desired": desired, "commands": rows})
        return
    print_rows(rows, CAPACITY_COLUMNS, as_json=False, empty="Nothing to run.")
    console.print(f"{escape(harmless(queue))}: {desired} in all.")


@app.command("pause")
def pause(
    queue: QueueName,
    seconds: Annotated[
        float | None,
        typer.Option("--for", min=0, max=MOST_SECONDS, help="Pause for this many seconds. Defaults to until resumed."),
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Start no more tasks of a queue.

    Running tasks continue. The pause survives a restart of workers.
    """
    until = datetime.now(UTC) + timedelta(seconds=seconds) if seconds is not None else None
    with open_database(dsn, "catchment_worker") as conn:
        task_store.pause_queue(conn, queue, until)
    if as_json:
        print_json({"queue": queue, "is_paused": True, "paused_until": until})
    else:
        console.print(f"{escape(harmless(queue))} is paused" + (f" until {local(until)}." if until else "."))


@app.command("resume")
def resume(queue: QueueName, as_json: Json = False, dsn: Dsn = None) -> None:
    """Start tasks of a paused queue again."""
    with open_database(dsn, "catchment_worker") as conn:
        task_store.resume_queue(conn, queue)
    if as_json:
        print_json({"queue": queue, "is_paused": False, "paused_until": None})
    else:
        console.print(f"{escape(harmless(queue))} is resumed.")
