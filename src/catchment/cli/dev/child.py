"""The process that is replaced: imports the apps, finds the database, and runs the worker."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from datetime import timedelta
from typing import NoReturn

from catchment.cli.app import AppNotFound, Apps, find_apps
from catchment.cli.database import check_may_run, open_database
from catchment.cli.dev.ends import Ends
from catchment.cli.dev.files import own_files
from catchment.cli.dev.line import BROKEN, WRONG_NAME, Message, Order
from catchment.cli.dev.log import DevFormatter, is_shown
from catchment.cli.dev.outage import Outage
from catchment.cli.dev.outputs import show
from catchment.cli.failure import show_failure
from catchment.errors import CatchmentError, SchemaMismatch
from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.events import Event, Events
from catchment.runtime.log import OURS, keep_own_loggers, log_to_stderr
from catchment.runtime.loop import end_without_threads, keep_running, run_again_if_cancelled
from catchment.runtime.settings import WorkerSettings, read_options
from catchment.runtime.signals import end_process
from catchment.store import embedded
from catchment.store.connect import DSN_VARIABLE, connect_ours, find_dsn, given_dsn, named
from catchment.store.migrate import check_version, migrate
from catchment.task.commands import Commands

RELOAD_GRACE = timedelta(seconds=5)
# Seconds after which a child that was asked to stop at once exits, whatever its handlers do.
LAST_RESORT = 3.0
LOOK_SECONDS = 1.0


class Child:
    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._stream = line.makefile("r", encoding="utf-8")
        self._order: Order = json.loads(self._stream.readline())
        self._lock = threading.Lock()
        self._dispatcher: Dispatcher | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ends = Ends(self._order["since"])
        self._outage = Outage()
        self._files: set[str] = set()

    def run(self) -> int:
        """Serve until asked to stop; returns the exit code."""
        threading.Thread(target=self._listen, name="catchment-dev", daemon=True).start()
        self._handler = log_to_stderr("text", "info", DevFormatter(), self._is_shown)
        # Python's warning of a call without await then names the line that made it.
        sys.set_coroutine_origin_tracking_depth(1)
        names = self._order["apps"]
        modules = [name.partition(":")[0].removesuffix(".py") for name in names]
        try:
            apps = find_apps(names, typed="catchment dev")
            commands = apps.commands()
            commands.definitions()  # a worker would refuse them too, but not as a mistake in these files
        except CatchmentError as error:
            self._tell({"files": own_files(modules, error)})
            show_failure(error)
            return WRONG_NAME if isinstance(error, AppNotFound) else BROKEN
        self._report_files()
        try:
            where = self._find_database(apps)
            self._serve(where, commands, apps)
        except Exception as error:
            code = show_failure(error)
            if code is None:
                raise
            return code
        return 0

    def _find_database(self, apps: Apps) -> str:
        """The database to serve, with a schema that fits."""
        chosen = given_dsn(apps.dsn(self._order["dsn"]))
        where = find_dsn(chosen)
        if chosen is not None:
            self._migrate(where)
        os.environ[DSN_VARIABLE] = where
        with open_database(where, "catchment_worker") as conn:
            check_may_run(conn)
        self._tell({"database": chosen})
        if self._order["is_first"]:
            _say(f"uses {named(where) if chosen else _embedded_place()}")
        return where

    def _migrate(self, where: str) -> None:
        """A database of the user is only changed if that was requested."""
        with connect_ours(where) as conn:
            try:
                check_version(conn)
            except SchemaMismatch as error:
                if not self._order["migrates"]:
                    raise SchemaMismatch(
                        str(error), hint=f"{error.hint} Or let this command do it: catchment dev --migrate …"
                    ) from error
                migrate(conn)
                _say("the schema is installed and up to date")

    def _serve(self, where: str, commands: Commands, apps: Apps) -> None:
        # An app that configures logging itself does so for its own loggers: the ends of tasks are shown all the same.
        keep_own_loggers()
        own = logging.getLogger(OURS)
        own.handlers, own.propagate = [self._handler], False
        events = Events(self._ends.hear, self._hear)
        grace = {} if WorkerSettings.source("shutdown_grace_seconds") else {"shutdown_grace": RELOAD_GRACE}
        options = read_options(**grace)
        code = 1
        try:
            keep_running(self._run(Dispatcher(where, options, events, commands=commands), where, events, apps), events)
            code = 0
        except* CatchmentError as group:
            raise group.exceptions[0] from None
        finally:
            self._ends.stop()
            end_without_threads(events, code)

    def _is_shown(self, record: logging.LogRecord) -> bool:
        return is_shown(record) and not self._outage.hides(record)

    async def _run(self, dispatcher: Dispatcher, where: str, events: Events, apps: Apps) -> int:
        with self._lock:
            self._dispatcher, self._loop = dispatcher, asyncio.get_running_loop()
        beside = [
            asyncio.create_task(part)
            for part in (
                self._announce(dispatcher, apps),
                self._report_more_files(),
                self._outage.watch(where),
            )
        ]
        self._ends.start(where, apps.commands().queues)
        try:
            return await run_again_if_cancelled(dispatcher, events)
        finally:
            for task in beside:
                task.cancel()
            self._ends.stop()
            self._tell({"since": self._ends.since})

    def _hear(self, event: Event) -> None:
        """Tasks of a command that is not here were given back: as soon as they are, the worker says what to do."""
        if event.name == "command.unknown" and self._dispatcher is not None and self._loop is not None:
            self._loop.call_soon_threadsafe(self._loop.call_later, LOOK_SECONDS, self._dispatcher.look_again)

    async def _announce(self, dispatcher: Dispatcher, apps: Apps) -> None:
        await dispatcher.serving.wait()
        self._tell({"serves": True})
        what = ", ".join(f"{place} ({', '.join(app.commands.names)})" for place, app in apps.by_place.items())
        ways = ". It reloads when their files change; Ctrl-C ends it." if self._order["is_first"] else ""
        _say(f"serves {what}, and the SQL handlers of all queues{ways}")

    async def _report_more_files(self) -> None:
        """Modules that handlers import are watched too."""
        count = 0
        while True:
            if len(sys.modules) != count:
                count = len(sys.modules)
                self._report_files()
            await asyncio.sleep(LOOK_SECONDS)

    def _report_files(self) -> None:
        new = [path for path in own_files() if path not in self._files]
        self._files.update(new)
        if new:
            self._tell({"files": new})

    def _tell(self, message: Message) -> None:
        with suppress(OSError):  # the supervisor is gone, and `_listen` ends this process
            self._line.sendall(json.dumps(message).encode() + b"\n")

    def _listen(self) -> None:
        """Do what the supervisor says. When it is gone, stop."""
        with suppress(OSError):
            for text in self._stream:
                self._stop(now=json.loads(text)["stop"] == "now")
        self._stop(now=True)

    def _stop(self, *, now: bool) -> None:
        with self._lock:
            if self._dispatcher is None or self._loop is None:
                end_process(0)  # nothing runs yet
            dispatcher, loop = self._dispatcher, self._loop
        if now:
            last_resort = threading.Timer(LAST_RESORT, end_process, [0])
            last_resort.daemon = True
            last_resort.start()
        loop.call_soon_threadsafe(lambda: dispatcher.stop(now=now))


def _say(text: str) -> None:
    show(f"catchment dev: {text}")


def _embedded_place() -> str:
    return f"the embedded PostgreSQL in {embedded.default_folder()}. To look into it: catchment psql"


def _ignore(*_: object) -> None:
    """A function, unlike SIG_IGN, is not inherited by programs that handlers start."""


def main() -> NoReturn:
    line = socket.socket(fileno=int(sys.argv[1]))
    # Ctrl-C, the end of the terminal and a shell's "kill %1" go to the whole group: the supervisor decides what they
    # mean, and says so on the line.
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, _ignore)
    child = Child(line)
    sys.argv[1:] = []
    sys.exit(child.run())


if __name__ == "__main__":
    main()
