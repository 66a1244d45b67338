"""The counters of a worker, without a worker."""

from __future__ import annotations

from collections import Counter

from catchment.runtime.metrics import SHOWN, Histogram, Metrics


def test_every_counter_is_shown_and_nothing_else() -> None:
    counted = {name for name, value in vars(Metrics()).items() if isinstance(value, int | Counter | Histogram)}
    assert set(SHOWN) == counted


def test_a_claim_counts_with_its_size_and_its_time() -> None:
    metrics = Metrics()
    metrics.claimed(0, 0.001)
    metrics.claimed(7, 0.002)
    assert (metrics.claims, metrics.claim_size.sum, metrics.claim_seconds.count) == (2, 7, 2)


def test_a_sql_handler_counts_by_the_state_it_left() -> None:
    metrics = Metrics()
    for state in ("completed", "waiting", "cancelled", "lost", "pending", "failed", "snoozed"):
        metrics.processed(state, 0.1)
    assert (metrics.completed, metrics.cancelled, metrics.fenced_writes, metrics.failed["sql"]) == (2, 1, 1, 2)
    assert metrics.snoozed == 1
    assert metrics.task_seconds.count == 7
