"""``catchment workers …``."""

from __future__ import annotations

from typing import Annotated

import typer

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_ROWS
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json, print_rows
from catchment.model.check import LARGEST_ID
from catchment.store import task as task_store

app = typer.Typer(help="List workers, pause, resume and drain them.", no_args_is_help=True)

WorkerId = Annotated[
    int, typer.Argument(metavar="ID", min=1, max=LARGEST_ID, help="Id of the worker, from 'catchment workers list'.")
]

COLUMNS = ["worker_id", "name", "pid", "version", "state", "running", "capacity", "memory", "seen_at", "queues"]
WIDE_COLUMNS = ["pid", "version", "memory", "seen_at", "queues"]


@app.command("list")
def list_workers(
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many workers, silent ones first.")
    ] = 200,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """List worker processes.

    A silent worker has missed its heartbeats and will be declared dead. A paused worker takes no tasks. A draining
    worker takes no tasks either, and exits when its running tasks have ended. Memory is as of the last heartbeat.
    Queues are those for which the worker has a handler.
    """
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_workers(conn, limit=limit)
    if as_json:
        print_json(rows)
        return
    shown = [
        {
            **row,
            "memory": None if row["memory_usage"] is None else f"{row['memory_usage']:.0%}",
            "queues": ", ".join(row["served"]),
        }
        for row in rows
    ]
    print_rows(shown, COLUMNS, as_json=False, empty="No workers.", extra=WIDE_COLUMNS, cut=["name", "queues"])


@app.command("pause")
def pause(worker_id: WorkerId, as_json: Json = False, dsn: Dsn = None) -> None:
    """Stop a worker from taking tasks.

    Running tasks continue, and the process stays up. Other workers take over its queues.
    """
    said = f"Worker {worker_id} takes no more tasks. To resume it: catchment workers resume {worker_id}"
    _ask(dsn, worker_id, "pause", said, as_json=as_json)


@app.command("resume")
def resume(worker_id: WorkerId, as_json: Json = False, dsn: Dsn = None) -> None:
    """Let a paused or draining worker take tasks again."""
    _ask(dsn, worker_id, "resume", f"Worker {worker_id} takes tasks again.", as_json=as_json)


@app.command("drain")
def drain(worker_id: WorkerId, as_json: Json = False, dsn: Dsn = None) -> None:
    """Stop a worker from taking tasks, and let it exit when its running tasks have ended.

    It waits for them without a time limit, then exits with code 0. A supervisor that always restarts, such as systemd
    with Restart=always, then starts a new worker.
    """
    said = f"Worker {worker_id} takes no more tasks, and ends when those that it runs have."
    _ask(dsn, worker_id, "drain", said, as_json=as_json)


def _ask(dsn: str | None, worker_id: int, request: str, said: str, *, as_json: bool) -> None:
    with open_database(dsn, "catchment_worker") as conn:
        task_store.ask_worker(conn, worker_id, request)
    if as_json:
        print_json({"worker_id": worker_id, "requested": None if request == "resume" else request})
    else:
        console.print(said)
