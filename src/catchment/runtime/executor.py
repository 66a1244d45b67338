"""Runs claimed attempts. Handlers that never wait are run one after the other by one asyncio task; each one that waits
gets a separate task, because the next runner starts as soon as it does. So a thousand sleeping handlers cost a thousand
tasks, and a thousand trivial ones cost one. What was claimed ahead waits until a handler returns.

No handler is affected by one that ran before it. A runner takes the next attempt only if the last handler changed no
context variable, was not cancelled, and kept no reference to the runner that could cancel it later, as
``call_later(1, current_task().cancel)`` does. Else the runner ends, and another takes over.

A handler that was stopped but still runs is left behind after a grace: its attempt is settled, and its runner keeps its
slot until it returns.
"""

from __future__ import annotations

import asyncio
import contextvars
import logging
import sys
import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import cast

from catchment.runtime.events import Events
from catchment.runtime.guarded import RunnerTask
from catchment.runtime.handler_call import HandlerCalls
from catchment.runtime.held import Held, Stop
from catchment.runtime.metrics import Metrics
from catchment.runtime.outcome import Outcomes, put_off
from catchment.runtime.pools import Pools
from catchment.runtime.port import HandlerPort
from catchment.runtime.time_limits import TimeLimits
from catchment.store.attempt import Ending
from catchment.task.commands import Commands
from catchment.task.encode import DEFAULT_LIMIT
from catchment.task.inside import IN_HANDLER, RUNNING, SITE, Site

# How long handlers that never wait may keep the event loop before others get their turn.
TURN = 0.005


