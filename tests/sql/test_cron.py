"""Cron expressions, read and counted by the server: as cronsim does, which follows Debian's cron."""

from __future__ import annotations

import random
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import psycopg
import pytest
from cronsim import CronSim, CronSimError
from psycopg import Connection

from catchment.errors import DefinitionRefused
from catchment.model.cron import Cron, read_cron
from tests.fixtures.often import often

EXPRESSIONS = 1500
# Times of a night that are compared.
MOST = 60
ZONES = (
    "UTC",
    "Europe/Oslo",
    "America/New_York",
    "America/St_Johns",
    "America/Havana",
    "Asia/Kolkata",
    "Asia/Beirut",
    "Australia/Lord_Howe",
    "Pacific/Chatham",
)
MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"]
ALIASES = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
# Around these moments the clocks of one of the zones change.
CHANGES = [
    datetime(2026, 3, 29, 1, tzinfo=UTC),
    datetime(2026, 10, 25, 1, tzinfo=UTC),
    datetime(2026, 3, 8, 7, tzinfo=UTC),
    datetime(2026, 11, 1, 6, tzinfo=UTC),
    datetime(2026, 10, 3, 15, tzinfo=UTC),
    datetime(2026, 4, 4, 15, tzinfo=UTC),
]


def _next(conn: Connection[Any], cron: str, zone: str, after: datetime) -> datetime:
    row = conn.execute("select worker.next_cron(%s, %s, %s)", [cron, zone, after]).fetchone()
    assert row is not None
    return row[0].astimezone(UTC)


def _field(draw: random.Random, low: int, high: int, names: list[str] | None = None) -> str:
    """A field that both sides read alike: cronsim has no ranges that wrap around, and takes 3/2 of a week to day 7."""

    def written(value: int) -> str:
        if names and draw.random() < 0.4:
            return draw.choice([str.lower, str.upper, str.title])(names[value - low])
        return str(value)

    if draw.random() < 0.35:
        return "*"
    items: list[str] = []
    for _ in range(draw.choice([1, 1, 2, 3])):
        first, last = draw.sample(range(low, high + 1), 2)
        match draw.choice(["value", "value", "range", "stepped", "every", *(["from"] if high != 6 else [])]):
            case "range":
                items.append(f"{written(min(first, last))}-{written(max(first, last))}")
            case "stepped":
                items.append(f"{written(min(first, last))}-{written(max(first, last))}/{draw.randint(1, 8)}")
            case "every":
                items.append(f"*/{draw.randint(1, 20)}")
            case "from":
                items.append(f"{written(min(first, last))}/{draw.randint(1, 8)}")
            case _:
                items.append(written(first))
    return ",".join(items)


def _expression(draw: random.Random) -> str:
    if draw.random() < 0.05:
        return draw.choice(list(ALIASES))
    day, weekday = _field(draw, 1, 31), _field(draw, 0, 6, WEEKDAYS)
    fields = [_field(draw, 0, 59), _field(draw, 0, 23), draw.choice(["*", "?", day]), _field(draw, 1, 12, MONTHS)]
    return " ".join([*fields, draw.choice(["*", "?", weekday])])


def _moment(draw: random.Random) -> datetime:
    if draw.random() < 0.5:
        return datetime(2020, 1, 1, tzinfo=UTC) + timedelta(seconds=draw.randint(0, 20 * 365 * 86400))
    return draw.choice(CHANGES) + timedelta(seconds=draw.randint(-2 * 86400, 86400))


def _expected(cron: str, zone: str, after: datetime) -> datetime:
    """What cronsim says. Asked within an hour that occurs twice, it also names times that are over."""
    written = ALIASES.get(cron, cron).replace("?", "*")
    times = CronSim(written, after.astimezone(ZoneInfo(zone)))
    return next(moment for each in times if (moment := each.astimezone(UTC)) > after)


def _counts_hours(cron: str) -> bool:
    minute, hour, *_ = ALIASES.get(cron, cron).split()
    return minute.startswith("*") or hour.startswith("*")


