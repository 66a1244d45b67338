"""Workers and servers that die while units are derived: another one finishes, and what is published is the same."""

from __future__ import annotations

import signal
from pathlib import Path

import psycopg
import pytest

import catchment_register
from catchment_register.dates import read_open_ends
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.restart import restart
from tests.fixtures.worker import wait_until
from tests.register.holding import KEY, hold_stage, is_held
from tests.register.unit_support import ENDS_ROUNDS, assert_right


def fill(reg: Register) -> None:
    for number in range(6):
        reg.lu(f"l{number}", "2020-01-01", employees=number)
        reg.es(f"e{number}", f"l{number}", "2020-01-01", employees=1)
    reg.relate("l0", "l1", "2020-01-01")


def is_over(reg: Register) -> bool:
    return not reg.log() and reg.value("select state from register.round order by id desc limit 1") == "done"


@pytest.mark.slow
@pytest.mark.parametrize(
    "stage",
    [
        pytest.param("collect_changes", marks=pytest.mark.long),
        pytest.param("derive_statistical_unit", marks=pytest.mark.long),
        "statistical_unit_refresh_batch",
        pytest.param("derive_statistical_unit_continue", marks=pytest.mark.long),
        "statistical_unit_flush_staging",
    ],
)
def test_a_killed_worker_leaves_the_stage_to_another(reg_db: RegisterDatabase, stage: str) -> None:
    reg_db.conn.execute(ENDS_ROUNDS)
    hold_stage(reg_db, stage)
    reg_db.conn.execute("update register.settings set batch_enterprises = 2")
    fill(reg_db)
    holder = reg_db.connect()
    holder.execute("select pg_advisory_lock(%s)", [KEY])
    worker = reg_db.start_worker("--queue", "analytics")
    wait_until(lambda: is_held(reg_db), seconds=60)
    worker.send_signal(signal.SIGKILL)
    worker.wait()
    holder.execute("select pg_advisory_unlock(%s)", [KEY])
    reg_db.start_worker("--queue", "analytics")
    wait_until(lambda: is_over(reg_db), seconds=60)
    assert_right(reg_db)
    assert reg_db.value("select count(*) from register.statistical_unit_row") == 19


@pytest.mark.slow
def test_a_server_that_crashes_before_the_flush_loses_nothing(own_server: tuple[str, Path]) -> None:
    dsn, data = own_server
    with psycopg.connect(dsn, autocommit=True) as conn:
        catchment_register.migrate(conn)
        read_open_ends(conn)
        reg = Register(conn)
        conn.execute(ENDS_ROUNDS)
        conn.execute("insert into register.country (iso_2, name) values ('NO', 'Norway')")
        fill(reg)
        before_flush = "select count(*) from worker.tasks where command = %s and state = 'completed'"
        while not reg.value(before_flush, "derive_statistical_unit_continue"):
            conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'analytics')")
        assert reg.value("select count(*) from register.statistical_unit_staging") > 0
    restart(data, "immediate")
    with psycopg.connect(dsn, autocommit=True) as conn:
        read_open_ends(conn)
        reg = Register(conn)
        assert reg.value("select count(*) from register.statistical_unit_staging") == 0
        conn.execute("call worker.drain('analytics')")
        failed = reg.rows("select command, error_detail ->> 'kind' as kind from worker.tasks where state = 'failed'")
        assert {"command": "statistical_unit_flush_staging", "kind": "RG010"} in failed
        assert reg.value("select state from register.round order by id desc limit 1") == "broken"
        conn.execute("select set_config('worker.now', (now() + interval '1 minute')::text, false)")
        conn.execute("call worker.drain('analytics')")
        assert is_over(reg)
        assert_right(reg)
