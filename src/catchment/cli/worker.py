"""``catchment worker``."""

from __future__ import annotations

import os
import re
from typing import Annotated

import typer

from catchment.cli.database import check_may_run, open_database
from catchment.commands.group import taking_words
from catchment.commands.options import Dsn
from catchment.errors import CatchmentError
from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.events import Events
from catchment.runtime.log import keep_own_loggers, log_to_stderr
from catchment.runtime.loop import end_without_threads, keep_running, run_again_if_cancelled
from catchment.runtime.options import WorkerOptions
from catchment.runtime.settings import LogFormat, LogLevel, WorkerSettings, read_options
from catchment.runtime.signals import stop_on_signals
from catchment.store.connect import DSN_VARIABLE, find_dsn
from catchment.task.commands import Commands

# Each fiber has a connection.
MOST_FIBERS = 10_000
# Of the group workers, which one may look for here.
VERBS = ("list", "pause", "resume", "drain")


@taking_words
def worker(
    context: typer.Context,
    app: Annotated[
        list[str] | None,
        typer.Option(metavar="MODULE:APP", help="Run the Python handlers of this app too; can be repeated."),
    ] = None,
    queue: Annotated[list[str] | None, typer.Option(help="Serve this queue only; can be repeated.")] = None,
    concurrency: Annotated[
        list[str] | None,
        typer.Option(
            metavar="QUEUE=N",
            help="Run SQL handlers of a queue on N connections, overriding its concurrency; can be repeated.",
        ),
    ] = None,
    single: Annotated[
        bool, typer.Option("--single", help="Exit at once if another worker already runs the top level of a queue.")
    ] = False,
    stop_when_idle: Annotated[
        bool,
        typer.Option(
            "--stop-when-idle", help="Exit when this worker has nothing left to run, and report what remains."
        ),
    ] = False,
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Serve Prometheus metrics on this port. Defaults to CATCHMENT_METRICS_PORT."
        ),
    ] = None,
    health_port: Annotated[
        int | None,
        typer.Option(
            min=0, max=65535, help="Serve /healthz and /readyz on this port. Defaults to CATCHMENT_HEALTH_PORT."
        ),
    ] = None,
    log_format: Annotated[
        LogFormat | None, typer.Option(help="Log format. Defaults to CATCHMENT_LOG_FORMAT, else text.")
    ] = None,
    log_level: Annotated[
        LogLevel | None,
        typer.Option(help="Log level; debug includes the start of each task. Defaults to CATCHMENT_LOG_LEVEL."),
    ] = None,
    dsn: Dsn = None,
) -> None:
    """Run tasks in production.

    Runs SQL handlers, and with --app the Python handlers of an app. Serves all queues by default. SIGTERM and Ctrl-C
    shut down gracefully: running tasks finish first.

    Example: catchment worker --app shop.tasks:app --queue mail
    """
    if context.args and context.args[0] in VERBS:
        raise typer.BadParameter(
            f"it is a verb of workers: catchment workers {' '.join(context.args)}", param_hint=context.args[0]
        )
    if words := context.args:
        raise typer.BadParameter(
            f"got {words[0]!r}, expected options alone: --app for an app, --queue for a queue, such as"
            f" catchment worker --app {words[0]}",
            param_hint="MODULE:APP",
        )
    options = read_options(
        queues=tuple(dict.fromkeys(queue or ())),
        concurrency=_read_concurrency(concurrency or []),
        is_single=single,
        stops_when_idle=stop_when_idle,
        **({} if metrics_port is None else {"metrics_port": metrics_port}),
        **({} if health_port is None else {"health_port": health_port}),
    )
    settings = WorkerSettings.read()
    log_to_stderr(log_format or settings.log_format, log_level or settings.log_level)
    commands, chosen = _load_commands(app or [], dsn)
    keep_own_loggers()
    where = find_dsn(chosen)
    # Handlers that ask for a database, and the processes they start, get the one that is served here.
    os.environ[DSN_VARIABLE] = where
    with open_database(where, "catchment_worker") as conn:
        check_may_run(conn)
    events = Events()
    code = 1
    try:
        keep_running(_run(where, options, commands, events), events)
        code = 0
    except* CatchmentError as group:
        raise group.exceptions[0] from None
    finally:
        end_without_threads(events, code)


async def _run(dsn: str, options: WorkerOptions, commands: Commands | None, events: Events) -> int:
    """Serve until stopped; returns how many handlers never stopped."""
    dispatcher = Dispatcher(dsn, options, events, commands=commands)
    dispatcher.on_tick = stop_on_signals(dispatcher.stop, events, grace=options.shutdown_grace)
    return await run_again_if_cancelled(dispatcher, events)


def _read_concurrency(pairs: list[str]) -> dict[str, int]:
    concurrency: dict[str, int] = {}
    for pair in pairs:
        name, _, number = pair.rpartition("=")
        if not name or not re.fullmatch("[0-9]{1,9}", number) or not 1 <= int(number) <= MOST_FIBERS:
            raise typer.BadParameter(
                f"{pair!r} is not QUEUE=N with N from 1 to {MOST_FIBERS}", param_hint="--concurrency"
            )
        if name in concurrency:
            raise typer.BadParameter(f"queue {name} is given twice; give it one number", param_hint="--concurrency")
        concurrency[name] = int(number)
    return concurrency


def _load_commands(names: list[str], dsn: str | None) -> tuple[Commands | None, str | None]:
    """The commands of these apps, and the database to serve."""
    if not names:
        return None, dsn
    from catchment.cli.app import load_apps  # with the client, which SQL handlers do without

    apps = load_apps(names)
    return apps.commands(), apps.dsn(dsn)
