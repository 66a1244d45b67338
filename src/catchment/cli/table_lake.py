"""What the verbs of ``catchment table`` share: the lake they work on, and their options."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from catchment.cli.numbers import MOST_SECONDS
from catchment.commands.output import errors
from catchment.errors import LakeUnavailable, RequestRefused, TableNotFound
from catchment.extras import LAKE

if TYPE_CHECKING:
    from catchment.lake import Lake

LAKE_VARIABLE = "CATCHMENT_LAKE"
CREATE_ONE = "Create one: catchment table create FILE. --lake or CATCHMENT_LAKE says where a new lake keeps its data."

LakeOption = Annotated[
    str | None,
    typer.Option(
        "--lake",
        envvar=LAKE_VARIABLE,
        show_envvar=True,
        help="Where the data is stored: a path, s3://bucket/path, or catalog=…;data=…;schema=…. Needed once.",
    ),
]
Name = Annotated[
    str, typer.Argument(metavar="TABLE", help="Name of a dynamic table: name, schema.name or '\"my table\"'.")
]
Names = Annotated[list[str], typer.Argument(metavar="TABLE…", help="Names of dynamic tables.")]
SomeNames = Annotated[list[str] | None, typer.Argument(metavar="[TABLE…]", help="Names of dynamic tables.")]
All = Annotated[bool, typer.Option("--all", help="Choose all dynamic tables.")]
Timeout = Annotated[
    float | None,
    typer.Option(min=0, max=MOST_SECONDS, help="Wait at most this many seconds; the refresh continues afterwards."),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Request the refresh and return; workers run it.")]


class TableGroup(TyperGroup):
    """Says what to install when the extra is missing, before a command looks at its arguments. Help is there always."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        resolved = super().resolve_command(ctx, args)
        if "--help" not in args:
            LAKE.check()
        return resolved


@contextmanager
def make_lake(dsn: str | None, lake: str | None) -> Generator[Lake]:
    """The lake of a database; made if it has none."""
    from catchment.lake import Lake

    with Lake(dsn, lake) as opened:
        yield opened


@contextmanager
def find_lake(dsn: str | None, lake: str | None, *names: str | None) -> Generator[Lake | None]:
    """The lake of a database, or None if it has none; then ``TableNotFound`` is raised for a table that is named."""
    from catchment.lake import Lake

    opened = Lake.find(dsn, lake)
    if opened is None:
        for name in filter(None, names):
            raise TableNotFound(f"there is no dynamic table {name}: this database has no lake yet", hint=CREATE_ONE)
        yield None
        return
    with opened:
        yield opened


@contextmanager
def open_lake(dsn: str | None, lake: str | None, *names: str | None) -> Generator[Lake]:
    """The lake of a database. If it has none, ``TableNotFound`` or ``LakeUnavailable`` is raised."""
    with find_lake(dsn, lake, *names) as opened:
        if opened is None:
            raise LakeUnavailable(
                "this database has no lake yet", code="NO_LAKE", hint="Make one: catchment table init --lake …"
            )
        yield opened


def read_text(source: str) -> str:
    if source == "-":
        return sys.stdin.read()
    try:
        return Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise RequestRefused(
            f"{source} cannot be read: {error}", hint="Name a file with CREATE DYNAMIC TABLE statements, or -."
        ) from error


def choose(lake: Lake, names: list[str] | None, is_all: bool) -> list[str]:
    if is_all == bool(names):
        raise RequestRefused(
            "no table given: name tables, or pass --all", hint="'catchment table list' shows all tables."
        )
    return [_quoted(table.name) for table in lake.tables()] if is_all else list(names or ())


def _quoted(name: str) -> str:
    schema, _, table = name.partition(".")
    return ".".join('"' + part.replace('"', '""') + '"' for part in (schema, table))


@contextmanager
def waiting() -> Generator[None]:
    """Ctrl-C ends the wait and not the work, and says so."""
    try:
        yield
    except KeyboardInterrupt:
        errors.print(
            "Stopped waiting. Started refreshes continue on a running worker; 'catchment table history' shows it, "
            "'catchment table cancel' stops it."
        )
        raise
