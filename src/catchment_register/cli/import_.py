"""``catchment register import``: a file of units, of statistics or of relationships."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from psycopg import Connection

from catchment.commands import Dsn, Json, console, errors, print_json
from catchment_register.cli.database import open_register
from catchment_register.cli.days import last_day, read_day
from catchment_register.cli.files import check_input, check_output
from catchment_register.cli.import_job import held_text, job_rows, print_problems, print_summary, write_problems
from catchment_register.cli.interrupt import job_interrupted, upload_interrupted
from catchment_register.cli.numbers import LARGEST_INTEGER
from catchment_register.cli.waiting import Wait, Work, show, working
from catchment_register.errors import JobNotFound, JobRefused, MappingRefused
from catchment_register.upload.columns import KINDS
from catchment_register.upload.job import Request, Uploaded, import_source, open_source
from catchment_register.upload.mapping import find_mapping
from catchment_register.watch import find_job, watch_import

STRATEGIES = ("insert_or_replace", "insert_or_update", "insert_only", "update_only", "replace_only")


def import_file(
    file: Annotated[Path, typer.Argument(help="CSV or Excel file with a header.")],
    kind: Annotated[str | None, typer.Option(help=f"What the rows describe: {', '.join(KINDS)}.")] = None,
    definition: Annotated[
        str | None, typer.Option(metavar="SLUG", help="Use this import definition of the register instead of --kind.")
    ] = None,
    valid_from: Annotated[
        str | None, typer.Option(metavar="DAY", help="First day of the data, if the rows have no dates.")
    ] = None,
    valid_to: Annotated[
        str | None, typer.Option(metavar="DAY", help="Last day of the data. Defaults to an open end.")
    ] = None,
    mapping: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="TOML file that maps columns of the file, or the name of a known mapping."),
    ] = None,
    strategy: Annotated[
        str | None, typer.Option(help=f"How rows are combined with existing data: {', '.join(STRATEGIES)}.")
    ] = None,
    review: Annotated[
        bool | None,
        typer.Option(
            "--review/--no-review", help="Always or never wait for a review. By default, wait if a row has errors."
        ),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of a CSV file.")] = "utf-8",
    sheet: Annotated[int, typer.Option(min=1, max=LARGEST_INTEGER, help="Sheet of an Excel file, counted from 1.")] = 1,
    slug: Annotated[str | None, typer.Option(help="Name for the import job.")] = None,
    note: Annotated[str | None, typer.Option(help="Reason, recorded with each change.")] = None,
    error_file: Annotated[
        Path | None, typer.Option("--errors", metavar="FILE", help="Write all rows with problems to this CSV file.")
    ] = None,
    wait: Wait = False,
    work: Work = False,
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Import a file of units, statistics or relationships.

    Rows that cannot be used are reported with the column to correct; the others are imported.
    """
    if (kind is None) == (definition is None):
        raise JobRefused("a file has a kind or a definition", hint="Give either --kind or --definition.")
    request = Request(
        kind,
        valid_from=read_day(valid_from, "--valid-from"),
        valid_until=last_day(valid_to, "--valid-to"),
        strategy=strategy,
        review=review,
        mapping=find_mapping(mapping) if mapping else None,
        slug=slug,
        note=note,
        definition=definition,
    )
    check_input(file)
    if error_file is not None:
        check_output(error_file, "--errors")
    with open_register(dsn, installs=True) as conn:
        with open_source(file, encoding=encoding, sheet=sheet) as source, _hinted(), upload_interrupted(conn, dsn):
            uploaded = import_source(conn, source, request)
        with job_interrupted(conn, dsn, uploaded.job_id):
            if not as_json:
                _print_uploaded(uploaded)
            if wait or work or error_file is not None:
                with working(conn, dsn, starts=work) as goes_on:
                    show(conn, watch_import(conn, uploaded.job_id, goes_on), "import", quietly=as_json, works=work)
            _report(conn, uploaded, error_file, as_json=as_json, waited=wait or work or error_file is not None)


@contextmanager
def _hinted() -> Generator[None]:
    """Columns that do not fit are corrected in the file or in the mapping."""
    try:
        yield
    except MappingRefused as error:
        error.hint = error.hint or "Correct the header of the file (each column needs a different name) or the mapping."
        raise


def _print_uploaded(uploaded: Uploaded) -> None:
    console.print(f"job {uploaded.job_id}: {uploaded.rows} rows uploaded, read by {uploaded.mapping}")
    if uploaded.ignored:
        errors.print(f"Columns that are not read: {', '.join(uploaded.ignored)}", markup=False)


def _report(conn: Connection[Any], uploaded: Uploaded, error_file: Path | None, *, as_json: bool, waited: bool) -> None:
    job = find_job(conn, uploaded.job_id)
    if job is None:
        raise JobNotFound(f"import job {uploaded.job_id} was deleted meanwhile")
    if as_json:
        print_json(job | {"ignored_columns": uploaded.ignored})
        if waited and job["held_by"] is not None:
            errors.print(held_text(uploaded.job_id, job["held_by"]), markup=False)
    elif waited:
        print_summary(job)
        print_problems(job_rows(conn, uploaded.job_id, limit=10), job)
    if error_file is not None:
        count = write_problems(conn, uploaded.job_id, error_file)
        if not as_json:
            console.print(f"{count} problems written to {error_file}", markup=False)
    if job["state"] == "failed":
        raise typer.Exit(1)
