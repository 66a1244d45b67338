"""``catchment register load-codes``: code lists from files."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from catchment.commands import Dsn, Json, console, errors, print_json
from catchment_register.cli.database import open_register
from catchment_register.codes.kinds import KINDS, find_kind
from catchment_register.codes.load import load_codes as write_codes
from catchment_register.codes.read import read_codes


def load_codes(
    kind: Annotated[str, typer.Argument(metavar="KIND", help=f"Code list: {', '.join(sorted(KINDS))}.")],
    file: Annotated[
        Path, typer.Argument(help="CSV file with a header: path or code, name, and the other columns of the list.")
    ],
    version: Annotated[
        str | None, typer.Option(help="Version of the regions, or standard of the activities. Defaults to the setting.")
    ] = None,
    replaces: Annotated[bool, typer.Option("--replace", help="Disable codes that are not in the file.")] = False,
    encoding: Annotated[str, typer.Option(help="Encoding of the file.")] = "utf-8",
    dsn: Dsn = None,
    as_json: Json = False,
) -> None:
    """Load a code list from a file.

    New codes are added, known ones corrected. Rows that cannot be used are skipped and listed.
    """
    code_list = find_kind(kind)
    reading = read_codes(file, code_list, encoding=encoding)
    with open_register(dsn, installs=True) as conn:
        loading = write_codes(conn, code_list, reading, version=version, replaces=replaces)
    if as_json:
        print_json(asdict(loading))
        return
    console.print(
        f"{kind}: {loading.added} added, {loading.changed} changed, {loading.unchanged} unchanged,"
        f" {loading.disabled} disabled, {len(loading.problems)} skipped"
    )
    for problem in loading.problems:
        errors.print(f"  line {problem.line}: {problem.text}", markup=False)
