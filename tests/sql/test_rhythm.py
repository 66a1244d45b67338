"""Schedules in words."""

from __future__ import annotations

import pytest

from catchment.model.rhythm import say_rhythm
from tests.fixtures.engine import Engine


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (1, "every second"),
        (90, "every 90 seconds"),
        (60, "every minute"),
        (21_600, "every 6 hours"),
        (86_400, "every day"),
        (604_800, "every week"),
        (90_061, "every 1 day 1 hour 1 minute 1 second"),
        (1.5, "every 1 second 500 ms"),
    ],
)
def test_intervals(seconds: float, words: str) -> None:
    assert say_rhythm(seconds, None, "UTC") == words


CRONS = {
    "0 2 * * *": "every day at 02:00 Europe/Oslo",
    "@daily": "every day at 00:00 Europe/Oslo",
    "@hourly": "every hour at :00 Europe/Oslo",
    "@weekly": "every Sunday at 00:00 Europe/Oslo",
    "30 4 1 * *": "on day 1 of the month at 04:30 Europe/Oslo",
    "0 0 1 1 *": "on day 1 of the month at 00:00 in January Europe/Oslo",
    "0 9,17 * * mon-fri": "Monday to Friday at 09:00 and 17:00 Europe/Oslo",
    "0 6 * * fri-mon": "every Monday, Friday, Saturday and Sunday at 06:00 Europe/Oslo",
    "*/5 * * * *": "every 5 minutes Europe/Oslo",
    "* * * * *": "every minute Europe/Oslo",
    "*/15 9-17 * * mon-fri": "Monday to Friday every 15 minutes, in the hours 09 to 17 Europe/Oslo",
    "0 */2 * * *": "every 2 hours at :00 Europe/Oslo",
    "5,35 * * * *": "every hour at :05 and :35 Europe/Oslo",
    "0 8-18 * * sat,sun": "every Saturday and Sunday at :00 of the hours 08 to 18 Europe/Oslo",
    "0 12 1,15 * mon": "on days 1 and 15 of the month and every Monday at 12:00 Europe/Oslo",
    "0 12 */10 * mon,fri": "on days 1, 11, 21 and 31 of the month that are Monday or Friday at 12:00 Europe/Oslo",
    "0 3 1-7,20 jun-aug *": "on days 1 to 7 and 20 of the month at 03:00 in June, July and August Europe/Oslo",
}


def test_cron_expressions(engine: Engine) -> None:
    said = {
        cron: say_rhythm(None, engine.value("select to_jsonb(worker.parse_cron(%s))", cron), "Europe/Oslo")
        for cron in CRONS
    }
    assert said == CRONS
