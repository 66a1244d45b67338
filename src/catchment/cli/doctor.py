"""``catchment doctor``."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from rich.markup import escape

from catchment.cli.database import open_database
from catchment.commands.options import Dsn, Json
from catchment.commands.output import console, errors, print_json
from catchment.commands.times import localized
from catchment.commands.why import print_command, print_indented
from catchment.doctor import diagnose
from catchment.model.remedy import ways_of
from catchment.model.terminal import one_line
from catchment.store.connect import DSN_VARIABLE


def doctor(
    deep: Annotated[
        bool, typer.Option("--deep", help="Check the invariants of the engine even if there are many tasks.")
    ] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Exit with 1 for warnings too.")] = False,
    as_json: Json = False,
    dsn: Dsn = None,
) -> None:
    """Check for problems, and print how to fix each.

    Finds halted lanes, queues without a worker, violated invariants and more. Each problem comes with commands that can
    be pasted into a shell. The exit code is 1 if there is an error; with --strict, also if there is a warning.
    """
    with open_database(dsn, "catchment_read") as conn:
        findings = diagnose(conn, deep=deep)
    if as_json:
        print_json(findings)
    elif not findings:
        console.print("[green]All is well.[/]")
    else:
        for finding in findings:
            style = {"error": "red", "warning": "yellow"}.get(finding["level"], "dim")
            console.print(f"[{style}]{finding['level']}[/] {_line(finding['subject'])}: {_line(finding['finding'])}")
            for command, what in ways_of(finding["remedy"]):
                if command:
                    print_command(f"[dim]{_line(f'{command}  # {what}' if what else command)}[/]", 2)
                else:
                    print_indented(f"[dim]{_line(what)}[/]", 2)
    has_commands = any(way.command for finding in findings for way in ways_of(finding["remedy"]))
    if has_commands and dsn is not None and dsn != os.environ.get(DSN_VARIABLE):
        errors.print(f"The commands are for the database of {DSN_VARIABLE}: set it to this one before you paste them.")
    if any(f["level"] == "error" or (strict and f["level"] == "warning") for f in findings):
        raise typer.Exit(1)


def _line(text: str) -> str:
    """A text of many lines as one: it may hold the message of an error."""
    return escape(one_line(localized(text)))
