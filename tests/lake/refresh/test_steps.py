"""A refresh that cannot go by the changes, although the definition could: steps that fail, hidden row ids."""

from __future__ import annotations

import duckdb
import pytest

from tests.fixtures.lake_case import LakeCase

NUMBERS = """
CREATE DYNAMIC TABLE numbers TARGET_LAG = DOWNSTREAM REFRESH_MODE = INCREMENTAL
AS SELECT CAST(h.text || t.text AS INTEGER) AS n, max(h.k) AS k FROM heads h JOIN tails t USING (k) GROUP BY 1
"""


@pytest.fixture
def halves(lake_case: LakeCase) -> LakeCase:
    """Numbers in two halves: 1 and .5."""
    lake_case.make("heads", "k INTEGER, text VARCHAR", [[1, "1"]])
    lake_case.make("tails", "k INTEGER, text VARCHAR", [[1, ".5"]])
    lake_case.create(NUMBERS)
    lake_case.refresh("numbers")
    assert lake_case.rows("numbers") == [(2, 1)]
    return lake_case


def test_old_half_that_does_not_fit_the_new_one_costs_a_full_refresh(halves: LakeCase) -> None:
    """Before and after there are numbers; the new head with the old tail, which has to be looked at, is none."""
    halves.sql("UPDATE heads SET text = '3.5'")
    halves.sql("UPDATE tails SET text = '0'")
    found = halves.refresh("numbers")
    assert (found["action"], found["reason"]) == ("full", "STEP_FAILED")
    assert "3.5.5" in found["figures"]["detail"]
    assert halves.rows("numbers") == [(4, 1)]
    halves.check("numbers")
    assert halves.temporary() == []


@pytest.mark.long
def test_definition_that_fails_is_still_an_error(halves: LakeCase) -> None:
    halves.sql("UPDATE heads SET text = 'three'")
    with pytest.raises(duckdb.ConversionException, match=r"three\.5"):
        halves.refresh("numbers")
    assert halves.rows("numbers") == [(2, 1)]
    assert halves.temporary() == []


@pytest.mark.long
def test_source_whose_column_hides_the_row_ids_is_read_as_a_whole(lake_case: LakeCase) -> None:
    lake_case.make("odd", "rowid VARCHAR, snapshot_id INTEGER, v INTEGER", [["a", 1, 1], ["a", 1, 2]])
    lake_case.create("CREATE DYNAMIC TABLE seen TARGET_LAG = DOWNSTREAM AS SELECT snapshot_id, v FROM odd WHERE v > 0")
    lake_case.refresh("seen")
    for statement in ("UPDATE odd SET v = 3 WHERE v = 1", "DELETE FROM odd WHERE v = 2"):
        lake_case.sql(statement)
        found = lake_case.refresh("seen")
        assert (found["action"], found["reason"]) == ("full", "ROWID_HIDDEN")
        lake_case.check("seen")
    assert lake_case.rows("seen") == [(1, 3)]
