"""Both nights of a clock change, under every policy, counted through by moving the clock.

The rule: fixed times fire once, those that are skipped at the moment of the change; other expressions fire whenever
the clock shows a time of theirs.
"""

from __future__ import annotations

import itertools
from datetime import UTC, datetime, timedelta

import pytest

from tests.fixtures.engine import Engine
from tests.fixtures.often import often
from tests.sql.support import stop_clock

# Each policy is part of one of the first; the other pairs are tried now and then.
POLICIES = [("one", "allow"), ("all", "wait"), ("skip", "skip"), ("one", "cancel")]
OTHERS = [
    pair
    for pair in itertools.product(("one", "all", "skip"), ("allow", "skip", "wait", "cancel"))
    if pair not in POLICIES
]

# For each zone and night: the expression, and when it fires (UTC) from noon UTC before the night to noon after it.
NIGHTS = [
    ("Europe/Oslo", "2026-03-28", "30 2 * * *", ["01:00"]),  # 02:00 to 03:00 is skipped
    ("Europe/Oslo", "2026-03-28", "0 3 * * *", ["01:00"]),
    ("Europe/Oslo", "2026-03-28", "15 */3 * * *", [f"{hour:02}:15" for hour in (14, 17, 20, 23, 1, 4, 7, 10)]),
    ("Europe/Oslo", "2026-03-28", "*/30 2 * * *", []),
    ("Europe/Oslo", "2026-10-24", "30 2 * * *", ["00:30"]),  # 02:00 to 03:00 occurs twice
    ("Europe/Oslo", "2026-10-24", "0 3 * * *", ["02:00"]),
    ("Europe/Oslo", "2026-10-24", "15 */3 * * *", [f"{hour:02}:15" for hour in (13, 16, 19, 22, 2, 5, 8, 11)]),
    ("Europe/Oslo", "2026-10-24", "*/30 2 * * *", ["00:00", "00:30", "01:00", "01:30"]),
    ("America/New_York", "2026-03-07", "30 2 * * *", ["07:00"]),
    ("America/New_York", "2026-03-07", "30 1 * * *", ["06:30"]),
    ("America/New_York", "2026-10-31", "30 1 * * *", ["05:30"]),
    ("America/New_York", "2026-10-31", "*/30 1 * * *", ["05:00", "05:30", "06:00", "06:30"]),
    ("Australia/Lord_Howe", "2026-10-03", "15 2 * * *", ["15:30"]),  # 02:00 to 02:30 is skipped
    ("Australia/Lord_Howe", "2026-10-03", "45 2 * * *", ["15:45"]),
    ("Australia/Lord_Howe", "2026-10-03", "15 */6 * * *", ["13:45", "19:15", "01:15", "07:15"]),
    ("Australia/Lord_Howe", "2026-04-04", "45 1 * * *", ["14:45"]),  # 01:30 to 02:00 occurs twice
    ("Australia/Lord_Howe", "2026-04-04", "45 */1 * * *", None),
    ("Asia/Kolkata", "2026-03-28", "30 2 * * *", ["21:00"]),  # the clocks never change
    ("Asia/Kolkata", "2026-10-24", "30 2 * * *", ["21:00"]),
    ("Asia/Kolkata", "2026-10-24", "*/30 2 * * *", ["20:30", "21:00"]),
]
# 01:45 is shown twice, half an hour apart.
LORD_HOWE = [f"{hour:02}:45" for hour in (12, 13, 14)] + [f"{hour:02}:15" for hour in (*range(15, 24), *range(12))]


def _moments(day: str, times: list[str]) -> list[datetime]:
    noon = datetime.fromisoformat(f"{day}T12:00Z")
    moments = (datetime.fromisoformat(f"{day}T{time}Z") for time in times)
    return [moment if moment >= noon else moment + timedelta(days=1) for moment in moments]


@pytest.mark.long
@pytest.mark.parametrize("policies", often(*POLICIES[:2], now_and_then=[*POLICIES[2:], *OTHERS]))
def test_each_night_fires_by_the_rule_under_every_policy(engine: Engine, policies: tuple[str, str]) -> None:
    for zone, day, cron, times in NIGHTS:
        expected = _moments(day, LORD_HOWE if times is None else times)
        assert _walk(engine, zone, day, cron, *policies) == expected, (zone, day, cron)


def _walk(engine: Engine, zone: str, day: str, cron: str, missed: str, overlap: str) -> list[datetime]:
    """The due times of the runs from noon to noon, with a worker that is always there and settles each run."""
    noon = datetime.fromisoformat(f"{day}T12:00Z")
    stop_clock(engine, noon.isoformat())
    engine.conn.execute("delete from worker.schedule")
    engine.conn.execute(
        "insert into worker.schedule (name, command, cron, timezone, missed, overlap)"
        " values ('x', 'act', %s, %s, %s, %s)",
        [cron, zone, missed, overlap],
    )
    engine.value("select worker.fire_schedule('x')")
    while (due := engine.value("select next_at from worker.schedule")) < noon + timedelta(days=1):
        stop_clock(engine, (due + timedelta(seconds=1)).isoformat())
        assert engine.value("select worker.fire_schedule('x')") is not None
        engine.process()
    rows = engine.conn.execute("select due_at, fate, missed_from from worker.schedule_run order by n").fetchall()
    assert all(row[1:] == ("made", None) for row in rows)
    return [row[0].astimezone(UTC) for row in rows]
