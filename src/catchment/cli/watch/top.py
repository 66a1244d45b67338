"""``catchment top``: queues, workers, scopes, failures and running tasks, live."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import asdict, replace
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.console import Console
from rich.live import Live

from catchment.cli.database import open_database
from catchment.cli.watch.keys import Keys
from catchment.cli.watch.link import keep_connected
from catchment.cli.watch.screen import PARTS, draw
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, print_json
from catchment.commands.times import clock
from catchment.store.overview import Overview, read_overview

# Rows of workers, scopes, failures and running tasks.
MOST_ROWS = 200
# The server works for this command for a tenth of the time at most.
REST = 9
# The end of a scope is estimated by its last minute.
RECENT = 60.0
_PIPE_WIDTH = 10_000


def top(
    once: Annotated[
        bool, typer.Option("--once", help="Print once and exit; this is the default in a pipe or a file.")
    ] = False,
    interval: Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds between updates.")] = 1.0,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Watch queues, workers, scopes, failures and running tasks.

    Keys: q quits, p pauses, 1 to 5 show one part alone, 0 shows all. Counts stop at 10,000.
    """
    if as_json or once or not console.is_live:
        with open_database(dsn, "catchment_read") as conn:
            seen = read_overview(conn, limit=MOST_ROWS)
        if as_json:
            print_json(asdict(seen))
        else:
            # In a pipe or a file there is room for every line.
            printer = Console(width=_PIPE_WIDTH, highlight=False, emoji=False) if console.is_pipe else console
            printer.print(draw(seen, width=None if console.is_pipe else console.width, height=None))
        return
    try:
        with Keys() as keys, Live(console=console, screen=True, auto_refresh=False) as live:
            watch = Watch(keys, live, interval)
            keep_connected(dsn, watch.serve, on_loss=watch.lose, on_return=watch.come_back, wait=watch.wait)
    except (KeyboardInterrupt, Quit):
        return


class Quit(Exception):
    """The user wants to leave."""


class Watch:
    """The screen, and what keys do to it."""

    def __init__(self, keys: Keys, live: Live, interval: float) -> None:
        self._keys = keys
        self._live = live
        self._interval = interval
        self._is_paused = False
        self._part: str | None = None
        self._lost_since: str | None = None
        self._seen: Overview | None = None
        # When a scope was looked at, and how many of its children had ended.
        self._steps: dict[int, deque[tuple[float, int]]] = {}

    def serve(self, conn: Connection[Any]) -> None:
        """Look and draw for as long as there is a connection."""
        while True:
            began = time.monotonic()
            if not self._is_paused:
                self._seen = self._with_recent(read_overview(conn, limit=MOST_ROWS))
                self._draw()
            self.wait(max(self._interval, REST * (time.monotonic() - began)))

    def wait(self, seconds: float) -> None:
        """Do what keys say, for this long; a key that ends the pause ends the wait."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            # The size of the terminal may change.
            key = self._keys.wait(min(left, 1.0))
            was_paused = self._is_paused
            self._press(key)
            self._draw()
            if was_paused and not self._is_paused:
                return

    def lose(self, _: Exception) -> None:
        self._lost_since = clock()
        self._draw()

    def come_back(self) -> None:
        self._lost_since = None

    def _press(self, key: str | None) -> None:
        if key in ("q", "Q"):
            raise Quit
        if key in ("p", "P", " "):
            self._is_paused = not self._is_paused
        elif key is not None and key in "012345":
            self._part = None if key == "0" else PARTS[int(key) - 1]

    def _draw(self) -> None:
        if self._seen is None:
            return
        note = f"connection lost since {self._lost_since}" if self._lost_since else "paused" if self._is_paused else ""
        width, height = console.size
        picture = draw(self._seen, width=width, height=height, part=self._part, note=note, keys=True)
        self._live.update(picture, refresh=True)

    def _with_recent(self, seen: Overview) -> Overview:
        """The scopes with what they did in the last minute, if it was watched."""
        now = time.monotonic()
        steps: dict[int, deque[tuple[float, int]]] = {}
        scopes: list[dict[str, Any]] = []
        for row in seen.scopes:
            past = steps[row["id"]] = self._steps.get(row["id"], deque())
            past.append((now, row["done"]))
            while now - past[0][0] > RECENT:
                past.popleft()
            (began, before) = past[0]
            is_long = now - began > RECENT / 4
            recent = {"recent_seconds": now - began, "recent_done": row["done"] - before} if is_long else {}
            scopes.append({**row, **recent})
        self._steps = steps
        return replace(seen, scopes=scopes)
