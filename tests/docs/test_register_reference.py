"""The reference of the register lists what there is: functions for people with their parameters, views, errors."""

from __future__ import annotations

import re

from catchment_register import errors
from tests.docs.steps import ROOT
from tests.fixtures.register_driver import Register

PAGE = (ROOT / "docs" / "reference" / "register_sql.md").read_text(encoding="utf-8")
# Of the functions of a table.
CALLS = re.findall(r"`([a-z_]+)\(([^)]*)\)`", PAGE.split("## Request work")[0])


def test_the_page_lists_every_function_that_people_may_call_and_no_other(reg: Register) -> None:
    granted = reg.rows(
        "select p.proname as name, coalesce(p.proargnames, '{}') as names, p.pronargs as count from pg_proc as p"
        " where p.pronamespace = 'register'::regnamespace and p.prokind = 'f'"
        " and (has_function_privilege('register_read', p.oid, 'execute')"
        "      or has_function_privilege('register_edit', p.oid, 'execute'))"
    )
    there = {row["name"]: [name for name in row["names"] if name.startswith("p_")] for row in granted}
    assert {name: re.findall(r"\w+", parameters) for name, parameters in CALLS} == there


def test_functions_that_ask_for_work_exist(reg: Register) -> None:
    asked = set(re.findall(r"`(enqueue_\w+)\(", PAGE))
    known = {r["proname"] for r in reg.rows("select proname from pg_proc where pronamespace = 'worker'::regnamespace")}
    assert asked <= known
    assert len(asked) > 3


def test_the_page_names_every_view_but_the_lookup_of_codes(reg: Register) -> None:
    views = {r["viewname"] for r in reg.rows("select viewname from pg_views where schemaname = 'register'")}
    assert views - {"code_key"} == {v for v in views if f"`{v}`" in PAGE}


def test_the_page_lists_every_code_with_its_class() -> None:
    listed = dict(re.findall(r"^\| `(RG\d{3})` \| `(\w+)` \|", PAGE, re.MULTILINE))
    documented = {
        match[1]: name
        for name, kind in vars(errors).items()
        if isinstance(kind, type) and (match := re.match(r"``(RG\d{3})``", kind.__doc__ or ""))
    }
    assert listed == documented
