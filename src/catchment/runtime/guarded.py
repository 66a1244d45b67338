"""Keeps the event loop and the asyncio tasks of a worker from its handlers.

Handlers run on the worker's event loop. One that stops the loop, closes its asynchronous generators, or cancels
``asyncio.all_tasks()`` would interrupt every attempt beside it. Here such a call raises in the handler that makes it,
and the attempt of that handler fails.
"""

from __future__ import annotations

import asyncio
import weakref
from collections.abc import Callable
from typing import Any

import uvloop

from catchment.errors import RequestRefused
from catchment.task.inside import IN_HANDLER


def _refuse(call: str) -> RequestRefused:
    return RequestRefused(
        f"{call} by a handler: the event loop and its tasks belong to the worker",
        hint="Cancel only tasks that the handler has started itself.",
    )


class OwnTask(asyncio.Task[Any]):
    """A task of the worker, which no handler can cancel."""

    def cancel(self, msg: Any | None = None) -> bool:
        if IN_HANDLER.get():
            raise _refuse("Task.cancel() on a task of the worker")
        return super().cancel(msg)


class RunnerTask(asyncio.Task[Any]):
    """A task in which handlers run. The handler in it may cancel it, and so may its own tasks and every callback, such
    as that of ``asyncio.timeout``; other handlers may not."""

    def cancel(self, msg: Any | None = None) -> bool:
        caller = asyncio.current_task() if IN_HANDLER.get() else None
        if caller is not None and _runner_of(caller) is not self:
            raise _refuse("Task.cancel() on the task of another handler")
        return super().cancel(msg)


class HandlerTask(asyncio.Task[Any]):
    """A task that a handler has started."""

    runner: Callable[[], RunnerTask | None]


def _runner_of(task: asyncio.Task[Any] | None) -> RunnerTask | None:
    if isinstance(task, HandlerTask):
        return task.runner()
    return task if isinstance(task, RunnerTask) else None


def make_task(loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> asyncio.Task[Any]:
    """The task factory of a worker's loop."""
    if not IN_HANDLER.get():
        return OwnTask(coro, loop=loop, **options)
    task = HandlerTask(coro, loop=loop, **options)
    runner = _runner_of(asyncio.current_task(loop))
    # Weak: the executor looks for references that could cancel the runner later.
    task.runner = weakref.ref(runner) if runner is not None else _no_runner
    return task


def _no_runner() -> None:
    return None


class WorkerLoop(uvloop.Loop):
    """An event loop whose end and whose settings are the worker's."""

    def __init__(self) -> None:
        super().__init__()
        self.set_task_factory(make_task)

    def stop(self) -> None:
        self._check("loop.stop()")
        super().stop()

    def close(self) -> None:
        self._check("loop.close()")
        super().close()

    async def shutdown_asyncgens(self) -> None:
        self._check("loop.shutdown_asyncgens()")
        await super().shutdown_asyncgens()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:  # noqa: ASYNC109 - as in uvloop
        self._check("loop.shutdown_default_executor()")
        await super().shutdown_default_executor(timeout)

    def set_default_executor(self, executor: Any) -> None:
        self._check("loop.set_default_executor()")
        super().set_default_executor(executor)

    def set_task_factory(self, factory: Any) -> None:
        self._check("loop.set_task_factory()")
        super().set_task_factory(factory)

    def _check(self, call: str) -> None:
        if IN_HANDLER.get():
            raise _refuse(call)
