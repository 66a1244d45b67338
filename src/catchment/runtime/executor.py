"""Runs claimed attempts. Handlers that never wait are run one after the other by one asyncio task; each one that waits
gets a task of its own, because the next runner starts as soon as it does. So a thousand sleeping handlers cost a
thousand tasks, and a thousand trivial ones cost one. What was claimed ahead waits until a handler returns.
"""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import Any

from pydantic_core import PydanticSerializationError, to_json

from catchment.errors import ClaimLost, GiveUp, TaskCancelled
from catchment.runtime.events import Events
from catchment.runtime.held import Held, Stop
from catchment.runtime.metrics import Metrics
from catchment.runtime.pools import Json, NotStarted, Pools, ProcessError
from catchment.runtime.port import HandlerPort
from catchment.store.attempt import Ending
from catchment.task import tracing
from catchment.task.command import Command
from catchment.task.commands import Commands
from catchment.task.context import Context
from catchment.task.failure import describe_error
from catchment.task.middleware import compose

AnyCommand = Command[..., Any]

# How long handlers that never wait may keep the event loop before others get their turn.
TURN = 0.005
_NO_SPAN: AbstractContextManager[object] = nullcontext()
UNKNOWN_COMMAND_DELAY = 5.0


class Executor:
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
    ) -> None:
        self._commands = {command.name: command for command in commands}
        self._middlewares = commands.middlewares
        self._port = port
        self._pools = pools
        self._metrics = metrics
        self._events = events
        self._finish = finish
        self._drop = drop
        self._most = most
        self._running = 0
        self._queue: deque[Held] = deque()
        self._spare: asyncio.Task[None] | None = None
        self._runners: asyncio.TaskGroup | None = None
        self._loop = asyncio.get_running_loop()
        self._is_traced = tracing.is_on()  # asked once: the question costs as much as a trivial handler

    async def run(self, until: asyncio.Event) -> None:
        """Run what is started until ``until`` is set and every handler has returned."""
        async with asyncio.TaskGroup() as runners:
            self._runners = runners
            if self._queue:
                self._start_runner()
            await until.wait()

    def start(self, attempts: list[Held]) -> None:
        """Take claimed attempts; they start as soon as fewer than ``most`` run."""
        now = time.monotonic()
        for held in attempts:
            held.since = now
        self._queue.extend(attempts)
        self._start_runner()

    def take_unstarted(self, *, older_than: timedelta = timedelta()) -> list[Held]:
        """Take back what has not started, or what has been waiting for so long."""
        until = time.monotonic() - older_than.total_seconds()
        unstarted: list[Held] = []
        while self._queue and self._queue[0].since <= until:
            unstarted.append(self._queue.popleft())
        return unstarted

    def stop(self, held: Held, stop: Stop, reason: str) -> None:
        """Tell a handler to stop: a coroutine is cancelled, a thread sees ``ctx.cancelled`` and is waited for. One that
        was cancelled and goes on can still time out, or be left when the worker stops."""
        if held.is_settled or held.stop not in (None, Stop.CANCELLED) or held.stop is stop:
            return
        held.stop, held.stop_reason = stop, reason
        if held.context is not None:
            held.context.mark_cancelled(reason)
        if held.runner is not None:
            held.runner.cancel()

    def _start_runner(self) -> None:
        if self._spare is None and self._runners is not None and self._queue and self._running < self._most():
            self._running += 1
            self._spare = self._runners.create_task(self._run_queue())

    async def _run_queue(self) -> None:
        self._spare = None
        try:
            await self._run_queued()
        finally:
            self._running -= 1

    async def _run_queued(self) -> None:
        now = time.monotonic()
        turn_ends = now + TURN
        while self._queue and self._running <= self._most():
            held = self._queue.popleft()
            self._start_runner()  # it gets its chance when the handler below waits, if there is more to do
            began = now
            ending = await self.run_one(held)
            now = time.monotonic()
            held.seconds = now - began
            if ending is None or ending.asked != "released":
                self._metrics.finished(held.command, now - began, now)
            if ending is not None:
                held.is_settled = True
                self._finish(ending)
            if now > turn_ends:
                await asyncio.sleep(0)
                now = time.monotonic()
                turn_ends = now + TURN

    async def run_one(self, held: Held) -> Ending | None:
        """Run one attempt to its end; None when somebody else records that."""
        command = self._commands.get(held.command)
        if command is None:
            return self._unknown(held)
        runner = held.runner = asyncio.current_task()
        if command.executor == "async":
            self._start_timer(held)
        try:
            if held.stop is not None:
                raise asyncio.CancelledError
            arguments = command.payload.load(held.payload)
            if command.executor == "async" and not command.wants_context and not self._middlewares and held.phase == 0:
                if not self._is_traced:
                    return self._completed(held, await command.fn(**arguments))
                with self._span(command, held):
                    return self._completed(held, await command.fn(**arguments))
            return await self._run_in_context(command, held, arguments)
        except asyncio.CancelledError:
            return self._stopped(held)
        except NotStarted:
            return Ending(held, "released")
        except ClaimLost:
            return self._dropped(held)
        except TaskCancelled as error:
            return self._ended(held, "cancelled" if held.stop is Stop.CANCELLED else "failed", error)
        except (Exception, SystemExit) as error:  # a handler that calls sys.exit() ends itself, not its worker
            return self._ended(held, "failed", error)
        finally:
            held.runner = None
            if held.timer is not None:
                held.timer.cancel()
            # The runner goes on with other attempts: what was meant for this one must not reach them.
            while held.stop is not None and runner is not None and runner.cancelling():
                runner.uncancel()

    async def _run_in_context(self, command: AnyCommand, held: Held, arguments: dict[str, Any]) -> Ending | None:
        join = command.join_part if held.phase == 1 else None
        context = held.context = Context(
            self._port,
            task_id=held.id,
            fence=held.fence,
            command=held.command,
            queue=command.options.queue,
            attempt=held.attempt,
            failures=held.failures,
            max_attempts=held.max_attempts,
            parent_id=held.parent_id,
            workflow=held.lane or None,
            is_join=held.phase == 1,
            is_async=join.is_async if join else command.is_async,
        )
        if held.phase == 1:
            if join is None:
                raise GiveUp(
                    f"{command.name} has no join here: its children are done, and nothing says what to do next"
                )
            fn, bound = join.fn, join.bind(context, await self._port.children(held.id), arguments)
        else:
            fn, bound = command.fn, command.bind(context, arguments)
        executor = command.executor if join is None else "async" if join.is_async else "thread"
        call = self._caller(executor, command, held, fn, bound)
        try:
            with self._span(command, held):
                value = await compose(self._middlewares, context, call)()
            ending = self._completed(held, value, context)
            return ending if await self._port.commit(context, ending) is None else None
        finally:
            await self._port.leave(context)

    def _span(self, command: AnyCommand, held: Held) -> AbstractContextManager[object]:
        if not self._is_traced:
            return _NO_SPAN
        return tracing.running(
            held.command, trace=held.trace, task_id=held.id, queue=command.options.queue, attempt=held.attempt
        )

    def _caller(
        self, executor: str, command: AnyCommand, held: Held, fn: Callable[..., Any], bound: dict[str, Any]
    ) -> Callable[[], Awaitable[Any]]:
        if executor == "async":
            self._start_timer(held)
            return lambda: fn(**bound)

        def starts() -> None:
            self._start_timer(held)

        if executor == "process":
            return lambda: self._pools.run_in_process(command.path, held.payload, starts=starts)
        return lambda: self._pools.run_in_thread(fn, bound, waits=lambda: held.stop is Stop.CANCELLED, starts=starts)

    def _completed(self, held: Held, value: Any, context: Context | None = None) -> Ending:
        try:
            if isinstance(value, Json):
                result = value.text
            else:
                result = None if value is None else to_json(value, inf_nan_mode="strings").decode()
        except PydanticSerializationError as error:
            raise GiveUp(f"the result of {held.command} cannot be written as JSON: {error}") from error
        made = None if context is None else context.recorded
        if made is None:
            return Ending(held, result=result)
        return Ending(
            held,
            info=made.info_json(),
            result=result,
            spawns=made.spawns_json(),
            child_mode=made.child_mode,
            on_failure=made.on_failure,
            follow_ups=made.follow_ups_json(),
        )

    def _ended(self, held: Held, asked: str, error: BaseException) -> Ending:
        described = error.described if isinstance(error, ProcessError) else describe_error(error)
        return Ending(held, asked, error=to_json(described).decode(), failure=described)

    def _stopped(self, held: Held) -> Ending | None:
        """The handler was cancelled: by us, for a reason, or by itself."""
        if held.stop is None:
            return self._ended(held, "failed", RuntimeError(f"the handler of {held.command} cancelled itself"))
        if held.stop is Stop.LOST:
            return self._dropped(held)
        if held.stop is Stop.RELEASED:
            return Ending(held, "released")
        if held.stop is Stop.TIMED_OUT:
            return self._ended(held, "failed", TimeoutError(held.stop_reason))
        return self._ended(held, "cancelled", TaskCancelled(held.stop_reason or "cancelled"))

    def _dropped(self, held: Held) -> None:
        """Somebody else has the task now: its end here means nothing."""
        self._metrics.fenced_writes += 1
        self._events.emit(
            "task.fenced",
            f"{held.command} {held.id}: the claim was lost, its handler was stopped",
            level=logging.WARNING,
            id=held.id,
            fence=held.fence,
        )
        self._drop(held)

    def _unknown(self, held: Held) -> Ending:
        self._port.warn(held.id, held.command)
        return Ending(held, "released", error=to_json({"retry_after": UNKNOWN_COMMAND_DELAY}).decode())

    def _start_timer(self, held: Held) -> None:
        """The time limit begins when there is a thread or process: waiting for one is not the handler's fault."""
        if held.timeout is not None and held.timer is None:
            held.timer = self._loop.call_later(held.timeout.total_seconds(), self._time_out, held)

    def _time_out(self, held: Held) -> None:
        self.stop(held, Stop.TIMED_OUT, f"timed out after {held.timeout}")
