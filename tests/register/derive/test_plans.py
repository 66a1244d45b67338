"""A small round reads what it needs by index, however large the register is."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import RegisterDatabase
from tests.register.unit_support import ENDS_ROUNDS

TABLES = ("legal_unit", "establishment", "activity", "location", "contact", "stat_for_unit", "statistical_unit_row")
FILL = """
set session_replication_role = replica;
insert into register.enterprise (id) select g from generate_series(1, 3000) as g;
insert into register.legal_unit (id, valid_from, name, status_id, enterprise_id, primary_for_enterprise)
select g, '2020-01-01', 'Unit ' || g, 1, g, true from generate_series(1, 3000) as g;
insert into register.establishment (id, valid_from, name, status_id, legal_unit_id, primary_for_legal_unit)
select g, '2020-01-01', 'Place ' || g, 1, g, true from generate_series(1, 3000) as g;
insert into register.stat_for_unit (legal_unit_id, stat_definition_id, valid_from, value_int)
select g, 1, '2020-01-01', g % 9 from generate_series(1, 3000) as g;
insert into register.stat_for_unit (establishment_id, stat_definition_id, valid_from, value_int)
select g, 1, '2020-01-01', g % 7 from generate_series(1, 3000) as g;
insert into register.location (legal_unit_id, type, valid_from, country_id)
select g, 'physical', '2020-01-01', 1 from generate_series(1, 3000) as g;
insert into register.activity (establishment_id, type, category_id, valid_from)
select g, 'primary', 1, '2020-01-01' from generate_series(1, 3000) as g;
insert into register.contact (legal_unit_id, valid_from, email_address)
select g, '2020-01-01', 'a@b.no' from generate_series(1, 3000) as g;
set session_replication_role = origin;
analyze;
"""


def scanned(reg: RegisterDatabase) -> dict[str, int]:
    """Rows that sequential scans of each table have read so far."""
    reg.conn.execute("select pg_stat_force_next_flush()")
    rows = reg.rows(
        "select relname, seq_tup_read from pg_stat_user_tables where schemaname = 'register' and relname = any (%s)",
        list(TABLES),
    )
    return {r["relname"]: r["seq_tup_read"] for r in rows}


@pytest.mark.slow
def test_a_round_over_one_unit_scans_no_table_of_the_register(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    reg_db.conn.execute(FILL)
    reg_db.value("select register.derive_now('units')")
    reg_db.conn.execute("update register.stat_for_unit set value_int = 50 where establishment_id = 2000")
    before = scanned(reg_db)
    reg_db.conn.execute("call worker.drain('analytics')")
    after = scanned(reg_db)
    assert reg_db.value("select kind from register.round order by id desc limit 1") == "changes"
    assert reg_db.value("select state from register.round order by id desc limit 1") == "done"
    # Whether a table has any row at all is told by its first.
    assert {table: after[table] - before[table] for table in TABLES if after[table] - before[table] > 5} == {}


@pytest.mark.long
@pytest.mark.slow
def test_a_change_of_most_units_is_a_round_over_all(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    reg_db.conn.execute(FILL)
    reg_db.conn.execute("update register.legal_unit set name = 'New ' || id")
    reg_db.conn.execute("update register.establishment set name = 'New ' || id where id <= 2500")
    reg_db.conn.execute("call worker.drain('analytics')")
    assert reg_db.rows("select kind, state from register.round") == [{"kind": "all", "state": "done"}]
    assert reg_db.log() == []
    assert reg_db.value("select count(*) from register.statistical_unit_row") == 9000
