"""A job from its upload to its end: states, reviews, jobs that wait for each other, failure and retry."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.register_driver import Register
from tests.register.support import message, refused

FROM = {"valid_from": date(2020, 1, 1)}
GOOD = [{"tax_ident": n, "name": f"Unit {n}"} for n in "123"]
BAD = [*GOOD, {"tax_ident": "4", "name": ""}]


def step(reg: Register) -> None:
    """One task of the queue."""
    reg.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'import')")


def state(reg: Register, job: int) -> str:
    return reg.job(job)["state"]


def drain(reg: Register) -> None:
    reg.conn.execute("call worker.drain('import')")


def units(reg: Register) -> int:
    return reg.value("select count(*) from register.legal_unit")


def test_a_job_goes_through_its_states_and_each_is_seen(reg: Register) -> None:
    job = reg.upload("legal_unit", GOOD, **FROM)
    seen = [state(reg, job)]
    assert reg.value("select register.is_importing()")
    for _ in range(20):
        step(reg)
        if state(reg, job) != seen[-1]:
            seen.append(state(reg, job))
    assert seen == ["upload_completed", "preparing_data", "analysing_data", "processing_data", "finished"]
    assert not reg.value("select register.is_importing()")
    done = reg.rows("select * from register.import_job where id = %s", job)[0]
    assert (done["total_rows"], done["analysed_rows"], done["imported_rows"], done["error_count"]) == (3, 3, 3, 0)
    stamps = ("uploaded_at", "analysis_start_at", "analysis_stop_at", "processing_start_at", "processing_stop_at")
    assert [done[s] for s in stamps] == sorted(done[s] for s in stamps)
    assert (
        reg.value("select count(*) from worker.tasks where command = 'import_job_process' and parent_id is not null")
        == 2
    )


@pytest.mark.parametrize(
    ("rows", "review", "expected"),
    [
        (GOOD, None, "finished"),
        (GOOD, True, "waiting_for_review"),
        (GOOD, False, "finished"),
        (BAD, None, "waiting_for_review"),
        (BAD, False, "finished"),
    ],
)
def test_a_review_is_asked_for_always_never_or_on_errors(
    reg: Register, rows: Any, review: bool | None, expected: str
) -> None:
    job = reg.upload("legal_unit", rows, review=review, **FROM)
    drain(reg)
    assert state(reg, job) == expected
    assert units(reg) == (3 if expected == "finished" else 0)


def test_an_approved_job_imports_the_rows_without_errors(reg: Register) -> None:
    job = reg.upload("legal_unit", BAD, **FROM)
    drain(reg)
    assert reg.value("select register.resolve_review(%s, true, 'anna')", job) == "approved"
    drain(reg)
    assert (state(reg, job), units(reg)) == ("finished", 3)
    assert reg.value("select reviewed_by from register.import_job") == "anna"
    assert reg.import_errors(job) == {4: {"name": "a name is needed"}}


def test_a_rejected_job_imports_nothing_and_shows_its_rows(reg: Register) -> None:
    job = reg.upload("legal_unit", BAD, **FROM)
    drain(reg)
    assert reg.value("select register.resolve_review(%s, false)", job) == "rejected"
    drain(reg)
    assert (state(reg, job), units(reg)) == ("rejected", 0)
    assert reg.value("select count(*) from register.import_row where job_id = %s", job) == 4


def test_others_wait_while_a_job_waits_for_its_review_and_then_go_on_in_order(reg: Register) -> None:
    first = reg.upload("legal_unit", GOOD, review=True, **FROM)
    drain(reg)
    others = [
        reg.upload(
            "establishment_formal",
            [{"tax_ident": f"{n}1", "legal_unit_tax_ident": n, "name": "E"}],
            review=False,
            **FROM,
        )
        for n in "12"
    ]
    drain(reg)
    assert [state(reg, j) for j in (first, *others)] == ["waiting_for_review", "upload_completed", "upload_completed"]
    reg.value("select register.resolve_review(%s, true)", first)
    drain(reg)
    assert [state(reg, j) for j in (first, *others)] == ["finished"] * 3
    assert reg.value("select count(*) from register.establishment") == 2
    ended = reg.rows("select id from register.import_job order by finished_at")
    assert [r["id"] for r in ended] == [first, *others]


def test_only_a_job_that_waits_for_a_review_can_be_reviewed(reg: Register) -> None:
    job = reg.import_rows("legal_unit", GOOD, **FROM)
    with refused(reg, "RG012") as caught:
        reg.value("select register.resolve_review(%s, true)", job)
    assert message(caught) == f"import job {job} does not wait for a review, it is finished"
    with refused(reg, "RG013"):
        reg.value("select register.resolve_review(0, true)")


def test_a_job_whose_task_fails_says_why_and_goes_on_when_asked(reg: Register) -> None:
    job = reg.upload("legal_unit", GOOD, **FROM)
    reg.conn.execute(
        "create function pg_temp.broken() returns trigger language plpgsql as"
        " $$ begin raise exception 'the disk is full'; end $$"
    )
    reg.conn.execute(
        "create trigger broken before insert on register.enterprise for each row execute function pg_temp.broken()"
    )
    drain(reg)
    assert (state(reg, job), reg.job(job)["error"]) == ("failed", "the disk is full")
    assert not reg.value("select register.is_importing()")
    reg.conn.execute("drop trigger broken on register.enterprise")
    assert reg.value("select register.retry_import_job(%s)", job) == "processing_data"
    drain(reg)
    assert (state(reg, job), units(reg)) == ("finished", 3)
    with refused(reg, "RG012"):
        reg.value("select register.retry_import_job(%s)", job)


def test_a_cancelled_task_fails_its_job(reg: Register) -> None:
    job = reg.upload("legal_unit", GOOD, **FROM)
    step(reg)
    reg.conn.execute(
        "update worker.tasks set state = 'cancelled' where command = 'import_job_process' and state = 'pending'"
    )
    drain(reg)
    assert (state(reg, job), reg.job(job)["error"]) == ("failed", "its task was cancelled")


def test_a_second_upload_is_refused(reg: Register) -> None:
    job = reg.import_rows("legal_unit", GOOD, **FROM)
    with refused(reg, "RG012") as caught:
        reg.value("select register.finish_upload(%s)", job)
    assert message(caught) == f"import job {job} does not wait for an upload, it is finished"


def test_asking_twice_goes_on_once(reg: Register) -> None:
    job = reg.upload("legal_unit", GOOD, **FROM)
    reg.value("select worker.enqueue_import_job_process(%s)", job)
    assert reg.pending("import_job_process") == 1
    drain(reg)
    assert (state(reg, job), units(reg)) == ("finished", 3)


def test_an_empty_file_is_finished_at_once(reg: Register) -> None:
    job = reg.value(
        "select register.create_import_job('legal_unit_job_dates', p_valid_from => '2020-01-01', p_headers => %s)",
        Jsonb(["tax_ident", "name"]),
    )
    reg.value("select register.finish_upload(%s)", job)
    drain(reg)
    assert state(reg, job) == "finished"
    assert reg.job(job)["import_percent"] == 100


def test_a_file_of_nothing_but_errors_is_finished_with_nothing(reg: Register) -> None:
    job = reg.import_rows("legal_unit", [{"tax_ident": "1", "name": ""}], **FROM)
    assert (state(reg, job), reg.job(job)["imported_rows"]) == ("finished", 0)


def test_progress_tells_how_much_is_analysed_and_imported(reg: Register) -> None:
    reg.conn.execute("update register.settings set import_batch_rows = 1")
    reg.upload("legal_unit", BAD, review=False, **FROM)
    seen: list[tuple[float, float]] = []
    for _ in range(20):
        for row in reg.rows("select * from register.import_progress()"):
            seen.append((float(row["analysis_percent"]), float(row["import_percent"])))
        step(reg)
    assert seen == sorted(seen)
    assert {(25.0, 0.0), (100.0, 0.0), (100.0, 33.3), (100.0, 66.7)} <= set(seen)


def test_a_long_note_or_reason_does_not_keep_a_job_from_telling_how_far_it_is(reg: Register) -> None:
    """The server limits the length of a notification."""
    job = reg.import_rows("legal_unit", GOOD, note="why " * 4000, **FROM)
    assert state(reg, job) == "finished"
