"""temporal_merge against a model that knows every day by itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from psycopg.types.json import Jsonb

from tests.fixtures.register_driver import Register

START = date(2020, 1, 1)
DAYS = 12
KEPT = ["fax_number"]
COLUMNS = ("web_address", "email_address", "fax_number")
FOREVER = date.max


@dataclass(frozen=True)
class Row:
    """A source row: its days, and what it says about each column."""

    first: int
    days: int
    values: tuple[str | None, ...]


def day(n: int) -> date:
    return START + timedelta(days=n) if n < DAYS else FOREVER


rows = st.builds(
    lambda first, days, values: Row(first, days, values),
    st.integers(0, DAYS - 2),
    st.integers(1, DAYS),
    st.tuples(st.sampled_from(["a", "b"]), st.sampled_from([None, "c", "d"]), st.sampled_from([None, "e"])),
)


def merge(reg: Register, unit: int, mode: str, given: list[Row], *, keeps: list[str] | None = None) -> dict[str, int]:
    payload = [
        dict(zip(COLUMNS, row.values, strict=True))
        | {
            "legal_unit_id": unit,
            "valid_from": str(day(row.first)),
            "valid_until": "infinity" if row.first + row.days >= DAYS else str(day(row.first + row.days)),
            "edit_at": f"2026-01-{n + 1:02}",
            "edit_by": f"row {n}",
        }
        for n, row in enumerate(given)
    ]
    source = (
        "select r.n::integer as row_no, s.* from jsonb_array_elements($1) with ordinality as r (value, n)"
        " cross join lateral jsonb_populate_record(null::register.contact, r.value) as s"
    )
    return reg.value(
        "select register.temporal_merge('contact', 'legal_unit_id', %s, %s, %s, %s)",
        mode,
        source,
        Jsonb(payload),
        keeps or [],
    )


Days = list[tuple[str | None, ...] | None]


def model(days: Days, mode: str, given: list[Row], keeps: list[str]) -> Days:
    """Day by day: the last row wins, or the last that has a value; a kept column continues."""
    latest = next((d for d in reversed(days) if d is not None), None)
    result: Days = []
    for n, old in enumerate(days):
        covering = [r.values for r in given if r.first <= n < r.first + r.days]
        if not covering:
            result.append(old)
            continue
        cell: list[str | None] = []
        for column, name in enumerate(COLUMNS):
            said = [v[column] for v in covering]
            values = [v for v in said if v is not None]
            before = old[column] if old else None
            if name in keeps:
                kept = old or latest
                cell.append(kept[column] if kept else (values or [None])[-1])
            elif mode == "replace":
                cell.append(said[-1])
            else:
                cell.append(values[-1] if values else before)
        result.append(tuple(cell))
    return result


def stored(reg: Register, unit: int) -> list[dict[str, Any]]:
    return reg.rows(
        "select *, xmin::text, ctid::text from register.contact where legal_unit_id = %s order by valid_from", unit
    )


def by_day(slices: list[dict[str, Any]]) -> Days:
    found: Days = []
    for n in range(DAYS):
        there = [s for s in slices if s["valid_from"] <= START + timedelta(days=n) < s["valid_until"]]
        assert len(there) <= 1
        found.append(tuple(there[0][c] for c in COLUMNS) if there else None)
    return found


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    before=st.lists(rows, max_size=3),
    given=st.lists(rows, min_size=1, max_size=4),
    mode=st.sampled_from(["replace", "update"]),
    keeps=st.sampled_from([[], KEPT]),
)
def test_every_day_is_what_the_rules_say(
    reg: Register, before: list[Row], given: list[Row], mode: str, keeps: list[str]
) -> None:
    with reg.conn.transaction(force_rollback=True):
        unit = reg.lu("1", "2020-01-01")
        days: Days = [None] * DAYS
        for row in before:
            merge(reg, unit, "replace", [row])
            days = model(days, "replace", [row], [])
        merge(reg, unit, mode, given, keeps=keeps)
        days = model(days, mode, given, keeps)
        slices = stored(reg, unit)
        assert by_day(slices) == days
        for earlier, later in pairwise(slices):
            assert earlier["valid_until"] <= later["valid_from"]
            touch = earlier["valid_until"] == later["valid_from"]
            assert not (touch and all(earlier[c] == later[c] for c in COLUMNS)), "equal neighbours are one slice"
        assert merge(reg, unit, mode, given, keeps=keeps) == {"inserted": 0, "deleted": 0}
        assert stored(reg, unit) == slices


def test_a_slice_that_says_the_same_is_not_touched(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    merge(reg, unit, "replace", [Row(0, DAYS, ("a", "c", None))])
    before = stored(reg, unit)
    reg.forget_log()
    assert merge(reg, unit, "replace", [Row(3, 4, ("a", "c", None))]) == {"inserted": 0, "deleted": 0}
    assert stored(reg, unit) == before
    assert reg.log() == []


def test_the_editor_of_a_changed_part_is_noted_and_the_rest_keeps_its_own(reg: Register) -> None:
    unit = reg.lu("1", "2020-01-01")
    reg.insert("contact", legal_unit_id=unit, valid_from="2020-01-01", web_address="a", edit_by="earlier")
    merge(reg, unit, "update", [Row(4, 2, ("b", None, None))])
    assert [(s["web_address"], s["edit_by"]) for s in stored(reg, unit)] == [
        ("a", "earlier"),
        ("b", "row 0"),
        ("a", "earlier"),
    ]


def test_a_relationship_keeps_its_number_and_its_group_where_it_is_cut(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2020-01-01")
    number = reg.relate("1", "2", "2020-01-01", percentage=60)
    group = reg.insert("power_group", ident="PG0001")["id"]
    reg.conn.execute("update register.legal_relationship set derived_power_group_id = %s", [group])
    reg.value(
        "select register.patch_slices('legal_relationship', 'influencing_id', %s, '{\"percentage\": 70}')",
        Jsonb(
            [
                {
                    "influencing_id": reg.unit_id("1"),
                    "influenced_id": reg.unit_id("2"),
                    "type_id": reg.code("legal_rel_type", "ownership"),
                    "valid_from": "2021-01-01",
                    "valid_until": "2022-01-01",
                }
            ]
        ),
    )
    found = reg.rows("select * from register.legal_relationship order by valid_from")
    assert [float(r["percentage"]) for r in found] == [60, 70, 60]
    assert {(r["id"], r["derived_power_group_id"]) for r in found} == {(number, group)}


def test_slices_of_a_new_relationship_share_a_number(reg: Register) -> None:
    for ident in "12":
        reg.lu(ident, "2020-01-01")
    pair = {
        "influencing_id": reg.unit_id("1"),
        "influenced_id": reg.unit_id("2"),
        "type_id": reg.code("legal_rel_type", "ownership"),
    }
    patches = [
        pair | {"valid_from": "2020-01-01", "valid_until": "2021-01-01", "percentage": 10},
        pair | {"valid_from": "2021-01-01", "valid_until": "infinity", "percentage": 20},
    ]
    reg.value("select register.patch_slices('legal_relationship', 'influencing_id', %s, '{}')", Jsonb(patches))
    assert reg.value("select count(*) from register.legal_relationship") == 2
    assert reg.value("select count(distinct id) from register.legal_relationship") == 1


@pytest.mark.parametrize("table", ["legal_unit", "establishment", "activity", "location", "contact", "stat_for_unit"])
def test_every_table_can_be_merged_into(reg: Register, table: str) -> None:
    reg.lu("1", "2020-01-01", activity="A.01.1", region="46.26", email="x", employees=3)
    reg.es("11", "1", "2020-01-01")
    owner = "id" if table in ("legal_unit", "establishment") else "legal_unit_id"
    found = reg.rows(f"select * from register.{table} limit 1")[0]
    key = {k: v for k, v in found.items() if k in (owner, "type", "stat_definition_id")}
    patch = [key | {"valid_from": "2021-01-01", "valid_until": "2022-01-01"}]
    source = reg.code("data_source", "brreg")
    made = reg.value(
        "select register.patch_slices(%s, %s, %s, %s)", table, owner, Jsonb(patch), Jsonb({"data_source_id": source})
    )
    assert made == {"inserted": 3, "deleted": 1}
    assert [
        r["data_source_id"] for r in reg.rows(f"select * from register.{table} order by valid_from") if r[owner]
    ] == [None, source, None]
