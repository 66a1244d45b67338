"""``catchment register import-job``: the state of imports, and decisions about them."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Annotated, Any, LiteralString

import typer
from psycopg import Connection
from psycopg.rows import dict_row

from catchment.commands import Dsn, Json, console, errors, print_json, print_rows
from catchment_register.cli.database import open_register
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.errors import FileRefused, JobNotFound
from catchment_register.schema import REGISTER
from catchment_register.watch import find_job

app = typer.Typer(name="import-job", help="List import jobs, approve or reject them.", no_args_is_help=True)
JobId = Annotated[int, typer.Argument(metavar="ID", min=1, max=LARGEST_INTEGER, help="Id of the import job.")]
Row = dict[str, Any]


@app.command("list")
def list_jobs(
    limit: Annotated[
        int, typer.Option(min=1, max=LARGEST_INTEGER, help="Show at most this many jobs, newest first.")
    ] = 20,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List jobs, newest first."""
    with open_register(dsn) as conn, conn.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            "select * from register.import_job_progress order by id desc limit %s", [limit]
        ).fetchall()
    columns = ("id", "slug", "state", "total_rows", "imported_rows", "error_rows")
    extra = ("warning_rows", "created_at")
    print_rows(rows, columns, as_json=as_json, empty="There are no import jobs.", extra=extra)


@app.command("show")
def show_job(job_id: JobId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Show a job and its first problems."""
    with open_register(dsn) as conn:
        job = _found(conn, job_id)
        rows = job_rows(conn, job_id, limit=10)
    if as_json:
        print_json(job | {"problems": rows})
        return
    print_summary(job)
    print_problems(rows, job)


@app.command("errors")
def show_errors(
    job_id: JobId,
    file: Annotated[Path | None, typer.Option(help="Write the rows to this CSV file.")] = None,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """List all rows with errors or warnings, with the column to correct."""
    with open_register(dsn) as conn:
        job = _found(conn, job_id)
        if file is not None:
            count = write_problems(conn, job_id, file)
            (errors if as_json else console).print(f"{count} problems written to {file}", markup=False)
        rows = job_rows(conn, job_id)
    if as_json:
        print_json(rows)
    elif file is None:
        print_problems(rows, job)


@app.command("approve")
def approve(job_id: JobId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Approve a job that waits for review: its rows without errors are imported."""
    _change(dsn, job_id, "select register.resolve_review(%s, true)", "approved", as_json=as_json)


@app.command("reject")
def reject(job_id: JobId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Reject a job that waits for review: none of its rows are imported."""
    _change(dsn, job_id, "select register.resolve_review(%s, false)", "rejected", as_json=as_json)


@app.command("retry")
def retry(job_id: JobId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Resume a failed job where it stopped."""
    _change(dsn, job_id, "select register.retry_import_job(%s)", "resumed", as_json=as_json)


@app.command("delete")
def delete(job_id: JobId, dsn: Dsn = None, as_json: Json = False) -> None:
    """Delete a job and its uploaded rows. Imported data stays in the register."""
    with open_register(dsn) as conn:
        conn.execute("select register.delete_import_job(%s)", [job_id])
    print_json({"id": job_id}) if as_json else console.print(f"job {job_id} deleted")


def _change(dsn: str | None, job_id: int, change: LiteralString, outcome: str, *, as_json: bool) -> None:
    """Change a job, and print its new state."""
    with open_register(dsn) as conn:
        conn.execute(change, [job_id])
        job = _found(conn, job_id)
    print_json(job) if as_json else console.print(f"job {job_id} {outcome}")


def _found(conn: Connection[Any], job_id: int) -> Row:
    job = find_job(conn, job_id)
    if job is None:
        raise JobNotFound(f"there is no import job {job_id}", hint="See: catchment register import-job list")
    return job


def job_rows(conn: Connection[Any], job_id: int, *, limit: int | None = None) -> list[Row]:
    """Problems of a job, one for each row and column; errors before warnings of a row."""
    with conn.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(REGISTER.query("import_problems"), {"job_id": job_id, "limit": limit}).fetchall()


def print_summary(job: Row) -> None:
    """The state of a job, in a few lines."""
    console.print(f"job {job['id']} ({job['slug']}): {job['state'].replace('_', ' ')}", markup=False)
    console.print(
        f"  {job['total_rows'] or 0} rows, {job['imported_rows']} imported, {job['error_rows']} with errors,"
        f" {job['warning_rows']} with warnings"
    )
    if job["import_rows_per_second"]:
        console.print(
            f"  analysed {job['analysis_rows_per_second']} rows/s, imported {job['import_rows_per_second']} rows/s"
        )
    if job["error"]:
        console.print(f"  {job['error']}", markup=False)
    if job["state"] == "waiting_for_review":
        console.print(f"  Decide with: catchment register import-job approve {job['id']}, or reject")
    if job["held_by"] is not None:
        console.print(f"  {held_text(job['id'], job['held_by'])}", markup=False)


def held_text(job_id: int, held_by: int) -> str:
    """Why a job does not continue, and what to do."""
    return (
        f"Job {job_id} continues when job {held_by} has been reviewed:"
        f" catchment register import-job approve {held_by}, or reject"
    )


def print_problems(rows: list[Row], job: Row) -> None:
    """Problems as a table; how to see the others."""
    if not rows:
        return
    print_rows(rows, ("row_no", "problem", "column", "message"), as_json=False, empty="")
    if job["error_rows"] + job["warning_rows"] > len({r["row_no"] for r in rows}):
        console.print(f"All of them: catchment register import-job errors {job['id']}")


def write_problems(conn: Connection[Any], job_id: int, file: Path) -> int:
    """All problems as CSV: row, column, message, and what the file had for the unit."""
    rows = job_rows(conn, job_id)
    columns = ["row_no", "problem", "column", "message", "ident", "name"]
    try:
        with file.open("w", encoding="utf-8", newline="") as out:
            writer = csv.writer(out)
            writer.writerow(columns)
            writer.writerows([row[c] for c in columns] for row in rows)
    except OSError as error:
        raise FileRefused(
            f"{file} cannot be written: {error.strerror}",
            hint=f"Write it elsewhere: catchment register import-job errors {job_id} --file FILE",
        ) from None
    return len(rows)
