"""SIGTERM and Ctrl-C: ask the worker to stop, and end the process if it does not stop in time.

The signal handlers are Python's own, which run even while a task handler blocks the event loop; a thread measures the
time. The end waits for nothing, not even for a log that is not read.

Code of the app may install another signal handler. The worker checks for that at intervals and restores its own: if
it missed SIGTERM, it would be killed while its tasks run.
"""

from __future__ import annotations

import asyncio
import logging
import os
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any, NoReturn

from catchment.runtime.events import Events

# How long a stop may take beyond the grace of its handlers: for the last endings and to unregister.
MARGIN = timedelta(seconds=15)
EXIT_CODE = 70
LAST_WORDS = 1.0


def stop_on_signals(
    stop: Callable[[], None], events: Events, *, grace: timedelta, margin: timedelta = MARGIN
) -> Callable[[], None]:
    """Call ``stop`` in the running event loop at SIGTERM and SIGINT; end the process ``margin`` after the grace.

    Processes that handlers fork get the former signal handlers back. Returns a function that restores the handlers of
    the worker if the app has replaced them; call it at intervals, in the main thread.
    """
    loop = asyncio.get_running_loop()
    limit = (grace + margin).total_seconds()
    is_asked = threading.Event()

    def hear(*_: object) -> None:
        loop.call_soon_threadsafe(stop)
        if not is_asked.is_set():
            is_asked.set()
            last_resort = threading.Timer(limit, _end, [events, limit])
            last_resort.daemon = True
            last_resort.start()

    before = {number: signal.signal(number, hear) for number in (signal.SIGTERM, signal.SIGINT)}
    _restore_in_children(hear, before)

    def restore_handlers() -> None:
        for number in before:
            if signal.getsignal(number) is not hear:
                signal.signal(number, hear)
                events.emit(
                    "worker.signal_taken",
                    f"the app replaced the handler of {number.name}: the worker's own is restored",
                    level=logging.WARNING,
                    signal=number.name,
                )

    return restore_handlers


def _restore_in_children(ours: object, before: Mapping[signal.Signals, Any]) -> None:
    """Restore the former signal handlers in forked processes. Signals are blocked meanwhile, because Python forgets
    those that reach a process just after its fork."""
    forking = threading.local()

    def block() -> None:
        forking.mask = signal.pthread_sigmask(signal.SIG_BLOCK, before)

    def unblock() -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, forking.mask)

    def restore() -> None:
        for number, handler in before.items():
            if signal.getsignal(number) is ours:
                signal.signal(number, handler or signal.SIG_DFL)
        unblock()

    os.register_at_fork(before=block, after_in_parent=unblock, after_in_child=restore)


def end_process(code: int, last_words: Callable[[], None] = lambda: None) -> NoReturn:
    """End the process without waiting for coroutines, threads and locks. The log is flushed if that takes less than a
    second: its reader may have stopped, and then the lock of the log is never released."""
    try:
        thread = threading.Thread(target=_write_log, args=[last_words], daemon=True)
        thread.start()
        thread.join(LAST_WORDS)
    finally:
        os._exit(code)


def _write_log(last_words: Callable[[], None]) -> None:
    last_words()
    logging.shutdown()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()


def _end(events: Events, limit: float) -> None:
    def tell() -> None:
        events.emit(
            "worker.killed",
            f"not stopped {limit:g} s after it was asked to: the process ends now, and its tasks are taken over",
            level=logging.CRITICAL,
        )

    end_process(EXIT_CODE, tell)
