"""Runs the tasks of the lake: in separate worker processes, or in this process until something has happened.

A process holds one task at a time and one DuckDB, because a heavy query uses its memory and its threads alone. Several
processes share the memory and the cores of the machine.
"""

from __future__ import annotations

import asyncio
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from contextvars import copy_context
from datetime import timedelta
from types import FrameType
from typing import TYPE_CHECKING

from catchment.lake.settings import LakeSettings
from catchment.lake.tasks.app import QUEUE, SCHEDULE_QUEUE, app
from catchment.lake.tasks.process import served
from catchment.runtime.dispatcher import Dispatcher
from catchment.runtime.log import log_to_stderr
from catchment.runtime.ray.settings import RaySettings
from catchment.runtime.settings import WorkerSettings, read_options
from catchment.store.connect import DSN_VARIABLE

if TYPE_CHECKING:
    from catchment.runtime.metrics_crew import MetricsCrew

RESTART_SECONDS = 1.0
PR_SET_PDEATHSIG = 1
LOOK_SECONDS = 0.05
_LIBC = ctypes.CDLL(None)  # opened here: between fork and exec, while other threads ran, it might wait forever
HERE_GRACE = timedelta(seconds=3)
"""How long Ctrl-C waits for work that is nearly done."""

APP = "catchment.lake.tasks.app:app"


def run_workers(
    dsn: str, processes: int, *, memory: str | None = None, threads: int | None = None, arguments: tuple[str, ...] = ()
) -> int:
    """Keep this number of worker processes running until SIGTERM or SIGINT, which they get too; returns the exit code.

    ``memory`` and ``threads`` are of each process; without them the machine is divided. One that dies is replaced.
    ``arguments`` are further ones of ``catchment worker``.
    """
    environment = worker_environment(dsn, processes, memory=memory, threads=threads)
    settings = WorkerSettings.read()
    metrics: MetricsCrew | None = None
    if settings.metrics_port is not None and processes > 1:
        from catchment.runtime.metrics_crew import MetricsCrew  # with a web server, only where one is requested

        log_to_stderr(settings.log_format, settings.log_level)  # it says where the metrics are
        metrics = MetricsCrew(processes, host=settings.metrics_host, port=settings.metrics_port)
        metrics.start()
    stopping = False

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal stopping
        stopping = True

    def start(place: int) -> subprocess.Popen[bytes]:
        # One port can be probed: that of the first process.
        own = {} if place == 0 else {"CATCHMENT_HEALTH_PORT": ""}
        return _start({**environment, **own, **({} if metrics is None else metrics.settings_of(place))}, arguments)

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    crew = [start(place) for place in range(processes)]
    try:
        while not stopping:
            for place, process in enumerate(crew):
                if process.poll() is not None and not stopping:
                    time.sleep(RESTART_SECONDS)
                    crew[place] = start(place)
            time.sleep(LOOK_SECONDS)
        return 0
    finally:
        _end(crew)
        if metrics is not None:
            metrics.stop()
        for number, handler in before.items():
            signal.signal(number, handler)


def worker_environment(
    dsn: str, processes: int, *, memory: str | None = None, threads: int | None = None
) -> Mapping[str, str]:
    """The environment of one of ``processes`` workers that share this machine."""
    settings = LakeSettings.read()
    RaySettings.read()  # one that is wrong would end each process as soon as it is started
    tasks = _tasks_of(settings)
    return {
        **os.environ,
        # Each waits in a thread.
        **({"CATCHMENT_WORKER_THREADS": str(tasks)} if tasks > WorkerSettings.read().worker_threads else {}),
        DSN_VARIABLE: dsn,
        "CATCHMENT_MAX_CONCURRENT_TASKS": str(tasks),
        "CATCHMENT_LAKE_MEMORY_LIMIT": memory or f"{settings.memory_bytes // processes}B",
        "CATCHMENT_LAKE_THREADS": str(threads or share_of_threads(settings, processes)),
    }


def _tasks_of(settings: LakeSettings) -> int:
    """The tasks of a process at a time. What is computed on a cluster needs only a slot here."""
    return settings.lake_ray_tasks if settings.lake_executor == "ray" else 1


def share_of_threads(settings: LakeSettings, processes: int) -> int:
    """The number of threads per process."""
    return max(1, settings.threads // processes)


def _start(environment: Mapping[str, str], arguments: tuple[str, ...]) -> subprocess.Popen[bytes]:
    queues = ["--queue", QUEUE, "--queue", SCHEDULE_QUEUE]
    return subprocess.Popen(  # noqa: S603 - our own command line
        [sys.executable, "-m", "catchment", "worker", "--app", APP, *queues, *arguments],
        env=environment,
        # Ctrl-C reaches the whole group; each of them shall end by our word, once.
        start_new_session=True,
        preexec_fn=_end_with_parent,
    )


def _end_with_parent() -> None:
    """Ask the system to send SIGTERM when the parent is gone: killed, it cannot do so itself."""
    if sys.platform == "linux":
        _LIBC.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def _end(crew: list[subprocess.Popen[bytes]]) -> None:
    for process in crew:
        process.terminate()
    for process in crew:
        process.wait()


def run_here(dsn: str, until: Callable[[], bool]) -> None:
    """Run tasks of the lake in this process until ``until`` says so; for a database that no worker serves.

    Ctrl-C releases running work after a moment, and is then raised as ``KeyboardInterrupt``.
    """
    context = copy_context()
    context.run(served.set, dsn)
    if context.run(lambda: asyncio.run(_serve(dsn, until))):
        raise KeyboardInterrupt


async def _serve(dsn: str, until: Callable[[], bool]) -> bool:
    """Serve until then, or until Ctrl-C; tells whether it was that."""
    options = read_options(queues=(QUEUE, SCHEDULE_QUEUE), max_concurrent_tasks=1, shutdown_grace=HERE_GRACE)
    dispatcher = Dispatcher(dsn, options, commands=app.commands)
    interrupted = asyncio.Event()

    def interrupt() -> None:
        interrupted.set()
        dispatcher.stop()

    async def watch() -> None:
        try:
            while not interrupted.is_set() and not await asyncio.to_thread(until):  # noqa: ASYNC110 - only the database knows
                await asyncio.sleep(LOOK_SECONDS)
        finally:
            dispatcher.stop()

    loop = asyncio.get_running_loop()
    # Else the interrupt would cancel the handlers, and their tasks would fail. Only the main thread hears of it.
    with suppress(ValueError, RuntimeError):
        loop.add_signal_handler(signal.SIGINT, interrupt)
    async with asyncio.TaskGroup() as group:
        group.create_task(watch())
        group.create_task(dispatcher.run())
    return interrupted.is_set()
