"""The ports that a worker opens where they are requested: probes and metrics. Each has a web server, which is imported
only then."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Protocol

from catchment.runtime.events import Events
from catchment.runtime.limiter import Load
from catchment.runtime.metrics import Metrics
from catchment.runtime.options import WorkerOptions
from catchment.runtime.pools import run_in_own_thread
from catchment.store.depth import QueueDepth
from catchment.task.collector import Collector


class _Server(Protocol):
    def start(self) -> None: ...

    def stop(self) -> None: ...


@asynccontextmanager
async def health_served(
    options: WorkerOptions, events: Events, *, problems: Callable[[], list[str]]
) -> AsyncGenerator[None]:
    """Answer probes while inside, if a port was given. ``problems`` is called from any thread."""
    if options.health_port is None:
        yield
        return
    from catchment.runtime.health import Health, HealthServer

    health = Health(asyncio.get_running_loop(), stall_limit=options.stall_limit, problems=problems)
    async with _open(HealthServer(health, events, host=options.health_host, port=options.health_port)):
        yield


@asynccontextmanager
async def metrics_served(
    options: WorkerOptions,
    events: Events,
    metrics: Metrics,
    collectors: Sequence[Collector],
    *,
    read_load: Callable[[], Load | None],
    read_queues: Callable[[], Sequence[QueueDepth]],
) -> AsyncGenerator[None]:
    """Show the counters while inside, if a port was given."""
    if options.metrics_port is None:
        yield
        return
    from catchment.runtime.metrics_server import MetricsServer, WorkerCollector

    own = WorkerCollector(metrics, read_load, read_queues)
    async with _open(MetricsServer([own, *collectors], events, host=options.metrics_host, port=options.metrics_port)):
        yield


@asynccontextmanager
async def _open(server: _Server) -> AsyncGenerator[None]:
    server.start()
    try:
        yield
    finally:
        await run_in_own_thread(server.stop)
