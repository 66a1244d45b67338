"""``catchment task tree --watch``: the tree, drawn again until its task has settled.

The line above it is read by its key each time. The tree itself is read again after nine times as long as the last
reading took, and only in the end if the task has very many children.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from psycopg import Connection
from rich.console import Group, RenderableType
from rich.live import Live
from rich.text import Text

from catchment.cli.watch.link import keep_connected
from catchment.cli.watch.screen import brief, estimate
from catchment.commands.output import STATE_STYLES, console, errors, harmless, shape_of
from catchment.errors import TaskNotFound
from catchment.model.state import TaskState
from catchment.sql import ENGINE
from catchment.store.fetch import fetch_rows

Row = Mapping[str, Any]
T = TypeVar("T", bound=Sequence[Row])

TICK = 0.5
REST = 9
# A scope of more children than this is shown by its counts alone while it is at work.
MOST_CHILDREN = 10_000


def watch_tree(
    dsn: str | None, task_id: int, read: Callable[[Connection[Any]], T], draw: Callable[[T], RenderableType]
) -> tuple[str, T]:
    """Draw until the task has settled, in a terminal; returns its state, and the tree as it is then."""
    with Live(console=console, auto_refresh=False, transient=True) as live:
        seen: T | None = None
        picture: RenderableType = ""
        due = 0.0

        def serve(conn: Connection[Any]) -> tuple[str, T]:
            nonlocal seen, due, picture
            while True:
                head = _progress(conn, task_id)
                if TaskState(head["state"]).is_settled:
                    return head["state"], read(conn)
                began = time.monotonic()
                is_huge = (head["total"] or 0) > MOST_CHILDREN
                if not is_huge and (seen is None or began >= due):
                    seen = read(conn)
                    due = time.monotonic() + max(TICK, REST * (time.monotonic() - began))
                if console.is_live:
                    below = Text("Its tree is shown when it has ended.", "dim") if seen is None else draw(seen)
                    picture = Group(_line(head), below)
                    live.update(picture, refresh=True)
                time.sleep(TICK)

        def lose(error: Exception) -> None:
            words = f"the connection is lost, and tried again: {error}"
            if console.is_live:
                # What is printed beside the picture tears it.
                live.update(Group(picture, Text(words, "bold")), refresh=True)
            else:
                errors.print(words, markup=False)

        def come_back() -> None:
            if not console.is_live:
                errors.print("connected again")

        return keep_connected(dsn, serve, on_loss=lose, on_return=come_back)


def _progress(conn: Connection[Any], task_id: int) -> Row:
    rows = fetch_rows(conn, ENGINE.query("task_progress"), id=task_id)
    if not rows:
        raise TaskNotFound(f"there is no task {task_id}", hint="'catchment task list' shows the newest tasks.")
    return rows[0]


def _line(head: Row) -> Text:
    line = Text(f"{harmless(head['command'])} {head['id']} ", "bold")
    line.append(f"{shape_of(head['state'])}{head['state']}", STATE_STYLES[head["state"]])
    if head["total"]:
        line.append(f"  {head['done']:,} of {head['total']:,} children have ended")
        left = estimate(head)
        if head["waits_for"] == "join":
            line.append(", its join is next")
        elif left is not None:
            line.append(f", the last in about {brief(left)}")
        if head["failed"]:
            line.append(f"  {head['failed']:,} failed", STATE_STYLES["failed"])
    return line
