"""``catchment tail``: the ends of tasks as they happen."""

from __future__ import annotations

import errno
import select
import sys
import time
from collections import Counter
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.text import Text

from catchment.cli.end_line import end_lines, more_line, task_line
from catchment.cli.filters import Command, Lane, Queue, read_since
from catchment.cli.watch.follow import REST, TICK, Follower
from catchment.cli.watch.link import keep_connected
from catchment.cli.watch.pace import Pace
from catchment.commands.options import Dsn
from catchment.commands.output import console, errors, print_json
from catchment.commands.times import clock, zone
from catchment.model.terminal import one_line
from catchment.store.ends import End, Filters, describe_ends
from catchment.store.names import check_names


class Ended(StrEnum):
    """The states in which a task ends."""

    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


def tail(
    state: Annotated[
        list[Ended] | None, typer.Option(help="Only tasks that end in this state; can be repeated.")
    ] = None,
    command: Command = None,
    queue: Queue = None,
    lane: Lane = None,
    since: Annotated[
        str | None,
        typer.Option(
            metavar="SPAN|TIME", help="Start this long ago (30s, 10m, 2h, 1d) or at this time. Defaults to now."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object per line.")] = False,
    dsn: Dsn = None,
) -> None:
    """Show tasks as they end.

    A terminal shows as many tasks as one can read, failed ones first, and counts the rest; a pipe or a file gets every
    task. Times are local. Stop with Ctrl-C.

    Example: catchment tail --state failed --since 1h
    """
    states = None if not state else [str(one) for one in state]
    filters = Filters(states=states, queue=queue, command=command, lane=lane)
    tailing = Tail(filters, None if since is None else read_since(since), as_json=as_json)
    try:
        keep_connected(dsn, tailing.serve, on_loss=tailing.lose, on_return=tailing.come_back)
    except KeyboardInterrupt:
        sys.stdout.flush()


class Tail:
    """Shows what a follower finds."""

    def __init__(self, filters: Filters, since: timedelta | datetime | None, *, as_json: bool) -> None:
        self._filters = filters
        self._follower = Follower(filters, since)
        self._as_json = as_json
        self._pace = None if as_json or not console.is_terminal else Pace()
        self._has_begun = False
        self._has_checked = False

    def serve(self, conn: Connection[Any]) -> None:
        """Show ends for as long as there is a connection."""
        if not self._has_begun:
            self._has_begun = True
            if self._pace is not None:
                errors.print(f"[dim]Shows tasks as they end, with times in {zone()}. Ctrl-C stops it.[/]")
        while True:
            began = time.monotonic()
            for ends in self._follower.look(conn):
                self._has_checked = self._has_checked or bool(ends)
                self._show(conn, ends)
            if not self._has_checked:  # nothing matches so far: a name that nothing has would stay silent forever
                self._has_checked = True
                check_names(conn, queue=self._filters.queue, command=self._filters.command)
            _check_reader()
            time.sleep(max(TICK, REST * (time.monotonic() - began)))

    def lose(self, error: Exception) -> None:
        reason = one_line(str(error))
        _say(f"the connection is lost, and tried again: {reason}")

    def come_back(self) -> None:
        self._follower.look_far()
        _say("connected again: ends of the meantime come first")

    def _show(self, conn: Connection[Any], ends: Sequence[End]) -> None:
        if not ends:
            return
        shown, others = (ends, Counter[str]()) if self._pace is None else self._pace.choose(ends)
        rows = describe_ends(conn, [end.id for end in shown])
        for end in shown:
            row = rows.get(end.id)
            if row is None or row["completed_at"] != end.completed_at:
                # Retried since, or deleted.
                row = {"id": end.id, "state": end.state, "completed_at": end.completed_at}
            if self._as_json:
                print_json(row, is_line=True)
            else:
                _print_end(row)
        if others:
            console.print(f"[dim]{more_line(others, at=clock(ends[-1].completed_at))}[/]", soft_wrap=True)
        sys.stdout.flush()


def _print_end(row: dict[str, Any]) -> None:
    at = clock(row["completed_at"])
    if "command" not in row:
        _print(task_line(row["state"], "task", row["id"], None, "runs again", at=at, on=console))
        return
    for line in end_lines(row, on=console):
        _print(line)


def _print(line: str) -> None:
    """A terminal breaks it between words, so that no id is in pieces."""
    if console.is_terminal:
        console.print(Text.from_ansi(line))
    else:
        print(line)


def _check_reader() -> None:
    """End as a print would if nobody reads any more: ``| head -1`` is over before the next task ends."""
    if console.is_terminal or not hasattr(select, "poll"):
        return
    poll = select.poll()
    try:
        poll.register(sys.stdout.fileno(), 0)
    except (OSError, ValueError):  # not a file of the system
        return
    if any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0)):
        raise BrokenPipeError(errno.EPIPE, "nobody reads the output")


def _say(text: str) -> None:
    sys.stdout.flush()
    print(f"{clock()} {'warning':<11} {text}", file=sys.stderr, flush=True)
