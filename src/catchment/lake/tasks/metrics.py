"""Metrics of parallel refreshes, shown where a worker shows its own. Each process counts what it did itself."""

from __future__ import annotations

from collections.abc import Iterable

from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import Metric
from prometheus_client.registry import Collector

_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

_registry = CollectorRegistry()
# The client adds _total to the names of counters.
parallel_refreshes = Counter("parallel_refreshes", "Parallel refreshes that were published.", registry=_registry)
subtasks_created = Counter("subtasks_created", "Subtasks that were made.", registry=_registry)
subtasks_completed = Counter("subtasks_completed", "Subtasks that were completed here.", registry=_registry)
subtasks_failed = Counter("subtasks_failed", "Attempts of subtasks that failed here.", registry=_registry)
parallel_refresh_seconds = Histogram(
    "parallel_refresh_seconds", "From the start of a parallel refresh until it is published.", registry=_registry,
    buckets=_SECONDS,
)  # fmt: skip
subtask_seconds = Histogram("subtask_seconds", "Time of a completed subtask.", registry=_registry, buckets=_SECONDS)
coordinator_wait_seconds = Histogram(
    "coordinator_wait_seconds", "From the plan of a parallel refresh until its subtasks are done.", registry=_registry,
    buckets=_SECONDS,
)  # fmt: skip


class _Collected(Collector):
    """All metrics of this module."""

    def collect(self) -> Iterable[Metric]:
        return list(_registry.collect())


def collector() -> Collector:
    """What ``App.collector`` takes."""
    return _Collected()
