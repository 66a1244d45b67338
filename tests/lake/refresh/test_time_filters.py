"""Filters by time on a lake: rows come and go with the moments of rounds, also in buckets, and audits agree."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from catchment.lake.refresh.audit import audit
from tests.fixtures.lake_case import LakeCase
from tests.lake.fuzz.together import carry_out_in_buckets

NOON = datetime(2024, 6, 10, 12, tzinfo=UTC)
DAYS = 20
TABLE = "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS"


@pytest.fixture
def events(lake_case: LakeCase) -> LakeCase:
    """One event at noon of each of twenty days, the last of which is NOON's."""
    rows = [[place, NOON + timedelta(days=place - DAYS + 1), place % 2] for place in range(DAYS)]
    lake_case.make("events", "id BIGINT, ts TIMESTAMPTZ, kind INTEGER", rows)
    return lake_case


def refresh_at(case: LakeCase, at: datetime, *, by_buckets: bool = False) -> dict[str, Any]:
    """A refresh in a round of another moment."""
    refresh_id = case.request("dt")
    case.pg("update lake.round set data_at = %s where id in (select max(id) from lake.round)", at)
    order = case.begin(refresh_id)
    assert order.data_at == at
    if by_buckets:
        carry_out_in_buckets(case, order)
    else:
        case.carry_out(order, lake_small_ms=0)
    return case.refreshed(refresh_id)


def ids(case: LakeCase) -> list[int]:
    return [row[0] for row in case.sql("SELECT id FROM lake.main.dt ORDER BY id")]


def test_rows_leave_as_time_goes_by(events: LakeCase) -> None:
    events.create(f"{TABLE} SELECT id, kind FROM events WHERE ts > now() - INTERVAL 3 DAY")
    refresh_at(events, NOON)
    assert ids(events) == [17, 18, 19]
    found = refresh_at(events, NOON + timedelta(days=1))
    assert (found["action"], found["keys"], found["deleted"], ids(events)) == ("incremental", 1, 1, [18, 19])
    assert audit(events.duck, events.control, events.find("dt")).is_equal
    found = refresh_at(events, NOON + timedelta(days=1, minutes=5))
    assert (found["action"], found["keys"], found["commit_snapshot"]) == ("incremental", 0, None)


def test_changes_of_data_and_time_meet(events: LakeCase) -> None:
    events.create(f"{TABLE} SELECT kind, count(*) AS n FROM events WHERE ts::DATE < current_date GROUP BY kind")
    refresh_at(events, NOON)
    events.sql("DELETE FROM events WHERE id = 19")
    events.sql("INSERT INTO events VALUES (20, TIMESTAMPTZ '2024-06-11 00:00:00+00', 1)")
    refresh_at(events, NOON + timedelta(days=2))
    assert events.rows("dt") == [(0, 10), (1, 10)]
    assert audit(events.duck, events.control, events.find("dt")).is_equal


@pytest.mark.long
def test_subtasks_have_the_moment_of_the_round(events: LakeCase) -> None:
    events.create(f"{TABLE} SELECT id, kind FROM events WHERE ts > now() - INTERVAL 12 DAY")
    refresh_at(events, NOON)
    refresh_at(events, NOON + timedelta(days=4), by_buckets=True)
    assert ids(events) == list(range(12, 20))
    assert events.leftovers() == {}


@pytest.mark.long
def test_a_full_refresh_has_the_moment_of_the_round(events: LakeCase) -> None:
    events.create("CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT id, now() AS at FROM events WHERE id < 1")
    found = refresh_at(events, NOON)
    assert (found["state"], events.rows("dt")) == ("SUCCEEDED", [(0, NOON)])
    assert audit(events.duck, events.control, events.find("dt")).is_equal
