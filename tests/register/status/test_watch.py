"""Following work: every step is told, the last event says that it is over, and nothing depends on a notification."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date

import pytest

from catchment_register.cli.waiting import show
from catchment_register.errors import RegisterError
from catchment_register.watch import (
    Event,
    failure_text,
    find_failure,
    follow,
    is_served,
    watch_import,
    watch_round,
)
from tests.fixtures.register_driver import RegisterDatabase
from tests.register.breaking import break_stage, mend_stage

FROM = {"valid_from": date(2020, 1, 1)}


def followed(reg: RegisterDatabase, events: Iterator[Event], queue: str) -> list[Event]:
    """All events of work that begins when the first one was seen."""
    seen = [next(events)]
    with ThreadPoolExecutor(1) as threads:
        work = threads.submit(reg.connect().execute, f"call worker.drain('{queue}')")
        seen.extend(events)
        work.result()
    return seen


def test_an_import_is_followed_to_its_end(reg_db: RegisterDatabase) -> None:
    job = reg_db.upload("legal_unit", [{"tax_ident": str(n), "name": "One"} for n in range(50)], **FROM)
    seen = followed(reg_db, watch_import(reg_db.connect(), job), "import")
    assert seen[0] == Event("import", 0, "upload completed")
    assert seen[-1] == Event("import", 100, "finished", True)
    assert [e.percent for e in seen] == sorted(e.percent for e in seen)


def test_a_review_and_a_deleted_job_end_the_wait(reg_db: RegisterDatabase) -> None:
    job = reg_db.upload("legal_unit", [{"tax_ident": "1", "name": ""}], **FROM)
    reg_db.conn.execute("call worker.drain('import')")
    assert [e.text for e in watch_import(reg_db.connect(), job)] == ["waiting for review"]
    reg_db.value("select register.delete_import_job(%s)", job)
    assert [e.text for e in watch_import(reg_db.connect(), job)] == ["deleted"]


def test_a_job_behind_a_review_ends_the_wait(reg_db: RegisterDatabase) -> None:
    first = reg_db.upload("legal_unit", [{"tax_ident": "1", "name": ""}], **FROM)
    second = reg_db.upload("legal_unit", [{"tax_ident": "2", "name": "Two"}], **FROM)
    reg_db.conn.execute("call worker.drain('import')")
    held = Event("import", 0, f"held up by job {first}, which waits for review", True)
    assert list(watch_import(reg_db.connect(), second)) == [held]
    reg_db.value("select register.resolve_review(%s, false)", first)
    seen = followed(reg_db, watch_import(reg_db.connect(), second), "import")
    assert seen[-1] == Event("import", 100, "finished", True)


def test_a_broken_round_is_reported_with_its_reason_and_the_next_attempt(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.settings set batch_enterprises = 1")
    with reg_db.conn.transaction():
        reg_db.lu("1", "2020-01-01")
        reg_db.lu("2", "2020-01-01")
    break_stage(reg_db, "statistical_unit_refresh_batch")
    reg_db.conn.execute("call worker.drain('analytics')")
    event = next(watch_round(reg_db.connect()))
    assert event.text.startswith("round 1 failed in statistical_unit_refresh_batch: broken on purpose; next")
    failure = find_failure(reg_db.conn)
    assert failure is not None
    assert failure["next_try"] > failure["failed_at"]
    mend_stage(reg_db, "statistical_unit_refresh_batch")
    reg_db.value("select worker.enqueue_collect_changes()")
    reg_db.derive()
    assert find_failure(reg_db.conn) is None


def test_a_collection_that_failed_without_a_round_is_reported(reg_db: RegisterDatabase) -> None:
    reg_db.lu("1", "2020-01-01")
    break_stage(reg_db, "collect_changes")
    reg_db.conn.execute("call worker.drain('analytics')")
    failure = find_failure(reg_db.conn)
    assert failure is not None
    assert (failure["round_id"], failure["command"]) == (None, "collect_changes")
    assert failure_text(failure).startswith("the collection of changes failed in collect_changes: broken on purpose")


def test_a_round_is_followed_until_it_is_published(reg_db: RegisterDatabase) -> None:
    assert [e.text for e in watch_round(reg_db.connect())] == ["published"]
    reg_db.lu("1", "2020-01-01")
    seen = followed(reg_db, watch_round(reg_db.connect()), "analytics")
    assert seen[-1] == Event("derive", 100, "published", True)
    assert reg_db.value("select count(*) from register.statistical_unit") == 2


def test_a_change_is_seen_without_any_notification(reg_db: RegisterDatabase) -> None:
    looks = iter([Event("x", 0, "begun"), Event("x", 0, "begun"), Event("x", 100, "done", True)])
    told = list(follow(reg_db.connect(), lambda: next(looks), ["nothing_is_sent_here"], seconds=0.01))
    assert [e.text for e in told] == ["begun", "done"]


def test_nobody_waits_for_a_worker_that_is_gone(reg_db: RegisterDatabase) -> None:
    job = reg_db.upload("legal_unit", [{"tax_ident": "1", "name": "One"}], **FROM)
    answers = iter([True, True, False])
    events = watch_import(reg_db.connect(), job, lambda: next(answers))
    with pytest.raises(RegisterError, match=r"the worker ended at 0 % \(upload completed\)"):
        show(reg_db.conn, events, "import", quietly=True, works=True)


def test_what_a_worker_did_last_is_seen(reg_db: RegisterDatabase) -> None:
    job = reg_db.upload("legal_unit", [{"tax_ident": "1", "name": "One"}], **FROM)

    def ends() -> bool:
        reg_db.conn.execute("call worker.drain('import')")
        return False

    last = show(reg_db.conn, watch_import(reg_db.connect(), job, ends), "import", quietly=True, works=True)
    assert last == Event("import", 100, "finished", True)


@pytest.mark.long
def test_the_bar_of_a_round_never_goes_back(reg_db: RegisterDatabase) -> None:
    for number in range(30):
        reg_db.lu(str(number), "2020-01-01")
    seen = followed(reg_db, watch_round(reg_db.connect()), "analytics")
    assert [e.percent for e in seen] == sorted(e.percent for e in seen)


def test_whether_a_worker_serves_a_queue_is_known(reg_db: RegisterDatabase) -> None:
    assert not is_served(reg_db.conn, "import")
    reg_db.conn.execute(
        "insert into worker.worker (name, lease_until, started_at, seen_at, queues)"
        " values ('w', now() + interval '1 minute', now(), now(), '{import}')"
    )
    assert is_served(reg_db.conn, "import")
    assert not is_served(reg_db.conn, "analytics")
