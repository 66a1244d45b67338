"""``catchment enqueue`` and ``catchment task …``."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Annotated, Any

import psycopg
import typer
from psycopg import Connection
from rich.markup import escape

from catchment.cli import task_bulk
from catchment.cli.database import open_database
from catchment.cli.failure import show_failure
from catchment.cli.filters import Command, Lane, Queue, begin_of, read_since
from catchment.cli.numbers import MOST_ROWS
from catchment.cli.runner import runner_of
from catchment.cli.task_show import show_task
from catchment.cli.task_tree import tree
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, errors, print_json, print_rows
from catchment.commands.why import print_conditions
from catchment.errors import CatchmentError, PayloadRefused, RequestRefused
from catchment.model.check import LARGEST_ID, LARGEST_INTEGER, SMALLEST_ID, SMALLEST_INTEGER, is_text, json_type
from catchment.model.remedy import ways_of
from catchment.model.span import span
from catchment.model.state import TaskState
from catchment.model.terminal import harmless
from catchment.store import task as task_store
from catchment.store import why as why_store
from catchment.store.connect import find_dsn
from catchment.store.ends import server_time
from catchment.store.find import TaskFilters, find_in_states
from catchment.store.json_text import reason_for
from catchment.store.names import check_names
from catchment.store.obstacle import obstacles

app = typer.Typer(help="List tasks, show, cancel and retry them.", no_args_is_help=True)

SomeTaskIds = Annotated[
    list[int] | None, typer.Argument(metavar="ID", min=SMALLEST_ID, max=LARGEST_ID, help="Ids of tasks.")
]
TaskIdArgument = Annotated[int, typer.Argument(metavar="ID", min=SMALLEST_ID, max=LARGEST_ID, help="Id of the task.")]

# In a pipe or a file a task has its time; in a terminal its age, and of long texts what fits.
LIST_COLUMNS = [
    *("id", "state", "command", "lane", "created_at", "queue", "priority", "parent", "attempt", "worker", "error"),
]
WIDE_COLUMNS = ["worker", "attempt", "parent", "queue", "priority"]


def enqueue(
    command: Annotated[str, typer.Argument(help="Name of a registered command, or of a command of --app.")],
    payload: Annotated[str, typer.Argument(help="Payload of the task, as a JSON object.")] = "{}",
    priority: Annotated[
        int | None, typer.Option(min=SMALLEST_INTEGER, max=LARGEST_INTEGER, help="Priority; smaller numbers run first.")
    ] = None,
    lane: Annotated[str | None, typer.Option(help="Lane of the task; tasks of a lane run one after another.")] = None,
    at: Annotated[datetime | None, typer.Option(help="Start the task at this time or later.")] = None,
    app: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODULE:APP",
            help="Check the payload against this app, and register the command if it is missing; can be repeated.",
        ),
    ] = None,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Enqueue a task and print its id.

    Example: catchment enqueue send '{"to": "a@b.org"}' --lane order-17
    """
    check_payload(payload)
    register: Callable[[Connection[Any]], None] | None = None
    if app:
        dsn, register = _check_arguments(app, command, payload, dsn)
    when = None if at is None else _local(at)
    with open_database(dsn, "catchment_enqueue") as conn:
        if register is not None:
            register(conn)
        task_id = task_store.enqueue(conn, command, payload, priority=priority, lane=lane, scheduled_at=when)
        if as_json:
            print_json({"id": task_id})
        else:
            console.print(task_id)
        _print_obstacles(conn, task_id)


def _print_obstacles(conn: Connection[Any], task_id: int) -> None:
    """What keeps a new task from being run until a person does something, such as no worker. The task has been made,
    so that no failure of this look is one of the command."""
    with contextlib.suppress(psycopg.Error, CatchmentError):
        for one in obstacles(conn, [task_id]):
            if one.is_urgent:
                errors.print(f"Task {task_id} waits: {escape(harmless(one.reason))}.")
                for command, what in ways_of(one.remedy):
                    line = f"{command}  # {what}" if what else command
                    errors.print(f"  [dim]{escape(harmless(line))}[/]", soft_wrap=True)


