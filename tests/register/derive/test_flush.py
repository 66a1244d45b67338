"""Publishing: what is the same is not touched, what differs is written down for the reports."""

from __future__ import annotations

import psycopg
import pytest

from tests.fixtures.register_driver import Register
from tests.register.support import refused
from tests.register.unit_support import assert_right, derive, last_info, rows_of, versions, without_reports

MOVES = {
    "legal_unit": "update register.legal_unit set enterprise_id = %s, primary_for_enterprise = false where id = %s",
    "establishment": "update register.establishment set legal_unit_id = %s, primary_for_legal_unit = false"
    " where id = %s",
}


@pytest.fixture
def units(reg: Register) -> Register:
    """A small register, published; reports are brought up to date by differences."""
    without_reports(reg)
    for ident in ("1", "2", "3", "4", "5"):
        reg.lu(ident, "2020-01-01", employees=1)
        reg.es(f"e{ident}", ident, "2020-01-01", "2021-01-01")
        reg.es(f"e{ident}", ident, "2021-01-01", name="Later")
    derive(reg)
    reg.conn.execute("update register.settings set rebuild_share = 1")
    applied = "update register.report_state set applied_flush_id = currval('register.flush_id'), through = '2026-02-28'"
    reg.conn.execute(applied)
    return reg


def changes(reg: Register) -> list[tuple[str, int, int]]:
    rows = reg.rows("select unit_type, unit_id, sign from register.statistical_unit_change order by 1, 2, 3")
    return [(r["unit_type"], r["unit_id"], r["sign"]) for r in rows]


def test_rows_that_are_the_same_are_not_touched(units: Register) -> None:
    before = versions(units)
    changed = units.unit_id("e1")
    units.conn.execute(
        "update register.establishment set name = 'Other' where id = %s and valid_from = '2021-01-01'", [changed]
    )
    derive(units)
    after = versions(units)
    touched = {key for key in after if after[key] != before.get(key)}
    assert ("establishment", changed, "2021-01-01") in touched
    assert ("establishment", changed, "2020-01-01") not in touched
    assert {key[:2] for key in touched} <= {
        ("establishment", changed),
        ("legal_unit", units.unit_id("1")),
        ("enterprise", units.enterprise_of("1")),
    }
    assert_right(units)


def test_deriving_everything_again_writes_nothing(units: Register) -> None:
    before = versions(units)
    units.value("select worker.enqueue_collect_changes('all')")
    derive(units)
    assert versions(units) == before
    assert last_info(units, "statistical_unit_flush_staging")["units_changed"] == 0
    assert changes(units) == []


def test_an_edit_that_changes_no_row_leaves_no_difference(units: Register) -> None:
    units.conn.execute("update register.legal_unit set edit_at = edit_at, name = name")
    derive(units)
    assert last_info(units, "statistical_unit_flush_staging")["units_changed"] == 0
    assert changes(units) == []


def test_differences_hold_all_rows_of_a_changed_unit_as_they_were_and_as_they_are(units: Register) -> None:
    place = units.unit_id("e2")
    units.conn.execute(
        "update register.establishment set name = 'Other' where id = %s and valid_from = '2021-01-01'", [place]
    )
    derive(units)
    assert changes(units) == [("establishment", place, sign) for sign in (-1, -1, 1, 1)]
    slots = units.rows("select hash_slot from register.statistical_unit_facet_dirty_partitions")
    rows = units.rows("select distinct hash_slot from register.statistical_unit_change")
    assert sorted(s["hash_slot"] for s in slots) == sorted(r["hash_slot"] for r in rows)
    flush = units.value("select flush_id from register.round order by id desc limit 1")
    assert units.value("select distinct flush_id from register.statistical_unit_change") == flush


def test_differences_go_when_every_report_has_them(units: Register) -> None:
    units.stat("e1", "employees", 3, "2020-01-01")
    derive(units)
    assert changes(units) != []
    units.conn.execute("update register.report_state set applied_flush_id = currval('register.flush_id')")
    units.stat("e2", "employees", 3, "2020-01-01")
    derive(units)
    assert {c[1] for c in changes(units) if c[0] == "establishment"} == {units.unit_id("e2")}


def test_a_large_share_of_changes_has_the_reports_rebuilt(units: Register) -> None:
    units.conn.execute("update register.settings set rebuild_share = 0.05")
    units.stat("e1", "employees", 3, "2020-01-01")
    derive(units)
    assert last_info(units, "statistical_unit_flush_staging")["rebuild"] is True
    assert changes(units) == []
    assert units.value("select bool_and(applied_flush_id is null) from register.report_state")
    assert units.value("select rebuild from register.round order by id desc limit 1")


def test_staged_rows_that_are_missing_are_noticed(units: Register) -> None:
    round_id = units.value("select (register.take_changes(true)).id")
    for batch in units.rows("select * from register.plan_batches(%s)", round_id):
        units.conn.execute("select register.refresh_batch(%s, %s, %s, %s)", [round_id, *(batch[c] for c in batch)])
    units.conn.execute("truncate register.statistical_unit_staging")
    with refused(units, "RG010"):
        units.value("select register.publish_units(%s)", round_id)


