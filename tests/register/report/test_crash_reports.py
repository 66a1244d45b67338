"""Kill what makes the reports, in each of its stages: another worker comes to the same result, and nothing is lost."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from psycopg import Connection

import catchment_register
from catchment.store.migrate import migrate
from catchment_register.codes.load import load_countries
from catchment_register.dates import read_open_ends
from catchment_register.reference.check import check_reports, check_units
from tests.fixtures.often import often, some_rows
from tests.fixtures.register import opened as opened_for_test
from tests.fixtures.register_driver import Register, RegisterDatabase
from tests.fixtures.restart import copied, prepared, restart
from tests.fixtures.server import cloned
from tests.fixtures.worker import wait_until
from tests.register.holding import KEY, hold, hold_stage, is_held, is_settled

# Each stage is held where it writes for the first time: the table, and which of its rows. None: it makes nothing but
# children, and is held before it commits.
STAGES: dict[str, tuple[str, str] | None] = {
    "derive_reports": ("staging_mark", "true"),
    "derive_statistical_history": ("report_cell", "new.report = 'history'"),
    "derive_statistical_history_period": ("statistical_history_staging", "true"),
    "finish_statistical_history": ("statistical_history_row", "true"),
    "derive_statistical_unit_facet": None,
    "derive_statistical_unit_facet_partition": ("report_cell", "new.report = 'facet'"),
    "statistical_unit_facet_reduce": ("statistical_unit_facet_row", "true"),
    "derive_statistical_history_facet": None,
    "derive_statistical_history_facet_period": ("statistical_history_staging", "true"),
    "finish_statistical_history_facet": ("statistical_history_facet_row", "true"),
}
# Changes this small are derived without children: these need a report that is rebuilt.
OF_REBUILDS = (
    "derive_statistical_history_period",
    "finish_statistical_history",
    "derive_statistical_unit_facet_partition",
    "derive_statistical_history_facet_period",
    "finish_statistical_history_facet",
)
# One that cuts by partitions.
EVERY_RUN = ("derive_statistical_unit_facet_partition",)


def fill(reg: Register) -> None:
    reg.lu("1", "2024-01-01", "2025-06-01", region="03.01", activity="A.01.1", employees=3)
    reg.lu("1", "2025-06-01", name="Renamed", region="11.03", activity="A.01.1", employees=4)
    reg.es("2", "1", "2024-01-01", "2025-06-01", region="03.01", employees=1)
    reg.informal("3", "2024-03-01", employees=2)


def change(reg: Register) -> None:
    reg.lu("5", "2025-01-01", region="46.26", employees=8)
    reg.conn.execute("update register.stat_for_unit set value_int = value_int + 1 where value_int = 2")


def assert_all_right(reg: Register) -> None:
    wrong = check_units(reg.conn) + [f"{v}: {line}" for v, lines in check_reports(reg.conn).items() for line in lines]
    assert not wrong, wrong
    assert reg.rows("select * from register.check_register(false)") == []
    assert reg.log() == []


@pytest.fixture(scope="module")
def derived_register(server: str, register_template: str) -> Iterator[str]:
    """Name of a database with a small register that is published, to clone."""
    with cloned(server, register_template) as dsn:
        with opened(dsn) as reg:
            with reg.conn.transaction():
                fill(reg)
            reg.derive()
            reg.conn.execute("update register.settings set rebuild_share = 1")
            name = reg.conn.info.dbname
        yield name


@pytest.fixture
def published(server: str, derived_register: str, tmp_path: Path) -> Iterator[RegisterDatabase]:
    """That register in a database of this test's own."""
    with cloned(server, derived_register) as dsn, opened_for_test(dsn, tmp_path) as made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("stage", often(*EVERY_RUN, now_and_then=[s for s in STAGES if s not in EVERY_RUN]))
