"""Backpressure: what the limiter makes of the signals, and the metrics behind them."""

from __future__ import annotations

import math
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.runtime.limiter import Limiter, Signals
from catchment.runtime.metrics import Histogram, Metrics, Window
from catchment.runtime.options import WorkerOptions
from tests.fixtures.often import some

QUIET = Signals()


class Feel:
    """Signals that a test can change."""

    def __init__(self, now: Signals = QUIET) -> None:
        self.now = now

    def __call__(self) -> Signals:
        return self.now


def _limiter(cap: int = 1000, batch: int = 50, signals: Signals = QUIET, threshold: float = 0.2) -> Limiter:
    options = WorkerOptions(
        max_concurrent_tasks=cap, claim_batch_size=batch, latency_threshold=timedelta(seconds=threshold)
    )
    return Limiter(options, Feel(signals))


def _feel(limiter: Limiter, signals: Signals) -> None:
    assert isinstance(limiter.read_signals, Feel)
    limiter.read_signals.now = signals


def test_a_claim_is_of_the_batch_while_there_is_room() -> None:
    assert [_limiter(cap=1000).claim_size(held) for held in (0, 500, 900)] == [50, 50, 50]


def _sizes(limiter: Limiter, *claims: tuple[int, int]) -> list[int]:
    """The size of the claim after each of these: how many it was short of, and how many tasks ended meanwhile."""
    sizes: list[int] = []
    for short, ended in claims:
        asked = limiter.claim_size(0)
        limiter.after_claim(asked, asked - short, ended=ended, size=0)
        sizes.append(limiter.claim_size(0))
    return sizes


def test_claims_grow_while_tasks_end_as_fast_as_they_are_claimed() -> None:
    assert _sizes(_limiter(), (0, 0), (0, 50), (0, 90), (0, 150), (0, 300), (0, 500)) == [50, 100, 200, 400, 500, 500]


def test_claims_shrink_to_the_first_size_when_tasks_run_longer() -> None:
    limiter = _limiter()
    assert _sizes(limiter, (0, 50), (0, 100)) == [100, 200]
    assert _sizes(limiter, (0, 10), (0, 0), (0, 0), (0, 0)) == [200, 100, 50, 50]


def test_a_claim_that_falls_short_is_followed_by_one_of_the_first_size() -> None:
    limiter = _limiter()
    assert _sizes(limiter, (0, 50), (0, 100), (1, 200)) == [100, 200, 50]


def test_claims_of_large_payloads_do_not_grow() -> None:
    limiter = _limiter()
    limiter.after_claim(50, 50, ended=50, size=2 * 1024 * 1024)
    assert limiter.claim_size(0) == 50


def test_a_batch_above_the_largest_claim_stays_as_it_was_set() -> None:
    assert _sizes(_limiter(batch=800), (0, 800), (0, 0)) == [800, 800]


def test_a_claim_is_never_above_the_free_slots() -> None:
    limiter = _limiter(cap=100, batch=50)
    assert [limiter.claim_size(100 - free) for free in (70, 40, 20, 11)] == [50, 40, 20, 11]


@pytest.mark.parametrize("cap", range(1, 11))
def test_a_small_cap_claims_whenever_a_slot_is_free(cap: int) -> None:
    limiter = _limiter(cap=cap)
    assert [limiter.claim_size(held) for held in range(cap + 1)] == [cap - held for held in range(cap + 1)]


@pytest.mark.parametrize("cap", some([*range(11, 131), 1000, 5000], one_in=4))
def test_claims_stop_below_a_tenth_of_the_slots(cap: int) -> None:
    tenth = math.ceil(cap / 10)
    assert _limiter(cap=cap).claim_size(cap - tenth) > 0
    assert _limiter(cap=cap).claim_size(cap - tenth + 1) == 0


def test_claims_go_on_only_above_the_mark_where_they_stopped() -> None:
    limiter = _limiter(cap=100)
    assert limiter.claim_size(100 - 10) == 10
    assert limiter.claim_size(100 - 9) == 0
    assert limiter.claim_size(100 - 10) == 0, "it flaps around one mark"
    assert limiter.claim_size(100 - 11) == 11
    assert limiter.claim_size(100 - 10) == 10


@pytest.mark.parametrize(
    ("signals", "size"),
    [
        (Signals(memory=0.79), 40),
        (Signals(memory=0.80), 40),
        (Signals(memory=0.81), 20),
        (Signals(slowest_p99=0.2), 40),
        (Signals(slowest_p99=0.5), 28),
        (Signals(memory=0.81, slowest_p99=0.5), 14),
    ],
)
def test_pressure_shrinks_the_claim(signals: Signals, size: int) -> None:
    assert _limiter(batch=40, signals=signals).claim_size(0) == size


def test_pressure_and_free_slots_together_clamp_the_claim() -> None:
    limiter = _limiter(cap=10, batch=40, signals=Signals(memory=0.9, slowest_p99=1.0))
    assert limiter.claim_size(5) == 5


@pytest.mark.parametrize("batch", [1, 2])
def test_pressure_leaves_at_least_one(batch: int) -> None:
    assert _limiter(batch=batch, signals=Signals(memory=0.99, slowest_p99=9)).claim_size(0) == 1


