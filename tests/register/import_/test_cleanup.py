"""Jobs that expire, and definitions that change."""

from __future__ import annotations

from datetime import date

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.register_driver import Register
from tests.register.support import message, refused

FROM = {"valid_from": date(2020, 1, 1)}
ROWS = [{"tax_ident": "1", "name": "a"}, {"tax_ident": "2", "name": ""}]
TABLES = ("import_job", "import_upload", "import_link", "import_data", "import_batch")


def left(reg: Register, job: int) -> int:
    return sum(
        reg.value(f"select count(*) from register.{t} where {'id' if t == 'import_job' else 'job_id'} = %s", job)
        for t in TABLES
    )


def clean(reg: Register) -> dict[str, object]:
    reg.value("select worker.enqueue_import_job_cleanup()")
    reg.conn.execute("call worker.drain('maintenance')")
    return reg.value("select info from worker.tasks where command = 'import_job_cleanup' order by id desc limit 1")


def test_an_expired_job_goes_and_what_it_brought_stays(reg: Register) -> None:
    old = reg.import_rows("legal_unit", ROWS, **FROM)
    new = reg.import_rows("legal_unit", ROWS, **FROM)
    reg.conn.execute("update register.import_job set expires_at = '2020-01-01' where id = %s", [old])
    assert clean(reg) == {"deleted": 1}
    assert left(reg, old) == 0
    assert left(reg, new) > 0
    assert reg.value("select count(*) from register.legal_unit") == 1


def test_a_job_expires_after_the_retention_of_its_definition(reg: Register) -> None:
    job = reg.import_rows("legal_unit", ROWS, **FROM)
    months = "select expires_at - created_at between interval '17 months' and interval '19 months'"
    assert reg.value(f"{months} from register.import_job where id = %s", job)


def test_one_job_that_cannot_be_deleted_does_not_keep_the_others(reg: Register) -> None:
    jobs = [reg.import_rows("legal_unit", ROWS, **FROM) for _ in range(3)]
    reg.conn.execute("update register.import_job set expires_at = '2020-01-01'")
    reg.conn.execute("update register.import_job set state = 'processing_data' where id = %s", [jobs[1]])
    info = clean(reg)
    assert info == {"deleted": 2, "failed": {str(jobs[1]): f"import job {jobs[1]} is at work: processing_data"}}
    assert [left(reg, j) > 0 for j in jobs] == [False, True, False]


def test_deleting_a_job_that_waits_for_review_lets_the_others_go_on(reg: Register) -> None:
    first = reg.upload("legal_unit", ROWS, review=True, **FROM)
    second = reg.upload("legal_unit", [{"tax_ident": "9", "name": "n"}], **FROM)
    reg.conn.execute("call worker.drain('import')")
    assert reg.job(second)["state"] == "upload_completed"
    reg.value("select register.delete_import_job(%s)", first)
    reg.conn.execute("call worker.drain('import')")
    assert reg.job(second)["state"] == "finished"
    with refused(reg, "RG013") as caught:
        reg.value("select register.delete_import_job(%s)", first)
    assert message(caught) == f"there is no import job {first}"


def test_a_job_keeps_what_its_definition_said_when_it_was_made(reg: Register) -> None:
    job = reg.upload("legal_unit", [{"tax_ident": "1", "name": "a", "employees": "5"}], **FROM)
    reg.conn.execute("update register.import_definition set strategy = 'update_only'")
    reg.conn.execute("update register.external_ident_type set priority = priority + 10")
    reg.insert("external_ident_type", code="other_ident", name="Other", priority=1)
    reg.insert("stat_definition", code="other", type="int", name="Other", priority=0)
    reg.conn.execute("call worker.drain('import')")
    assert reg.import_errors(job) == {}
    assert reg.unit("1")[0] == "legal_unit_id"
    assert reg.value("select value_int from register.stat_for_unit") == 5


def test_there_are_ten_definitions(reg: Register) -> None:
    found = reg.rows("select mode, valid_time_from, unique_units from register.import_definition")
    assert len(found) == 10
    assert {(r["valid_time_from"], r["unique_units"]) for r in found} == {
        ("job_provided", True),
        ("source_columns", False),
    }


def test_a_definition_may_have_its_own_mapping(reg: Register) -> None:
    definition = reg.value("select id from register.import_definition where slug = 'legal_unit_job_dates'")
    reg.insert("import_mapping", definition_id=definition, column_name="tax_ident", input_column="orgnr")
    reg.insert("import_mapping", definition_id=definition, column_name="status_code", value="passive")
    job = reg.value("select register.create_import_job('legal_unit_job_dates', p_valid_from => '2020-01-01')")
    assert reg.value("select snapshot -> 'columns' from register.import_job where id = %s", job) == {
        "tax_ident": {"input": "orgnr"},
        "status_code": {"value": "passive"},
    }


@pytest.mark.parametrize(
    ("call", "says"),
    [
        ("'nothing'", "there is no import definition nothing"),
        ("'legal_unit_job_dates'", "legal_unit_job_dates takes its dates from the job, and the job has no first day"),
        (
            "'legal_unit_source_dates', p_valid_from => '2020-01-01'",
            "legal_unit_source_dates takes its dates from the rows, so the job cannot have any",
        ),
        (
            "'legal_unit_job_dates', p_valid_from => '2020-01-01', p_valid_until => '2020-01-01'",
            "nothing is valid from 2020-01-01 until 2020-01-01",
        ),
        ("'legal_unit_job_dates', p_valid_from => '2020-01-01', p_strategy => 'guess'", "there is no strategy guess"),
        (
            "'legal_unit_job_dates', p_valid_from => '2020-01-01', p_slug => 'taken'",
            "there is an import job taken already",
        ),
    ],
)
def test_a_job_that_cannot_be_is_refused(reg: Register, call: str, says: str) -> None:
    reg.value("select register.create_import_job('legal_unit_source_dates', 'taken', p_headers => %s)", Jsonb([]))
    with refused(reg, "RG011", "RG022") as caught:
        reg.value(f"select register.create_import_job({call})")
    assert message(caught) == says
