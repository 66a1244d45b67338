"""Roles: what each may do and may not, and that no function can be led astray by a search path."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.fixtures.register_driver import Register
from tests.register.support import refused

DENIED = "42501"
HANDLER = """
create or replace procedure register.collect_changes(payload jsonb, inout info jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from register.base_change_log;
  perform worker.follow_up('derive_reports', '{}');
  info := jsonb_build_object('ran_as', current_user);
end;
$$;
alter procedure register.collect_changes(jsonb, jsonb) owner to register_owner;
create or replace procedure register.derive_reports(payload jsonb, inout info jsonb)
  language sql security definer set search_path = pg_catalog, pg_temp as $$ select '{}'::jsonb $$;
alter procedure register.derive_reports(jsonb, jsonb) owner to register_owner;
revoke all on procedure register.collect_changes(jsonb, jsonb), register.derive_reports(jsonb, jsonb) from public;
grant execute on all procedures in schema register to catchment_worker;
"""


@contextmanager
def acting(reg: Register, *roles: str) -> Iterator[None]:
    """Be a user with these roles, and them alone, as after a login."""
    reg.conn.execute(f"create role tester login {'in role ' + ', '.join(roles) if roles else ''}")
    reg.conn.execute("set local session authorization tester")
    yield
    reg.conn.execute("reset session authorization")


def denied(reg: Register, *statements: str) -> None:
    for statement in statements:
        with refused(reg, DENIED):
            reg.conn.execute(statement)


def test_an_editor_changes_base_data_and_codes_and_asks_for_work(reg: Register) -> None:
    with acting(reg, "register_edit"):
        reg.lu("1", "2020-01-01", activity="A.01.1", region="46.26", employees=3)
        reg.es("11", "1", "2020-01-01")
        reg.conn.execute("update register.legal_unit set name = 'New'")
        reg.conn.execute("delete from register.activity")
        reg.insert("legal_form", code="X", name="X")
        reg.conn.execute("update register.sector set name = name || '.'")
        reg.today("2030-01-01")
        reg.value("select worker.enqueue_collect_changes('all')")
        reg.value("select worker.enqueue_derive_statistical_unit()")
        assert reg.value("select edit_by from register.enterprise order by id desc limit 1") == "tester"
    assert reg.pending() == 1
    assert len(reg.log()) > 4


def test_an_editor_does_not_reach_what_is_derived(reg: Register) -> None:
    with acting(reg, "register_edit"):
        denied(
            reg,
            "insert into register.base_change_log (rebuilds_reports) values (true)",
            "delete from register.base_change_log",
            "update register.round set state = 'done'",
            "delete from register.statistical_unit_row",
            "insert into register.used_code values ('region', 1, 1)",
            "update register.report_state set applied_flush_id = 1",
            "delete from register.legal_form",
            "insert into register.settings (is_one) values (false)",
            "insert into register.temporal_table values ('x', '{}', '{}', '{}')",
            "select register.log_change()",
            "select worker.enqueue('collect_changes')",
            "drop table register.legal_unit",
        )


def test_a_reader_looks_at_everything_and_changes_nothing(reg: Register) -> None:
    reg.lu("1", "2020-01-01")
    tables = reg.rows(
        "select relname from pg_class where relnamespace = 'register'::regnamespace and relkind in ('r', 'v')"
    )
    assert len(tables) > 50
    with acting(reg, "register_read"):
        for table in tables:
            reg.conn.execute(f"select * from register.{table['relname']} limit 1")
        reg.value("select register.today()")
        denied(
            reg,
            "insert into register.enterprise (short_name) values ('x')",
            "update register.legal_unit set name = 'x'",
            "delete from register.external_ident",
            "update register.settings set today = null",
            "insert into register.legal_form (code, name) values ('x', 'x')",
            "select worker.enqueue_collect_changes()",
            "select nextval('register.legal_unit_id_seq')",
        )


def test_a_worker_needs_to_execute_and_nothing_else(reg: Register) -> None:
    reg.conn.execute(HANDLER)
    reg.insert("enterprise", short_name="x")
    with acting(reg, "catchment_worker"):
        reg.conn.execute("call worker.drain('analytics')")
        ran = reg.rows("select command, state, info from worker.tasks order by id")
        assert [(r["command"], r["state"]) for r in ran] == [
            ("collect_changes", "completed"),
            ("derive_reports", "completed"),
        ]
        assert ran[0]["info"] == {"ran_as": "register_owner"}
        denied(
            reg,
            "select * from register.legal_unit",
            "insert into register.enterprise (short_name) values ('x')",
            "select * from register.base_change_log",
            "select register.log_change()",
        )
        reg.value("select worker.enqueue_collect_changes()")
    assert reg.log() == []


def test_a_stranger_reaches_nothing(reg: Register) -> None:
    with acting(reg):
        denied(
            reg,
            "select * from register.legal_unit",
            "select register.today()",
            "select worker.enqueue_collect_changes()",
            "insert into register.enterprise (short_name) values ('x')",
        )


def test_functions_cannot_be_led_astray_by_a_search_path(reg: Register) -> None:
    """A function without a fixed path must at least be one whose text was parsed when it was made, or be inlined."""
    rows = reg.rows(
        """select p.proname, p.prosecdef, l.lanname,
                  coalesce('search_path=pg_catalog, pg_temp' = any (p.proconfig), false) as is_fixed,
                  p.prosqlbody is not null as is_parsed
             from pg_proc as p join pg_language as l on l.oid = p.prolang
            where p.pronamespace = 'register'::regnamespace and p.prokind <> 'a'
               or p.pronamespace = 'worker'::regnamespace and p.proname ~ '^enqueue_[a-z]+_'"""
    )
    assert len(rows) > 30
    assert [r["proname"] for r in rows if r["prosecdef"] and not r["is_fixed"]] == []
    assert [r["proname"] for r in rows if not (r["is_fixed"] or r["is_parsed"] or r["lanname"] == "sql")] == []


def test_a_table_of_the_callers_does_not_pass_for_the_changed_rows(reg: Register) -> None:
    reg.conn.execute("create temporary table changed (id integer, valid_from date, valid_until date)")
    reg.conn.execute("create schema hostile; create table hostile.legal_unit (id integer)")
    reg.conn.execute("set local search_path = hostile, pg_temp, pg_catalog")
    reg.lu("1", "2020-01-01")
    with refused(reg, "RG001"):
        reg.lu("1", "2021-01-01")


def test_everything_belongs_to_the_owner_role(reg: Register) -> None:
    strangers = reg.rows(
        """select relname from pg_class
            where relnamespace = 'register'::regnamespace and relowner <> 'register_owner'::regrole
           union all
           select proname from pg_proc
            where pronamespace = 'register'::regnamespace and proowner <> 'register_owner'::regrole"""
    )
    assert strangers == []


@pytest.mark.parametrize("role", ["register_owner", "register_edit", "register_read"])
def test_roles_cannot_log_in_by_themselves(reg: Register, role: str) -> None:
    found = reg.rows("select rolcanlogin, rolsuper from pg_roles where rolname = %s", role)
    assert found == [{"rolcanlogin": False, "rolsuper": False}]
