"""Batches: no unit in two of them, each commits by itself, and their size does not show in the result."""

from __future__ import annotations

import random
from datetime import date
from typing import Any

import pytest

from tests.fixtures.register_driver import Register, RegisterDatabase

Row = dict[str, Any]


def shuffled(count: int, seed: int = 1) -> list[Row]:
    """Rows of units that occur several times, in any order."""
    rows: list[Row] = []
    for n in range(count):
        for year in range(2018, 2018 + n % 4 + 1):
            rows.append(
                {
                    "tax_ident": f"{n}",
                    "name": f"U{n} {year}",
                    "valid_from": f"{year}-01-01",
                    "valid_to": "",
                    "employees": n + year,
                }
            )
    random.Random(seed).shuffle(rows)
    return rows


def content(reg: Register) -> list[Row]:
    """Base data without what depends on numbers and clocks."""
    return reg.rows(
        "select i.ident, l.name, l.valid_from, l.valid_until, l.primary_for_enterprise, s.value_int,"
        " s.valid_from as since from register.legal_unit as l"
        " join register.external_ident as i on i.legal_unit_id = l.id"
        " left join register.stat_for_unit as s on s.legal_unit_id = l.id order by 1, 3, 7"
    )


@pytest.mark.parametrize("size", [1, 7, 8192])
def test_no_unit_is_in_two_batches_and_none_is_missing(reg: Register, size: int) -> None:
    reg.conn.execute("update register.settings set import_batch_rows = %s", [size])
    rows = shuffled(20)
    job = reg.upload("legal_unit", rows)
    for _ in range(2):
        reg.conn.execute("call worker.process_tasks(p_batch_size => 1, p_queue => 'import')")
    links = reg.rows("select * from register.import_link where job_id = %s", job)
    assert len(links) == len(rows)
    batches: dict[int, set[int]] = {}
    for link in links:
        batches.setdefault(link["unit_id"], set()).add(link["batch_seq"])
    assert all(len(b) == 1 for b in batches.values())
    assert len(batches) == 20
    counted = reg.rows("select batch_seq, rows from register.import_batch where job_id = %s", job)
    assert sum(b["rows"] for b in counted) == len(rows)
    assert len(counted) == len({link["batch_seq"] for link in links})


@pytest.mark.long
def test_the_size_of_batches_does_not_show_in_the_result(reg: Register) -> None:
    results = []
    for size in (1, 5, 8192):
        with reg.conn.transaction(force_rollback=True):
            reg.conn.execute("update register.settings set import_batch_rows = %s", [size])
            job = reg.import_rows("legal_unit", shuffled(12))
            assert reg.import_errors(job) == {}
            results.append(content(reg))
    assert results[0] == results[1] == results[2]


@pytest.mark.long
def test_a_batch_that_fails_leaves_those_before_it_and_is_done_again(reg_db: RegisterDatabase) -> None:
    reg_db.conn.execute("update register.settings set import_batch_rows = 1")
    reg_db.conn.execute(
        "create function public.broken() returns trigger language plpgsql as"
        " $$ begin if exists (select from changed where name = 'U3') then raise exception 'power cut'; end if;"
        " return null; end $$;"
        " create trigger broken after insert on register.legal_unit referencing new table as changed"
        " for each statement execute function public.broken()"
    )
    job = reg_db.import_rows(
        "legal_unit", [{"tax_ident": str(n), "name": f"U{n}"} for n in range(6)], valid_from=date(2020, 1, 1)
    )
    assert (reg_db.job(job)["state"], reg_db.job(job)["error"]) == ("failed", "power cut")
    # The other batches are whole, and committed.
    assert reg_db.value("select count(*) from register.legal_unit") == 5
    assert reg_db.value("select count(*) from register.external_ident") == 5
    reg_db.conn.execute("drop trigger broken on register.legal_unit")
    reg_db.value("select register.retry_import_job(%s)", job)
    reg_db.conn.execute("call worker.drain('import')")
    assert reg_db.job(job)["state"] == "finished"
    assert reg_db.value("select count(*) from register.legal_unit") == 6
    reg_db.check()


def test_processed_rows_leave_nothing_behind_but_what_is_reported(reg: Register) -> None:
    rows = [
        {"tax_ident": "1", "name": "a"},
        {"tax_ident": "2", "name": ""},
        {"tax_ident": "3", "name": "c", "sector_code": "x"},
    ]
    job = reg.import_rows("legal_unit", rows, valid_from=date(2020, 1, 1))
    assert reg.value("select count(*) from register.import_link") == 0
    assert [r["row_no"] for r in reg.rows("select row_no from register.import_upload order by 1")] == [2, 3]
    states = reg.rows("select row_no, state from register.import_row where job_id = %s order by 1", job)
    assert [r["state"] for r in states] == ["processed", "error", "processed"]
