"""A worker inside a program: it shares the program's event loop, and lives as long as an ``async with`` block."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, cast

import psycopg

from catchment.errors import CatchmentError, DefinitionRefused, RequestRefused, shown
from catchment.model.check import check_count, is_text
from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.settings import read_options
from catchment.task.commands import Commands
from catchment.task.inside import IN_HANDLER


class AppWorker:
    """What ``app.worker()`` returns. One block at a time; it can be entered again after that."""

    def __init__(
        self, commands: Commands, find_dsn: Callable[[], str], *, concurrency: int | None, queues: Iterable[str]
    ) -> None:
        if concurrency is not None:
            check_count(concurrency, name="concurrency")
        self._commands = commands
        self._find_dsn = find_dsn
        self._concurrency = concurrency
        self._queues = _read_names(queues)
        self._running: tuple[Dispatcher, asyncio.Task[None]] | None = None
        self._body: asyncio.Task[Any] | None = None
        self._is_leaving = False
        self._has_cut = False

    async def __aenter__(self) -> None:
        if self._running is not None:
            raise RequestRefused("this worker runs already", hint="Call app.worker() for another one.")
        if IN_HANDLER.get():
            raise RequestRefused(
                "app.worker() in a handler: it would wait for a slot of the worker that runs it",
                hint="Start it where the program starts. To run more in this task, use ctx.spawn.",
            )
        self._check_commands()
        given: dict[str, Any] = {} if self._concurrency is None else {"max_concurrent_tasks": self._concurrency}
        options = read_options(queues=self._queues, **given)
        dsn = await asyncio.to_thread(self._find_dsn)
        self._is_leaving = self._has_cut = False
        dispatcher = Dispatcher(dsn, options, commands=self._commands)
        task = asyncio.create_task(dispatcher.run(), name="catchment worker")
        self._running = dispatcher, task
        serving = asyncio.create_task(dispatcher.serving.wait())
        try:
            await asyncio.wait([serving, task], return_when=asyncio.FIRST_COMPLETED)
        except asyncio.CancelledError:
            await self._leave(dispatcher, task, now=True)
            raise
        finally:
            serving.cancel()
        if task.done():
            self._running = None
            _raise_error_of(task)
            raise CatchmentError("the worker ended before it served")
        self._body = asyncio.current_task()
        task.add_done_callback(self._ended)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._running is None:
            return
        dispatcher, task = self._running
        has_failed = self._has_cut
        if has_failed and self._body is not None and self._body is asyncio.current_task():
            self._body.uncancel()
        await self._leave(dispatcher, task, now=isinstance(error, asyncio.CancelledError))
        if has_failed or error is None:
            _raise_error_of(task)

    async def _leave(self, dispatcher: Dispatcher, task: asyncio.Task[None], *, now: bool) -> None:
        """Stop the worker, and wait until it has stopped. If the wait is cancelled, it stops without any grace."""
        self._is_leaving = True
        dispatcher.stop(now=now)
        try:
            await asyncio.wait([task])
        except asyncio.CancelledError:
            dispatcher.stop(now=True)
            await asyncio.wait([task])
            raise
        finally:
            self._running = None

    def _ended(self, _task: asyncio.Task[None]) -> None:
        """The worker ended although nobody asked it to: the block that relies on it is cancelled."""
        if not self._is_leaving and self._body is not None and not self._body.done():
            self._has_cut = True
            self._body.cancel("the worker of this block has ended")

    def _check_commands(self) -> None:
        if self._commands.is_empty:
            raise RequestRefused(
                "app.worker() of an app without commands: there is nothing to run",
                hint="Decorate a function with @app.command; if commands are in modules that nothing imports, name"
                " them: App(imports=['shop.mail'])",
            )
        for queue in self._queues:
            if queue not in self._commands.queues:
                raise RequestRefused(
                    f"no command of this app is on queue {queue}",
                    hint=f"Its queues: {', '.join(self._commands.queues) or 'none'}.",
                )
        for command in self._commands:
            if command.executor in ("process", "ray") and command.fn.__module__ == "__main__":
                raise DefinitionRefused(
                    f"{command.name} has executor={command.executor!r} and is defined in the program itself, where"
                    " another process cannot find it",
                    hint="Move it into a module, and import it from there.",
                )


def _read_names(queues: Any) -> tuple[str, ...]:
    """The names of queues; a single one stands for itself. Callers are not all typed."""
    names: tuple[Any, ...] = (queues,)
    if isinstance(queues, Iterable) and not isinstance(queues, str | bytes | bytearray | Mapping):
        names = tuple(cast("Iterable[Any]", queues))
    if not all(is_text(name) and name for name in names):
        given = shown(cast("object", queues))
        raise RequestRefused(f"queues is {given}, expected the name of a queue, or a list of names")
    return tuple(dict.fromkeys(names))


def _raise_error_of(task: asyncio.Task[None]) -> None:
    """Raise what ended the worker, if anything did."""
    if task.cancelled():
        raise CatchmentError("the worker was cancelled, by code that cancels all tasks of the event loop")
    error: Any = task.exception()
    while isinstance(error, BaseExceptionGroup):
        error = cast("BaseExceptionGroup[BaseException]", error).exceptions[0]
    if isinstance(error, psycopg.errors.InsufficientPrivilege):
        raise RequestRefused(
            f"this user may not run tasks: {error.diag.message_primary}",
            hint="It needs a role of Catchment: grant catchment_worker to …",
        ) from error
    if error is not None:
        raise error
