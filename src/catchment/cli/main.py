"""The entry point: gathers the groups and turns errors into messages and exit codes.

Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 3 no server, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import Annotated

import typer

from catchment.cli.plugins import PluginGroup
from catchment.commands.group import make_app
from catchment.extras import EXTRAS
from catchment.model.release import VERSION

# Set by a shell that asks for the words that can come next.
COMPLETE = "_CATCHMENT_COMPLETE"

app = make_app(
    "catchment",
    "Durable structured concurrency on PostgreSQL.",
    {
        "migrate": (
            "catchment.cli.schema:migrate",
            "Install or upgrade the schema. Safe to run again, and while workers run.",
        ),
        "dev": (
            "catchment.cli.dev.command:dev",
            "Develop: a worker that reloads when the app changes, and shows the end of each task. Ctrl-C stops it.",
        ),
        "worker": (
            "catchment.cli.worker:worker",
            "Run the handlers of all queues, or of some. SIGTERM and Ctrl-C let running tasks finish.",
        ),
        "enqueue": ("catchment.cli.task:enqueue", "Make a task and print its id."),
        "psql": (
            "catchment.cli.psql:psql",
            "Open psql on the database. All other arguments are psql's: catchment psql -c 'select 1'.",
        ),
        "doctor": (
            "catchment.cli.doctor:doctor",
            "Check the engine's rules and the health around it. Exit code 1 when something is wrong.",
        ),
        "bench": (
            "catchment.cli.bench:bench",
            "Measure enqueues, throughput and pickup on this server, with the worker settings of the environment.",
        ),
        "demo": (
            "catchment.cli.demo:demo",
            "Watch a parent wait for its children while a worker dies, then a dynamic table follow its sources.",
        ),
        "task": ("catchment.cli.task:app", "Look at tasks, stop them, run them again."),
        "queue": ("catchment.cli.queue:app", "Look at queues, pause and resume them."),
        "command": ("catchment.cli.command:app", "Look at the registered commands."),
        "table": (
            "catchment.cli.table:app",
            "Dynamic tables: queries whose results are kept as tables and refreshed.",
        ),
    },
    PluginGroup,
    is_program=True,
)


def _show_version(is_asked: bool) -> None:
    if is_asked:
        print(f"catchment {VERSION}")
        print(f"Python {sys.version.split()[0]}, PostgreSQL 15 to 18")
        missing = [extra.name for extra in EXTRAS if not extra.is_installed]
        print("extras:", ", ".join(extra.name for extra in EXTRAS if extra.name not in missing) or "none")
        if missing:
            print("not installed:", ", ".join(missing))
        raise typer.Exit


@app.callback()
def catchment(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Print the version and the extras, and exit."
        ),
    ] = False,
) -> None:
    """See the text above."""


def run() -> None:
    """Run the command line; never shows a traceback for something a user can act on."""
    for stream in (sys.stdout, sys.stderr):
        # What the terminal or the pipe cannot show is shown as an escape.
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        try:
            app(standalone_mode=True)
        finally:
            # Here and not at Python's end, which could say nothing useful.
            if sys.stdout is not None:  # pyright: ignore[reportUnnecessaryComparison] - it may be closed: >&-
                sys.stdout.flush()
    except KeyboardInterrupt:
        sys.exit(130)
    except Exception as error:
        if COMPLETE in os.environ:
            sys.exit(1)  # a shell asks for words, and a message would be between them
        from catchment.cli.failure import show_failure  # with the driver, which a list of commands does not need

        code = show_failure(error)
        if code is None:
            raise
        sys.exit(code)
