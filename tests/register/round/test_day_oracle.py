"""After each of many random edits, imports, ends and corrections all that is published is what the base tables say on
each day: units, history, facets, power groups and demography."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import date, timedelta
from random import Random
from typing import Any

import pytest
from psycopg.types.json import Jsonb

from tests.fixtures.often import often
from tests.fixtures.register_driver import Register, RegisterDatabase, Row
from tests.register.agreement import failed
from tests.register.day_oracle.compare import differences
from tests.register.random_edits import BEGINNING, REFUSALS, VERBS, Edit, Editor

MOST_UNITS = 24
EDITS = int(os.environ.get("CATCHMENT_TEST_EDITS", "1000"))
STRATEGIES = ("insert_or_replace", "insert_or_update")


class Clerk(Editor):
    """Besides plain SQL: files, and the functions that edit a unit. A correction may lie in the past."""

    refusals = frozenset({*REFUSALS, "RG008", "RG022", "RG024"})

    def idents(self, table: str) -> list[Row]:
        return self.reg.rows(
            f"select i.ident, i.{table}_id as id from register.external_ident as i"
            f" where i.{table}_id is not null and i.type_id = 1 order by i.ident"
        )

    def import_legal_units(self, edit: Edit) -> None:
        known = [row["ident"] for row in self.idents("legal_unit")]
        chosen = [edit.pick(self.idents("legal_unit"))["ident"]] if known else []  # type: ignore[index]
        rows = [self.cells(edit, ident) for ident in (*chosen, *([self.ident()] if edit.b % 2 else []))]
        self.reg.import_rows("legal_unit", rows, strategy=STRATEGIES[edit.value % 2])

    def import_establishments(self, edit: Edit) -> None:
        owner = edit.pick(self.idents("legal_unit"))
        known = edit.pick(self.idents("establishment"))
        if owner is None:
            return
        ident = known["ident"] if known is not None and edit.b % 2 else self.ident()
        row = self.cells(edit, ident) | {"legal_unit_tax_ident": owner["ident"]}
        self.reg.import_rows("establishment_formal", [row])

    def cells(self, edit: Edit, ident: str) -> Row:
        last = "" if edit.b % 3 else edit.at + timedelta(days=40 * (1 + edit.value))
        about: Row = {"tax_ident": ident, "name": f"File {edit.day}", "valid_from": edit.at, "valid_to": last}
        return about | {
            "employees": edit.day if edit.value % 2 else "",
            "birth_date": edit.at if edit.value == 1 else "",
            "physical_region_code": ("0301", "1103", "4626")[edit.a % 3],
            "physical_country_iso_2": "NO",
            "primary_activity_category_code": ("01.1", "47.52", "62.01")[edit.b % 3],
        }

    def end(self, edit: Edit) -> None:
        self.call("end_unit", edit, str(edit.at))

    def delete(self, edit: Edit) -> None:
        self.call("delete_unit", edit)

    def become_primary(self, edit: Edit) -> None:
        self.call("set_primary", edit, str(edit.at))

    def correct(self, edit: Edit) -> None:
        changes: list[Row] = [
            {"employees": str(edit.day), "turnover": "12.5"},
            {"name": f"Right {edit.day}"},
            {"birth_date": str(edit.at)},
            {"death_date": str(edit.at)},
            {"death_date": "", "birth_date": ""},
            {"primary_activity_category_code": "62.01", "employees": ""},
        ]
        self.call("edit_unit", edit, Jsonb(changes[edit.value]), str(edit.at), self.until(edit))

    def connect(self, edit: Edit) -> None:
        unit = edit.pick(self.idents("legal_unit"))
        enterprises = self.reg.rows("select id from register.enterprise order by id")
        if unit is not None:
            where = enterprises[edit.b % len(enterprises)]["id"] if edit.value else None
            self.reg.value(
                "select register.connect_legal_unit(%s, %s, %s::date, %s::date)",
                *(unit["id"], where, str(edit.at), str(self.until(edit))),
            )

    def call(self, function: str, edit: Edit, *arguments: Any) -> None:
        table = ("legal_unit", "establishment")[edit.b % 2]
        unit = edit.pick(self.idents(table))
        if unit is not None:
            marks = ", ".join(["%s"] * (2 + len(arguments)))
            self.reg.value(f"select register.{function}({marks})", table, unit["id"], *arguments)


OURS = (
    "import_legal_units",
    "import_establishments",
    "end",
    "delete",
    "become_primary",
    "correct",
    "correct",
    "connect",
)


def follow(reg: Register, edits: int, seed: int, verbs: Sequence[str] = VERBS) -> None:
    random = Random(seed)
    reg.conn.execute(
        "update register.settings set batch_enterprises = 2, partition_count_target = 2, rebuild_share = %s",
        [random.choice([0, 0.2, 1])],
    )
    clerk = Clerk(reg)
    for edit in BEGINNING:
        clerk.apply(edit)
    done = 0
    while done < edits:
        verb = random.choice((*verbs, *OURS, *OURS))
        if verb.startswith(("new_", "import_")) and len(clerk.idents("legal_unit")) > MOST_UNITS:
            verb = "delete"
        edit = Edit(verb, *(random.randrange(n) for n in (8, 8, 37, 6)))
        if not clerk.apply(edit):
            continue
        done += 1
        clerk.let_break()
        reg.derive()
        assert failed(reg) == [], edit
        wrong = differences(reg.conn)
        assert wrong == [], (done, edit, wrong[:5])


@pytest.mark.long
@pytest.mark.parametrize("seed", often(1, now_and_then=[2]))
def test_everything_published_is_what_the_base_tables_say_on_each_day(reg: Register, seed: int) -> None:
    follow(reg, 8, seed)


def test_a_wrong_figure_is_found(reg: Register) -> None:
    """The oracle is none if it finds nothing."""
    reg.lu("1", "2024-01-01", employees=3, region="03.01", birth_date="2024-01-01")
    reg.lu("2", "2024-01-01", employees=4)
    reg.relate("1", "2", "2024-01-01")
    reg.derive()
    assert differences(reg.conn) == []
    for damage in (
        "update register.statistical_unit_row set name = 'Wrong' where unit_type = 'power_group'",
        "update register.statistical_unit_row set valid_until = '2025-01-01' where unit_type = 'enterprise'",
        "update register.statistical_history_row set measures.births = 7 where year = 2024",
        "update register.statistical_history_facet_row set moments = null",
        "update register.statistical_unit_facet_row set count = count + 1",
    ):
        with reg.conn.transaction(force_rollback=True):
            reg.conn.execute(damage)
            assert differences(reg.conn) != [], damage


@pytest.mark.long
@pytest.mark.timeout(10800)
def test_a_thousand_edits_leave_no_difference_on_any_day(reg_db: RegisterDatabase) -> None:
    """Committed one by one: a transaction that lasts as long reads ever more rows that are dead."""
    kept = [verb for verb in VERBS if verb != "break_round"]  # which moves the clock of its transaction
    follow(reg_db, EDITS, date.today().toordinal(), kept)
