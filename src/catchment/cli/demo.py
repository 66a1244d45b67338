"""``catchment demo``: a scope of 200 children, one of two workers killed in the middle, one child failing once; then
dynamic tables."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg import Connection
from rich.console import Group, RenderableType
from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.text import Text

from catchment.cli.demo_lake import demo_lake
from catchment.commands.options import Dsn
from catchment.commands.output import STATE_STYLES, console
from catchment.errors import CatchmentError
from catchment.sql import ENGINE
from catchment.store import embedded
from catchment.store.connect import connect
from catchment.store.fetch import fetch_rows, fetch_value
from catchment.store.migrate import migrate

DEADLINE_SECONDS = 90


def demo(
    children: Annotated[int, typer.Option(min=10, max=5000, help="Children of the scope.")] = 200,
    lake: Annotated[bool, typer.Option(help="Show a dynamic table too; never in a database of yours.")] = True,
    dsn: Dsn = None,
) -> None:
    """Watch tasks and a dynamic table survive killed workers.

    A parent waits for its children while a worker dies; a table follows its sources. Without a DSN it leaves nothing
    behind.
    """
    with ExitStack() as stack:
        folder: Path | None = None
        if dsn is None:
            folder = Path(
                stack.enter_context(tempfile.TemporaryDirectory(prefix="catchment-demo-", ignore_cleanup_errors=True))
            )
            folder.chmod(0o755)
            console.print("Starting a private PostgreSQL …")
            # It stops before its folder goes.
            stack.callback(embedded.stop, folder / "data")
            dsn = embedded.start(folder / "data")
        conn = stack.enter_context(connect(dsn, name="catchment demo"))
        migrate(conn)
        conn.execute(ENGINE.query("demo_setup"))
        parent_id: int = fetch_value(
            conn, "select worker.enqueue('demo_parent', jsonb_build_object('children', %s::int))", children
        )
        workers = [_start_worker(dsn, stack) for _ in range(2)]
        killed = _watch(conn, parent_id, workers, children)
        _tell(conn, parent_id, killed)
        if lake and folder is not None:
            demo_lake(dsn, folder)


def _start_worker(dsn: str, stack: ExitStack) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(
        [sys.executable, "-m", "catchment", "worker", "--queue", "demo", "--log-level", "error"],
        env=os.environ | {"CATCHMENT_DSN": dsn},
        stderr=subprocess.DEVNULL,
    )

    def end() -> None:
        process.terminate()
        process.wait(timeout=15)

    stack.callback(end)
    return process


def _watch(
    conn: Connection[Any], parent_id: int, workers: list[subprocess.Popen[bytes]], children: int
) -> dict[str, Any]:
    """Show the tree until the parent has settled; kill the first worker half-way."""
    began = time.monotonic()
    killed: dict[str, Any] = {}
    with Live(console=console, refresh_per_second=12, transient=True) as live:
        while True:
            seen = fetch_rows(conn, ENGINE.query("demo_progress"), id=parent_id)[0]
            elapsed = time.monotonic() - began
            live.update(_picture(parent_id, seen, elapsed, killed))
            if seen["state"] in ("completed", "failed", "cancelled"):
                return killed | {"took": elapsed}
            if not killed and seen["completed"] >= children * 0.4:
                workers[0].send_signal(signal.SIGKILL)
                killed = {"at": elapsed, "running": seen["processing"]}
            if elapsed > DEADLINE_SECONDS:
                raise CatchmentError(f"the demo did not end in {DEADLINE_SECONDS} s: the parent is {seen['state']}")
            time.sleep(0.08)


def _picture(parent_id: int, seen: dict[str, Any], elapsed: float, killed: dict[str, Any]) -> RenderableType:
    total = max(1, seen["total"])
    head = Text.assemble(
        (f"{elapsed:5.1f} s  ", "dim"), f"demo_parent {parent_id} ", (seen["state"], STATE_STYLES[seen["state"]])
    )
    counts = Text("   └─ ")
    for state in ("completed", "processing", "pending", "interrupted", "failed"):
        counts.append(f"{seen[state]:>4} {state}  ", STATE_STYLES[state] if seen[state] else "dim")
    parts: list[RenderableType] = [head, counts, ProgressBar(total=total, completed=seen["completed"], width=60)]
    if killed:
        parts.append(Text(f"worker 1 was killed at {killed['at']:.1f} s", "red"))
    return Group(*parts)


def _tell(conn: Connection[Any], parent_id: int, killed: dict[str, Any]) -> None:
    result = fetch_rows(conn, ENGINE.query("demo_result"), id=parent_id)[0]
    violations = fetch_value(conn, "select count(*) from worker.check_invariants()")
    if result["state"] != "completed" or violations:
        raise CatchmentError(f"the parent is {result['state']}, {violations} rules are violated")
    # A few children may all end between two looks.
    death = "The children were done before a worker could be killed."
    if "at" in killed:
        hands = f"with {result['interrupted']} tasks in its hands; worker 2 took them over."
        death = f"Worker 1 was killed at {killed['at']:.1f} s {hands}"
    retry = ""  # a demo with few children has none that fails
    if result["retried_id"] is not None:
        retry = f"Child {result['retried_id']} failed once (“{escape(result['retried_error'])}”) and was retried. "
    console.print(
        f"[green]Done in {killed['took']:.1f} s.[/] {death} {retry}Each of the {result['children']} children took "
        f"effect exactly once ({result['effects']} rows); only then did the parent complete."
    )
