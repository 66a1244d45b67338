"""The Python side of a worker: claims, runs and records tasks, with a few connections however many tasks it holds.

To stop, it claims no more, releases tasks that have not started, waits for running handlers, and releases the rest.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta

from catchment.runtime.before_hooks import BeforeHooks
from catchment.runtime.claimer import Claimer
from catchment.runtime.completer import Completer
from catchment.runtime.connection import Link
from catchment.runtime.doorbell import Doorbell, wait_for
from catchment.runtime.events import Events
from catchment.runtime.executor import Executor
from catchment.runtime.held import Held, Holdings, Stop
from catchment.runtime.intake import Intake
from catchment.runtime.journal import Journal
from catchment.runtime.limiter import Limiter, Load, Signals
from catchment.runtime.loop_watch import LoopWatch
from catchment.runtime.memory import memory_usage
from catchment.runtime.metrics import Metrics
from catchment.runtime.options import WorkerOptions
from catchment.runtime.pools import Pools
from catchment.runtime.port import WorkerPort
from catchment.runtime.pulse import Pulse
from catchment.runtime.recorder import Recorder
from catchment.runtime.transactions import Transactions
from catchment.runtime.turns import Turns
from catchment.runtime.watcher import Watcher
from catchment.store.attempt import Ending
from catchment.store.worker import WorkerIdentity
from catchment.task.attempt import Attempt
from catchment.task.commands import Commands

SAMPLE = 0.25
# Seconds that handlers get to end after they were stopped with their worker.
LAST_MOMENT = 1.0
# Seconds at a stop for a running claim, and for recording the last endings.
CLAIM_SECONDS = 2.0
FAREWELL_SECONDS = 10.0


class PythonWorker:
    def __init__(
        self,
        dsn: str,
        identity: WorkerIdentity,
        commands: Commands,
        queues: Sequence[str],
        options: WorkerOptions,
        *,
        metrics: Metrics,
        events: Events,
        pulse: Pulse,
        is_hearing: Callable[[], bool],
        intake: Intake,
        on_tick: Callable[[], None] = lambda: None,
        hurry: asyncio.Event | None = None,
    ) -> None:
        # Set when a stop shall wait for no handler.
        self._hurry = hurry or asyncio.Event()
        self._name = f"worker {identity.worker_id} ({options.name})"
        self._options = options
        self._on_tick = on_tick
        self._intake = intake
        self._events = events
        self._metrics = metrics
        self.bell = Doorbell()
        self._halt = asyncio.Event()
        self._busy = asyncio.Event()
        self._signals = Signals()
        self._worst_lag = 0.0
        self.holdings = Holdings(self.bell.ring)
        self.limiter = Limiter(options, lambda: self._signals, read_left=lambda: self._executor.left_behind)
        # After a fault: the tasks whose handlers were running.
        self.interrupted: list[int] = []
        self._journal = Journal(metrics, events, {command.name: command.options.queue for command in commands})
        self._loop_watch = LoopWatch(commands, events)
        hooks = BeforeHooks(options.call_timeout / 2)

        def link(part: str) -> Link:
            return Link(dsn, part, events, limit=options.call_timeout, on_loss=lambda: self.watcher.suspect())

        def recorder(link: Link) -> Recorder:
            return Recorder(
                identity.worker_id,
                link,
                holdings=self.holdings,
                journal=self._journal,
                events=events,
                hooks=hooks,
                go_on=self._start,
                room=self._room,
                on_retry=lambda: self._claimer.be_restless(),
            )

        is_direct = options.has_session_lock
        self._completer = Completer(link("completer"), recorder, is_direct=is_direct)
        # Large endings take long to record and must not delay the others.
        self._large_completer = Completer(link("large completer"), recorder, is_lazy=True, is_direct=is_direct)
        self._turns = Turns(options.transactions, options.give_back)
        transactions = Transactions(
            dsn,
            pulse=pulse,
            turns=self._turns,
            limit=options.transaction_limit,
            committed=self._committed,
            waits=self._waits,
        )
        self._transactions = transactions
        self._port = WorkerPort(dsn, transactions, self._turns, events, limit=options.call_timeout)
        self.pools = Pools(
            threads=options.threads,
            processes=options.processes,
            give_back=options.give_back,
            limit=options.max_result_bytes,
        )
        self._executor = Executor(
            commands,
            port=self._port,
            pools=self.pools,
            metrics=metrics,
            events=events,
            finish=self._finish,
            drop=lambda held: self.holdings.drop([held]),
            most=lambda: self.limiter.limit,
            stop_grace=options.stop_grace,
            limit=options.max_result_bytes,
            worker_id=identity.worker_id,
        )
        self.watcher = Watcher(
            dsn,
            identity,
            self.holdings,
            self._executor,
            events,
            every=options.watch_interval,
            limit=options.call_timeout,
            count_claims=lambda: metrics.claims,
        )
        self._claimer = Claimer(
            dsn,
            identity,
            queues,
            options,
            holdings=self.holdings,
            limiter=self.limiter,
            metrics=metrics,
            events=events,
            hooks=hooks,
            bell=self.bell,
            start=self._start,
            is_hearing=is_hearing,
            intake=intake,
            on_loss=self.watcher.suspect,
            stopping=self._halt,
        )

    async def run(self, stopping: asyncio.Event, is_dead: asyncio.Event) -> None:
        """Serve until stopped. If the database has declared this worker dead, its handlers are cancelled."""
        try:
            await self._run(stopping, is_dead)
        except BaseException:
            self.interrupted = [held.id for held in self.holdings if held.has_started]
            raise
        finally:
            self._loop_watch.close()
            self.pools.close()
            await self._transactions.close()

    @property
    def left_behind(self) -> int:
        """How many coroutines of handlers were stopped but still run."""
        return self._executor.left_behind

    async def _run(self, stopping: asyncio.Event, is_dead: asyncio.Event) -> None:
        returned = asyncio.Event()
        async with asyncio.TaskGroup() as parts:
            completers = {c: parts.create_task(c.run()) for c in (self._completer, self._large_completer)}
            executor = parts.create_task(self._executor.run(returned))
            claimer = parts.create_task(self._claimer.run())
            port = parts.create_task(self._port.run(returned))
            watcher = parts.create_task(self.watcher.run(returned))
            limits = parts.create_task(self._watch_limits())
            await stopping.wait()
            self._halt.set()
            self.bell.ring()
            await asyncio.wait([claimer], timeout=CLAIM_SECONDS)
            self._claimer.link.close(claimer)
            await self._drain(is_dead)
            returned.set()
            await executor
            for completer in completers:
                completer.close()
            await asyncio.wait(completers.values(), timeout=FAREWELL_SECONDS)
            for completer, runner in completers.items():
                completer.abandon(runner)
            self._port.link.close(port)
            self.watcher.link.close(watcher)
            limits.cancel()

    def give_back_unstarted(self) -> None:
        """What was claimed and has not started is for others."""
        self._give_back(self._executor.take_unstarted())

    def take_lag(self) -> float:
        """By how many seconds the event loop was late at most, since the last call; called from any thread."""
        lag, self._worst_lag = self._worst_lag, 0.0
        return lag

    def _finish(self, ending: Ending) -> None:
        (self._large_completer if ending.is_large else self._completer).submit(ending)

    def load(self) -> Load:
        """How busy this side is now; called from any thread."""
        felt = replace(
            self._signals,
            memory=memory_usage(),
            completer_age=self._completer.age,
            transaction_age=self._turns.age,
        )
        return self.limiter.load(len(self.holdings), felt)

    def _start(self, attempts: list[Held]) -> None:
        for held in attempts:
            before = self.holdings.get(held.id)
            # The task was taken over from this worker and claimed by it again before the watcher noticed.
            if before is not None and before is not held:
                self._executor.stop(before, Stop.LOST, "the claim was lost")
        self.holdings.add(attempts)
        self._busy.set()
        self._executor.start(attempts)

    def _room(self, freed: int) -> int:
        """How many next tasks of lanes may start when ``freed`` slots become free; 0 while the worker takes none."""
        return 0 if self._halt.is_set() or not self._intake.is_open else self.limiter.free(len(self.holdings) - freed)

    def _committed(self, ending: Ending, state: str) -> None:
        self._journal.settled([ending], {ending.attempt.id: state})
        if isinstance(ending.attempt, Held):
            self.holdings.drop([ending.attempt])

    def _waits(self, context: Attempt, is_waiting: bool) -> None:
        """Pause the time limit of an attempt while it waits for a connection."""
        held = self.holdings.get(context.task_id)
        if held is not None and held.fence == context.fence:
            (self._executor.limits.pause if is_waiting else self._executor.limits.resume)(held)

    async def _drain(self, is_dead: asyncio.Event) -> None:
        """Release tasks that have not started, wait for the rest, then release those too."""
        self.give_back_unstarted()
        if not is_dead.is_set():
            await self._wait_for_handlers(self._options.shutdown_grace)
        stop, reason = Stop.RELEASED, f"{self._name} stopped"
        if is_dead.is_set():
            stop, reason = Stop.LOST, "the claim was lost"
        left = list(self.holdings)
        if left:
            what = "1 task still runs and is" if len(left) == 1 else f"{len(left)} tasks still run and are"
            fate = "stopped: the claims are lost" if is_dead.is_set() else "given back"
            self._events.emit("worker.gives_back", f"{what} {fate}", level=logging.WARNING)
        for held in left:
            self._executor.stop(held, stop, reason, grace=LAST_MOMENT)

    def _give_back(self, unstarted: list[Held]) -> None:
        for held in unstarted:
            held.is_settled = True
            self._completer.submit(Ending(held, "released"))

    async def _wait_for_handlers(self, grace: timedelta) -> None:
        until = time.monotonic() + grace.total_seconds()
        while len(self.holdings) and time.monotonic() < until and not self._hurry.is_set():
            await wait_for(self.bell.listen(), timedelta(seconds=min(0.1, max(0.0, until - time.monotonic()))))

    async def _watch_limits(self) -> None:
        """Measure the load four times a second while there is any, and adjust the limit once a second."""
        cap = self._options.max_concurrent_tasks
        ticks = 0
        while True:
            if not len(self.holdings) and self.limiter.limit == cap:
                self._signals = Signals()
                self._loop_watch.rest()
                self._busy.clear()
                await self._busy.wait()
            before = time.monotonic()
            self._loop_watch.beat()
            await asyncio.sleep(SAMPLE)
            self._on_tick()
            lag = time.monotonic() - before - SAMPLE
            self._worst_lag = max(self._worst_lag, lag)
            self._signals = Signals(
                memory=memory_usage(),
                slowest_p99=self._metrics.slowest(),
                loop_lag=lag,
                completer_age=self._completer.age,
                transaction_age=self._turns.age,
            )
            self._give_back(self._executor.take_unstarted(older_than=self._options.give_back))
            ticks += 1
            if ticks % 4 == 0:
                was = self.limiter.limit
                self.limiter.adjust()
                self._tell(was)

    def _tell(self, was: int) -> None:
        if self.limiter.limit < was:
            reasons = ", ".join(sorted(self.limiter.reasons))
            self._events.emit(
                "worker.backpressure",
                f"holds at most {self.limiter.limit} tasks now: {reasons}",
                level=logging.WARNING,
                limit=self.limiter.limit,
                reasons=reasons,
            )
        elif self.limiter.limit > was:
            self.bell.ring()
