"""The rules that ``verify`` checks: each of them is found broken when it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from psycopg import Connection

from catchment_register.cli.verify import DEEP, RULES
from catchment_register.dates import read_open_ends
from tests.fixtures.often import some
from tests.fixtures.register import open_session, rolled_back
from tests.fixtures.register_driver import Register
from tests.fixtures.server import cloned


@pytest.fixture(scope="module")
def session(server: str, register_template: str) -> Iterator[Connection[Any]]:
    """A session on a register with a bit of everything, derived."""
    with cloned(server, register_template) as dsn, open_session(dsn) as conn:
        conn.execute("set constraints register.request_collect immediate")
        read_open_ends(conn)
        reg = Register(conn)
        reg.lu("1", "2024-01-01", "2025-06-01", region="03.01", activity="A.01.1", sector="2100", employees=3)
        reg.lu("1", "2025-06-01", name="Renamed", region="11.03", activity="A.01.1", sector="2100", employees=4)
        reg.es("2", "1", "2024-01-01", "2025-06-01", region="03.01", employees=1)
        reg.informal("3", "2024-03-01", employees=2)
        reg.lu("4", "2024-01-01", legal_form="AS")
        reg.relate("1", "4", "2024-01-01", "2025-06-01")
        reg.derive()
        conn.commit()
        yield conn


@pytest.fixture
def filled(session: Connection[Any]) -> Iterator[Register]:
    """That register in a transaction that is rolled back."""
    with rolled_back(session) as reg:
        yield reg


def broken(reg: Register, *, deep: bool = False) -> set[str]:
    return {row["rule"] for row in reg.rows("select * from register.check_register(%s)", deep)}


def test_all_rules_hold_in_a_register_that_was_left_alone(filled: Register) -> None:
    assert broken(filled, deep=True) == set()


def test_a_register_without_units_is_in_order(reg: Register) -> None:
    assert broken(reg, deep=True) == set()


def test_no_two_rows_of_a_key_are_valid_at_once(filled: Register) -> None:
    """Also for keys that hardly anybody has two of."""
    filled.conn.execute("set local session_replication_role = replica")
    enterprise = filled.enterprise_of("3")
    for ident in ("5", "6"):
        filled.es(ident, enterprise, "2020-01-01")
    person = filled.insert("person", family_name="Berg")["id"]
    role = filled.code("person_role", "director")
    unit = filled.unit_id("4")
    for day in ("2024-01-01", "2025-01-01"):
        filled.insert("person_for_unit", legal_unit_id=unit, person_id=person, person_role_id=role, valid_from=day)
        filled.insert("power_root", power_group_id=777, derived_root_legal_unit_id=unit, valid_from=day)
    found = filled.rows("select detail from register.check_base() where rule = %s", RULES[0])
    assert {row["detail"] for row in found} == {
        f"primary establishment for enterprise {enterprise} from 2020-01-01",
        f"person_for_unit {unit}/{person}/{role} from 2024-01-01",
        "power_root 777 from 2024-01-01",
    }


def test_a_period_that_no_history_has_is_found(filled: Register) -> None:
    for table in ("statistical_history_row", "statistical_history_facet_row"):
        filled.conn.execute(
            f"delete from register.{table} where year = 2025 and month = 8 and unit_type = 'enterprise'"
        )
    found = filled.rows("select * from register.check_register(false)")
    assert [row["detail"] for row in found] == [
        "year-month 2025 8 enterprise: 0 existing, 0 countable; in stock 3 and 3"
    ]


BREAKS = {
    "rows of one key are never valid on the same day": (
        "update register.legal_unit set valid_until = '2026-01-01' where valid_until = '2025-06-01'"
    ),
    "what a row belongs to is there for all of its time": (
        "update register.activity set valid_from = '2020-01-01' where valid_from = '2024-01-01'"
    ),
    "an enterprise that has units has a primary one": ("update register.legal_unit set primary_for_enterprise = false"),
    "a code is in its list": ("update register.location set region_id = 999999"),
    "rows of a unit do not overlap": ("update register.statistical_unit_row set is_only = not is_only"),
    "a published unit exists": (
        "update register.statistical_unit_row set unit_id = unit_id + 5000 where unit_type = 'establishment'"
    ),
    "a unit is published": ("delete from register.statistical_unit_row where unit_type = 'establishment'"),
    "a row is in the slot of its facet": (
        "update register.statistical_unit_row set hash_slot = (hash_slot + 1) % 16384"
    ),
    "codes in use are counted": ("update register.used_code set row_count = row_count + 1 where kind = 'region'"),
    "units that are related are in one power group": (
        "insert into register.legal_relationship (influencing_id, influenced_id, type_id, valid_from,"
        " primary_influencer_only, derived_power_group_id) select influenced_id, influencing_id, type_id, valid_from,"
        " false, 5000 from register.legal_relationship"
    ),
    "a power group is what its legal units are at the time": (
        "update register.statistical_unit_row set moments = null where unit_type = 'power_group'"
    ),
    "units at the end of a period are those in stock on that day": (
        "update register.statistical_history_row set measures.exists_count = (measures).exists_count + 1"
        " where resolution = 'year'"
    ),
    "facets of units count every counted row once": (
        "update register.statistical_unit_facet_row set count = count + 1"
    ),
    "the history by facet sums up to the history": (
        "update register.statistical_history_facet_row set measures.births = (measures).births + 1"
    ),
    "values of the history by facet sum up to those of the history": (
        "update register.statistical_history_facet_row set moments = null"
    ),
    "a report has no row about nothing": ("update register.statistical_history_row set unit_count = 0"),
    "logged changes belong to an open round or to none": (
        "insert into register.base_change_log (legal_unit_ids, round_id) values ('{[1,2)}', 999)"
    ),
    "an open round has a task that continues with it": (
        "insert into register.round (kind, today) values ('all', '2026-02-13')"
    ),
    "nothing is staged for a round that is over": (
        "insert into register.report_cell (round_id, report, partition_seq, flush_id, sign, weight, "
        "facet_key, unit_type, valid_from, valid_until, next_from, used_for_counting) values (1, "
        "'facet', 0, 0, 1, 1, gen_random_uuid(), 'enterprise', '2024-01-01', 'infinity', 'infinity', "
        "true)"
    ),
    "changes of units are kept until every report has them": (
        "insert into register.statistical_unit_change select 999999, 1, r.* from "
        "register.statistical_unit_row as r limit 1"
    ),
    "no report waits to be rebuilt while nothing is under way": (
        "update register.report_state set applied_flush_id = null"
    ),
}


@pytest.mark.parametrize("rule", some(list(RULES), one_in=2))
def test_a_broken_rule_is_found(filled: Register, rule: str) -> None:
    # Past the triggers, as somebody might who knows better.
    filled.conn.execute("set local session_replication_role = replica")
    filled.conn.execute(BREAKS[rule])
    assert rule in broken(filled)


def test_a_deep_check_finds_what_no_rule_does(filled: Register) -> None:
    filled.conn.execute("update register.statistical_unit_row set name = 'Wrong' where unit_type = 'enterprise'")
    assert broken(filled) == set()
    assert broken(filled, deep=True) == {DEEP}
    # What is published is behind as long as nobody has taken a change.
    filled.lu("5", "2024-01-01")
    assert broken(filled, deep=True) == set()


@pytest.mark.parametrize(
    "damage",
    some(
        [
            "update register.statistical_unit_row set phone_number = '1' where unit_type = 'establishment'",
            "update register.statistical_history_row set moments[1].squares = 1 where year = 2024",
            "update register.statistical_unit_facet_row set moments = null",
            "update register.statistical_history_facet_row set value_counts = '{}' where year = 2025",
            "delete from register.statistical_history_facet_row where year = 2025",
            "insert into register.statistical_unit_facet_row (facet_key, valid_from, valid_until, unit_type, count)"
            " values (gen_random_uuid(), '2024-01-01', '2025-01-01', 'legal_unit', 1)",
        ],
        one_in=2,
    ),
)
def test_a_deep_check_compares_every_derived_table(filled: Register, damage: str) -> None:
    filled.conn.execute(damage)
    assert DEEP in broken(filled, deep=True)


def test_a_deep_check_compares_rows_as_they_are(filled: Register) -> None:
    """To turn all rows into JSON, and all moments into plain ones, took ten times as long as to derive them."""
    filled.conn.execute("set local track_functions = 'all'")
    assert broken(filled, deep=True) == set()
    for function in (
        "register.plain_moments(register.moment[])",
        "register.row_differences(text, text, text[], integer)",
    ):
        calls = filled.value("select pg_stat_get_xact_function_calls(%s::regprocedure)", function)
        assert (calls or 0) == (4 if "row_differences" in function else 0)


def test_a_deep_check_leaves_no_trace(filled: Register) -> None:
    state = (
        "select (select count(*) from register.round),"
        " (select max(xmin::text::bigint) from register.statistical_unit_row),"
        " (select count(*) from register.report_cell), (select string_agg(r::text, ',' order by r.report)"
        " from register.report_state as r)"
    )
    before = filled.rows(state)
    filled.conn.execute("update register.statistical_history_row set measures.exists_count = 77")
    assert broken(filled, deep=True) != set()
    assert filled.rows(state) == before
    assert filled.value("select distinct (measures).exists_count from register.statistical_history_row") == 77
