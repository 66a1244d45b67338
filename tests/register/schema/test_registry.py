"""Queues, commands and schedules, and the functions that ask for work and merge it."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

import catchment_register
from catchment.schema import files
from catchment_register.schema import REGISTER
from tests.fixtures.register_driver import Register, RegisterDatabase

COMMANDS = {
    "analytics": {
        "collect_changes",
        "derive_statistical_unit",
        "statistical_unit_refresh_batch",
        "derive_statistical_unit_continue",
        "statistical_unit_flush_staging",
        "statistical_unit_build_index",
        "derive_reports",
        "derive_statistical_history",
        "derive_statistical_history_period",
        "derive_statistical_unit_facet",
        "derive_statistical_unit_facet_partition",
        "statistical_unit_facet_reduce",
        "derive_statistical_history_facet",
        "derive_statistical_history_facet_period",
    },
    "import": {"import_job_process"},
    "maintenance": {"task_cleanup", "analyze_tables", "import_job_cleanup"},
}
CHILDREN = {
    "statistical_unit_refresh_batch",
    "statistical_unit_build_index",
    "derive_statistical_history_period",
    "derive_statistical_unit_facet_partition",
    "derive_statistical_history_facet_period",
}


def payloads(reg: Register, command: str) -> list[Any]:
    rows = reg.rows("select payload from worker.tasks where command = %s order by id", command)
    return [row["payload"] for row in rows]


def test_the_registry_holds_the_commands_on_their_queues(reg: Register) -> None:
    rows = reg.rows(
        "select command, queue, handler_procedure from worker.command_registry where queue <> 'bulk_changes'"
    )
    found = {queue: {r["command"] for r in rows if r["queue"] == queue} for queue in {r["queue"] for r in rows}}
    assert found == COMMANDS
    assert {r["handler_procedure"].split(".")[1] for r in rows} == {r["command"] for r in rows}


def test_rounds_cannot_be_overtaken(reg: Register) -> None:
    queues = reg.rows(
        "select queue, mode, concurrency, age_step from worker.queue_registry"
        " where queue not in ('bulk_changes', 'maintenance')"
    )
    assert {q["queue"]: (q["mode"], q["concurrency"], q["age_step"]) for q in queues} == {
        "analytics": ("serial", 4, 0),
        "import": ("serial", 1, 0),
    }
    priorities = reg.rows("select distinct priority from worker.command_registry where queue = 'analytics'")
    assert len(priorities) == 1


def test_every_top_level_command_has_a_function_that_asks_for_it(reg: Register) -> None:
    functions = reg.rows(
        "select proname from pg_proc where pronamespace = 'worker'::regnamespace and proname ~ '^enqueue_[a-z]+_'"
    )
    assert {f["proname"] for f in functions} == {
        f"enqueue_{c}" for names in COMMANDS.values() for c in names - CHILDREN
    }


# Those that merge and are asked for by a function.
MERGED = {c for names in COMMANDS.values() for c in names} - CHILDREN - {"import_job_process", "analyze_tables"}


@pytest.mark.parametrize("command", sorted(MERGED))
def test_asking_twice_leaves_one_task(reg: Register, command: str) -> None:
    first, second = (reg.value(f"select worker.enqueue_{command}()") for _ in range(2))
    assert first == second
    assert len(payloads(reg, command)) == 1


def test_a_request_for_everything_outlives_requests_for_changes(reg: Register) -> None:
    for scope in ("null", "'all'", "null"):
        reg.value(f"select worker.enqueue_collect_changes({scope})")
    assert payloads(reg, "collect_changes") == [{"scope": "all"}]


def test_requests_for_units_unite_and_are_never_mixed_with_one_for_all(reg: Register) -> None:
    ask = "select worker.enqueue_derive_statistical_unit"
    reg.value(f"{ask}(p_legal_unit_ids => '{{[1,3)}}')")
    reg.value(f"{ask}(p_legal_unit_ids => '{{[3,5)}}', p_enterprise_ids => '{{[7,8)}}')")
    reg.value(f"{ask}()")
    assert payloads(reg, "derive_statistical_unit") == [
        {
            "scope": "some",
            "legal_unit_ids": "{[1,5)}",
            "enterprise_ids": "{[7,8)}",
        },
        {"scope": "all"},
    ]


def test_no_request_takes_a_period_that_limits_nothing(reg: Register) -> None:
    """Reports are rebuilt from all units and for all time, and units are derived for all of their time."""
    arguments = reg.rows(
        "select p.proname, pg_get_function_arguments(p.oid) as arguments from pg_proc as p"
        " where p.pronamespace = 'worker'::regnamespace and p.proname ~ '^enqueue_derive_'"
    )
    assert len(arguments) == 6
    assert [a for a in arguments if "valid" in a["arguments"]] == []
    assert reg.rows("select command from worker.command_registry where merge ? 'valid_from'") == []


def test_jobs_are_distinguished(reg: Register) -> None:
    for job in (1, 2, 1):
        reg.value("select worker.enqueue_import_job_process(%s)", job)
    assert payloads(reg, "import_job_process") == [{"job_id": 1}, {"job_id": 2}]


def test_the_day_has_its_schedules(reg: Register) -> None:
    rows = reg.rows("select name, command, cron from worker.schedule where cron is not null")
    assert {r["name"]: r["command"] for r in rows} == {
        "register_day": "collect_changes",
        "import_job_cleanup": "import_job_cleanup",
    }


def test_what_an_operator_tuned_stays(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update worker.queue_registry set concurrency = 8, age_step = 5 where queue = 'analytics'")
    reg_db.conn.execute(
        "update worker.command_registry set timeout = '1 hour', description = '' where queue = 'analytics'"
    )
    reg_db.conn.execute("update worker.schedule set cron = '0 6 * * *' where name = 'register_day'")
    reg_db.conn.execute("update register.version set fingerprint = 'old'")
    assert catchment_register.migrate(reg_db.conn).routines_changed
    assert reg_db.rows("select concurrency, age_step from worker.queue_registry where queue = 'analytics'") == [
        {"concurrency": 8, "age_step": 0}
    ]
    assert reg_db.value("select cron from worker.schedule where name = 'register_day'") == "0 6 * * *"
    tuned = "select count(*) from worker.command_registry where timeout = '1 hour' and description <> ''"
    assert reg_db.value(tuned) == len(COMMANDS["analytics"])


@pytest.mark.parametrize(
    ("taken", "says"),
    [
        ("insert into worker.queue_registry (queue, mode) values ('import', 'concurrent')", "queue import exists"),
        (
            "insert into worker.queue_registry (queue) values ('mine');"
            "insert into worker.command_registry (command, queue, handler_procedure)"
            " values ('derive_reports', 'mine', 'mine.report')",
            "command derive_reports exists with the handler mine.report",
        ),
    ],
)
def test_names_that_others_use_are_left_to_them(tx: psycopg.Connection[Any], taken: str, says: str) -> None:
    tx.execute(taken)
    with pytest.raises(psycopg.Error, match=says), tx.transaction():
        tx.execute(files.commands(REGISTER.package)[-1].text)


def test_no_handler_waits_for_the_compiler(reg: Register) -> None:
    rows = reg.rows(
        "select p.proname from pg_proc as p"
        " where p.pronamespace = 'register'::regnamespace and p.prokind = 'p' and not p.proconfig @> '{jit=off}'"
    )
    assert rows == []