class Executor:
    """``finish`` takes ended attempts, ``drop`` those that another worker has. ``most`` says how many may run now.

    ``stop_grace`` is how long a stopped handler may continue, ``limit`` the largest result in bytes of JSON.
    """

    def __init__(
        self,
        commands: Commands,
        *,
        port: HandlerPort,
        pools: Pools,
        metrics: Metrics,
        events: Events,
        finish: Callable[[Ending], None],
        drop: Callable[[Held], None],
        most: Callable[[], int] = lambda: sys.maxsize,
        stop_grace: timedelta = timedelta(seconds=10),
        limit: int = DEFAULT_LIMIT,
        worker_id: int | None = None,
    ) -> None:
        self._commands = {command.name: command for command in commands}
        self._middlewares = {name: commands.middlewares_of(name) for name in commands.names}
        # Coroutines that nothing but their arguments goes into: most trivial handlers.
        self._simple = frozenset(
            name
            for name, command in self._commands.items()
            if command.executor == "async" and not command.wants_context and not self._middlewares[name]
        )
        self._port = port
        self._metrics = metrics
        self._events = events
        self._finish = finish
        self._most = most
        self._stop_grace = stop_grace.total_seconds()
        self._outcomes = Outcomes(limit=limit, metrics=metrics, events=events, drop=drop)
        self.limits = TimeLimits(port, self.stop)
        # Asked once, because the question costs as much as a trivial handler.
        self._begin = self._log_and_begin if events.is_heard(logging.DEBUG) else self.limits.begin
        self._calls = HandlerCalls(
            port=port,
            pools=pools,
            outcomes=self._outcomes,
            commands=self._commands,
            middlewares=self._middlewares,
            begin=self._begin,
        )
        self._is_traced = self._calls.is_traced
        self._running = 0
        self._queue: deque[Held] = deque()
        self._spare: asyncio.Task[None] | None = None
        self._runners: set[asyncio.Task[None]] = set()
        self._left: set[Held] = set()
        self._fault: BaseException | None = None
        self._news = asyncio.Event()
        self._is_serving = False
        self._is_over = False
        self._loop = asyncio.get_running_loop()
        self._context = contextvars.copy_context()  # what every attempt begins with
        self._context.run(IN_HANDLER.set, True)
        self._context.run(SITE.set, Site(worker_id, {command.name: command.options.queue for command in commands}))

    @property
    def left_behind(self) -> int:
        """How many handlers still run although their attempts are settled, or although the executor has ended."""
        return len(self._runners if self._is_over else self._left)

    async def run(self, until: asyncio.Event) -> None:
        """Run attempts until ``until`` is set and every handler has returned or was left behind.

        Not a task group: that would wait for handlers that never return.
        """
        self._is_serving = True
        stopping = self._loop.create_task(until.wait())
        stopping.add_done_callback(lambda _: self._news.set())
        try:
            self._start_runner()
            while self._fault is None and not (until.is_set() and len(self._runners) == len(self._left)):
                self._news.clear()
                await self._news.wait()
            if self._fault is not None:
                raise self._fault
        finally:
            # A runner that is cancelled from here on was cancelled by the executor, not by its handler.
            self._is_over = True
            self.limits.close()
            for task in (stopping, *self._runners):
                task.cancel()
            going = self._runners - {held.runner for held in self._left}
            await asyncio.wait([stopping, *going], timeout=self._stop_grace)

    def start(self, attempts: list[Held]) -> None:
        """Take claimed attempts; they start as soon as fewer than ``most`` run."""
        now = time.monotonic()
        for held in attempts:
            held.since = now
        self._queue.extend(attempts)
        self._start_runner()

    def take_unstarted(self, *, older_than: timedelta = timedelta()) -> list[Held]:
        """Take back the attempts that have not started, or only those that have waited for longer than
        ``older_than``."""
        until = time.monotonic() - older_than.total_seconds()
        unstarted: list[Held] = []
        while self._queue and self._queue[0].since <= until:
            unstarted.append(self._queue.popleft())
        return unstarted

    def stop(self, held: Held, stop: Stop, reason: str, *, grace: float | None = None) -> None:
        """Ask a handler to stop: a coroutine is cancelled, a thread sees ``ctx.cancelled`` and is waited for.

        A handler that was cancelled but still runs can also time out, or be stopped with the worker. After ``grace``,
        by default the stop grace, it is left behind.
        """
        if held.is_settled:
            return
        if held.stop in (None, Stop.CANCELLED) and held.stop is not stop:
            held.stop, held.stop_reason = stop, reason
            if held.context is not None:
                held.context.mark_cancelled(reason)
            if held.runner is not None:
                held.runner.cancel()
        elif grace is None:
            return
        if held.runner is not None:
            self._give_grace(held, self._stop_grace if grace is None else grace)

    def _give_grace(self, held: Held, seconds: float) -> None:
        if held.stop is Stop.CANCELLED and held.context is not None and not held.context.is_async:
            return  # a cancelled thread is waited for
        if held.grace is not None:
            held.grace.cancel()
        held.grace = self._loop.call_later(seconds, self._write_off, held)

    def _write_off(self, held: Held) -> None:
        """Settle an attempt whose handler does not stop."""
        if held.is_settled or held.runner is None:
            return
        self._left.add(held)
        held.is_left = True
        held.seconds = time.monotonic() - held.since
        self._events.emit(
            "task.left_behind",
            f"{held.command} {held.id} was stopped ({held.stop_reason}) and continues: it is left behind, in its slot",
            level=logging.ERROR,
            task_id=held.id,
            command=held.command,
            count=len(self._left),
        )
        if held.context is not None:
            held.context.mark_cancelled(held.stop_reason or "stopped", is_over=True)
            self._port.abandon(held.context)
        self._hand_over(held, self._outcomes.stopped(held))
        self._news.set()

    def _hand_over(self, held: Held, ending: Ending | None) -> None:
        if ending is not None:
            held.is_settled = True
            self._finish(ending)

    def _start_runner(self) -> None:
        if self._spare is None and self._is_serving and self._queue and self._running < self._most():
            self._running += 1
            context = self._context.copy()
            task = self._spare = RunnerTask(self._run_queue(context), loop=self._loop, context=context)
            self._runners.add(task)
            task.add_done_callback(self._runner_ended)

    def _runner_ended(self, task: asyncio.Task[None]) -> None:
        self._runners.discard(task)
        if not task.cancelled() and (fault := task.exception()) is not None:
            self._fault = fault
        if self._fault is not None or not self._runners or self._left:
            self._news.set()

    async def _run_queue(self, context: contextvars.Context) -> None:
        self._spare = None
        try:
            await self._run_queued(context)
        finally:
            self._running -= 1
            self._start_runner()

    async def _run_queued(self, context: contextvars.Context) -> None:
        runner = cast("asyncio.Task[None]", asyncio.current_task())
        references = sys.getrefcount(runner)
        now = time.monotonic()
        turn_ends = now + TURN
        while self._queue and self._running <= self._most() and not self._is_over:
            held = self._queue.popleft()
            if self._spare is None and self._queue:
                self._start_runner()  # it gets its chance when the handler below waits, if there is more to do
            began = held.since = now
            ending = await self.run_one(held, runner)
            now = time.monotonic()
            if ending is None or ending.asked != "released":
                self._metrics.returned(held.command, now - began)
            if held.is_left:
                self._left.discard(held)
            else:
                held.seconds = now - began
                self._hand_over(held, ending)
            if sys.getrefcount(runner) != references or runner.cancelling() or not self._is_clean(context):
                return
            if now > turn_ends:
                await asyncio.sleep(0)
                now = time.monotonic()
                turn_ends = now + TURN

    def _is_clean(self, context: contextvars.Context) -> bool:
        """Are all context variables as they were? Costs nothing if none was set; else their values are compared."""
        try:
            return context == self._context
        except BaseException:  # values may be of any class
            return False

    async def run_one(self, held: Held, runner: asyncio.Task[None] | None = None) -> Ending | None:
        """Run one attempt to its end, whatever its handler raises; None when its ending is recorded elsewhere.
        ``runner`` is the current task."""
        command = self._commands.get(held.command)
        if command is None:
            return self._unknown(held)
        held.runner = runner = runner or asyncio.current_task()
        token = RUNNING.set(held)
        try:
            if held.stop is not None:
                raise asyncio.CancelledError
            arguments = command.payload.load(held.payload)
            if held.phase == 0 and held.command in self._simple:
                self._begin(held)
                if not self._is_traced:
                    return self._outcomes.completed(held, await command.fn(**arguments), command.returns)
                with self._calls.span(command, held):
                    return self._outcomes.completed(held, await command.fn(**arguments), command.returns)
            return await self._calls.run(command, held, arguments)
        except BaseException as error:
            if self._is_over or self._is_cancelled_from_outside(error, runner):
                raise
            return None if held.is_left else self._outcomes.of_error(held, error)
        finally:
            RUNNING.reset(token)
            held.runner = None
            if held.timer is not None:
                held.timer.cancel()
            if held.grace is not None:
                held.grace.cancel()

    def _is_cancelled_from_outside(self, error: BaseException, runner: asyncio.Task[None] | None) -> bool:
        """Is this the cancellation of a caller that has lent us its own task, as tests do?"""
        if self._is_serving or runner is None:
            return False
        return isinstance(error, asyncio.CancelledError) and runner.cancelling() > 0

    def _log_and_begin(self, held: Held) -> None:
        self.limits.begin(held)
        self._events.emit(
            "task.started",
            f"{held.command} {held.id} starts{f', attempt {held.attempt}' if held.attempt > 1 else ''}",
            level=logging.DEBUG,
            task_id=held.id,
            command=held.command,
            queue=self._commands[held.command].options.queue,
            attempt=held.attempt,
            is_join=held.phase == 1,
        )

    def _unknown(self, held: Held) -> Ending:
        self._port.warn(held.id, held.command)
        return put_off(held)
