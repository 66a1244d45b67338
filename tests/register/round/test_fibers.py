"""How many fibers run side by side changes nothing: the same base tables, the same derived tables."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date
from pathlib import Path

import pytest

from catchment_register.codes.kinds import KINDS
from catchment_register.codes.load import load_codes
from catchment_register.codes.read import read_codes
from catchment_register.generate.files import CODE_FILES, UNIT_FILES, write_register
from catchment_register.generate.plan import Plan
from catchment_register.upload.job import Request, import_source, open_source
from tests.fixtures.register import opened
from tests.fixtures.register_driver import RegisterDatabase
from tests.fixtures.server import cloned

PLAN = Plan(legal_units=80, years=1, valid_from=date(2025, 1, 1), informal=0.1, relationships=0.1)
BASE = (
    "enterprise", "legal_unit", "establishment", "activity", "location", "contact", "stat_for_unit", "external_ident",
    "legal_relationship", "power_group",
)  # fmt: skip
DERIVED = (
    "statistical_unit",
    "statistical_history",
    "statistical_unit_facet",
    "statistical_history_facet",
    "used_code",
)
# When something was written.
LEFT_OUT = ("edit_at", "edit_by", "last_edit_at", "last_edit_by")


@contextmanager
def registered(server: str, template: str, folder: Path) -> Iterator[RegisterDatabase]:
    """A database with the codes of the plan, and batches small enough for several of each kind."""
    with cloned(server, template) as dsn, opened(dsn, folder) as made:
        for kind, name in CODE_FILES.items():
            load_codes(made.conn, KINDS[kind], read_codes(folder / name, KINDS[kind]))
        made.conn.execute(
            "update register.settings set today = %s, batch_enterprises = 10, import_batch_rows = 25", [PLAN.today]
        )
        yield made


def load(made: RegisterDatabase, folder: Path) -> None:
    """All files of the plan, uploaded. Jobs run one after the other, so each finds the units of the one before."""
    for kind, name in UNIT_FILES.items():
        with open_source(folder / name) as source:
            import_source(made.conn, source, Request(kind, review=False))


def look(made: RegisterDatabase) -> dict[str, list[str]]:
    """What the tables hold when everything was imported and derived without a fault."""
    states = made.rows("select state, error_count from register.import_job order by id")
    assert states == [{"state": "finished", "error_count": 0}] * len(UNIT_FILES)
    made.check()
    return {table: contents(made, table) for table in (*BASE, *DERIVED)}


def contents(made: RegisterDatabase, table: str) -> list[str]:
    columns = made.value(
        "select string_agg(quote_ident(column_name), ', ' order by ordinal_position) from information_schema.columns"
        " where table_schema = 'register' and table_name = %s and column_name <> all(%s)",
        table,
        list(LEFT_OUT),
    )
    return [row["line"] for row in made.rows(f"select row({columns})::text as line from register.{table} order by 1")]


@pytest.fixture(scope="module")
def alone(
    server: str, register_template: str, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, dict[str, list[str]]]:
    """The files, and what comes of them in one session that does everything itself."""
    folder = tmp_path_factory.mktemp("register")
    write_register(PLAN, folder)
    with registered(server, register_template, folder) as made:
        load(made, folder)
        made.derive()
        return folder, look(made)


@pytest.mark.long
@pytest.mark.parametrize("children", [1, 2, 4])
def test_any_number_of_fibers_gives_the_same_register(
    server: str, register_template: str, alone: tuple[Path, dict[str, list[str]]], children: int
) -> None:
    folder, expected = alone
    with registered(server, register_template, folder) as made:
        load(made, folder)
        for queue in ("import", "analytics"):
            fibers = f"--concurrency={queue}={children + 1}"
            assert made.start_worker(f"--queue={queue}", fibers, "--stop-when-idle").wait(timeout=100) == 0
        found = look(made)
        batches = made.value("select count(*) from worker.tasks where command = 'statistical_unit_refresh_batch'")
    assert batches > 8
    for table in (*BASE, *DERIVED):
        assert expected[table], table
        assert found[table] == expected[table], table
