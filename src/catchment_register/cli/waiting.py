"""How verbs wait: a bar for people, a line for each step without a terminal, and a word if nobody works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import psycopg
import typer
from psycopg import Connection
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from catchment.commands import console, errors
from catchment_register.errors import RegisterError
from catchment_register.watch import Event, GoesOn, always, is_served

Wait = Annotated[bool, typer.Option("--wait", help="Wait until the work is done.")]
Work = Annotated[bool, typer.Option("--work", help="Run a worker until nothing is left to do, and wait for it.")]


# How long a worker may take to end after it was asked to, before it is killed.
_STOP_SECONDS = 5


@contextmanager
def working(conn: Connection[Any], dsn: str | None, *, starts: bool) -> Generator[GoesOn]:
    """A worker in the background, if asked for. It ends by itself when it is idle, and is stopped when the server of
    our connection is gone: it would wait for a server that nobody may start again. Gives a question: whether anybody
    may still be at work."""
    if not starts:
        yield always
        return
    command = [sys.executable, "-m", "catchment", "worker", "--queue", "import", "--queue", "analytics"]
    where = ["--dsn", dsn] if dsn else []
    process = subprocess.Popen(  # noqa: S603 - our own command
        [*command, "--stop-when-idle", "--log-level", "error", *where]
    )
    try:
        yield lambda: process.poll() is None
    finally:
        _end(process, conn)


def _end(process: subprocess.Popen[bytes], conn: Connection[Any]) -> None:
    """Wait for a worker to end, as long as the server is there."""
    while process.poll() is None:
        try:
            process.wait(timeout=1)
        except subprocess.TimeoutExpired:
            if not _is_there(conn):
                break
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(timeout=_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _is_there(conn: Connection[Any]) -> bool:
    """Whether the server answers on our connection."""
    try:
        conn.execute("select")
    except psycopg.OperationalError:
        return False
    except psycopg.Error:
        return True
    return True


def show(
    conn: Connection[Any], events: Iterator[Event], queue: str, *, quietly: bool = False, works: bool = False
) -> Event | None:
    """Show events as they come, and return the last one. ``works``: a worker was started here, so one will come.

    Raises ``RegisterError`` if that worker ends before the work is done.
    """
    told = events if works or quietly else _warning(conn, events, queue)
    last = _last(told) if quietly else _bar(told) if console.is_terminal else _lines(told)
    if last is not None and not last.is_over:
        raise RegisterError(
            f"the worker ended at {last.percent:.0f} % ({last.text})",
            hint="'catchment task list --state failed' tells why; what is left is done by 'catchment worker'.",
        )
    return last


def _last(events: Iterator[Event]) -> Event | None:
    last: Event | None = None
    for event in events:
        last = event
    return last


def _lines(events: Iterator[Event]) -> Event | None:
    last: Event | None = None
    for event in events:
        if last is None or event.text != last.text:
            console.print(f"  {event.percent:5.1f} %  {event.text}", markup=False)
        last = event
    return last


def _bar(events: Iterator[Event]) -> Event | None:
    last: Event | None = None
    columns = (TextColumn("{task.description}", markup=False), BarColumn(), TextColumn("{task.percentage:>5.1f} %"))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as progress:
        bar = progress.add_task("waiting", total=100)
        for event in events:
            progress.update(bar, description=event.text, completed=event.percent)
            last = event
    return last


def _warning(conn: Connection[Any], events: Iterator[Event], queue: str) -> Iterator[Event]:
    """The events; before them, once, that nobody serves the queue."""
    for number, event in enumerate(events):
        if number == 0 and not event.is_over and not is_served(conn, queue):
            errors.print(f"No worker serves the queue {queue} yet: run 'catchment worker', or use --work.")
        yield event
