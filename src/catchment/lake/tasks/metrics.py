"""Metrics of dynamic tables, shown where a worker shows its own.

Each process counts the refreshes and subtasks that it ran itself. How the tables stand is read from the database at
each scrape: when it does not answer in time, that part is omitted, and the rest is shown.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

import psycopg
from prometheus_client import CollectorRegistry, Counter, Histogram
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from catchment.errors import CatchmentError
from catchment.lake.control.standing import SUSPENDERS, TableStanding, read_standing
from catchment.store.connect import DSN_VARIABLE

MOST_TABLES = 1000
_SECONDS = (0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

_registry = CollectorRegistry()
_refreshes = Counter(
    "lake_refreshes", "Refreshes that ended here, by table and outcome.", ["table", "outcome"], registry=_registry
)
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


_named: set[str] = set()


def refresh_ended(table: str, outcome: str) -> None:
    """Count a refresh. The number of series is bounded: tables beyond the limit count together."""
    if table not in _named and len(_named) >= MOST_TABLES:
        table = "(other)"
    _named.add(table)
    _refreshes.labels(table, outcome).inc()


class _Collected(Collector):
    """All metrics of this module."""

    def collect(self) -> Iterable[Metric]:
        yield from _registry.collect()
        # A worker process has its database in its environment.
        if dsn := os.environ.get(DSN_VARIABLE):
            try:
                tables = read_standing(dsn)
            except (psycopg.Error, CatchmentError):
                return
            yield from gauges(tables)


def gauges(tables: Iterable[TableStanding]) -> Iterator[Metric]:
    """How tables stand, as metrics."""
    lag = GaugeMetricFamily("lake_table_lag_seconds", "Age of the data of a table.", labels=["table"])
    target = GaugeMetricFamily("lake_table_target_lag_seconds", "The lag that a table has to keep.", labels=["table"])
    failures = GaugeMetricFamily(
        "lake_table_failures", "Scheduled refreshes in a row that failed; 0 after one that did not.", labels=["table"]
    )
    suspended = GaugeMetricFamily(
        "lake_table_suspended", "1 while a table is suspended by this.", labels=["table", "by"]
    )
    for table in tables:
        if table.lag_seconds is not None:
            lag.add_metric([table.name], table.lag_seconds)
        if table.target_lag_seconds is not None:
            target.add_metric([table.name], table.target_lag_seconds)
        failures.add_metric([table.name], table.failures)
        for who in SUSPENDERS:
            suspended.add_metric([table.name, who], float(table.suspended_by == who))
    yield from (lag, target, failures, suspended)


def collector() -> Collector:
    """What ``App.collector`` takes."""
    return _Collected()
