"""Imports by real workers: neither the number of batches side by side nor a worker that dies shows in the result."""

from __future__ import annotations

import random
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.fixtures.often import often
from tests.fixtures.register import opened
from tests.fixtures.register_driver import Register
from tests.fixtures.server import cloned
from tests.fixtures.worker import wait_until

Row = dict[str, Any]
UNITS = 60
# What an import writes when it prepares a file, analyses a batch and processes one.
WRITTEN = ("import_link", "import_data", "stat_for_unit")


def files() -> list[tuple[str, list[Row]]]:
    """A small register in time: establishments that move, units with several rows, some rows that are wrong."""
    pick = random.Random(7)
    units = [
        {"tax_ident": f"{n}", "name": f"U{n} {year}", "valid_from": f"{year}-01-01", "valid_to": "", "employees": n}
        for n in range(UNITS)
        for year in (2015, 2018)[: 1 + n % 2]
    ]
    places = [
        {
            "tax_ident": f"E{n}",
            "legal_unit_tax_ident": f"{pick.randrange(UNITS)}",
            "name": f"E{n}",
            "valid_from": f"{year}-01-01",
            "valid_to": "",
            "physical_region_code": pick.choice(["0301", "4626"]),
        }
        for n in range(UNITS)
        for year in (2016, 2020)[: 1 + n % 2]
    ]
    influence = [
        {
            "influencing_tax_ident": f"{n}",
            "influenced_tax_ident": f"{n + 1}",
            "rel_type_code": "control",
            "percentage": "60",
            "valid_from": "2019-01-01",
            "valid_to": "",
        }
        for n in range(0, UNITS - 1, 3)
    ]
    wrong = [{"tax_ident": "bad", "name": "", "valid_from": "2015-01-01", "valid_to": "", "employees": ""}]
    for rows in (units, places, influence):
        pick.shuffle(rows)
    return [("legal_unit", units + wrong), ("establishment_formal", places), ("legal_relationship", influence)]


def content(reg: Register) -> list[list[Row]]:
    """Base data by identifiers, without what depends on numbers and clocks."""
    name = "(select min(i.ident) from register.external_ident as i where {} = {})"
    legal = name.format("i.legal_unit_id", "{}")
    place = name.format("i.establishment_id", "{}")
    return [
        reg.rows(
            f"select {legal.format('t.id')} as ident, t.name, t.valid_from, t.valid_until, t.primary_for_enterprise"
            " from register.legal_unit as t order by 1, 3"
        ),
        reg.rows(
            f"select {place.format('t.id')} as ident, {legal.format('t.legal_unit_id')} as owner, t.name, t.valid_from,"
            " t.valid_until, t.primary_for_legal_unit from register.establishment as t order by 1, 4"
        ),
        reg.rows(
            f"select {place.format('t.establishment_id')} as ident, t.region_id, t.valid_from, t.valid_until"
            " from register.location as t order by 1, 3"
        ),
        reg.rows(
            f"select {legal.format('t.legal_unit_id')} as ident, t.value_int, t.valid_from, t.valid_until"
            " from register.stat_for_unit as t order by 1, 3"
        ),
        reg.rows(
            f"select {legal.format('t.influencing_id')} as a, {legal.format('t.influenced_id')} as b, t.valid_from"
            " from register.legal_relationship as t order by 1, 2"
        ),
        reg.rows("select row_no, state, errors from register.import_row order by job_id, row_no"),
    ]


def upload_all(reg: Register) -> list[int]:
    reg.conn.execute("update register.settings set import_batch_rows = 9")
    return [reg.upload(kind, rows, review=False) for kind, rows in files()]


def are_finished(reg: Register, jobs: list[int]) -> bool:
    return [reg.job(j)["state"] for j in jobs] == ["finished"] * len(jobs)


@pytest.fixture(scope="module")
def undisturbed(server: str, register_template: str, tmp_path_factory: pytest.TempPathFactory) -> list[list[Row]]:
    """What comes of the files in one session that does everything itself."""
    with cloned(server, register_template) as dsn, opened(dsn, tmp_path_factory.mktemp("undisturbed")) as reg:
        jobs = upload_all(reg)
        reg.conn.execute("call worker.drain('import')")
        assert are_finished(reg, jobs)
        return content(reg)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.parametrize("fibers", often(4, now_and_then=[1, 2]))
def test_the_number_of_fibers_does_not_show_in_the_result(
    server: str, register_template: str, undisturbed: list[list[Row]], tmp_path: Path, fibers: int
) -> None:
    with cloned(server, register_template) as dsn, opened(dsn, tmp_path) as reg:
        jobs = upload_all(reg)
        worker = reg.start_worker("--queue", "import", "--concurrency", f"import={fibers}", "--stop-when-idle")
        assert worker.wait(90) == 0
        assert are_finished(reg, jobs), [reg.job(j) for j in jobs]
        assert content(reg) == undisturbed
        reg.check()
    assert len(undisturbed[0]) > UNITS


@pytest.mark.long
@pytest.mark.slow
def test_workers_that_die_in_the_middle_of_each_step_leave_no_trace(
    server: str, register_template: str, undisturbed: list[list[Row]], tmp_path: Path
) -> None:
    with cloned(server, register_template) as dsn, opened(dsn, tmp_path) as reg:
        reg.conn.execute(
            "create function public.hold() returns trigger language plpgsql as"
            " $$ begin perform pg_advisory_xact_lock_shared(tg_argv[0]::bigint); return null; end $$"
        )
        for key, table in enumerate(WRITTEN):
            reg.conn.execute(
                f"create trigger zz_hold after insert on register.{table}"
                f" for each statement execute function public.hold({key})"
            )
            reg.conn.execute("select pg_advisory_lock(%s)", [key])
        jobs = upload_all(reg)
        held = "select exists (select from pg_locks where locktype = 'advisory' and objid = %s and not granted)"
        for key, table in enumerate(WRITTEN):
            worker = reg.start_worker("--queue", "import", "--concurrency", "import=2")
            wait_until(lambda key=key: reg.value(held, key), seconds=60)
            worker.send_signal(signal.SIGKILL)
            worker.wait()
            assert reg.value(f"select count(*) from register.{table}") == 0
            reg.conn.execute("select pg_advisory_unlock(%s)", [key])
        reg.start_worker("--queue", "import")
        wait_until(lambda: are_finished(reg, jobs), seconds=90)
        assert content(reg) == undisturbed
        reg.check()