def test_a_worker_killed_in_a_stage_is_replaced(published: RegisterDatabase, stage: str) -> None:
    reg_db = published
    where = STAGES[stage]
    if stage in OF_REBUILDS:
        reg_db.conn.execute("update register.settings set rebuild_share = 0")
    if where is None:
        hold_stage(reg_db, stage)
    else:
        hold(reg_db, *where)
    holder = reg_db.connect()
    holder.execute("select pg_advisory_lock(%s)", [KEY])
    with reg_db.conn.transaction():
        change(reg_db)

    victim = reg_db.start_worker("--queue", "analytics")
    wait_until(lambda: is_held(reg_db), seconds=60)
    victim.send_signal(signal.SIGKILL)
    victim.wait()
    wait_until(lambda: not is_held(reg_db), seconds=60)
    holder.execute("select pg_advisory_unlock(%s)", [KEY])

    # Every fiber has to plan all it does: two are enough here.
    reg_db.start_worker("--queue", "analytics", "--concurrency", "analytics=2")
    wait_until(lambda: is_settled(reg_db), seconds=90)
    assert_all_right(reg_db)
    assert (
        reg_db.value("select count(*) from register.statistical_history_facet where physical_region_path = '46.26'") > 0
    )


@pytest.fixture(scope="module")
def prepared_register() -> Iterator[Path]:
    """The data directory of a server with the register and few codes."""

    def fill_codes(conn: Connection[Any]) -> None:
        load_countries(conn)
        conn.execute("update register.settings set today = '2026-02-13'")

    with prepared(migrate, catchment_register.migrate, fill_codes) as data:
        yield data


@pytest.fixture
def server_of_its_own(prepared_register: Path) -> Iterator[tuple[str, Path]]:
    """A server that a test may crash, with the register and few codes."""
    with copied(prepared_register) as made:
        yield made


@contextmanager
def opened(dsn: str) -> Iterator[Register]:
    with psycopg.connect(dsn, autocommit=True) as conn:
        read_open_ends(conn)
        yield Register(conn)


def run_until(reg: Register, command: str) -> None:
    """Run tasks one by one, up to and with the first of this command."""
    newest = reg.value("select max(id) from worker.tasks")
    done = "select count(*) > 0 from worker.tasks where command = %s and id > %s and state = 'completed'"
    for _ in range(60):
        reg.conn.execute("call worker.process_tasks(p_queue => 'analytics', p_batch_size => 1)")
        if reg.value(done, command, newest):
            return
    raise AssertionError(f"{command} was not reached")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("last", "lost"),
    some_rows(
        [
            ("derive_statistical_unit_facet_partition", "report_cell"),
            ("derive_statistical_unit_facet", "report_cell"),
            ("statistical_unit_facet_reduce", "report_cell"),
            ("derive_statistical_history_facet_period", "statistical_history_staging"),
        ],
        one_in=3,
    ),
)
def test_what_a_crash_of_the_server_takes_is_noticed_and_done_again(
    server_of_its_own: tuple[str, Path], last: str, lost: str
) -> None:
    dsn, data = server_of_its_own
    with opened(dsn) as reg:
        for ident in ("1", "2"):
            reg.lu(ident, "2025-11-01", employees=int(ident))
        reg.derive()
        reg.conn.execute(
            "update register.settings set rebuild_share = %s, partition_count_target = 2",
            [0 if last in OF_REBUILDS else 1],
        )
        reg.lu("3", "2025-12-01", employees=5)
        run_until(reg, last)
        assert reg.value(f"select count(*) from register.{lost}") > 0

    restart(data, "immediate")
    with opened(dsn) as reg:
        assert reg.value(f"select count(*) from register.{lost}") == 0
        for _ in range(600):
            reg.derive()
            if is_settled(reg):
                break
            reg.conn.execute("select pg_sleep(0.1)")
        assert reg.value("select count(*) from worker.tasks where error ~ '^what round .* had staged'") == 1
        assert reg.value("select count(*) from register.round where state = 'broken'") == 1
        assert_all_right(reg)
        legal_units = "select exists_count from register.statistical_history where unit_type = 'legal_unit'"
        assert reg.value(f"{legal_units} and year = 2026 and month is null") == 3
