"""``catchment lane …``."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer
from rich.markup import escape

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_ROWS
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json, print_rows
from catchment.model.terminal import harmless
from catchment.store import task as task_store
from catchment.store.names import check_names

app = typer.Typer(help="List lanes, and resume halted ones.", no_args_is_help=True)

COLUMNS = ["queue", "lane", "state", "tasks", "head_id", "command", "halted_at", "error"]
WIDE_COLUMNS = ["halted_at", "error"]


class LaneState(StrEnum):
    """What the head of a lane does."""

    HALTED = "halted"
    WAITING = "waiting"
    RUNNING = "running"
    READY = "ready"
    IDLE = "idle"


@app.command("list")
def list_lanes(
    queue: Annotated[str | None, typer.Option(help="Only this queue.")] = None,
    state: Annotated[LaneState | None, typer.Option(help="Only lanes in this state.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many lanes, halted ones first.")
    ] = 50,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """List lanes that have work, with the first task of each (its head) and the number of its tasks.

    A lane is running while its head runs. It is waiting while its head waits for children, its join, a retry, a snooze
    or the limit of the queue. It is halted when its head has failed. The lane without a name is the top level of a
    serial queue. Counts stop at 1,000.
    """
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_lanes(conn, queue=queue, state=state, limit=limit)
        if not rows:
            check_names(conn, queue=queue)
    print_rows(
        rows, COLUMNS, as_json=as_json, empty="No lanes.", extra=WIDE_COLUMNS, cut=["queue", "lane", "command", "error"]
    )


@app.command("skip")
def skip(
    queue: Annotated[str, typer.Argument(metavar="QUEUE", help="Queue of the lane.")],
    lane: Annotated[
        str | None, typer.Argument(metavar="LANE", help="A halted lane. Defaults to the top level of a serial queue.")
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Resume a halted lane without the failed task.

    To run the task again instead, use 'catchment task retry'.

    Example: catchment lane skip orders customer-7
    """
    with open_database(dsn, "catchment_worker") as conn:
        task_id = task_store.skip_halted(conn, queue, lane)
    if as_json:
        print_json({"queue": queue, "lane": lane, "skipped_id": task_id})
    else:
        console.print(f"{escape(harmless(lane or queue))} continues without task {task_id}.")
