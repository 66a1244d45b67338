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
    "Durable structured concurrency on PostgreSQL.\n\n"
    "Start with 'catchment dev MODULE:APP', which runs the tasks of an app. For details: 'catchment COMMAND --help'.",
    {
        "migrate": ("catchment.cli.schema:migrate", "Install or upgrade the schema in a database."),
        "dev": ("catchment.cli.dev.command:dev", "Run the tasks of an app while you develop it."),
        "worker": ("catchment.cli.worker:worker", "Run tasks in production."),
        "workers": ("catchment.cli.workers:app", "List workers, pause, resume and drain them."),
        "dashboard": (
            "catchment.cli.dashboard:dashboard",
            "Serve the dashboard: queues, tasks and problems, live in a browser. Stop with Ctrl-C.",
        ),
        "enqueue": ("catchment.cli.task:enqueue", "Enqueue a task and print its id."),
        "top": ("catchment.cli.watch.top:top", "Watch queues, workers, scopes, failures and running tasks."),
        "tail": ("catchment.cli.watch.tail:tail", "Show tasks as they end."),
        "config": ("catchment.cli.config:config", "Show every setting, its value and the source of the value."),
        "psql": ("catchment.cli.psql:psql", "Open psql on the database."),
        "doctor": ("catchment.cli.doctor:doctor", "Check for problems, and print how to fix each."),
        "bench": ("catchment.cli.bench:bench", "Measure enqueue rate, throughput and pickup latency on this server."),
        "demo": ("catchment.cli.demo:demo", "Watch tasks and a dynamic table survive killed workers."),
        "task": ("catchment.cli.task:app", "List tasks, show, cancel and retry them."),
        "queue": ("catchment.cli.queue:app", "List queues, show the capacity they need, pause and resume them."),
        "lane": ("catchment.cli.lane:app", "List lanes, and resume halted ones."),
        "schedule": (
            "catchment.cli.schedule:app",
            "List schedules and their history; run, pause and resume them.",
        ),
        "command": ("catchment.cli.command:app", "List the commands that tasks can have."),
        "table": ("catchment.cli.table:app", "Create, inspect and refresh dynamic tables."),
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
