"""``catchment enqueue`` and ``catchment task …``."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

import typer
from rich.markup import escape
from rich.tree import Tree

from catchment.cli.database import open_database
from catchment.cli.failure import show_failure
from catchment.cli.task_show import show_task
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, errors, print_json, print_rows, styled_state
from catchment.errors import PayloadRefused, RequestRefused
from catchment.model.check import LARGEST_ID, LARGEST_INTEGER, SMALLEST_ID, SMALLEST_INTEGER, is_text, json_type
from catchment.model.state import TaskState
from catchment.store import task as task_store
from catchment.store.json_text import reason_for

app = typer.Typer(help="Look at tasks, stop them, run them again.", no_args_is_help=True)

TaskIds = Annotated[
    list[int], typer.Argument(metavar="ID...", min=SMALLEST_ID, max=LARGEST_ID, help="One or more task ids.")
]
TaskIdArgument = Annotated[int, typer.Argument(metavar="ID", min=SMALLEST_ID, max=LARGEST_ID, help="A task id.")]

LIST_COLUMNS = ["id", "command", "queue", "state", "priority", "parent_id", "lane", "attempt", "created_at", "error"]


def enqueue(
    command: Annotated[str, typer.Argument(help="A registered command.")],
    payload: Annotated[str, typer.Argument(help="A JSON object.")] = "{}",
    priority: Annotated[
        int | None, typer.Option(min=SMALLEST_INTEGER, max=LARGEST_INTEGER, help="Smaller runs first.")
    ] = None,
    lane: Annotated[str | None, typer.Option(help="Tasks of one lane run one after another.")] = None,
    at: Annotated[datetime | None, typer.Option(help="Not before this time.")] = None,
    app: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:APP", help="Check the payload by the command of this app; may be given again."),
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Make a task and print its id."""
    check_payload(payload)
    if app:
        dsn = _check_arguments(app, command, payload, dsn)
    when = None if at is None else _local(at)
    with open_database(dsn, "catchment_enqueue") as conn:
        task_id = task_store.enqueue(conn, command, payload, priority=priority, lane=lane, scheduled_at=when)
    if as_json:
        print_json({"id": task_id})
    else:
        console.print(task_id)


def _check_arguments(names: list[str], command: str, payload: str, dsn: str | None) -> str | None:
    """Refuse a payload that the handler would refuse; returns the database of the apps."""
    from catchment.cli.app import load_apps  # with the client, which this command does without

    apps = load_apps(names)
    apps.commands().get(command).payload.load(payload)
    return apps.dsn(dsn)


def _local(at: datetime) -> datetime:
    try:
        return at.astimezone()
    except (OverflowError, ValueError) as error:
        raise RequestRefused(f"--at is {at}, expected a time of the years 1 to 9999") from error


def check_payload(text: str) -> None:
    """Refuse what is not the text of a JSON object. It is sent as it is: numbers keep all their digits."""
    if not is_text(text):
        raise PayloadRefused("the payload is not valid UTF-8")
    try:
        value: Any = json.loads(text)
    except json.JSONDecodeError as error:
        raise PayloadRefused(
            f"the payload is not JSON: {error}", hint="Quote it for the shell: '{\"key\": 1}'"
        ) from error
    except (ValueError, RecursionError) as error:
        raise PayloadRefused(
            f"the payload cannot be read: {reason_for(error)}",
            hint="A SQL handler can read it: enqueue it with select worker.enqueue(…).",
        ) from error
    if not isinstance(value, dict):
        raise PayloadRefused(f"the payload is a JSON {json_type(value)}, expected an object")


@app.command("list")
def list_tasks(
    state: Annotated[TaskState | None, typer.Option(help="Only tasks in this state.")] = None,
    command: Annotated[str | None, typer.Option(help="Only this command.")] = None,
    queue: Annotated[str | None, typer.Option(help="Only this queue.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_ID, help="Show at most this many tasks, newest first.")] = 50,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """The newest tasks."""
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.list_tasks(conn, state=state, command=command, queue=queue, limit=limit)
    print_rows(rows, LIST_COLUMNS, as_json=as_json, empty="No tasks.")


@app.command("show")
def show(task_id: TaskIdArgument, as_json: Json = False, dsn: Dsn = None) -> None:
    """One task: what is wrong with it, what to do next, what it carries, and how each attempt went."""
    with open_database(dsn, "catchment_read") as conn:
        row = task_store.show_task(conn, task_id)
    if as_json:
        print_json(row)
        return
    show_task(row)


@app.command("tree")
def tree(
    task_id: TaskIdArgument,
    limit: Annotated[int, typer.Option(min=1, max=LARGEST_ID, help="Show at most this many tasks.")] = 500,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """The whole tree that a task belongs to."""
    with open_database(dsn, "catchment_read") as conn:
        rows = task_store.task_tree(conn, task_id, limit=limit)
    if as_json:
        print_json(rows)
        return
    branches: dict[int, Tree] = {}
    for row in rows:
        parent = branches.get(row["parent_id"])
        branches[row["id"]] = parent.add(_label(row)) if parent else Tree(_label(row))
    console.print(branches[rows[0]["id"]])
    if len(rows) == limit:
        console.print(f"[dim]… cut after {limit} tasks, see --limit[/]")


def _label(row: dict[str, Any]) -> str:
    progress: dict[str, Any] = row["progress"] or {}
    counts = f" {progress['done']} of {progress['total']}" if "done" in progress else ""
    duration = row["completion_duration_ms"] or row["process_duration_ms"]
    took = f" [dim]{float(duration):.0f} ms[/]" if duration is not None else ""
    error = f" [red]{escape(str(row['error']))}[/]" if row["error"] else ""
    return f"{escape(row['command'])} {row['id']} {styled_state(row['state'])}{counts}{took}{error}"


@app.command("cancel")
def cancel(
    task_ids: TaskIds,
    reason: Annotated[str, typer.Option(help="Kept with the task.")] = "cancelled on request",
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Stop tasks and everything under them. Running ones are told, and settle as they end. Settled ones stay as they
    are, which is no error."""
    with open_database(dsn, "catchment_worker") as conn:
        states = _each(task_ids, lambda task_id: task_store.cancel(conn, task_id, reason), as_json=as_json)
    for task_id, state in states.items():
        if state in ("completed", "failed"):
            errors.print(f"Nothing was done to task {task_id}: it has {state} already.")


@app.command("retry")
def retry(task_ids: TaskIds, as_json: Json = False, dsn: Dsn = None) -> None:
    """Run failed or cancelled tasks again; a parent runs its failed children again."""
    with open_database(dsn, "catchment_worker") as conn:
        _each(task_ids, lambda task_id: task_store.retry(conn, task_id), as_json=as_json)


def _each(task_ids: list[int], act: Callable[[int], str], *, as_json: bool) -> dict[int, str]:
    """Do it to every task, and show what became of each, also of those before an error that ends it; returns that."""
    done: list[dict[str, Any]] = []
    refused: list[tuple[int, RequestRefused]] = []
    try:
        for task_id in task_ids:
            try:
                done.append({"id": task_id, "state": act(task_id)})
            except RequestRefused as error:
                refused.append((task_id, error))
    finally:
        if as_json and (done or refused):
            print_json([*done, *({"id": i, "state": None, "error": str(error)} for i, error in refused)])
        elif done:
            print_rows(done, ["id", "state"], as_json=False, empty="")
        for _, error in refused:
            show_failure(error)
    if refused:
        raise typer.Exit(1)
    return {row["id"]: row["state"] for row in done}
