"""What happens around the register over months: schedules, cleaning up, upgrades, and payloads that stay small."""

from __future__ import annotations

import catchment_register
from tests.fixtures.register_driver import Register, RegisterDatabase


def fire(reg: Register, schedule: str) -> int | None:
    """Let a schedule be due now; the task that it makes."""
    reg.conn.execute("update worker.schedule set next_at = worker.now() where name = %s", [schedule])
    return reg.value("select worker.fire_schedule(%s)", schedule)


def periods(reg: Register) -> list[str]:
    return [r["period"] for r in reg.rows(
        "select distinct year || coalesce('-' || month, '') as period from register.statistical_history order by period"
    )]  # fmt: skip


def test_a_new_month_reaches_the_history_by_the_daily_schedule(reg: Register) -> None:
    reg.lu("823573673", "2026-01-01")
    reg.derive()
    assert periods(reg) == ["2026", "2026-1", "2026-2"]
    reg.today("2026-03-01")
    assert fire(reg, "register_day") is not None
    reg.derive()
    assert periods(reg) == ["2026", "2026-1", "2026-2", "2026-3"]
    assert reg.rows("select kind, state from register.round order by id desc limit 1") == [
        {"kind": "roll", "state": "done"}
    ]
    reg.check()


def test_the_daily_schedule_makes_no_round_when_nothing_is_to_do(reg: Register) -> None:
    reg.lu("823573673", "2026-01-01")
    reg.derive()
    rounds = reg.value("select count(*) from register.round")
    assert fire(reg, "register_day") is not None
    reg.derive()
    assert reg.value("select count(*) from register.round") == rounds


def test_expired_import_jobs_go_by_their_schedule(reg: Register) -> None:
    job = reg.import_rows("legal_unit", [{"tax_ident": "1", "name": "One"}], valid_from="2026-01-01")
    reg.conn.execute(
        "update register.import_job set expires_at = worker.now() - interval '1 second' where id = %s", [job]
    )
    assert fire(reg, "import_job_cleanup") is not None
    reg.conn.execute("call worker.drain('maintenance')")
    assert reg.rows("select id from register.import_job") == []
    assert reg.value("select count(*) from register.legal_unit") == 1


def test_deleting_old_tasks_does_not_disturb_later_rounds(reg: Register) -> None:
    reg.lu("823573673", "2026-01-01")
    reg.derive()
    reg.conn.execute(
        """update worker.schedule set payload = '{"completed_days": 0, "failed_days": 0}' where name = 'task_cleanup'"""
    )
    reg.conn.execute("select worker.enqueue('task_cleanup')")
    reg.conn.execute("call worker.drain('maintenance')")
    assert reg.value("select count(*) from worker.tasks where queue = 'analytics' and state = 'completed'") == 0
    assert not reg.value("select register.is_deriving_statistical_units() or register.is_deriving_reports()")
    reg.lu("921835809", "2026-01-01")
    reg.derive()
    assert len([u for u in reg.units() if u["unit_type"] == "legal_unit"]) == 2
    reg.check()


def test_an_upgrade_keeps_what_waits_and_derives_nothing_itself(reg_db: RegisterDatabase) -> None:
    reg_db.lu("823573673", "2026-01-01")
    reg_db.conn.execute("update register.version set fingerprint = 'of another version'")
    catchment_register.migrate(reg_db.conn)
    assert reg_db.units() == []
    assert reg_db.value("select count(*) from register.base_change_log") > 0
    reg_db.derive()
    assert [u["unit_type"] for u in reg_db.units()] == ["enterprise", "legal_unit"]
    assert reg_db.value("select count(*) from register.base_change_log") == 0
    reg_db.check()


def test_payloads_do_not_grow_with_the_register(reg: Register) -> None:
    """Ids travel as ranges: a batch of hundreds of enterprises is a few numbers, and no payload lists units."""
    rows = [{"tax_ident": f"8{n:08}", "name": f"Unit {n}"} for n in range(400)]
    reg.import_rows("legal_unit", rows, valid_from="2026-01-01")
    reg.conn.execute("update register.settings set batch_enterprises = 200")
    reg.derive()
    batches = reg.rows(
        "select payload ->> 'enterprise_ids' as ids, length(payload::text) as size from worker.tasks"
        " where command = 'statistical_unit_refresh_batch' order by id"
    )
    assert len(batches) == 2
    assert all(batch["ids"].count("[") == 1 for batch in batches)
    assert reg.value("select max(length(payload::text)) from worker.tasks where queue <> 'maintenance'") < 500
