"""What is said is so: a unit that the next round changes was said to be not up to date, and after it every unit is."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.fixtures.register_driver import Register
from tests.register.random_edits import BEGINNING, Edit, Editor, edits
from tests.register.round.test_oracle import QUIET

STEPS = st.lists(st.lists(edits, min_size=1, max_size=4), min_size=1, max_size=4)

PUBLISHED = """
select r.unit_type || '/' || r.unit_id as unit, md5(string_agg(r::text, '|' order by r.valid_from)) as digest
  from register.statistical_unit_row as r group by 1
"""
STALE = """
select u.unit, bool_or(c.is_blocking) as is_stale
  from unnest(%s::text[]) as u (unit) cross join lateral register.explain(u.unit) as c group by u.unit
"""
REPORTS = """
select h.report, md5(string_agg(h.line, '|' order by h.line)) as digest
  from (select 'statistical_history' as report, h::text as line from register.statistical_history_row as h
        union all select 'statistical_unit_facet', f::text from register.statistical_unit_facet_row as f
        union all select 'statistical_history_facet', f::text from register.statistical_history_facet_row as f) as h
 group by h.report
"""


def published(reg: Register, sql: str) -> dict[str, str]:
    return dict(reg.conn.execute(sql).fetchall())


def stale(reg: Register, subjects: list[str]) -> set[str]:
    return {row["unit"] for row in reg.rows(STALE, subjects) if row["is_stale"]}


def follow(reg: Register, steps: list[list[Edit]]) -> None:
    reg.conn.execute("savepoint example")
    try:
        editor = Editor(reg)
        for step in ([*BEGINNING], *steps):
            for edit in step:
                editor.apply(edit)
            editor.let_break()
            units, reports = published(reg, PUBLISHED), published(reg, REPORTS)
            said = stale(reg, [*units, *reports])
            reg.derive()
            after, reports_after = published(reg, PUBLISHED), published(reg, REPORTS)
            changed = {unit for unit in units if units[unit] != after.get(unit)}
            changed |= {report for report in reports if reports[report] != reports_after.get(report)}
            assert changed <= said, "changed, and was said to be up to date"
            assert stale(reg, [*after, *reports_after]) == set()
    finally:
        reg.conn.execute("rollback to savepoint example")


@pytest.mark.long
@settings(max_examples=4, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS)
def test_what_a_round_changes_was_not_up_to_date(reg: Register, steps: list[list[Edit]]) -> None:
    follow(reg, steps)


@pytest.mark.long
@pytest.mark.timeout(7200)
@settings(max_examples=300, deadline=None, suppress_health_check=QUIET)
@given(steps=STEPS)
def test_what_hundreds_of_rounds_change_was_not_up_to_date(reg: Register, steps: list[list[Edit]]) -> None:
    follow(reg, steps)
