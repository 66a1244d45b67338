"""The second part of ``catchment demo``: a dynamic table, refreshed by its changes and by several workers at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

from rich.live import Live
from rich.markup import escape
from rich.progress_bar import ProgressBar
from rich.table import Table

from catchment.cli.beside import end_with_parent
from catchment.commands.output import console
from catchment.errors import CatchmentError, ExtraMissing

if TYPE_CHECKING:
    from catchment.lake import Lake
    from catchment.lake.tables.rounds import RefreshInfo

ORDERS = 1_000_000
CUSTOMERS = 100_000
CHANGED = 1000
TOTALS = """
CREATE DYNAMIC TABLE totals
  TARGET_LAG = '1 hour'
  REFRESH_MODE = INCREMENTAL
  PARALLEL_THRESHOLD = 10000
AS SELECT c.customer_id, max(n.name) AS country, count(*) AS orders, sum(o.amount) AS amount
     FROM orders o
     JOIN customers c USING (customer_id)
     JOIN country n USING (country_id)
    GROUP BY c.customer_id
"""


def demo_lake(dsn: str, folder: Path) -> None:
    """Make a lake in the folder and show what keeps a dynamic table up to date."""
    try:
        from catchment.lake import Lake
        from catchment.lake.settings import LakeSettings
    except ExtraMissing as error:
        console.print(f"[dim]Dynamic tables are not shown: {escape(f'{error}. {error.hint}')}[/]")
        return
    console.print("\n[bold]Dynamic tables[/]: a query whose result is kept up to date in a lake of Parquet files.")
    with ExitStack() as stack:
        settings = LakeSettings.read().model_copy(update={"lake_memory_limit": "1GB"})
        lake = stack.enter_context(Lake(dsn, str(folder / "lake"), settings=settings))
        workers = [_start_worker(dsn, stack) for _ in range(2)]
        _fill(lake)
        _create(lake)
        _change_orders(lake)
        _rename_country(lake, workers)
        _audit(lake)


def _start_worker(dsn: str, stack: ExitStack) -> subprocess.Popen[bytes]:
    from catchment.lake.tasks.worker import APP, worker_environment

    queues = ["--queue", "lake", "--queue", "lake_schedule"]
    process = subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "-m", "catchment", "worker", "--app", APP, *queues, "--log-level", "error"],
        # The tables of a demo are small; without this a full refresh would be chosen for them.
        env={
            **worker_environment(dsn, 2, memory="500MB"),
            "CATCHMENT_LAKE_SMALL_MS": "0",
            "CATCHMENT_LAKE_FULL_ABOVE": "1",
        },
        stderr=subprocess.DEVNULL,
        preexec_fn=end_with_parent,
    )

    def end() -> None:
        process.terminate()
        process.wait(timeout=30)

    stack.callback(end)
    return process


def _fill(lake: Lake) -> None:
    began = time.monotonic()
    lake.query("CREATE TABLE country AS SELECT i AS country_id, 'country ' || i AS name FROM range(1, 9) AS r(i)")
    lake.query(
        "CREATE TABLE customers AS SELECT i AS customer_id, CASE WHEN i % 10 < 4 THEN 1 ELSE 2 + i % 7 END"
        " AS country_id FROM range(?) AS r(i)",
        [CUSTOMERS],
    )
    lake.query(
        "CREATE TABLE orders AS SELECT i AS order_id, (i * 7919) % ? AS customer_id,"
        " CAST(i % 99991 / 100.0 AS DECIMAL(12,2)) AS amount FROM range(?) AS r(i)",
        [CUSTOMERS, ORDERS],
    )
    console.print(f"{ORDERS:,} orders of {CUSTOMERS:,} customers written in {time.monotonic() - began:.1f} s.")


def _create(lake: Lake) -> None:
    began = time.monotonic()
    lake.create(TOTALS)
    [(rows,)] = lake.query("SELECT count(*) FROM totals")
    console.print(
        f"[cyan]CREATE DYNAMIC TABLE totals …[/] joins three tables and sums: {rows:,} rows, created and filled in "
        f"{time.monotonic() - began:.1f} s."
    )


def _change_orders(lake: Lake) -> None:
    with lake.commit_lock():
        lake.query("UPDATE orders SET amount = amount + 1 WHERE order_id < ?", [CHANGED])
    (done,) = _refreshed(lake, lambda _: None)
    console.print(
        f"{CHANGED:,} orders changed: an [bold]{done.action}[/] refresh wrote {done.inserted:,} of {done.rows:,} rows "
        f"in {done.seconds or 0:.2f} s."
    )


def _rename_country(lake: Lake, workers: list[subprocess.Popen[bytes]]) -> None:
    """One row changes 40 % of the table; half-way one of the two workers is killed."""
    with lake.commit_lock():
        lake.query("UPDATE country SET name = 'Ruritania' WHERE country_id = 1")
    killed: list[float] = []
    began = time.monotonic()
    with Live(console=console, refresh_per_second=12, transient=True) as live:

        def show(refreshes: list[RefreshInfo]) -> None:
            done, total = refreshes[0].done or 0, refreshes[0].total or 0
            live.update(_picture(time.monotonic() - began, done, total, killed))
            if total and done >= total // 4 and not killed:
                workers[0].send_signal(signal.SIGKILL)
                killed.append(time.monotonic() - began)

        (info,) = _refreshed(lake, show)
    subtasks = info.figures.get("subtasks", 0)
    death = f"Worker 1 was killed at {killed[0]:.1f} s; its part was computed again. " if killed else ""
    console.print(
        f"One country renamed: {info.keys or 0:,} customers to be computed, in {subtasks} subtasks by two workers. "
        f"{death}[green]One commit[/] after {info.seconds or 0:.1f} s, with {info.inserted:,} rows."
    )


def _picture(elapsed: float, done: int, total: int, killed: list[float]) -> Table:
    table = Table.grid(padding=(0, 2))
    state = "planning" if not total else f"{done} of {total} subtasks"
    table.add_row(
        f"[dim]{elapsed:5.1f} s[/]",
        f"totals {state}",
        ProgressBar(total=max(1, total), completed=done, width=40),
        "[red]worker 1 was killed[/]" if killed else "",
    )
    return table


def _refreshed(lake: Lake, show: Callable[[list[RefreshInfo]], None]) -> list[RefreshInfo]:
    refreshes = lake.refresh("totals", timeout=90, on_progress=show)
    if refreshes[0].state != "SUCCEEDED":
        raise CatchmentError(f"the refresh is {refreshes[0].state}: {refreshes[0].error}")
    return refreshes


def _audit(lake: Lake) -> None:
    audit = lake.audit("totals")
    if not audit.is_equal:
        raise CatchmentError(f"the table differs from its query: {audit.missing} rows missing, {audit.extra} too many")
    console.print(
        f"[green]Audit:[/] all {audit.rows:,} rows equal the query at snapshot {audit.snapshot}, "
        f"compared in {audit.seconds:.1f} s."
    )
