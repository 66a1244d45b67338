"""``catchment task retry`` and ``cancel`` by a filter: the count, the question, and the progress of the task that does
it."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from catchment.cli.database import open_database
from catchment.cli.filters import begin_of, read_since
from catchment.commands.output import console, errors, print_json
from catchment.errors import RequestRefused
from catchment.model.state import TaskState
from catchment.store import bulk as bulk_store
from catchment.store.names import check_names

LOOK_SECONDS = 0.25
SETTLED = ("completed", "failed", "cancelled")

# A list, so that a second one is refused and does not replace the first.
State = Annotated[list[TaskState] | None, typer.Option(help="Instead of ids: all tasks in this state.")]
Command = Annotated[str | None, typer.Option(help="Instead of ids: all tasks of this command.")]
Queue = Annotated[str | None, typer.Option(help="Instead of ids: all tasks of this queue.")]
Lane = Annotated[str | None, typer.Option(help="Instead of ids: all tasks of this lane.")]
Error = Annotated[
    str | None, typer.Option(metavar="TEXT", help="Instead of ids: all tasks whose error contains this text.")
]
Since = Annotated[
    str | None,
    typer.Option(
        metavar="SPAN|TIME", help="Instead of ids: all tasks created since then, such as 2h or '2030-01-31 12:00'."
    ),
]
Top = Annotated[bool, typer.Option("--top", help="With a filter: only tasks without a parent.")]
Yes = Annotated[bool, typer.Option("--yes", help="With a filter: do not ask for confirmation.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="With a filter: count the matching tasks and change nothing.")]
Wait = Annotated[bool, typer.Option(help="With a filter: wait until all tasks are changed.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """What the options of both commands say."""

    state: list[TaskState] | None
    command: str | None
    queue: str | None
    lane: str | None
    error: str | None
    since: str | None
    top: bool

    @property
    def values(self) -> dict[str, Any]:
        """As the engine takes it; empty if nothing is given."""
        if self.state and len(self.state) > 1:
            raise typer.BadParameter("give one state, and repeat the command for each other", param_hint="--state")
        given: dict[str, Any] = {
            "state": self.state[0] if self.state else None,
            "command": self.command,
            "queue": self.queue,
            "lane": self.lane,
            "error": self.error,
            "made_after": None if self.since is None else _moment(self.since).isoformat(),
            "top": self.top or None,
        }
        return {key: value for key, value in given.items() if value is not None}


def _moment(text: str) -> datetime:
    return begin_of(read_since(text), datetime.now(UTC))


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """``is_sure``: no question is asked. ``is_dry``: nothing is changed. ``waits``: for the task that does it."""

    is_sure: bool
    is_dry: bool
    waits: bool
    as_json: bool


def check_choice(task_ids: list[int] | None, values: dict[str, Any], verb: str, *, is_dry: bool) -> None:
    """Either ids or a filter."""
    if task_ids and is_dry:
        raise typer.BadParameter("it goes with a filter, not with task ids", param_hint="--dry-run")
    if bool(task_ids) == bool(values):
        example = "--failed" if verb == "retry" else "--state pending"
        raise typer.BadParameter(
            f"give task ids, or a filter such as {example}" + (", not both" if values else ""), param_hint="ID"
        )


def change_by_filter(
    verb: str, values: dict[str, Any], how: How, *, reason: str = "cancelled on request", dsn: str | None
) -> None:
    """Count, ask, and let a task of the engine do it. Ends with 1 if that task did not complete."""
    with open_database(dsn, "catchment_worker") as conn:
        counted = bulk_store.count(conn, verb, values)
        many = _many(counted["tasks"], counted["is_complete"])
        if counted["tasks"] == 0 and counted["is_complete"]:
            check_names(conn, queue=values.get("queue"), command=values.get("command"))
            errors.print("No task matches.")
            if how.as_json:
                print_json(_nothing(verb, 0))
            return
        if how.is_dry:
            # Where counting has stopped, how many there are is not known.
            expected = counted["tasks"] if counted["is_complete"] else None
            if how.as_json:
                print_json(_nothing(verb, expected))
            else:
                console.print(f"{many} would be {_past(verb)}{_children(counted)}.")
            return
        if not how.is_sure:
            _ask(f"{verb.title()} {many}{_children(counted)}?", f"{many} would be {_past(verb)}")
        task_id = bulk_store.start(conn, verb, values, reason, counted["seen_at"])
        if not counted["workers"]:
            errors.print(f"Task {task_id} does it as soon as a worker is alive: [bold]catchment worker[/]")
        elif how.waits:
            _follow(conn, task_id)
        seen = bulk_store.show(conn, task_id)
    if how.as_json:
        print_json(seen)
    elif seen["state"] in SETTLED:
        _tell(seen)
    else:
        console.print(task_id)
    if seen["state"] in ("failed", "cancelled"):
        raise typer.Exit(1)


def _ask(question: str, said: str) -> None:
    """Continue if the answer is yes. Without an answer, as in a script, nothing is changed."""
    errors.print(f"{question} [y/N]: ", end="", markup=False)
    answer = "" if sys.stdin is None else sys.stdin.readline()  # pyright: ignore[reportUnnecessaryComparison] - <&-
    if not answer:
        errors.print()
        raise RequestRefused(f"{said}; nothing was done", hint="To skip this question: --yes")
    if answer.strip().lower() not in ("y", "yes"):
        raise typer.Abort


def _nothing(verb: str, expected: int | None) -> dict[str, Any]:
    """As ``bulk_store.show``, where nothing was changed."""
    return dict.fromkeys(("id", "state", "problem", "error")) | {
        "verb": verb,
        "expected": expected,
        "done": 0,
        "skipped": 0,
    }


def _past(verb: str) -> str:
    return "retried" if verb == "retry" else "cancelled"


def _many(number: int, is_complete: bool) -> str:
    return f"{number:,}{'' if is_complete else '+'} {'task' if number == 1 and is_complete else 'tasks'}"


def _children(counted: dict[str, Any]) -> str:
    """Tasks that are not retried separately: the retry of a parent runs what has failed below it."""
    number = counted["with_parent"]
    return f", {number:,} of them with the tasks above them that failed too" if number else ""


def _follow(conn: Connection[Any], task_id: int) -> None:
    """Show its progress until it has ended. Ctrl-C leaves it running."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(*columns, console=errors, transient=True, disable=not errors.is_terminal) as progress:
            bar = progress.add_task(f"task {task_id}", total=None)
            while (seen := bulk_store.show(conn, task_id))["state"] not in SETTLED:
                progress.update(bar, total=seen["expected"], completed=seen["done"] + seen["skipped"])
                time.sleep(LOOK_SECONDS)
    except KeyboardInterrupt:
        errors.print(f"Task {task_id} continues. To stop it: catchment task cancel {task_id}")
        raise


def _tell(seen: dict[str, Any]) -> None:
    skipped = f", {seen['skipped']:,} skipped: {seen['problem']}" if seen["skipped"] else ""
    others = (seen["expected"] or 0) - seen["done"] - seen["skipped"]
    is_told = seen["verb"] == "retry" and seen["state"] == "completed" and others > 0
    more = f", {others:,} more with the tasks above them" if is_told else ""
    end = "" if seen["state"] == "completed" else f". Task {seen['id']} is {seen['state']}: {seen['error']}"
    console.print(escape(f"{_many(seen['done'], True)} {_past(seen['verb'])}{more}{skipped}{end}"))
