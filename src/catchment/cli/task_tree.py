"""``catchment task tree``: the tasks of a tree that matter most, and how many there are of the others."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.tree import Tree

from catchment.cli.database import open_database
from catchment.cli.numbers import MOST_ROWS
from catchment.cli.runner import runner_of
from catchment.cli.watch.tree import watch_tree
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json, print_rows, styled_state
from catchment.model.check import LARGEST_ID, SMALLEST_ID
from catchment.model.ending import children_words
from catchment.model.span import span
from catchment.model.state import TaskState
from catchment.model.terminal import harmless, one_line
from catchment.store import task as task_store

Row = Mapping[str, Any]

_LONGEST_ERROR = 200
_PIPE_WIDTH = 10_000
# Failed ones come first, where not all are shown.
_FIRST = ("failed", "interrupted", "processing", "cancelled", "waiting", "pending", "completed")


def tree(
    task_id: Annotated[int, typer.Argument(metavar="ID", min=SMALLEST_ID, max=LARGEST_ID, help="Id of the task.")],
    state: Annotated[TaskState | None, typer.Option(help="Only tasks in this state, and their ancestors.")] = None,
    limit: Annotated[
        int, typer.Option(min=1, max=MOST_ROWS, help="Show at most this many tasks, failed ones first.")
    ] = 50,
    watch: Annotated[
        bool, typer.Option("--watch", help="Update the tree until the task has settled. Exit with 1 if it fails.")
    ] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Show the tree that a task belongs to.

    For a large tree, shows only the first tasks, failed ones first, and counts the whole tree by command and state.

    Example: catchment task tree 42 --state failed
    """
    if not watch:
        with open_database(dsn, "catchment_read") as conn:
            rows = task_store.task_tree(conn, task_id, state=state, limit=limit)
        _show(rows, as_json=as_json)
        return
    # While it is drawn, it has to fit the terminal.
    fitting = min(limit, max(3, console.height - 4)) if console.is_terminal else limit
    end, rows = watch_tree(
        dsn,
        task_id,
        lambda conn: task_store.task_tree(conn, task_id, state=state, limit=fitting),
        lambda rows: _drawn(rows, is_whole=_omitted(rows) == 0),
    )
    _show(rows, as_json=as_json)
    if end != TaskState.COMPLETED:
        raise typer.Exit(1)


def _omitted(rows: Sequence[Row]) -> int:
    """How many tasks of the tree are not among these."""
    return sum(count["tasks"] for count in rows[0]["counts"]) - len(rows)


def _show(rows: Sequence[Row], *, as_json: bool) -> None:
    counts: list[Row] = rows[0]["counts"]
    omitted = _omitted(rows)
    if as_json:
        tasks = [_without_counts(row) for row in rows]
        print_json({"tasks": tasks, "counts": counts, "at_least": rows[0]["at_least"], "omitted": omitted})
        return
    # In a pipe or a file there is room for every line.
    printer = Console(width=_PIPE_WIDTH, highlight=False, emoji=False) if console.is_pipe else console
    printer.print(_drawn(rows, is_whole=omitted == 0))
    if omitted:
        console.print()
        print_rows(counts, ["command", "state", "tasks"], as_json=False, empty="", cut=["command"])
        console.print(
            f"[dim]{omitted:,} of these tasks are not shown above. To see more: --limit N, or --state STATE[/]"
        )
    if rows[0]["at_least"]:
        console.print("[dim]The tree is larger: counting has stopped here, level by level.[/]")


def _without_counts(row: Row) -> dict[str, Any]:
    return {name: value for name, value in row.items() if name not in ("counts", "at_least")}


def _drawn(rows: Sequence[Row], *, is_whole: bool) -> Tree:
    below: dict[int | None, list[Row]] = defaultdict(list)
    for row in rows:
        below[row["parent_id"]].append(row)
    root = rows[0]
    drawn = Tree(_label(root))
    waiting = [(root, drawn)]
    while waiting:  # a tree may be deeper than Python's stack
        parent, branch = waiting.pop()
        children = below[parent["id"]]
        if not is_whole:
            children.sort(key=lambda row: _FIRST.index(row["state"]))
        waiting += [(child, branch.add(_label(child))) for child in children]
        if (hidden := parent["children"] - len(children)) > 0:
            branch.add(f"[dim]{'' if console.is_pipe else '… '}{hidden:,} more[/]")
    return drawn


def _label(row: Row) -> str:
    return " ".join(_parts(row))


def _parts(row: Row) -> Iterator[str]:
    yield f"{escape(harmless(row['command']))} {row['id']} {styled_state(row['state'])}"
    if runner := runner_of(row):
        yield f"[dim]worker {escape(one_line(runner))}[/]"
    progress: Row = row["progress"] or {}
    if row["state"] == "waiting":
        yield f"{progress['done']} of {progress['total']} children ended,"
    elif row["state"] == "cancelled" and (words := children_words(progress)):  # of a failed one, the error says it
        yield f"{words},"
    if row["completion_duration_ms"] is not None:
        yield f"[dim]{span(float(row['completion_duration_ms']) / 1000)}[/]"
    elif row["process_duration_ms"] is not None:  # its children continue
        yield f"[dim]handler returned after {span(float(row['process_duration_ms']) / 1000)}[/]"
    if row["cancel_reason"]:
        yield f"[yellow]asked to stop: {_cut(row['cancel_reason'])}[/]"
    if row["error"]:
        yield f"[red]{_cut(row['error'])}[/]"


def _cut(error: str) -> str:
    text = one_line(error)
    is_whole = console.is_pipe or len(text) <= _LONGEST_ERROR
    return escape(text if is_whole else text[: _LONGEST_ERROR - 1] + "…")