@pytest.mark.parametrize("seed", often(0, now_and_then=range(1, 10)))
def test_random_expressions_fire_when_cronsim_says(tx: Connection[Any], seed: int) -> None:
    draw = random.Random(seed)
    compared = 0
    while compared < EXPRESSIONS // 2:
        cron, zone, after = _expression(draw), draw.choice(ZONES), _moment(draw)
        if zone == "Australia/Lord_Howe" and _counts_hours(cron):
            continue  # it counts in hours, and loses half of one when the clocks change by that
        try:
            expected = _expected(cron, zone, after)
        except (CronSimError, StopIteration):  # it never fires, or not within fifty years
            continue
        assert _next(tx, cron, zone, after) == expected, (cron, zone, after)
        compared += 1


def _shown(cron: Cron, local: datetime) -> bool:
    day, weekday = local.day in cron.days, local.isoweekday() % 7 in cron.weekdays
    fits = (day and weekday) if cron.any_day or cron.any_weekday else (day or weekday)
    return local.minute in cron.minutes and local.hour in cron.hours and local.month in cron.months and fits


def _night(text: str, zone: str, start: datetime, hours: int) -> list[datetime]:
    """When an expression fires, by the rule itself: minute by minute, what the clock shows."""
    cron, shown, fires = read_cron(text), ZoneInfo(zone), list[datetime]()
    for n in range(1, hours * 60):
        moment = start + timedelta(minutes=n)
        before = (moment - timedelta(minutes=1)).astimezone(shown).replace(tzinfo=None) + timedelta(minutes=1)
        local = moment.astimezone(shown)
        skipped = range((local.replace(tzinfo=None) - before) // timedelta(minutes=1)) if cron.is_fixed else range(0)
        is_second = cron.is_fixed and local.fold == 1
        if any(_shown(cron, before + timedelta(minutes=m)) for m in skipped) or (_shown(cron, local) and not is_second):
            fires.append(moment)
    return fires


@pytest.mark.parametrize("seed", often(0, now_and_then=range(1, 20)))
def test_nights_of_clock_changes_fire_by_the_rule(tx: Connection[Any], seed: int) -> None:
    draw = random.Random(seed)
    for _ in range(6):
        minute, hour = _field(draw, 0, 59), draw.choice(["*", "*/2", "0-3", "1,2,3", "2", "1", "0,23"])
        cron, zone = (
            f"{minute} {hour} {draw.choice(['*', '*/2', '1-31'])} * {draw.choice(['*', 'mon-sat'])}",
            draw.choice(ZONES),
        )
        change = draw.choice(CHANGES)
        start, hours = change - timedelta(hours=draw.randint(2, 14)), 24
        fires, after = list[datetime](), start
        while (after := _next(tx, cron, zone, after)) < start + timedelta(hours=hours) and len(fires) < MOST:
            fires.append(after)
        assert fires == _night(cron, zone, start, hours)[:MOST], (cron, zone, start)


@pytest.mark.parametrize(
    ("cron", "zone", "after", "expected"),
    [
        ("30 4 * * *", "Europe/Oslo", "2026-03-01 12:00Z", "2026-03-02 03:30Z"),
        ("30 4 * * *", "Europe/Oslo", "2026-03-28 12:00Z", "2026-03-29 02:30Z"),  # the local hour stays
        ("30 2 * * *", "Europe/Oslo", "2026-03-28 12:00Z", "2026-03-29 01:00Z"),  # skipped: as the clocks change
        ("30 2 * * *", "Europe/Oslo", "2026-03-29 01:00Z", "2026-03-30 00:30Z"),
        ("30 2 * * *", "Europe/Oslo", "2026-10-24 12:00Z", "2026-10-25 00:30Z"),
        ("30 2 * * *", "Europe/Oslo", "2026-10-25 00:30Z", "2026-10-26 01:30Z"),  # of two times the first
        ("30 2 * * *", "Europe/Oslo", "2026-10-25 01:10Z", "2026-10-26 01:30Z"),  # asked in between
        ("30 * * * *", "Europe/Oslo", "2026-10-25 00:30Z", "2026-10-25 01:30Z"),  # every hour is every hour
        ("30 * * * *", "Europe/Oslo", "2026-03-29 00:30Z", "2026-03-29 01:30Z"),
        ("*/30 2 * * *", "Europe/Oslo", "2026-03-28 12:00Z", "2026-03-30 00:00Z"),  # not a fixed time: skipped
        ("0 2,3 * * *", "Europe/Oslo", "2026-03-29 01:00Z", "2026-03-30 00:00Z"),  # one run for both
        ("0 * * * *", "Europe/Oslo", "2026-10-25 00:00Z", "2026-10-25 01:00Z"),
        ("0 0 * * *", "Pacific/Apia", "2011-12-29 11:00Z", "2011-12-30 10:00Z"),  # a date that never was
        ("30 * * * *", "Asia/Beirut", "2026-10-24 20:30Z", "2026-10-24 21:30Z"),  # back over midnight
        ("30 23 * * *", "Asia/Beirut", "2026-10-24 20:30Z", "2026-10-25 21:30Z"),
        ("30 23 24 * *", "Asia/Beirut", "2026-10-24 20:20Z", "2026-10-24 20:30Z"),
        ("0 0 29 2 *", "UTC", "2096-03-01 00:00Z", "2104-02-29 00:00Z"),
        ("0 6 */32,1-7 * mon", "UTC", "2026-03-03 00:00Z", "2026-04-06 06:00Z"),  # the first Monday
        ("0 12 13 * fri", "UTC", "2026-03-01 00:00Z", "2026-03-06 12:00Z"),  # either day
        ("0 12 */2 * mon", "UTC", "2026-03-01 00:00Z", "2026-03-09 12:00Z"),  # both, as one begins with *
        ("0 12 29 2 */7", "UTC", "2088-03-01 00:00Z", "2128-02-29 12:00Z"),
        ("0 12 * * 7", "UTC", "2026-03-02 00:00Z", "2026-03-08 12:00Z"),
        ("0 12 * * 5-7", "UTC", "2026-03-08 00:00Z", "2026-03-08 12:00Z"),
        ("0 12 * * sat-mon", "UTC", "2026-03-09 00:00Z", "2026-03-09 12:00Z"),
        ("0 5-5 * * *", "UTC", "2026-03-01 05:00Z", "2026-03-02 05:00Z"),
        ("0 22-4/3 * * *", "UTC", "2026-03-01 22:00Z", "2026-03-02 01:00Z"),
        ("  0  12\t*  * *  ", "utc", "2026-03-01 12:00:00.5Z", "2026-03-02 12:00Z"),
        ("@Weekly", "UTC", "2026-03-02 00:00Z", "2026-03-08 00:00Z"),
    ],
)
def test_expression_fires(tx: Connection[Any], cron: str, zone: str, after: str, expected: str) -> None:
    assert _next(tx, cron, zone, datetime.fromisoformat(after)) == datetime.fromisoformat(expected)


STRANGE = ["0 0 30 2 *", "61 * * * *", "* * * * 8", "*/0 * * * *", "1,,2 * * * *", "-5 * * * *", "", "whenever",
           "* * * * * *", "@reboot", "0 0 31 4,6,9-11/2 *", "0 0 ?/2 * *", "0 0 L * *", "0 0 * * 5#2",
           "0 0 15W * *", "0 0 * * monL", "it's * * * *",
           "0 0 * * 7-2", "0 0 * * 6-7", "0 22-4/3 * * fri-mon", "0 0 1-7/100 * 7/2", "0\t0 *  * MON", "5-5/9 * * * *",
           "? * * * *", "0 0 ? * ?", "0 0 */31 2 */7", "*,* * * * *", "0 0 30 */2 *", "0 0 31 */2 mon"]  # fmt: skip


def test_definitions_read_expressions_as_the_server_does(tx: Connection[Any]) -> None:
    draw = random.Random(7)
    for cron in [*STRANGE, *ALIASES, *(_expression(draw) for _ in range(300))]:
        assert _read_here(cron) == _read_there(tx, cron), cron


def _read_here(cron: str) -> Any:
    try:
        return {
            key: list(value) if isinstance(value, tuple) else value for key, value in asdict(read_cron(cron)).items()
        }
    except DefinitionRefused as error:
        return str(error), error.hint


def _read_there(conn: Connection[Any], cron: str) -> Any:
    try:
        with conn.transaction():
            row = conn.execute("select to_jsonb(worker.parse_cron(%s))", [cron]).fetchone()
            return row and row[0]
    except psycopg.Error as error:
        return error.diag.message_primary, error.diag.message_hint
