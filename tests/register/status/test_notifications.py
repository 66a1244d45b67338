"""What listeners are told, and when: hints that it is worth looking."""

from __future__ import annotations

import json
from typing import Any

from tests.fixtures.register_driver import RegisterDatabase


def told(reg: RegisterDatabase, work: str) -> list[dict[str, Any]]:
    """What a listener of worker_status hears while a statement runs."""
    listener = reg.connect()
    listener.execute("listen worker_status")
    reg.conn.execute(work)
    heard = list(listener.notifies(timeout=5, stop_after=1))
    heard += list(listener.notifies(timeout=0.2))
    return [json.loads(n.payload) for n in heard]


def test_a_stage_is_notified_when_it_is_claimed_and_idleness_when_all_is_done(reg_db: RegisterDatabase) -> None:
    reg_db.lu("1", "2025-01-01")
    heard = told(reg_db, "call worker.drain('analytics')")
    units = [n["status"] for n in heard if n["type"] == "is_deriving_statistical_units"]
    reports = [n["status"] for n in heard if n["type"] == "is_deriving_reports"]
    assert (units[0], units[-1]) == (True, False)
    assert True in reports
    assert reports[-1] is False
    assert False not in units[: units.index(False)]
    assert {n["type"] for n in heard} >= {"is_importing", "pipeline_progress"}


def test_the_start_is_notified_before_the_work_is_done(reg_db: RegisterDatabase) -> None:
    """It is committed with the claim, while the handler still runs."""
    reg_db.lu("1", "2025-01-01")
    reg_db.conn.execute(
        "create or replace procedure register.collect_changes(payload jsonb, inout info jsonb) language plpgsql as"
        " $$ begin raise exception 'the work fails and takes everything back'; end $$"
    )
    heard = told(reg_db, "call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)")
    assert {"type": "is_deriving_statistical_units", "status": True} in heard


def test_progress_has_both_phases_with_their_figures(reg_db: RegisterDatabase) -> None:
    reg_db.lu("1", "2025-01-01")
    heard = [n for n in told(reg_db, "call worker.drain('analytics')") if n["type"] == "pipeline_progress"]
    assert heard
    for notification in heard:
        assert [phase["phase"] for phase in notification["phases"]] == ["units", "reports"]
        for phase in notification["phases"]:
            assert {"active", "pending", "step", "total", "completed", "percent"} <= set(phase)
            assert {
                f"effective_{k}_count" for k in ("establishment", "legal_unit", "enterprise", "power_group")
            } <= set(phase)


def test_progress_is_notified_at_most_twice_a_second(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.progress_notice set notified_at = '-infinity'")
    heard = told(reg_db, "select register.notify_progress() from generate_series(1, 100)")
    assert len(heard) == 1
