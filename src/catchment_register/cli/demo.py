"""``catchment register demo``: a generated register is imported and derived, and one edit reaches every figure."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg import Connection
from psycopg.rows import dict_row
from psycopg.types.json import Jsonb

from catchment.commands import Dsn, console, print_rows
from catchment_register.cli.database import connect_register
from catchment_register.cli.waiting import show
from catchment_register.codes.edition import find_standard
from catchment_register.codes.kinds import KINDS
from catchment_register.codes.load import load_codes, load_countries
from catchment_register.codes.read import read_codes
from catchment_register.dates import read_open_ends
from catchment_register.errors import RegisterError, SettingRefused
from catchment_register.generate.files import CODE_FILES, UNIT_FILES, write_register
from catchment_register.generate.plan import Plan, choose_plan
from catchment_register.report import chart
from catchment_register.report.figures import read_history
from catchment_register.schema import REGISTER, migrate
from catchment_register.upload.job import Request, import_source, open_source
from catchment_register.watch import find_job, watch_import, watch_round

HIRED = 100
# Where the embedded server keeps its data.
_DATA = "CATCHMENT_DATA"


def demo(
    legal_units: Annotated[int, typer.Option(min=50, max=100_000, help="Number of legal units.")] = 600,
    dsn: Dsn = None,
) -> None:
    """Watch a small register being imported, derived and edited.

    Without --dsn, everything is removed at the end.
    """
    plan = choose_plan("demo", legal_units=legal_units)
    began = time.monotonic()
    with ExitStack() as stack, REGISTER.translated():
        folder = Path(tempfile.mkdtemp(prefix="catchment-demo-"))
        # The server stops when the process ends, and before its folder goes: the last one registered comes first.
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        conn = stack.enter_context(_open(dsn, folder))
        _install(conn, plan, folder)
        _start_worker(conn.info.dsn, stack)
        _import(conn, folder)
        _derive(conn)
        _tell_history(conn)
        _edit(conn)
        _check(conn)
    console.print(f"Done in {time.monotonic() - began:.0f} s.")


def _open(dsn: str | None, folder: Path) -> Connection[Any]:
    """A connection to the given database, or to a server of the demo's own."""
    if dsn is None:
        console.print("Starting a private PostgreSQL …")
        before = os.environ.get(_DATA)
        os.environ[_DATA] = str(folder / "data")
        try:
            conn = connect_register(name="catchment register demo")
        finally:
            if before is None:
                del os.environ[_DATA]
            else:
                os.environ[_DATA] = before
    else:
        conn = connect_register(dsn, name="catchment register demo")
    read_open_ends(conn)
    return conn


def _install(conn: Connection[Any], plan: Plan, folder: Path) -> None:
    """The schema, the codes and the settings, and the files to import."""
    migrate(conn)
    if conn.execute("select from register.enterprise limit 1").fetchone() is not None:
        raise SettingRefused(
            "this database has a register with units in it", hint="Give the demo an empty database, or omit --dsn."
        )
    console.print(f"Making up {plan.legal_units:,} legal units with {plan.years} years of history …")
    write_register(plan, folder)
    load_countries(conn)
    conn.execute(
        "update register.settings set today = %s, activity_category_standard_id = %s,"
        " country_id = (select id from register.country where iso_2 = 'NO')",
        [plan.today, find_standard(conn, "nace_v2.1").id],
    )
    for kind, name in CODE_FILES.items():
        load_codes(conn, KINDS[kind], read_codes(folder / name, KINDS[kind]))


def _start_worker(dsn: str, stack: ExitStack) -> None:
    """A worker for all queues, until the demo ends."""
    worker = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "catchment",
            "worker",
            "--queue",
            "import",
            "--queue",
            "analytics",
            "--log-level",
            "error",
        ],
        env=os.environ | {"CATCHMENT_DSN": dsn},
        stderr=subprocess.DEVNULL,
    )

    def end() -> None:
        worker.terminate()
        worker.wait(timeout=30)

    stack.callback(end)


def _import(conn: Connection[Any], folder: Path) -> None:
    for kind, name in UNIT_FILES.items():
        began = time.monotonic()
        with open_source(folder / name) as source:
            uploaded = import_source(conn, source, Request(kind, review=False))
        show(conn, watch_import(conn, uploaded.job_id), "import", quietly=not console.is_terminal)
        job = find_job(conn, uploaded.job_id) or {}
        if job.get("state") != "finished":
            raise RegisterError(f"the import of {name} is {job.get('state')}: {job.get('error')}")
        console.print(
            f"  {name}: {job['imported_rows']:,} of {uploaded.rows:,} rows imported,"
            f" {job['error_rows'] or 0} with errors, {time.monotonic() - began:.1f} s"
        )


def _derive(conn: Connection[Any]) -> None:
    began = time.monotonic()
    show(conn, watch_round(conn), "analytics", quietly=not console.is_terminal)
    counts = _rows(conn, REGISTER.query("demo_counts"))[0]
    sizes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    console.print(f"Derived in {time.monotonic() - began:.1f} s after the last import: {sizes}.")


def _tell_history(conn: Connection[Any]) -> None:
    months = read_history(conn, "legal_unit", "year-month")
    series = {"legal units by month": [float(row["countable_count"]) for row in months]}
    drawn = chart.lines([row["period"] for row in months], series, width=min(console.width, 100), height=8)
    console.print("\ncatchment register report history --resolution year-month --chart")
    console.print(drawn, markup=False)
    console.print("\ncatchment register report history")
    measures = ("countable_count", "births", "deaths", "name_change_count", "physical_address_change_count")
    rows = read_history(conn, "legal_unit", "year")
    print_rows(rows, ["period", *measures], as_json=False, empty="There is no history.")


def _edit(conn: Connection[Any]) -> None:
    """The largest establishment hires; every figure above it follows."""
    unit = _rows(conn, REGISTER.query("demo_unit"))[0]
    before = _figures(conn, unit)
    conn.execute(
        "select register.edit_unit('establishment', %s, %s, p_comment => 'demo')",
        [unit["unit_id"], Jsonb({"employees": str(unit["employees"] + HIRED)})],
    )
    began = time.monotonic()
    show(conn, watch_round(conn), "analytics", quietly=True)
    took = time.monotonic() - began
    after = _figures(conn, unit)
    console.print(f"\n{unit['name']} hires {HIRED}: published {took * 1000:,.0f} ms after the commit.", markup=False)
    rows = [{"employees of": name, "before": before[name], "after": after[name]} for name in before]
    print_rows(rows, ["employees of", "before", "after"], as_json=False, empty="")
    if any(after[name] != before[name] + HIRED for name in before):
        raise RegisterError("a figure did not follow the edit")


def _figures(conn: Connection[Any], unit: dict[str, Any]) -> dict[str, int]:
    parameters = {name: unit[name] for name in ("unit_id", "enterprise_id", "region_path")}
    return {row["what"]: row["employees"] for row in _rows(conn, REGISTER.query("demo_figures"), parameters)}


def _check(conn: Connection[Any]) -> None:
    broken = _rows(conn, "select * from register.check_register(false)")
    if broken:
        raise RegisterError(f"{len(broken)} rules are broken, the first: {broken[0]}")
    console.print("\nNo rule of the register is broken (catchment register verify).")


def _rows(conn: Connection[Any], sql: Any, parameters: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(sql, parameters).fetchall()
