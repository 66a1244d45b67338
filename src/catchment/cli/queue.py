"""``catchment queue …``."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

import typer
from rich.markup import escape

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_SECONDS
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_rows
from catchment.store import task as task_store

app = typer.Typer(help="Look at queues, pause and resume them.", no_args_is_help=True)

QueueName = Annotated[str, typer.Argument(metavar="QUEUE", help="A registered queue.")]

COLUMNS = [
    "queue",
    "mode",
    "concurrency",
    "is_paused",
    "ready",
    "blocked",
    "processing",
    "waiting",
    "oldest_ready_seconds",
    "workers",
]


@app.command("list")
def list_queues(as_json: Json = False, dsn: Dsn = None) -> None:
    """Each queue with what is in it and how many workers serve it."""
    with open_database(dsn, "catchment_read") as conn:
        print_rows(task_store.list_queues(conn), COLUMNS, as_json=as_json, empty="No queues.")


@app.command("pause")
def pause(
    queue: QueueName,
    seconds: Annotated[
        float | None, typer.Option("--for", min=0, max=MOST_SECONDS, help="Seconds; else until resumed.")
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Claim nothing more on a queue. Running tasks go on; a restart does not end the pause."""
    until = datetime.now(UTC) + timedelta(seconds=seconds) if seconds is not None else None
    with open_database(dsn, "catchment_worker") as conn:
        task_store.pause_queue(conn, queue, until)
    console.print(f"{escape(queue)} is paused" + (f" until {until.astimezone():%H:%M:%S}." if until else "."))


@app.command("resume")
def resume(queue: QueueName, dsn: Dsn = None) -> None:
    """Claim on a queue again."""
    with open_database(dsn, "catchment_worker") as conn:
        task_store.resume_queue(conn, queue)
    console.print(f"{escape(queue)} is resumed.")
