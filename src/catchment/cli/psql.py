"""``catchment psql``."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import typer
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from catchment.commands.group import passing_on
from catchment.commands.options import Dsn
from catchment.errors import CatchmentError
from catchment.store import embedded
from catchment.store.connect import find_dsn
from catchment.store.data_directory import Programs


@passing_on
def psql(context: typer.Context, dsn: Dsn = None) -> None:
    """Open psql on the database.

    All other arguments are psql's.

    Example: catchment psql -c 'select * from worker.queues'
    """
    where: dict[str, Any] = dict(conninfo_to_dict(find_dsn(dsn)))
    program = _find()
    # Arguments are shown in lists of processes.
    password = where.pop("password", None)
    if password:
        os.environ["PGPASSWORD"] = password
    # It replaces this process, so that keys and signals are its own.
    embedded.hand_on()
    os.execv(program, ["psql", "-d", make_conninfo(**where), *context.args])  # noqa: S606 - no shell


def _find() -> str:
    """The psql that comes with the embedded server, or the one of the system."""
    try:
        bundled: Path | None = Programs.find().folder / "psql"
    except ImportError:
        bundled = None
    program = str(bundled) if bundled is not None and bundled.exists() else shutil.which("psql")
    if program is None:
        raise CatchmentError(
            "there is no psql on this machine",
            hint="Install the client programs of PostgreSQL, or run: pip install 'catchment[embedded]'",
        )
    return program