def _check_arguments(
    names: list[str], command: str, payload: str, dsn: str | None
) -> tuple[str, Callable[[Connection[Any]], None]]:
    """Refuse a payload that the handler would refuse; returns the database of the apps, and what registers the
    command there if it is missing."""
    from catchment.cli.app import load_apps, register_missing  # with the client, which this command does without

    apps = load_apps(names)
    commands = apps.commands()
    commands.get(command).payload.load(payload)
    where = find_dsn(apps.dsn(dsn))
    return where, lambda conn: register_missing(conn, where, commands, command)


def _local(at: datetime) -> datetime:
    try:
        return at.astimezone()
    except (OverflowError, ValueError) as error:
        raise RequestRefused(f"--at is {at}, expected a time from 0001-01-03 to 9999-12-29") from error


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
    state: Annotated[list[TaskState] | None, typer.Option(help="Only tasks in this state; can be repeated.")] = None,
    command: Command = None,
    queue: Queue = None,
    lane: Lane = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN|TIME", help="Only tasks created within this span (30s, 10m, 2h, 1d) or since this time."
        ),
    ] = None,
    error: Annotated[str | None, typer.Option(metavar="TEXT", help="Only tasks whose error contains this.")] = None,
    top: Annotated[bool, typer.Option("--top", help="Only tasks without a parent.")] = False,
    limit: Annotated[int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many tasks, newest first.")] = 50,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """List the newest tasks.

    With --state failed or cancelled, sorted by the time at which they ended.

    Example: catchment task list --state failed --since 1h
    """
    begin = None if since is None else read_since(since)
    with open_database(dsn, "catchment_read") as conn:
        made_after = None if begin is None else begin_of(begin, server_time(conn))
        filters = TaskFilters(command=command, queue=queue, lane=lane, error=error, made_after=made_after, is_top=top)
        rows = find_in_states(conn, filters, state or [], limit=limit)
        if not rows:
            check_names(conn, queue=queue, command=command)
    if as_json:
        print_json(rows)
        return
    columns, extra = LIST_COLUMNS, WIDE_COLUMNS
    if not console.is_pipe:
        unused = () if any(row["worker_id"] for row in rows) else ("worker",)
        columns = ["age" if name == "created_at" else name for name in LIST_COLUMNS if name not in unused]
        extra = [name for name in WIDE_COLUMNS if name not in unused]
    shown = [
        {
            **row,
            "age": _age(row["created_at"]),
            "parent": row["parent_id"],
            "worker": runner_of(row),
            "error": row["error"] or _asked(row),
        }
        for row in rows
    ]
    cut = ["command", "lane", "queue", "worker", "error"]
    print_rows(shown, columns, as_json=False, empty="No tasks.", extra=extra, cut=cut)
    if len(rows) == limit:
        errors.print(f"[dim]The newest {limit:,} are shown; --limit shows more.[/]")


def _asked(row: dict[str, Any]) -> str | None:
    return None if row["cancel_reason"] is None else f"asked to stop: {row['cancel_reason']}"


def _age(moment: datetime | str) -> str:
    """How long ago, with the largest unit alone; a time that Python cannot hold is text, as it is."""
    if isinstance(moment, str):
        return moment
    words = span(max(0.0, (datetime.now(UTC) - moment).total_seconds())).split()
    return " ".join([words[0].partition(".")[0], words[1]])


@app.command("show")
def show(task_id: TaskIdArgument, as_json: Json = False, dsn: Dsn = None) -> None:
    """Show a task: its error, what to do next, and the outcome of each attempt."""
    with open_database(dsn, "catchment_read") as conn:
        row = task_store.show_task(conn, task_id)
        answer = None if row["completed_at"] is not None else why_store.explain_to_the_cause(conn, task_id)
    if as_json:
        print_json(row)
        return
    show_task(row, answer)


@app.command("why")
def why(task_id: TaskIdArgument, as_json: Json = False, dsn: Dsn = None) -> None:
    """Explain why a task waits: every cause, with the command that resolves it."""
    with open_database(dsn, "catchment_read") as conn:
        answer = why_store.explain_to_the_cause(conn, task_id)
    if as_json:
        print_json(asdict(answer))
    else:
        print_conditions(answer.headline, answer.conditions)


app.command("tree")(tree)


@app.command("cancel")
def cancel(
    task_ids: SomeTaskIds = None,
    state: task_bulk.State = None,
    command: task_bulk.Command = None,
    queue: task_bulk.Queue = None,
    lane: task_bulk.Lane = None,
    error: task_bulk.Error = None,
    since: task_bulk.Since = None,
    top: task_bulk.Top = False,
    reason: Annotated[str, typer.Option(help="Reason, recorded with the task.")] = "cancelled on request",
    yes: task_bulk.Yes = False,
    dry_run: task_bulk.DryRun = False,
    wait: task_bulk.Wait = True,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Cancel tasks and everything under them: those with the given ids, or all that match a filter.

    A running task is asked to stop, and settles when it ends. Settled tasks are not changed; this is not an error. With
    a filter, an engine task does the work in batches, on any worker.

    Example: catchment task cancel --queue mail --state pending
    """
    values = task_bulk.Filter(
        state=state, command=command, queue=queue, lane=lane, error=error, since=since, top=top
    ).values
    task_bulk.check_choice(task_ids, values, "cancel", is_dry=dry_run)
    if not task_ids:
        how = task_bulk.How(is_sure=yes, is_dry=dry_run, waits=wait, as_json=as_json)
        task_bulk.change_by_filter("cancel", values, how, reason=reason, dsn=dsn)
        return
    with open_database(dsn, "catchment_worker") as conn:
        states = _each(task_ids, lambda task_id: task_store.cancel(conn, task_id, reason), as_json=as_json)
    for task_id, ended in states.items():
        if ended in ("completed", "failed"):
            errors.print(f"Nothing was done to task {task_id}: it has {ended} already.")


@app.command("retry")
def retry(
    task_ids: SomeTaskIds = None,
    failed: Annotated[bool, typer.Option("--failed", help="Instead of ids: all failed tasks.")] = False,
    state: task_bulk.State = None,
    command: task_bulk.Command = None,
    queue: task_bulk.Queue = None,
    lane: task_bulk.Lane = None,
    error: task_bulk.Error = None,
    since: task_bulk.Since = None,
    top: task_bulk.Top = False,
    yes: task_bulk.Yes = False,
    dry_run: task_bulk.DryRun = False,
    wait: task_bulk.Wait = True,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Run failed or cancelled tasks again: those with the given ids, or all that match a filter.

    A parent runs its failed children again. A filter without a state means failed tasks. With a filter, an engine task
    does the work in batches, on any worker.

    Example: catchment task retry --failed --queue mail --since 2h
    """
    values = task_bulk.Filter(
        state=state or ([TaskState.FAILED] if failed else None),
        command=command,
        queue=queue,
        lane=lane,
        error=error,
        since=since,
        top=top,
    ).values
    task_bulk.check_choice(task_ids, values, "retry", is_dry=dry_run)
    if not task_ids:
        how = task_bulk.How(is_sure=yes, is_dry=dry_run, waits=wait, as_json=as_json)
        task_bulk.change_by_filter("retry", values, how, dsn=dsn)
        return
    with open_database(dsn, "catchment_worker") as conn:
        _each(task_ids, lambda task_id: task_store.retry(conn, task_id), as_json=as_json)


def _each(task_ids: list[int], act: Callable[[int], str], *, as_json: bool) -> dict[int, str]:
    """Do it to every task, and show the outcome of each, also of those before an error that ends it; returns the
    outcomes."""
    done: list[dict[str, Any]] = []
    refused: list[tuple[int, RequestRefused]] = []
    try:
        for task_id in task_ids:
            try:
                done.append({"id": task_id, "state": act(task_id), "error": None})
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