@pytest.mark.parametrize(
    ("signals", "reason"),
    [
        (Signals(memory=0.95), "memory"),
        (Signals(loop_lag=1.0), "event_loop"),
        (Signals(completer_age=5.0), "completer"),
    ],
)
def test_a_late_worker_lowers_its_limit_and_says_why(signals: Signals, reason: str) -> None:
    limiter = _limiter(cap=100, signals=signals)
    limiter.adjust()
    assert limiter.limit == 70
    assert limiter.reasons == {reason}
    assert limiter.free(60) == 10
    assert limiter.free(90) == 0


def test_slow_tasks_alone_do_not_lower_the_limit() -> None:
    limiter = _limiter(cap=100, signals=Signals(slowest_p99=60, memory=0.85))
    limiter.adjust()
    assert limiter.limit == 100


@pytest.mark.parametrize("cap", [1, 2, 10, 1000])
def test_the_limit_never_falls_below_one_and_still_claims(cap: int) -> None:
    limiter = _limiter(cap=cap, signals=Signals(loop_lag=9))
    for _ in range(50):
        limiter.adjust()
    assert limiter.limit == 1
    assert limiter.claim_size(0) == 1
    assert limiter.claim_size(1) == 0


@pytest.mark.parametrize("cap", [1, 3, 10, 100, 1000])
def test_the_limit_recovers_to_the_cap_when_it_is_quiet_again(cap: int) -> None:
    limiter = _limiter(cap=cap, signals=Signals(loop_lag=9))
    for _ in range(20):
        limiter.adjust()
    _feel(limiter, QUIET)
    limits: list[int] = []
    for _ in range(25):
        limiter.adjust()
        limits.append(limiter.limit)
    assert limits == sorted(limits)
    assert limits[-1] == cap
    assert limiter.reasons == set()


def test_a_lowered_limit_keeps_room_for_claims_as_it_shrinks() -> None:
    """A tenth is one of the limit in force: a limit of 7 under a cap of 100 claims again with one slot free."""
    limiter = _limiter(cap=100, signals=Signals(memory=0.95))
    for _ in range(8):
        limiter.adjust()
    _feel(limiter, QUIET)
    assert limiter.limit < 10
    assert limiter.claim_size(limiter.limit) == 0
    assert limiter.claim_size(limiter.limit - 1) == 1


def test_a_percentile_needs_enough_values() -> None:
    window = Window()
    for _ in range(99):
        window.observe([0.5], 100)
    assert window.p99(100) is None
    window.observe([0.5], 100)
    assert window.p99(100) == pytest.approx(0.5, rel=0.25)


def test_the_percentile_sees_the_slowest_hundredth() -> None:
    window = Window()
    for n in range(1000):
        window.observe([2.0 if n < 20 else 0.01], 100)
    assert window.p99(100) == pytest.approx(2.0, rel=0.25)
    mostly_quick = Window()
    for n in range(1000):
        mostly_quick.observe([2.0 if n < 5 else 0.01], 100)
    assert mostly_quick.p99(100) == pytest.approx(0.01, rel=0.25)


def test_the_percentile_recovers_when_slow_tasks_leave_the_window() -> None:
    window = Window()
    for n in range(300):
        window.observe([0.5], 100 + n / 100)
    assert window.p99(104) == pytest.approx(0.5, rel=0.25)
    for n in range(300):
        window.observe([0.01], 160 + n / 100)
    assert window.p99(166) == pytest.approx(0.01, rel=0.25)


@pytest.mark.parametrize("later", [61.0, 600.0, 1e6])
def test_the_percentile_is_gone_when_nothing_ran_for_a_minute(later: float) -> None:
    window = Window()
    for _ in range(300):
        window.observe([0.5], 100)
    assert window.p99(100 + later + Window.SLOT) is None


def test_values_beyond_all_bounds_count_as_endless() -> None:
    window = Window()
    for _ in range(100):
        window.observe([1e9], 100)
    assert window.p99(100) == float("inf")


def test_the_slowest_command_counts() -> None:
    metrics = Metrics()
    assert metrics.slowest() == 0.0
    for _ in range(100):
        metrics.returned("quick", 0.01)
        metrics.returned("slow", 3.0)
    metrics.returned("rare", 60.0)
    assert metrics.slowest() == pytest.approx(3.0, rel=0.25)


def test_a_histogram_counts_by_upper_bound() -> None:
    histogram = Histogram((1.0, 2.0, 5.0))
    for value in (0.0, 1.0, 1.5, 2.0, 5.0, 9.0):
        histogram.observe(value)
    assert histogram.counts == [2, 2, 1, 1]
    assert histogram.count == 6
    assert histogram.sum == pytest.approx(18.5)


@given(st.lists(st.floats(0, 10)), st.lists(st.floats(0, 10)))
def test_many_values_count_as_each_by_itself(first: list[float], second: list[float]) -> None:
    together, singly = Histogram((1.0, 2.0, 5.0)), Histogram((1.0, 2.0, 5.0))
    for values in (first, second):
        together.observe_all(values)
        for value in values:
            singly.observe(value)
    assert together.counts == singly.counts
    assert together.sum == pytest.approx(singly.sum)


def test_empty_claims_count_as_claims() -> None:
    metrics = Metrics()
    for size in (50, 0, 0, 7):
        metrics.claimed(size, 0.001)
    assert metrics.claims == 4
    assert metrics.claim_size.sum == 57
    assert metrics.claim_size.count == 4
