"""Serves the counters of a worker to Prometheus, over HTTP, from a separate thread.

The worker counts plain numbers and knows nothing of this; they are read when a scrape asks for them. The depths of the
queues come from the database: when it does not answer in time they are omitted, and the rest is still served.
"""

from __future__ import annotations

import errno
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import accumulate
from threading import Thread
from typing import cast
from wsgiref.simple_server import WSGIServer

import psycopg
from prometheus_client import CollectorRegistry, start_http_server
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

from catchment.errors import CatchmentError, RequestRefused
from catchment.runtime.events import Events
from catchment.runtime.limiter import Load
from catchment.runtime.memory import memory_usage
from catchment.runtime.metrics import ATTEMPTS, COMPLETED, DURATION, FAILED, SHOWN, Histogram, Metrics
from catchment.store.depth import PLACES, QueueDepth
from catchment.task.collector import Collector as AppCollector

PORTS_TRIED = 32
PRESSURES = ("memory", "event_loop", "completer", "transactions", "latency")


class WorkerCollector(Collector):
    """Turns the counters of a worker into metrics at each scrape. Called from the threads of the server."""

    def __init__(
        self,
        metrics: Metrics,
        read_load: Callable[[], Load | None],
        read_queues: Callable[[], Sequence[QueueDepth]],
    ) -> None:
        self._metrics = metrics
        self._read_load = read_load
        self._read_queues = read_queues

    def collect(self) -> Iterator[Metric]:
        yield from self._attempts()
        yield from self._counted()
        yield from self._load()
        yield from self._queues()

    def _attempts(self) -> Iterator[Metric]:
        attempts = CounterMetricFamily(*ATTEMPTS, labels=["command", "queue", "outcome"])
        completed = CounterMetricFamily(*COMPLETED, labels=["command", "queue"])
        failed = CounterMetricFamily(*FAILED, labels=["command", "queue", "kind"])
        duration = HistogramMetricFamily(*DURATION, labels=["command", "queue", "outcome"])
        for place, figures in list(self._metrics.commands.items()):
            for outcome, seconds in figures.seconds.items():
                buckets, total = _buckets(seconds)
                count = buckets[-1][1]
                attempts.add_metric([*place, outcome], count)
                if outcome == "completed":
                    completed.add_metric(place, count)
                if count:
                    duration.add_metric([*place, outcome], buckets, total)
            for kind, count in list(figures.kinds.items()):
                failed.add_metric([*place, kind], count)
        yield from (attempts, completed, failed, duration)

    def _counted(self) -> Iterator[Metric]:
        for attribute, (name, text) in SHOWN.items():
            value: int | Histogram = getattr(self._metrics, attribute)
            if isinstance(value, int):
                yield CounterMetricFamily(name, text, value=value)
            else:
                buckets, total = _buckets(value)
                yield HistogramMetricFamily(name, text, buckets=buckets, sum_value=total)

    def _load(self) -> Iterator[Metric]:
        load = self._read_load() or Load()
        yield _gauge("worker_in_flight_tasks", "Python tasks held: claimed, and their end not yet recorded.", load.held)
        yield _gauge("worker_left_behind_tasks", "Handlers that were stopped but still run, in their slots.", load.left)
        yield _gauge("worker_max_tasks", "Python tasks that this worker may hold.", load.cap)
        yield _gauge("worker_limit_tasks", "Python tasks that it holds at most under the present load.", load.limit)
        pressure = GaugeMetricFamily("worker_backpressure", "1 while this makes it claim less.", labels=["reason"])
        for reason in PRESSURES:
            pressure.add_metric([reason], float(load.pressures.get(reason, False)))
        yield pressure
        signals = load.signals
        yield _gauge("worker_event_loop_lag_seconds", "How late the event loop last was.", max(0.0, signals.loop_lag))
        yield _gauge("worker_memory_usage", "Share of its memory in use, 0 to 1.", memory_usage())
        yield _gauge(
            "worker_completer_age_seconds", "How long the oldest ended attempt waits.", max(0.0, signals.completer_age)
        )

        yield _gauge(
            "worker_transaction_wait_seconds",
            "How long the first handler waits for a transaction connection.",
            max(0.0, signals.transaction_age),
        )

    def _queues(self) -> Iterator[Metric]:
        queues: Sequence[QueueDepth] | None = None
        with suppress(psycopg.Error, CatchmentError):
            queues = self._read_queues()
        yield _gauge("worker_database_up", "1 if the database answered this scrape.", float(queues is not None))
        if queues is None:
            return
        tasks = GaugeMetricFamily("worker_queue_tasks", "Unsettled tasks of a queue.", labels=["queue", "place"])
        oldest = GaugeMetricFamily(
            "worker_queue_oldest_ready_seconds", "How long the first ready task waits; 0 if none.", labels=["queue"]
        )
        paused = GaugeMetricFamily("worker_queue_paused", "1 while a queue is paused.", labels=["queue"])
        halted = GaugeMetricFamily(
            "worker_queue_halted_lanes", "Lanes that stand still because their head failed.", labels=["queue"]
        )
        for queue in queues:
            for place in PLACES:
                tasks.add_metric([queue.queue, place], getattr(queue, place))
            oldest.add_metric([queue.queue], queue.oldest_ready_seconds)
            paused.add_metric([queue.queue], float(queue.is_paused))
            halted.add_metric([queue.queue], queue.halted_lanes)
        yield from (tasks, oldest, paused, halted)


