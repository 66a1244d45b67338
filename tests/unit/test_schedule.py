from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment.errors import RequestRefused
from catchment.model.schedule import next_time

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TIMES = st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)).map(lambda t: t.replace(tzinfo=UTC))


def test_first_time_of_an_interval_is_one_interval_away() -> None:
    assert next_time(NOON, every=timedelta(hours=1)) == NOON + timedelta(hours=1)


def test_interval_keeps_its_phase_and_skips_what_was_missed() -> None:
    previous = NOON - timedelta(hours=5, minutes=10)
    assert next_time(NOON, every=timedelta(hours=1), previous=previous) == NOON + timedelta(minutes=50)


@given(now=TIMES, minutes=st.integers(1, 10_000), behind=st.integers(0, 10**7))
def test_next_time_of_an_interval_is_after_now_and_within_one_interval(
    now: datetime, minutes: int, behind: int
) -> None:
    every = timedelta(minutes=minutes)
    found = next_time(now, every=every, previous=now - timedelta(seconds=behind))
    assert now < found <= now + every


def test_cron_runs_in_its_own_timezone() -> None:
    assert next_time(NOON, cron="30 4 * * *", timezone="Europe/Oslo") == datetime(2026, 3, 2, 3, 30, tzinfo=UTC)


def test_cron_keeps_the_local_hour_through_a_change_of_clocks() -> None:
    before = datetime(2026, 3, 28, 12, 0, tzinfo=UTC)
    assert next_time(before, cron="30 4 * * *", timezone="Europe/Oslo") == datetime(2026, 3, 29, 2, 30, tzinfo=UTC)


@given(now=TIMES)
def test_next_time_of_a_cron_is_after_now(now: datetime) -> None:
    assert next_time(now, cron="*/15 * * * *") > now


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"cron": "whenever"}, "cron expression 'whenever'"),
        ({"cron": "0 0 * * *", "timezone": "Mars/Olympus"}, "timezone 'Mars/Olympus' is unknown"),
        ({}, "needs an interval or a cron expression"),
    ],
)
def test_bad_rhythms_are_refused(options: dict[str, str], says: str) -> None:
    with pytest.raises(RequestRefused, match=says):
        next_time(NOON, **options)  # type: ignore[arg-type]
