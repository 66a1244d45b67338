"""The worker process: registers itself, starts the fibers of its queues, and ends in order.

When the database declares the worker dead (its lease ended while the process was suspended), it registers again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from datetime import timedelta

import psycopg
from psycopg.errors import Diagnostic

from catchment.errors import SchemaMismatch, ServerUnavailable
from catchment.extras import RAY
from catchment.runtime.after_hooks import AfterHooks
from catchment.runtime.connection import report_fault
from catchment.runtime.discovery import Discovery
from catchment.runtime.doorbell import wait_for
from catchment.runtime.events import Events
from catchment.runtime.fiber import Shared
from catchment.runtime.intake import Intake
from catchment.runtime.limiter import Load
from catchment.runtime.listener import Listener
from catchment.runtime.membership import AlreadyRunning, Membership
from catchment.runtime.memory import memory_usage
from catchment.runtime.metrics import Metrics
from catchment.runtime.options import WorkerOptions
from catchment.runtime.pools import run_in_own_thread
from catchment.runtime.pulse import Pulse
from catchment.runtime.python_worker import PythonWorker
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.reports import Reports
from catchment.runtime.served import health_served, metrics_served
from catchment.store import embedded, migrate, registry
from catchment.store import worker as worker_store
from catchment.store.connect import connect_ours
from catchment.store.depth import read_depths
from catchment.store.embedded import FolderGone
from catchment.store.foreign.of_psycopg import PsycopgSender
from catchment.task.commands import Commands

FIRST_PAUSE = 0.1
LAST_PAUSE = 5.0
# Before sessions are cut, a call that only looks for tasks gets this long to end.
LOOK_SECONDS = 0.5
# A worker is idle when it has run nothing for this many seconds.
IDLE_AFTER = 10.0


class Dispatcher:
    """Runs the handlers of both kinds until ``stop`` is called. ``on_tick`` is called at each heartbeat, and four times
    a second while Python handlers run."""

    def __init__(
        self, dsn: str, options: WorkerOptions, events: Events | None = None, *, commands: Commands | None = None
    ) -> None:
        self._dsn = dsn
        self._commands = commands or Commands()
        self.metrics = Metrics(
            (command.name, command.options.queue)
            for command in self._commands
            if not options.queues or command.options.queue in options.queues
        )
        self.on_tick: Callable[[], None] = lambda: None
        self.python: PythonWorker | None = None
        self._options = options
        self._events = events or Events()
        self._reports = Reports()
        self._stopping = asyncio.Event()
        self._hurry = asyncio.Event()
        # Set as soon as this process is a registered worker.
        self.serving = asyncio.Event()
        self._is_dead = asyncio.Event()
        self._intake = Intake(self._events)
        self._membership: Membership | None = None
        self._listener: Listener | None = None
        self._discovery = Discovery(
            dsn,
            options,
            self._events,
            self._commands,
            self._reports,
            stopping=self._stopping,
            is_hearing=self._is_hearing,
            on_misfit=self._found_misfit,
        )
        self._python_queues: set[str] = set()
        self._has_served = False
        # Why it cannot continue: the schema has changed, or there is no database any more.
        self._end: SchemaMismatch | FolderGone | None = None

    @property
    def left_behind(self) -> int:
        """How many handlers were stopped but still run: they would keep the process from ending."""
        return 0 if self.python is None else self.python.left_behind

    def stop(self, *, now: bool = False) -> None:
        """Claim no more; running tasks finish. With ``now`` they get no grace: their handlers are stopped, and they are
        given back. It may be called again with ``now``."""
        if not self._stopping.is_set():
            what = "running tasks are given back" if now else "running tasks finish"
            self._events.emit("worker.stopping", f"stopping: {what}, no new ones are claimed")
        if now:
            self._hurry.set()
        self._stopping.set()
        # Fibers are woken when they are halted: rung now, they would look for tasks once more.
        self._discovery.news.set()

    async def run(self) -> None:
        """Serve until stopped; raises ``SchemaMismatch`` when the schema is not compatible with this version, and
        ``FolderGone`` when the embedded server was removed."""
        async with health_served(self._options, self._events, problems=self._problems):
            await run_in_own_thread(self._prepare)
            async with metrics_served(
                self._options,
                self._events,
                self.metrics,
                self._commands.collectors,
                read_load=self._load,
                read_queues=lambda: read_depths(self._dsn),
            ):
                await self._keep_running()
        if self._end is not None:
            raise self._end

    def _prepare(self) -> None:
        """Check the schema and what the commands need, and register them."""
        if any(command.executor == "ray" for command in self._commands):
            RAY.check()
        RaySettings.read()  # One that is wrong would fail their tasks, or the refreshes of tables.
        with connect_ours(self._dsn) as conn:
            migrate.check_version(conn)
            if len(self._commands):
                conn.add_notice_handler(self._note_registration)
                is_shared = embedded.is_default(self._dsn)
                definitions = self._commands.queue_definitions(), self._commands.definitions(with_project=is_shared)
                registry.register_commands(PsycopgSender(conn), *definitions, overwrite=True)

    def _note_registration(self, notice: Diagnostic) -> None:
        self._events.emit("command.taken_over", notice.message_primary or "", level=logging.WARNING)

    def _problems(self) -> list[str]:
        """Why this worker takes no tasks; called from any thread."""
        problems: list[str] = []
        if self._end is not None:
            problems.append(str(self._end))
        elif self._stopping.is_set():
            problems.append("it is stopping")
        if self._membership is None or not self._membership.is_connected():
            problems.append("the database does not answer, or the worker is not registered yet")
        if self._intake.asked is not None:
            problems.append("it was paused by an operator" if self._intake.asked == "pause" else "it is being drained")
        return problems

    def _load(self) -> Load | None:
        return None if self.python is None else self.python.load()

    async def _keep_running(self) -> None:
        """Run until stopped. An error that ends the worker earlier is logged, and the process registers again."""
        pause = FIRST_PAUSE
        while not self._stopping.is_set():
            self._is_dead = asyncio.Event()
            began = time.monotonic()
            try:
                await self._run_once()
                continue
            except (AlreadyRunning, SchemaMismatch, FolderGone):
                raise
            except Exception as error:
                is_disconnected = isinstance(error, psycopg.Error | ServerUnavailable)
                if not is_disconnected and not self._has_served:  # then the options are wrong
                    raise
                if time.monotonic() - began > LAST_PAUSE:
                    pause = FIRST_PAUSE
                    self._reports.over()
                if not is_disconnected:
                    report_fault(self._events, self._reports, "worker", error)
                elif (text := self._reports.due(type(error).__name__, f"worker: {str(error).strip()}")) is not None:
                    self._events.emit("worker.disconnected", text, level=logging.WARNING)
            await wait_for(self._stopping, timedelta(seconds=pause))
            pause = min(pause * 2, LAST_PAUSE)

    async def _run_once(self) -> None:
        queues, capacity = await self._discovery.begin()
        pulse = Pulse(
            self._dsn, self._events, patience=self._options.patience, is_direct=self._options.has_session_lock
        )
        hooks = AfterHooks(self._dsn, self._options.hook_limit, self._events, drains=self._options.stops_when_idle)
        membership = self._membership = Membership(
            self._dsn,
            self._options,
            self._events,
            pulse,
            on_dead=self._declared_dead,
            on_gone=self._found_gone,
            on_hooks=hooks.ring,
            on_tick=self.on_tick,
            on_asked=self._asked,
            asked=self._intake.asked,
            on_call=self._called_upon,
            is_idle=self._is_idle,
            report=self._capacity,
            interrupted=lambda: [] if self.python is None else self.python.interrupted,
            python_queues=[
                name for name in self._commands.queues if not self._options.queues or name in self._options.queues
            ],
            python_commands=self._commands.names,
            schedules=self._commands.schedule_definitions(),
        )
        async with membership.joined(queues, capacity) as identity:
            self._has_served = True
            self.serving.set()
            await self._serve(identity, pulse, hooks)

    def _capacity(self) -> worker_store.Capacity:
        if self.python is not None:
            free = self.python.limiter.free(len(self.python.holdings))
            return worker_store.Capacity(free, memory_usage(), self.python.take_lag())
        if len(self._commands):  # not started yet: as registered
            return worker_store.Capacity(None, memory_usage())
        return worker_store.Capacity(sum(fiber.is_free for fiber in self._discovery.fibers), memory_usage())

    def _asked(self, asked: worker_store.Asked | None) -> None:
        """An operator pauses, drains or resumes this worker."""
        self._intake.set(asked)
        if asked is not None and self.python is not None:
            self.python.give_back_unstarted()
        self._ring_all()

    def _is_busy(self) -> bool:
        is_python_busy = self.python is not None and len(self.python.holdings) > 0
        return is_python_busy or any(fiber.is_running for fiber in self._discovery.fibers)

    def _is_idle(self) -> bool:
        """Does nothing run here, and has nothing for a while? Called from any thread."""
        return not self._is_busy() and time.monotonic() - self.metrics.worked_at > IDLE_AFTER

    def _is_hearing(self) -> bool:
        return self._listener is not None and self._listener.is_hearing

    def _called_upon(self, call: worker_store.Call) -> None:
        """What a heartbeat has found, in case a notification was lost."""
        if call.has_ready:
            if self._listener is not None:
                self._listener.suspect()
            self._discovery.suspect()
            self._ring_all()
        elif call.has_top:
            for state in self._discovery.states.values():
                state.top_bell.ring()

    def _declared_dead(self) -> None:
        self._events.emit(
            "worker.declared_dead", "the database declared this worker dead; it registers again", level=logging.ERROR
        )
        self._is_dead.set()
        self._discovery.news.set()

    def _found_misfit(self, misfit: SchemaMismatch) -> None:
        self._end = misfit
        self._events.emit("worker.outdated", str(misfit), level=logging.ERROR)
        self.stop()

    def _found_gone(self, error: FolderGone) -> None:
        """Nothing can be recorded or given back any more: handlers are stopped, and the worker ends."""
        self._end = error
        self._is_dead.set()
        self._stopping.set()
        self._discovery.news.set()

    async def _serve(self, identity: worker_store.WorkerIdentity, pulse: Pulse, hooks: AfterHooks) -> None:
        halted = asyncio.Event()
        ended = asyncio.Event()
        listener = self._listener = Listener(
            self._dsn,
            identity,
            on_queue=self._heard,
            on_cancel=self._heard_of_cancel,
            on_request=self._heard_of_request,
            on_top=self._heard_of_top,
            on_connect=self._listens,
            events=self._events,
            every=self._options.idle_poll,
            limit=self._options.call_timeout / 2,
        )
        shared = Shared(
            self._dsn,
            identity,
            self._options,
            self._events,
            halted,
            lambda: listener.is_hearing,
            self.metrics,
            pulse,
            self._intake,
        )
        async with asyncio.TaskGroup() as background:
            ears = background.create_task(listener.run(halted)) if self._options.has_wake_ups else None
            background.create_task(pulse.run(ended))
            background.create_task(self._halt(halted))
            background.create_task(self._end_fibers(halted, ended))
            background.create_task(self._intake.stop_when_drained(halted, is_busy=self._is_busy, stop=self.stop))
            async with hooks.serving(background), asyncio.TaskGroup() as fibers:
                if len(self._commands):
                    self._start_python(identity, listener, pulse, halted, fibers)
                await self._discovery.run(shared, fibers, self._is_dead)
            ended.set()
            if ears is not None:
                ears.cancel()

    async def _halt(self, halted: asyncio.Event) -> None:
        """Claim no more as soon as this worker is to stop or was declared dead, whatever discovery waits for."""
        waiting = [asyncio.create_task(event.wait()) for event in (self._stopping, self._is_dead)]
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()
        halted.set()
        self._ring_all()

    async def _end_fibers(self, halted: asyncio.Event, ended: asyncio.Event) -> None:
        """Wait for SQL handlers for the grace of a stop. Then cut their sessions: the server ends their statements."""
        await halted.wait()
        hurry = asyncio.create_task(self._hurry.wait())
        over = asyncio.create_task(ended.wait())
        grace = self._options.shutdown_grace.total_seconds()
        await asyncio.wait([hurry, over], timeout=grace, return_when=asyncio.FIRST_COMPLETED)
        for waiting in (hurry, over):
            waiting.cancel()
        await wait_for(ended, timedelta(seconds=LOOK_SECONDS))
        if not ended.is_set():
            running = [fiber for fiber in self._discovery.fibers if fiber.is_running]
            if running:
                what = "1 SQL task still runs: it is ended"
                if len(running) > 1:
                    what = f"{len(running)} SQL tasks still run: they are ended"
                self._events.emit("worker.gives_back", what, level=logging.WARNING)
            for fiber in running:
                fiber.link.cut()

    def _start_python(
        self,
        identity: worker_store.WorkerIdentity,
        listener: Listener,
        pulse: Pulse,
        halted: asyncio.Event,
        group: asyncio.TaskGroup,
    ) -> None:
        queues = [q for q in self._commands.queues if not self._options.queues or q in self._options.queues]
        self.python = PythonWorker(
            self._dsn,
            identity,
            self._commands,
            queues,
            self._options,
            metrics=self.metrics,
            events=self._events,
            pulse=pulse,
            is_hearing=lambda: listener.is_hearing,
            intake=self._intake,
            on_tick=self.on_tick,
            hurry=self._hurry,
        )
        self._python_queues = set(queues)
        group.create_task(self.python.run(halted, self._is_dead))

    def look_again(self) -> None:
        """Look for new queues, and for tasks that nobody can run, without waiting for the next time."""
        self._discovery.news.set()

    def _heard(self, queue: str) -> None:
        state = self._discovery.states.get(queue)
        if state is not None:
            state.bell.ring()
        if self.python is not None and queue in self._python_queues:
            self.python.bell.ring()
        elif state is None:
            self._discovery.news.set()

    def _heard_of_cancel(self) -> None:
        if self.python is not None:
            self.python.watcher.bell.ring()

    def _heard_of_request(self) -> None:
        if self._membership is not None:
            self._membership.ring()

    def _heard_of_top(self, queue: str) -> None:
        state = self._discovery.states.get(queue)
        if state is not None:
            state.top_bell.ring()

    def _listens(self) -> None:
        """Nothing was heard before, such as of a new queue or a new schema."""
        self._discovery.news.set()
        self._ring_all()

    def _ring_all(self) -> None:
        if self.python is not None:
            self.python.bell.ring()
        for state in self._discovery.states.values():
            state.bell.ring()
            state.top_bell.ring()
