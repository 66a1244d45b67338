"""Derivation up to the published units, without the reports, which have tests of their own."""

from __future__ import annotations

from catchment_register.reference.check import check_units
from tests.fixtures.register_driver import Register, Row

ENDS_ROUNDS = """
create or replace procedure register.derive_reports(payload jsonb, inout info jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform register.close_round((register.enter_stage(payload, 'derive_reports')).id);
end;
$$;
"""


def without_reports(reg: Register) -> Register:
    """Rounds end where the reports would begin."""
    reg.conn.execute(ENDS_ROUNDS)
    return reg


def derive(reg: Register) -> None:
    """Everything that waits is derived, and nothing has failed."""
    reg.conn.execute("call worker.drain('analytics')")
    # A transaction asks for a collection once; here the next edits are in the same one.
    reg.conn.execute("delete from register.collect_request")
    failed = "select command, error from worker.tasks where state in ('failed', 'cancelled')"
    found = reg.rows(failed)
    assert not found, found
    assert reg.rows("select id from register.round where state = 'open'") == []


def assert_right(reg: Register) -> None:
    """The published units are those that the base data say, and nothing is left of the round."""
    wrong = check_units(reg.conn)
    assert not wrong, wrong
    assert reg.log() == []
    assert reg.value("select count(*) from register.statistical_unit_staging") == 0
    assert reg.value("select count(*) from register.round_batch") == 0


def rows_of(reg: Register, unit_type: str, unit_id: int) -> list[Row]:
    """The published rows of a unit, in the order of time."""
    return reg.rows(
        "select * from register.statistical_unit where unit_type = %s and unit_id = %s order by valid_from",
        unit_type,
        unit_id,
    )


def last_info(reg: Register, command: str) -> Row:
    """What the last task of a command told."""
    return reg.value("select info from worker.tasks where command = %s order by id desc limit 1", command)


def versions(reg: Register) -> dict[tuple[str, int, str], str]:
    """Which transaction wrote each published row."""
    rows = reg.rows(
        "select unit_type, unit_id, valid_from::text, xmin::text, ctid::text from register.statistical_unit_row"
    )
    return {(r["unit_type"], r["unit_id"], r["valid_from"]): r["xmin"] + r["ctid"] for r in rows}
