"""``catchment schedule …``."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_ROWS
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json, print_rows
from catchment.commands.times import local
from catchment.model.rhythm import say_rhythm
from catchment.model.terminal import harmless
from catchment.store import task as task_store

app = typer.Typer(help="List schedules and their history; run, pause and resume them.", no_args_is_help=True)

ScheduleName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the schedule, from 'catchment schedule list'.")
]

COLUMNS = ["name", "command", "fires", "next", "last", "result"]
WIDE_COLUMNS = ["command", "last"]
HISTORY_COLUMNS = ["due", "missed since", "made", "task", "result"]
WIDE_HISTORY_COLUMNS = ["missed since", "made"]
OUTCOMES = {"overlap": "skipped: the run before was not settled", "missed": "missed"}


@app.command("list")
def list_schedules(
    limit: Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many schedules, by name.")] = 200,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """List schedules, when they fire and how their last runs ended."""
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_schedules(conn, limit=limit)
    for row in rows:
        row["fires"] = say_rhythm(row["every_seconds"], row["rhythm"], row["timezone"])
    if as_json:
        print_json(rows)
        return
    shown = [
        {
            **row,
            "next": _next(row),
            "last": row["last_at"],
            "result": row["recent"][0].get("state", "deleted") if row["recent"] else None,
        }
        for row in rows
    ]
    print_rows(shown, COLUMNS, as_json=False, empty="No schedules.", extra=WIDE_COLUMNS, cut=["name", "command"])


def _next(row: dict[str, Any]) -> Any:
    if not row["enabled"]:
        return "paused"
    return "not in code" if row["is_declared"] and not row["is_in_code"] else row["next_at"]


@app.command("history")
def show_history(
    name: ScheduleName,
    limit: Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many times, newest first.")] = 20,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Show the history of a schedule: the tasks it enqueued, and the times it skipped or missed."""
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.schedule_history(conn, name, limit=limit)
    if as_json:
        print_json(rows)
        return
    shown = [
        {
            "due": "by hand" if row["outcome"] == "by_hand" else row["due_at"],
            "missed since": row["missed_from"],
            "made": row["at"] if row["task_id"] is not None else None,
            "task": row["task_id"],
            "result": OUTCOMES.get(row["outcome"]) or row["state"] or "deleted",
        }
        for row in rows
    ]
    columns = [name for name in HISTORY_COLUMNS if name != "missed since" or any(row["missed_from"] for row in rows)]
    extra = [name for name in WIDE_HISTORY_COLUMNS if name in columns]
    print_rows(shown, columns, as_json=False, empty="It has not fired yet.", extra=extra)


@app.command("run")
def run(name: ScheduleName, as_json: Json = False, dsn: Dsn = None) -> None:
    """Enqueue the task of a schedule now, and print its id.

    The next scheduled time does not change. A paused schedule can be run too.
    """
    with open_database(dsn, "catchment_worker") as conn:
        task_id = task_store.run_schedule(conn, name)
    if as_json:
        print_json({"id": task_id})
    else:
        console.print(task_id)


@app.command("pause")
def pause(name: ScheduleName, as_json: Json = False, dsn: Dsn = None) -> None:
    """Stop a schedule from enqueueing tasks until it is resumed."""
    with open_database(dsn, "catchment_worker") as conn:
        task_store.pause_schedule(conn, name)
    if as_json:
        print_json({"name": name, "enabled": False, "next_at": None})
    else:
        console.print(f"{escape(harmless(name))} is paused.")


@app.command("resume")
def resume(name: ScheduleName, as_json: Json = False, dsn: Dsn = None) -> None:
    """Resume a paused schedule at its next time. Missed times are skipped."""
    with open_database(dsn, "catchment_worker") as conn:
        at = task_store.resume_schedule(conn, name)
    if as_json:
        print_json({"name": name, "enabled": True, "next_at": at})
        return
    when = "" if at is None else f" It fires next at {local(at)}."
    console.print(f"{escape(harmless(name))} is resumed.{when}")
