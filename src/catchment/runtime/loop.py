"""Runs the event loop of a worker process, and goes on with it whatever handlers do to it.

asyncio lets ``SystemExit`` and ``KeyboardInterrupt`` of a callback or of a task out of the loop, so a handler that
starts a task which calls ``sys.exit()`` would end its worker. Here the loop is resumed where it was.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import uvloop

from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.events import Events
from catchment.runtime.signals import end_process

CLOSING = 1.0
THREADS = "asyncio-handler"


def keep_running(
    main: Coroutine[Any, Any, int], events: Events, *, new_loop: Callable[[], Any] = uvloop.new_event_loop
) -> None:
    """Run ``main`` to its end. When it returns a number of handlers that never stopped, the process ends here."""
    runner = asyncio.Runner(loop_factory=new_loop)
    loop = runner.get_loop()
    threads = ThreadPoolExecutor(thread_name_prefix=THREADS)
    loop.set_default_executor(threads)
    task = loop.create_task(main)
    try:
        left = _run_until_done(loop, task, events)
    except BaseException:
        if _cancel_rest(loop) or _are_left(threads):
            _end_soon()
        else:
            runner.close()
        raise
    if left or _cancel_rest(loop) or _are_left(threads):
        end_process(0)
    runner.close()


async def run_again_if_cancelled(dispatcher: Dispatcher, events: Events) -> int:
    """Serve until stopped; returns how many handlers never stopped.

    Nobody else has the task that this runs in, so only a handler can have cancelled it, with all others on the loop.
    Then what was running has been interrupted, and the worker begins again.
    """
    while True:
        try:
            await dispatcher.run()
            return dispatcher.left_behind
        except asyncio.CancelledError:
            task = asyncio.current_task()
            while task is not None and task.cancelling():
                task.uncancel()
            events.emit(
                "worker.exit_refused",
                "a handler cancelled everything on the event loop: the worker starts again",
                level=logging.ERROR,
            )


def _run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[int], events: Events) -> int:
    while True:
        try:
            return loop.run_until_complete(task)
        except BaseException as error:
            if task.done():
                raise
            # RuntimeError: a handler called loop.stop(). Anything else: a logging handler of the app raised it while
            # asyncio told of a callback that had failed.
            events.emit(
                "worker.exit_refused",
                f"something that a handler started raised {type(error).__name__} on the event loop: the worker goes on",
                level=logging.ERROR,
            )


def _cancel_rest(loop: asyncio.AbstractEventLoop) -> int:
    """Cancel what handlers have started and left; returns how many tasks do not end."""
    rest = asyncio.all_tasks(loop)
    for task in rest:
        task.cancel()
    if not rest:
        return 0
    waiting = loop.create_task(_wait_for(rest))
    while True:
        try:
            return loop.run_until_complete(waiting)
        except BaseException:
            if waiting.done():
                raise


async def _wait_for(rest: set[asyncio.Task[Any]]) -> int:
    _, pending = await asyncio.wait(rest, timeout=CLOSING)
    return len(pending)


def _are_left(threads: ThreadPoolExecutor) -> bool:
    """Does a handler's call of ``asyncio.to_thread`` go on? Python would wait for it, however long."""
    threads.shutdown(wait=False, cancel_futures=True)
    until = time.monotonic() + CLOSING
    for thread in threading.enumerate():
        if thread.name.startswith(THREADS):
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                return True
    return False


def _end_soon() -> None:
    """Let our caller say why, then end."""
    timer = threading.Timer(CLOSING, end_process, [1])
    timer.daemon = True
    timer.start()
