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

from catchment.cli.beside import MISSING, DashboardBeside, end_with_parent
from catchment.cli.demo_lake import demo_lake
from catchment.cli.demo_stay import stay
from catchment.commands.options import Dsn
from catchment.commands.output import STATE_STYLES, console
from catchment.errors import CatchmentError
from catchment.extras import DASHBOARD
from catchment.sql import ENGINE
from catchment.store import embedded
from catchment.store.connect import connect
from catchment.store.fetch import fetch_rows, fetch_value
from catchment.store.migrate import migrate

DEADLINE_SECONDS = 90


def demo(
    children: Annotated[int, typer.Option(min=10, max=5000, help="Number of child tasks.")] = 200,
    lake: Annotated[bool, typer.Option(help="Show a dynamic table too; only without --dsn.")] = True,
    dashboard: Annotated[bool, typer.Option(help="Serve the dashboard too, if it is installed.")] = True,
    stays: Annotated[
        int,
        typer.Option(
            "--stay",
            min=0,
            metavar="SECONDS",
            help="In a terminal, keep running small tasks for the dashboard until Enter, or for this long.",
        ),
    ] = 300,
    dsn: Dsn = None,
) -> None:
    """Watch tasks and a dynamic table survive killed workers.

    A parent task waits for its children while a worker is killed; a dynamic table follows its sources. The dashboard
    shows the same in a browser. Without --dsn, everything is removed at the end.
    """
    with ExitStack() as stack:
        _end_in_order()
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
        beside = _start_dashboard(dsn, stack) if dashboard else None
        workers = [_start_worker(dsn, number, stack) for number in (1, 2)]
        _wait_for(conn, workers)
        address = None if beside is None else beside.wait_for_address(DEADLINE_SECONDS)
        if address is not None:
            console.print(f"The dashboard shows it in a browser: [bold]{address}[/]")
        parent_id: int = fetch_value(
            conn, "select worker.enqueue('demo_parent', jsonb_build_object('children', %s::int))", children
        )
        killed = _watch(conn, parent_id, workers)
        _tell(conn, parent_id, killed)
        if lake and folder is not None:
            demo_lake(dsn, folder)
        if address is not None and console.is_terminal and sys.stdin.isatty():
            stay(conn, address, stays)
        elif address is not None:
            console.print("The dashboard ends here; in a terminal it stays, and tasks move in it.")
    console.print(
        "\nNext, a business register that is imported and derived, and one edit that reaches every figure: "
        "[bold]catchment register demo[/]"
    )


def _end_in_order() -> None:
    """A request to end unwinds what was started, as Ctrl-C does."""

    def end(number: int, _: object) -> None:
        sys.exit(128 + number)

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # nohup
            signal.signal(number, end)


def _start_dashboard(dsn: str, stack: ExitStack) -> DashboardBeside | None:
    if not DASHBOARD.is_installed:
        console.print(f"[dim]{escape(MISSING[0].upper() + MISSING[1:])}[/]")
        return None
    beside = DashboardBeside(dsn, None)
    stack.callback(beside.stop)
    return beside


def _start_worker(dsn: str, number: int, stack: ExitStack) -> subprocess.Popen[bytes]:
    # By this setting the children know in which worker they run.
    options = f"{os.environ.get('PGOPTIONS', '')} -c demo.worker={number}"
    process = subprocess.Popen(
        [sys.executable, "-m", "catchment", "worker", "--queue", "demo", "--log-level", "error"],
        # A child that hangs is not waited for at the end.
        env=os.environ | {"CATCHMENT_DSN": dsn, "PGOPTIONS": options, "CATCHMENT_SHUTDOWN_GRACE_SECONDS": "1"},
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )

    def end() -> None:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()

    stack.callback(end)
    return process


def _wait_for(conn: Connection[Any], workers: list[subprocess.Popen[bytes]]) -> None:
    """Wait until all workers are registered: one that starts late would have no child."""
    until = time.monotonic() + DEADLINE_SECONDS
    registered = "select count(*) from worker.worker where 'demo' = any (queues)"
    while fetch_value(conn, registered) < len(workers):
        if any(worker.poll() is not None for worker in workers):
            raise CatchmentError("a worker of the demo ended", hint="Run one by hand: catchment worker --queue demo")
        if time.monotonic() > until:
            raise CatchmentError(f"the workers of the demo did not start in {DEADLINE_SECONDS} s")
        time.sleep(0.08)


def _watch(conn: Connection[Any], parent_id: int, workers: list[subprocess.Popen[bytes]]) -> dict[str, Any]:
    """Show the tree until the parent has settled; kill the first worker as soon as children hang in it."""
    began = time.monotonic()
    killed: dict[str, Any] = {}
    with Live(console=console, refresh_per_second=12, transient=True) as live:
        while True:
            seen = fetch_rows(conn, ENGINE.query("demo_progress"), id=parent_id)[0]
            elapsed = time.monotonic() - began
            live.update(_picture(parent_id, seen, elapsed, killed))
            if seen["state"] in ("completed", "failed", "cancelled"):
                return killed | {"took": elapsed}
            if not killed and seen["hanging"]:
                workers[0].send_signal(signal.SIGKILL)
                killed = {"at": elapsed}
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
        parts.append(Text(f"  worker 1 was killed at {killed['at']:.1f} s", "red"))
    return Group(*parts)


def _tell(conn: Connection[Any], parent_id: int, killed: dict[str, Any]) -> None:
    result = fetch_rows(conn, ENGINE.query("demo_result"), id=parent_id)[0]
    violations = fetch_value(conn, "select count(*) from worker.check_invariants()")
    if result["state"] != "completed" or violations:
        raise CatchmentError(f"the parent is {result['state']}, {violations} rules are violated")
    # Worker 2 may be so much faster that it runs all of the few children.
    death = "Worker 2 ran all of the second half, so worker 1 was not killed."
    if "at" in killed:
        death = f"Worker 1 was killed at {killed['at']:.1f} s {_in_hands(result['interrupted'])}."
    retry = ""  # a demo with few children has none that fails
    if result["retried_id"] is not None:
        retry = f"Child {result['retried_id']} failed once (“{escape(result['retried_error'])}”) and was retried. "
    console.print(
        f"[green]Done in {killed['took']:.1f} s.[/] {death} {retry}Each of the {result['children']} children took "
        f"effect exactly once ({result['effects']} rows); only then did the parent complete."
    )


def _in_hands(interrupted: int) -> str:
    if not interrupted:
        return "between two tasks; worker 2 ran the rest"
    if interrupted == 1:
        return "while it held 1 task; worker 2 took it over"
    return f"while it held {interrupted} tasks; worker 2 took them over"
