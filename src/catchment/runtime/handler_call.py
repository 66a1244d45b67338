"""Calls one handler: with its context, in its thread, process or coroutine, and through the middlewares of its app."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import replace
from typing import Any

from catchment.errors import ResultRefused
from catchment.model.state import TaskState
from catchment.runtime.held import Held, Stop
from catchment.runtime.outcome import Outcomes
from catchment.runtime.pools import Pools
from catchment.runtime.port import HandlerPort
from catchment.store.attempt import Ending
from catchment.task import tracing
from catchment.task.child import Child
from catchment.task.command import Command, Join
from catchment.task.context import Context
from catchment.task.middleware import Middleware, compose
from catchment.task.returns import Unreadable

AnyCommand = Command[..., Any]
_NO_SPAN: AbstractContextManager[object] = nullcontext()


class HandlerCalls:
    """``middlewares``: those of each command. ``begin`` is called when a handler starts, which may be after a wait for
    a thread or a process."""

    def __init__(
        self,
        *,
        port: HandlerPort,
        pools: Pools,
        outcomes: Outcomes,
        middlewares: Mapping[str, Sequence[Middleware]],
        commands: Mapping[str, AnyCommand],
        begin: Callable[[Held], None],
    ) -> None:
        self._port = port
        self._pools = pools
        self._outcomes = outcomes
        self._commands = commands
        self._middlewares = middlewares
        self._begin = begin
        self.is_traced = tracing.is_on()  # asked once: the question costs as much as a trivial handler

    async def run(self, command: AnyCommand, held: Held, arguments: dict[str, Any]) -> Ending | None:
        """Run an attempt with a context; None when its ending is recorded already, or is recorded elsewhere."""
        if self._port.must_wait(held.command):
            await self._port.enter()
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
            lane=held.lane or None,
            is_join=held.phase == 1,
            is_async=join.is_async if join else command.is_async,
        )
        if held.phase == 1:
            if join is None:
                raise ResultRefused(
                    f"{command.name} has no join here: its children are done, and nothing says what to do next"
                )
            fn, bound = join.fn, join.bind(context, await self._children(held), arguments)
        else:
            fn, bound = command.fn, command.bind(context, arguments)
        executor = command.executor if join is None else "async" if join.is_async else "thread"
        call = self._caller(executor, command, held, fn, bound)
        try:
            with self.span(command, held):
                value = await compose(self._middlewares[command.name], context, call)()
                if context.snoozed is not None:
                    raise context.snoozed
                if held.phase == 0:
                    _check_join(command, context, value)
                    if context.awaits_join and not context.has_children and command.join_part is not None:
                        value = await self._join_at_once(command, command.join_part, held, context, arguments)
            is_joined = held.phase == 0 and command.join_part is not None and context.has_children
            ending = self._outcomes.completed(held, value, None if is_joined else command.returns, context)
            if held.is_left:
                return None
            held.seconds = time.monotonic() - held.since
            # If the claim was lost, the attempt fails: its handler may have settled the task in the transaction that is
            # now undone. If another worker has the claim, the database refuses that failure.
            return ending if await self._port.commit(context, ending) is None else None
        except BaseException as error:
            loss = self._port.loss(context, error)
            if loss is None or held.stop is not None or loss is error:
                raise
            raise loss from error  # whatever the handler made of it
        finally:
            await self._port.leave(context)

    async def _join_at_once(
        self, command: AnyCommand, join: Join, held: Held, context: Context, arguments: dict[str, Any]
    ) -> Any:
        """Run the join of a handler that leaves its result to it and has spawned nothing."""
        context.is_join, context.is_async = True, join.is_async
        executor = "async" if join.is_async else "thread"
        call = self._caller(executor, command, held, join.fn, join.bind(context, [], arguments))
        value = await compose(self._middlewares[command.name], context, call)()
        if context.snoozed is not None:
            raise context.snoozed
        return value

    async def _children(self, held: Held) -> list[Child[Any]]:
        """The children for a join; the result of each is read as its own command says."""
        return [self._read(child) for child in await self._port.children(held.id)]

    def _read(self, child: Child[Any]) -> Child[Any]:
        command = self._commands.get(child.command)
        if command is None or child.state is not TaskState.COMPLETED:
            return child
        try:
            result = command.returns.load(child.result)
        except Unreadable as error:
            raise ResultRefused(f"the result of child {child.id} ({child.command}) cannot be read: {error}") from error
        return child if result is child.result else replace(child, result=result)

    def span(self, command: AnyCommand, held: Held) -> AbstractContextManager[object]:
        """The span of an attempt, in the trace of its enqueue."""
        return self._traced(command, held) if self.is_traced else _NO_SPAN

    @contextmanager
    def _traced(self, command: AnyCommand, held: Held) -> Generator[None]:
        with tracing.running(
            held.command, trace=held.trace, task_id=held.id, queue=command.options.queue, attempt=held.attempt
        ):
            held.span = tracing.span_fields()
            yield

    def _caller(
        self, executor: str, command: AnyCommand, held: Held, fn: Callable[..., Any], bound: dict[str, Any]
    ) -> Callable[[], Awaitable[Any]]:
        if executor == "async":
            self._begin(held)
            return lambda: fn(**bound)

        def starts() -> None:
            self._begin(held)

        around = command.surroundings
        if executor == "process":
            return lambda: self._pools.run_in_process(command.path, held.payload, set_up=around.set_up, starts=starts)
        if executor == "ray":
            return lambda: self._pools.run_on_ray(
                command.path,
                held.payload,
                set_up=around.set_up,
                starts=starts,
                name=command.name,
                resources=command.options.resources,
            )
        plain = around.around(fn)
        return lambda: self._pools.run_in_thread(plain, bound, waits=lambda: held.stop is Stop.CANCELLED, starts=starts)


def _check_join(command: AnyCommand, context: Context, value: Any) -> None:
    """Raise ``ResultRefused`` if what a handler returned would be lost, or if nothing would say what the result is."""
    if command.join_part is None:
        if context.awaits_join:
            raise ResultRefused(f"{command.lacks_join}: define it, @{command.fn.__name__}.join")
        if value is None and context.has_children and not command.returns.takes_none:
            raise ResultRefused(
                f"{command.name} has spawned children and returned None, expected {command.returns.written}: return the"
                f" result, or define a join that does, @{command.fn.__name__}.join"
            )
    elif value is not None and (context.has_children or context.awaits_join):
        raise ResultRefused(
            f"{command.name} has returned a value that would be lost: its result is what its join returns. End it with:"
            " return ctx.result_of_join()"
        )
