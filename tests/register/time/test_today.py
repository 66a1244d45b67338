"""Today is what the session says, or the settings, or the clock."""

from __future__ import annotations

import pytest

from tests.fixtures.register import TODAY
from tests.fixtures.register_driver import Register
from tests.register.support import refused


def _today(reg: Register) -> str:
    return reg.value("select register.today()::text")


def test_settings_say_what_today_is(reg: Register) -> None:
    assert _today(reg) == TODAY.isoformat()
    reg.today("2031-05-06")
    assert _today(reg) == "2031-05-06"


def test_a_session_has_the_last_word(reg: Register) -> None:
    reg.conn.execute("set local register.today = '2019-12-31'")
    assert _today(reg) == "2019-12-31"
    reg.conn.execute("set local register.today = ''")
    assert _today(reg) == TODAY.isoformat()


@pytest.mark.parametrize("zone", ["Pacific/Auckland", "America/Los_Angeles"])
def test_without_either_the_clock_decides_and_the_time_zone_does_not(reg: Register, zone: str) -> None:
    reg.conn.execute("update register.settings set today = null")
    reg.conn.execute("set local worker.now = '2030-06-01 23:59:59+00'")
    reg.conn.execute(f"set local timezone = '{zone}'")
    assert _today(reg) == "2030-06-01"


def test_today_is_a_day(reg: Register) -> None:
    with refused(reg, "23514"):
        reg.today("infinity")
