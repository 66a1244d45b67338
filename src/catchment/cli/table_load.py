"""``catchment table load``: files become rows of a table of the lake."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.markup import escape

from catchment.cli.table_lake import LakeOption, make_lake
from catchment.cli.table_show import rows_of, size
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, errors, print_json
from catchment.errors import RequestRefused
from catchment.model.span import span

if TYPE_CHECKING:
    from catchment.lake.load.load import LoadProgress, OnLoadProgress


def load(
    files: Annotated[list[str], typer.Argument(metavar="FILE…", help="Parquet, CSV or JSON files, or patterns.")],
    into: Annotated[str, typer.Option(metavar="TABLE", help="Table to load into; created if it does not exist.")],
    replace: Annotated[bool, typer.Option("--replace", help="Delete the existing rows of the table.")] = False,
    format_: Annotated[
        str | None,
        typer.Option("--format", help="File format: parquet, csv or json. Defaults to the suffix of the file."),
    ] = None,
    columns: Annotated[
        str | None, typer.Option(metavar="A,B,…", help="Column names for CSV files without a header.")
    ] = None,
    types: Annotated[
        list[str] | None,
        typer.Option("--type", metavar="COLUMN=TYPE", help="Type of a column of a new table; can be repeated."),
    ] = None,
    delimiter: Annotated[
        str | None,
        typer.Option(help="Delimiter of CSV files. Defaults to the most frequent of , ; | and tab in the first line."),
    ] = None,
    encoding: Annotated[str, typer.Option(help="Encoding of CSV files: utf-8, utf-16 or latin-1.")] = "utf-8",
    as_json: Json = False,
    lake: LakeOption = None,
    dsn: Dsn = None,
) -> None:
    """Load files into a table of the lake.

    Loads all rows in one commit, or none. Dynamic tables that read the table follow at their next refresh. Example:
    catchment table load 'orders/*.csv' --into orders
    """
    given = dict(_pair(text) for text in types or ())
    names = [name.strip() for name in columns.split(",")] if columns is not None else []
    with make_lake(dsn, lake) as used, _progress(is_quiet=as_json) as tell, _told():
        done = used.load(
            *files,
            into=into,
            replace=replace,
            format=cast("Any", format_),
            columns=names,
            types=given,
            delimiter="\t" if delimiter in ("\\t", "tab") else delimiter,
            encoding=encoding.lower(),
            on_progress=tell,
        )
    if as_json:
        print_json(rows_of([done], as_json=True)[0])
        return
    counted = f"{len(done.files):,} file" + ("s" if len(done.files) != 1 else "")
    new = ", a new table" if done.created else f" in place of {done.deleted:,}" if replace else ""
    console.print(
        f"{done.name}{new}: {done.rows:,} rows from {counted} ({size(done.bytes)}),"
        f" {size(done.stored_bytes)} in the lake, {span(done.seconds)}",
        markup=False,
    )


@contextmanager
def _told() -> Generator[None]:
    """Say what Ctrl-C has ended."""
    try:
        yield
    except KeyboardInterrupt:
        errors.print("Stopped. Nothing was loaded.")
        raise


def _pair(text: str) -> tuple[str, str]:
    name, separator, kind = text.partition("=")
    if not separator or not name.strip() or not kind.strip():
        raise RequestRefused(f"{text!r} is not COLUMN=TYPE", hint="Such as --type 'amount=DECIMAL(10,2)'.")
    return name.strip(), kind.strip()


@contextmanager
def _progress(*, is_quiet: bool) -> Generator[OnLoadProgress]:
    """A line on the terminal with the progress of a load; nothing where there is no terminal."""
    if is_quiet or not errors.is_terminal:
        yield lambda _: None
        return

    with errors.status("looking at the files") as status:

        def tell(now: LoadProgress) -> None:
            share = "" if now.share is None else f", {now.share:.0%}"
            status.update(escape(f"reading {now.file} ({now.number} of {now.total}{share})"))

        yield tell
