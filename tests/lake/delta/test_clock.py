"""Filters by time: the clock is a source that changes, and only rows that it lets in or out are touched."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from catchment.lake.reasons import Reason
from tests.lake.fuzz.memory import Dynamic, Memory

NOON = datetime(2024, 6, 10, 12, tzinfo=UTC)


@pytest.fixture
def events(memory: Memory) -> Memory:
    """One event for each of twenty days before NOON and ten after it, in two kinds."""
    memory.make("events", {"id": "BIGINT", "ts": "TIMESTAMPTZ", "day": "DATE", "kind": "VARCHAR", "n": "BIGINT"})
    memory.make("kinds", {"kind": "VARCHAR", "label": "VARCHAR"}, [["a", "first"], ["b", "second"]])
    rows = [
        [place, NOON + timedelta(days=place - 20), (NOON + timedelta(days=place - 20)).date(), "ab"[place % 2], place]
        for place in range(30)
    ]
    memory.insert("events", rows)
    memory.keep()
    memory.clock = (NOON, NOON)
    return memory


def move(memory: Memory, by: timedelta) -> None:
    memory.clock = (memory.clock[1], memory.clock[1] + by)


RECENT = "SELECT id, kind FROM events WHERE ts > now() - INTERVAL 7 DAY AND ts <= now()"
BROUGHT_BACK = """
SELECT e.id, f.id AS other, k.label FROM events e JOIN events f ON f.id = e.id AND e.ts < now()
{} JOIN kinds k ON k.kind = f.kind AND f.n < 3
"""
FILTERS = [
    RECENT,
    "SELECT * FROM events WHERE day >= current_date - 7",
    "SELECT kind, count(*) AS c, sum(n) AS n FROM events WHERE ts > now() - INTERVAL 7 DAY GROUP BY kind",
    "SELECT kind, max(n) AS n FROM events WHERE ts BETWEEN now() - INTERVAL 3 DAY AND now() GROUP BY kind",
    "SELECT e.id, k.label FROM events e JOIN kinds k ON k.kind = e.kind AND e.ts < now()",
    "SELECT e.id, k.label FROM kinds k LEFT JOIN (SELECT * FROM events WHERE ts < now()) e USING (kind)",
    "SELECT DISTINCT kind FROM events WHERE day > current_date + 8",
    "SELECT id FROM events WHERE day = current_date UNION ALL SELECT id FROM events WHERE ts > localtimestamp",
    "WITH r AS (SELECT kind, sum(n) AS n FROM events WHERE ts < now() GROUP BY kind)"
    " SELECT label, n FROM r JOIN kinds USING (kind)",
    "SELECT id FROM events WHERE (ts < now()) IS NOT TRUE OR n = 3",
    "SELECT id FROM events WHERE now() > ts OR n = 3",
    "SELECT id FROM events WHERE now() > ts AND n > 3 OR current_date = day",
    "SELECT id FROM events WHERE date_add(now(), INTERVAL 1 DAY) > ts",
    BROUGHT_BACK.format("LEFT"),
]


@pytest.mark.parametrize("side", ["RIGHT", "FULL"])
def test_a_condition_before_an_outer_join_stays_where_it_is(events: Memory, side: str) -> None:
    """The outer join brings back what the condition leaves out, so it is no filter."""
    table = Dynamic(events, BROUGHT_BACK.format(side))
    assert table.plan.reason == Reason.TIME_DEPENDENT
    table.check()


@pytest.mark.parametrize("query", FILTERS)
@pytest.mark.parametrize("use_delta", [True, False])
def test_rows_come_and_go_with_time(events: Memory, query: str, use_delta: bool) -> None:
    table = Dynamic(events, query, use_delta=use_delta)
    assert (table.plan.reason, table.plan.is_always_due) == (None, True)
    table.check()
    for by in (timedelta(days=1), timedelta(hours=13), timedelta(days=-3), timedelta(0)):
        move(events, by)
        table.refresh()
        table.check()
    move(events, timedelta(days=2))
    events.change("events", "UPDATE {} SET kind = 'b', ts = ts + INTERVAL 2 DAY WHERE id % 3 = 0")
    events.change("events", "DELETE FROM {} WHERE id = 21")
    events.change("kinds", "UPDATE {} SET label = 'other' WHERE kind = 'a'")
    table.refresh()
    table.check()


def test_only_rows_that_cross_the_border_are_touched(events: Memory) -> None:
    table = Dynamic(events, RECENT)
    move(events, timedelta(days=1))
    assert table.refresh() == "keys"
    assert len(table.keys[1]) == 2
    assert table.written == (1, 1)
    table.check()


ELSEWHERE = [
    "SELECT id, now() AS t, current_date - day AS d FROM events",
    "SELECT kind, count(*) AS c FROM events GROUP BY kind HAVING max(ts) < now()",
    "SELECT k.kind, e.id FROM kinds k LEFT JOIN events e ON e.kind = k.kind AND e.ts < now()",
    "SELECT kind, now() - max(ts) AS a FROM events GROUP BY kind",
    "SELECT id FROM events WHERE ts < now() ORDER BY ts DESC LIMIT 3",
]


@pytest.mark.parametrize("query", ELSEWHERE)
def test_elsewhere_the_moment_of_the_round_is_computed_with_as_a_whole(events: Memory, query: str) -> None:
    table = Dynamic(events, query)
    assert (table.plan.reason, table.plan.is_always_due) == (Reason.TIME_DEPENDENT, True)
    assert table.plan.clock is not None
    move(events, timedelta(days=1))
    assert table.refresh() == "full"
    table.check()


@pytest.mark.parametrize(
    "query",
    [
        "SELECT id FROM events WHERE localtime > TIME '10:00' OR n > 0",
        "SELECT id FROM events WHERE age(ts) > INTERVAL 1 DAY",
    ],
)
def test_other_clocks_are_asked_when_the_refresh_runs(events: Memory, query: str) -> None:
    plan = Dynamic(events, query).plan
    assert (plan.reason, plan.clock, plan.is_always_due) == (Reason.TIME_DEPENDENT, None, True)
