"""Runs the event loop of a worker process, and resumes it when a handler stops it.

asyncio lets ``SystemExit`` and ``KeyboardInterrupt`` of a callback or of a task leave the loop, so a handler that
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

from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.events import Events
from catchment.runtime.guarded import WorkerLoop
from catchment.runtime.signals import end_process

# Seconds that tasks and threads of handlers get to end with the process.
CLOSING = 1.0
THREADS = "asyncio-handler"
# Seconds that other threads and exit functions of the app get after that.
THREADS_SECONDS = 3.0


def keep_running(main: Coroutine[Any, Any, int], events: Events, *, new_loop: Callable[[], Any] = WorkerLoop) -> None:
    """Run ``main`` to its end. It returns the number of handlers that never stopped; if there are any, or tasks or
    threads that they started, the process ends here."""
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

    Only a thread that a handler started can have cancelled the task that this runs in. The running attempts were then
    interrupted, and the worker starts again.
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
                "a thread of the app cancelled everything on the event loop: the worker starts again",
                level=logging.ERROR,
            )


def _run_until_done(loop: asyncio.AbstractEventLoop, task: asyncio.Task[int], events: Events) -> int:
    while True:
        try:
            return loop.run_until_complete(task)
        except BaseException as error:
            if task.done():
                raise
            # RuntimeError: a thread of the app called loop.stop(). Other errors: a logging handler of the app raised
            # while asyncio logged a failed callback.
            events.emit(
                "worker.exit_refused",
                f"a handler's task or callback raised {type(error).__name__} on the event loop: the worker continues",
                level=logging.ERROR,
            )


def _cancel_rest(loop: asyncio.AbstractEventLoop) -> int:
    """Cancel the asyncio tasks that handlers have left; returns how many do not end."""
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
    """Does a call of ``asyncio.to_thread`` still run? Python would wait for it at exit, without a limit."""
    threads.shutdown(wait=False, cancel_futures=True)
    until = time.monotonic() + CLOSING
    for thread in threading.enumerate():
        if thread.name.startswith(THREADS):
            thread.join(max(0.0, until - time.monotonic()))
            if thread.is_alive():
                return True
    return False


def _end_soon() -> None:
    """End the process after a short time, in which the caller can report the error."""
    _end_after(CLOSING, lambda: end_process(1))


def end_without_threads(events: Events, code: int) -> None:
    """End the process in a few seconds if it has not ended by then: threads that handlers started may prevent that.

    Python waits for all threads that are not daemons, and for those of every ``ThreadPoolExecutor``.
    """

    def end() -> None:
        known = (threading.current_thread(), threading.main_thread())
        names = ", ".join(t.name for t in threading.enumerate() if t not in known and "catchment" not in t.name)

        def tell() -> None:
            events.emit(
                "worker.threads_left",
                f"the process ends although threads of the app are still running: {names}",
                level=logging.WARNING,
                threads=names,
            )

        end_process(code, tell)

    _end_after(THREADS_SECONDS, end)


def _end_after(seconds: float, end: Callable[[], None]) -> None:
    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