class MetricsServer:
    """An HTTP server for the metrics of these collectors, from ``start`` to ``stop``."""

    def __init__(self, collectors: Iterable[Collector | AppCollector], events: Events, *, host: str, port: int) -> None:
        self._events = events
        self._host = host
        self._asked = port
        self._server: WSGIServer | None = None
        self._thread: Thread | None = None
        self._registry = CollectorRegistry()
        for collector in collectors:
            self._add(collector)

    def _add(self, collector: Collector | AppCollector) -> None:
        try:
            self._registry.register(cast("Collector", collector))
        except ValueError as error:
            raise RequestRefused(
                f"the app's metrics cannot be shown: {error}",
                hint="Give the metric another name, or add its collector once: app.collector(…).",
            ) from error

    def start(self) -> None:
        """Listen on the port asked for, or on the next one that is free.

        Several workers of a machine may have the same port setting. If none is free, the worker runs without metrics.
        Raises ``RequestRefused`` when the address cannot be bound for another reason.
        """
        for port in range(self._asked, min(self._asked + PORTS_TRIED, 65536)):
            try:
                self._server, self._thread = start_http_server(port, self._host, self._registry)
                break
            except (OSError, OverflowError) as error:
                if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                    continue
                raise RequestRefused(
                    f"metrics cannot be served at {self._host}:{port}: {error}",
                    hint="Change CATCHMENT_METRICS_PORT or CATCHMENT_METRICS_HOST; port 0 takes a free one.",
                ) from error
        port = None if self._server is None else self._server.server_port
        if self._asked != 0 and port != self._asked:
            instead = "metrics are not served" if port is None else f"port {port} is used instead"
            self._events.emit(
                "metrics.port_taken",
                f"port {self._asked} of {self._host} is taken: {instead}",
                level=logging.WARNING,
                host=self._host,
                port=self._asked,
            )
        if port is None:
            return
        self._events.emit(
            "metrics.listening",
            f"metrics at http://{self._host}:{port}/metrics",
            host=self._host,
            port=port,
        )

    def stop(self) -> None:
        """Close the port; a running scrape is not interrupted."""
        if self._server is None or self._thread is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=10)


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=value)


def _buckets(counted: Histogram) -> tuple[list[tuple[str, float]], float]:
    """Buckets as Prometheus wants them, each with all values up to its bound; and the sum of the values."""
    total, counts = counted.sum, list(counted.counts)  # one copy, because the worker continues counting
    bounds = [*(repr(bound) for bound in counted.bounds), "+Inf"]
    return list(zip(bounds, accumulate(counts), strict=True)), total
