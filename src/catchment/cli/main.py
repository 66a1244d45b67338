"""The entry point: gathers the groups and turns errors into messages and exit codes.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no server, 130 interrupted.
"""

from __future__ import annotations

import sys
from io import TextIOWrapper

import psycopg
import typer
from rich.markup import escape

from catchment.cli import bench, command, demo, doctor, queue, schema, table, task, worker
from catchment.cli.database import hint_for
from catchment.cli.output import errors
from catchment.cli.plugins import PluginGroup
from catchment.errors import CatchmentError, RequestRefused, ServerUnavailable
from catchment.model.check import shown

app = typer.Typer(
    name="catchment",
    cls=PluginGroup,
    help="Durable structured concurrency on PostgreSQL.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("migrate")(schema.migrate)
app.command("worker")(worker.worker)
app.command("enqueue")(task.enqueue)
app.add_typer(task.app, name="task")
app.add_typer(queue.app, name="queue")
app.add_typer(command.app, name="command")
app.add_typer(table.app, name="table")
app.command("doctor")(doctor.doctor)
app.command("bench")(bench.bench)
app.command("demo")(demo.demo)


def run() -> None:
    """Run the command line; never shows a traceback for something a user can act on."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal or the pipe cannot show is shown as an escape.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        app(standalone_mode=True)
    except ServerUnavailable as error:
        _fail(error, 3)
    except CatchmentError as error:
        _fail(error, 1)
    except psycopg.Error as error:
        _fail(CatchmentError(f"the database refused: {str(error).strip()}", hint=hint_for(error)), 1)
    except UnicodeEncodeError as error:
        # Bytes of the command line or the environment that are not UTF-8 come as halves of surrogate pairs.
        _fail(RequestRefused(f"{shown(error.object)} is not valid UTF-8"), 1)
    except KeyboardInterrupt:
        sys.exit(130)


def _fail(error: CatchmentError, code: int) -> None:
    errors.print(f"[red]error:[/] {escape(str(error))}")
    if error.hint:
        errors.print(f"[dim]hint:[/] {escape(error.hint)}")
    sys.exit(code)
