"""Whether all that is published agrees with the plain reference, and with itself."""

from __future__ import annotations

from catchment_register.reference.check import check_reports, check_units
from tests.fixtures.register_driver import Register


def failed(reg: Register) -> list[tuple[str, str]]:
    """Tasks that did not complete, and why."""
    rows = reg.rows("select command, state, error from worker.tasks where state <> 'completed' order by id")
    return [(row["command"], row["error"] or row["state"]) for row in rows]


def wrong_reports(reg: Register) -> list[str]:
    """In what the reports differ from what the reference makes of the published units."""
    return [f"{view}: {line}" for view, lines in check_reports(reg.conn).items() for line in lines]


def assert_agreement(reg: Register, *, besides: str | None = None) -> None:
    """Everything has been derived, no rule is broken but the one left out, and the reference says the same of units and
    reports."""
    wrong = [*failed(reg), *check_units(reg.conn), *wrong_reports(reg)]
    assert not wrong, wrong
    reg.check(besides=besides)
