"""Functions that are called for each row of a file are inlined: a call in SQL costs more than all that they do."""

from __future__ import annotations

import pytest

from tests.fixtures.register_driver import Register


@pytest.mark.parametrize(
    "call",
    [
        "length_problem(r.t, 256)",
        "region_problem(r.t, r.t, r.n, r.n)",
        "coordinate_problem('latitude', r.t)",
        "unknown_code('sector', r.t, r.n)",
        "parse_stat(r.t, r.t)",
        "parse_date(r.t)",
        "parse_number(r.t)",
        "activity_key(r.t)",
    ],
)
def test_a_function_of_a_row_is_inlined(reg: Register, call: str) -> None:
    reg.conn.execute("create temporary table r (t text, n integer)")
    plan = "\n".join(row["QUERY PLAN"] for row in reg.rows(f"explain (verbose) select register.{call} from r"))
    assert call.split("(")[0] not in plan
