"""Who may import and edit, and that a worker needs no rights on the data."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date

import pytest

from tests.fixtures.register_driver import Register
from tests.register.support import refused

DENIED = "42501"
ROWS = [{"tax_ident": "1", "name": "One", "employees": "3"}]


@contextmanager
def acting(reg: Register, *roles: str) -> Iterator[None]:
    """Be a user with these roles, and them alone, as after a login."""
    reg.conn.execute(f"create role anna login in role {', '.join(roles)}")
    reg.conn.execute("set local session authorization anna")
    yield
    reg.conn.execute("reset session authorization")
    reg.conn.execute("drop owned by anna; drop role anna")


def test_an_editor_uploads_and_a_worker_without_rights_on_the_data_does_the_rest(reg: Register) -> None:
    with acting(reg, "register_edit"):
        job = reg.upload("legal_unit", ROWS, valid_from=date(2020, 1, 1), note="first try")
    with acting(reg, "catchment_worker"):
        with refused(reg, DENIED):
            reg.rows("select * from register.legal_unit")
        reg.conn.execute("call worker.drain('import')")
    assert (reg.job(job)["state"], reg.job(job)["created_by"]) == ("finished", "anna")
    for table in ("enterprise", "legal_unit", "stat_for_unit", "external_ident"):
        found = reg.rows(f"select edit_by, edit_comment from register.{table}")
        assert found == [{"edit_by": "anna", "edit_comment": "first try"}], table


def test_an_editor_edits_reviews_and_deletes_and_is_noted(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    with acting(reg, "register_edit"):
        reg.value("select register.edit_unit('legal_unit', %s, '{\"employees\": \"4\"}', '2021-01-01')", unit)
        job = reg.upload("legal_unit", ROWS, review=True, valid_from=date(2020, 1, 1))
    reg.conn.execute("call worker.drain('import')")
    with acting(reg, "register_edit"):
        reg.value("select register.resolve_review(%s, false)", job)
        assert reg.value("select reviewed_by from register.import_job where id = %s", job) == "anna"
        reg.value("select register.delete_import_job(%s)", job)
    assert reg.value("select edit_by from register.stat_for_unit") == "anna"


@pytest.mark.parametrize(
    "statement",
    [
        "select register.create_import_job('legal_unit_source_dates')",
        "insert into register.import_upload (job_id, row_no) values (1, 1)",
        "select register.resolve_review(1, true)",
        "select register.delete_import_job(1)",
        "select register.edit_unit('legal_unit', 1, '{}')",
        "select register.delete_unit('legal_unit', 1)",
        "select register.relate(1, 2, 'ownership')",
    ],
)
def test_a_reader_changes_nothing(reg: Register, statement: str) -> None:
    with acting(reg, "register_read"):
        assert reg.value("select register.is_importing()") is False
        assert reg.rows("select * from register.import_progress()") == []
        with refused(reg, DENIED):
            reg.conn.execute(statement)


@pytest.mark.parametrize(
    "call",
    [
        "register.temporal_merge('contact', 'legal_unit_id', 'update', 'select 1', '{}')",
        "register.patch_slices('contact', 'legal_unit_id', '[]', '{}')",
        "register.cut_slices('contact', 'legal_unit_id', '{1}')",
    ],
)
def test_what_takes_sql_text_or_names_of_tables_is_for_the_owner_alone(reg: Register, call: str) -> None:
    with acting(reg, "register_edit", "catchment_worker"), refused(reg, DENIED):
        reg.conn.execute(f"select {call}")
