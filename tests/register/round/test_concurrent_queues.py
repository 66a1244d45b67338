"""Imports and derivation run at the same time: neither waits for the other."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.worker import wait_until
from tests.register.agreement import wrong_reports
from tests.register.holding import KEY, hold, is_held, is_settled


@pytest.mark.long
@pytest.mark.slow
def test_an_import_finishes_while_a_derivation_is_held(reg_db: RegisterDatabase) -> None:
    hold(reg_db, "statistical_unit_staging", "true")
    holder = reg_db.connect()
    holder.execute("select pg_advisory_lock(%s)", [KEY])
    reg_db.lu("1", "2025-01-01", employees=3)
    reg_db.start_worker("--queue", "import", "--queue", "analytics")
    wait_until(lambda: is_held(reg_db), seconds=60)

    rows = [{"tax_ident": str(n), "name": f"Unit {n}", "employees": n} for n in range(100, 140)]
    job = reg_db.upload("legal_unit", rows, valid_from="2025-02-01", review=False)
    wait_until(lambda: reg_db.job(job)["state"] == "finished", seconds=60)
    assert reg_db.job(job)["imported_rows"] == 40
    assert is_held(reg_db), "the round stands where it stood"
    assert reg_db.value("select count(*) from register.statistical_unit") == 0

    holder.execute("select pg_advisory_unlock(%s)", [KEY])
    wait_until(lambda: is_settled(reg_db), seconds=90)
    states = reg_db.rows("select distinct state from register.round")
    assert states == [{"state": "done"}]
    assert reg_db.value("select count(*) from register.round") >= 2, "what was imported meanwhile is in the next round"
    assert reg_db.value("select count(*) from register.statistical_unit where unit_type = 'legal_unit'") == 41
    assert wrong_reports(reg_db) == []