@pytest.mark.parametrize("kind", ["legal_unit", "establishment"])
def test_a_unit_that_moves_while_batches_are_at_work_is_right_a_round_later(units: Register, kind: str) -> None:
    units.conn.execute("update register.settings set batch_enterprises = 1")
    units.conn.execute(f"update register.{kind} set name = 'Edited'")
    round_id = units.value("select (register.take_changes(true)).id")
    batches = units.rows("select * from register.plan_batches(%s) order by batch_seq", round_id)
    for number, batch in enumerate(batches):
        if number == 1:
            is_legal = kind == "legal_unit"
            moved, target = ("1", units.enterprise_of("5")) if is_legal else ("e1", units.unit_id("5"))
            units.conn.execute(MOVES[kind], [target, units.unit_id(moved)])
        units.conn.execute("select register.refresh_batch(%s, %s, %s, %s)", [round_id, *batch.values()])
    doubles = (
        "select count(*) from (select from register.statistical_unit_staging group by unit_type, unit_id"
        " having count(distinct batch_seq) > 1) as d"
    )
    assert units.value(doubles) > 0
    units.conn.execute("select register.publish_units(%s)", [round_id])
    units.conn.execute("select register.close_round(%s)", [round_id])
    units.value("select worker.enqueue_collect_changes()")
    derive(units)
    assert_right(units)


@pytest.mark.parametrize("is_all", [True, False], ids=["all", "changes"])
def test_what_belongs_to_a_unit_that_moved_into_a_batch_that_is_done_is_not_lost(units: Register, is_all: bool) -> None:
    units.conn.execute("update register.settings set batch_enterprises = 1")
    units.conn.execute("update register.establishment set name = 'Edited'")
    moved, target = units.unit_id("5"), units.enterprise_of("1")
    round_id = units.value("select (register.take_changes(%s)).id", is_all)
    for number, batch in enumerate(units.rows("select * from register.plan_batches(%s) order by batch_seq", round_id)):
        if number == 1:
            units.conn.execute(MOVES["legal_unit"], [target, moved])
        units.conn.execute("select register.refresh_batch(%s, %s, %s, %s)", [round_id, *batch.values()])
    units.conn.execute("select register.publish_units(%s)", [round_id])
    units.conn.execute("select register.close_round(%s)", [round_id])
    for unit_type, unit_id in (("legal_unit", moved), ("establishment", units.unit_id("e5"))):
        assert rows_of(units, unit_type, unit_id) != []
    units.value("select worker.enqueue_collect_changes()")
    derive(units)
    assert_right(units)


def test_a_batch_is_not_derived_twice(units: Register) -> None:
    round_id = units.value("select (register.open_round('all')).id")
    batch = "select register.refresh_batch(%s, 1, '{[1,2)}', '{}')"
    units.conn.execute(batch, [round_id])
    with pytest.raises(psycopg.errors.UniqueViolation), units.conn.transaction():
        units.conn.execute(batch, [round_id])


def test_a_batch_of_a_round_that_is_over_is_refused(units: Register) -> None:
    last = units.value("select max(id) from register.round")
    with refused(units, "RG009"):
        units.conn.execute("select register.refresh_batch(%s, 1, '{[1,2)}', '{}')", [last])


def test_a_register_that_became_empty_can_be_filled_again(units: Register) -> None:
    for table in ("stat_for_unit", "external_ident", "establishment", "legal_unit", "enterprise"):
        units.conn.execute(f"delete from register.{table}")
    derive(units)
    assert units.value("select count(*) from register.statistical_unit_row") == 0
    units.lu("9", "2020-01-01")
    derive(units)
    assert units.value("select count(*) from register.statistical_unit_row") == 2
    assert_right(units)


def _files(reg: Register) -> dict[str, int]:
    """The files of tables and indexes that a round uses; one that is truncated or made again has another file."""
    names = ["statistical_unit_staging", "statistical_unit_key", "statistical_unit_facet_dims"]
    scratch = ["b_slice", "b_own", "p_group", "p_bridge", "p_diff"]
    places = [*(f"register.{name}" for name in names), *(f"pg_temp.{name}" for name in scratch)]
    return {place: reg.value("select pg_relation_filenode(to_regclass(%s))", place) for place in places}


def _many(reg: Register, count: int) -> None:
    reg.conn.execute("insert into register.enterprise (short_name) select null from generate_series(1, %s)", [count])
    reg.conn.execute(
        "insert into register.legal_unit"
        " (valid_from, valid_until, enterprise_id, primary_for_enterprise, name, status_id)"
        " select '2020-01-01', 'infinity', e.id, true, repeat('Unit ', 40), %s from register.enterprise as e"
        " where not exists (select from register.legal_unit as l where l.enterprise_id = e.id)",
        [reg.code("status", "active")],
    )


def test_a_small_round_makes_no_table_or_index_again(reg: Register) -> None:
    """Every session would plan all that reads them again."""
    without_reports(reg)
    key = _files(reg)["register.statistical_unit_key"]
    reg.lu("1", "2020-01-01")
    derive(reg)
    assert _files(reg)["register.statistical_unit_key"] == key
    reg.lu("2", "2020-01-01")
    derive(reg)
    files = _files(reg)
    assert None not in files.values()
    reg.lu("3", "2020-01-01")
    derive(reg)
    assert _files(reg) == files
    assert_right(reg)


@pytest.mark.long
def test_many_units_are_published_before_their_key_and_indexes_are_made(reg: Register) -> None:
    without_reports(reg)
    before = _files(reg)
    _many(reg, 6000)
    derive(reg)
    after = _files(reg)
    assert before["register.statistical_unit_key"] != after["register.statistical_unit_key"]
    assert before["register.statistical_unit_staging"] == after["register.statistical_unit_staging"]
    assert after["register.statistical_unit_facet_dims"] is not None
    assert reg.value("select count(*) from register.statistical_unit") == 12000
    assert reg.value("select count(*) from register.statistical_unit_staging") == 0
    # Scratch that has grown beyond a small batch is not read again by the next one of the same transaction.
    _many(reg, 1)
    derive(reg)
    assert reg.value("select pg_relation_size('pg_temp.b_own')") <= 1_048_576
    assert_right(reg)
