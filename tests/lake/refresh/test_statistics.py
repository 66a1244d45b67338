"""Column statistics of this build are those of the latest commit, whichever version a query reads. Rows that went may
lie outside of them: whoever trusts the statistics does not find these rows in older versions."""

from __future__ import annotations

import pytest

from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.fixtures.often import often
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed

PAIRS = f"{TABLE} SELECT l.k, {{}} AS n FROM l JOIN r ON l.k = r.k GROUP BY l.k"


@pytest.fixture
def pair(lake_case: LakeCase) -> LakeCase:
    """Two tables with the keys 1, 2 and 3."""
    for name in ("l", "r"):
        lake_case.make(name, "k BIGINT, v BIGINT", [[1, 10], [2, None], [3, 30]])
    return lake_case


def rewritten(case: LakeCase, *names: str) -> None:
    for name in names:
        case.sql("CALL ducklake_rewrite_data_files('lake', ?, delete_threshold => 0.05)", [name])


@pytest.mark.long
@pytest.mark.parametrize("figure", often("max(r.v)", now_and_then=["count(*)"]))
def test_key_that_went_from_both_sides_of_a_join(pair: LakeCase, figure: str) -> None:
    """Only the version before the window has the partners of the rows that went."""
    filled(pair, PAIRS.format(figure))
    before = pair.head()
    pair.sql("DELETE FROM l WHERE k = 3")
    pair.sql("DELETE FROM r WHERE k = 3")
    rewritten(pair, "l", "r")
    with foreign_client(pair) as client:
        ((seen,),) = client.execute(
            f"SELECT count(*) FROM theirs.main.l AT (VERSION => {before}) WHERE k > 2"
        ).fetchall()
    assert seen == 0, "this build reads older versions right"
    assert refreshed(pair)["action"] == "incremental"
    assert [row[0] for row in pair.rows("dt")] == [1, 2]


def test_null_that_went_is_not_counted_in_the_old_version(pair: LakeCase) -> None:
    """Without a NULL in the statistics, count(v) of an older version counts its NULLs."""
    filled(pair, f"{TABLE} SELECT n, count(*) AS times FROM (SELECT k, count(v) AS n FROM l GROUP BY k) GROUP BY n")
    before = pair.head()
    pair.sql("DELETE FROM l WHERE k = 2")
    rewritten(pair, "l")
    with foreign_client(pair) as client:
        ((seen,),) = client.execute(f"SELECT count(v) FROM theirs.main.l AT (VERSION => {before})").fetchall()
    assert seen == 3, "this build counts older versions right"
    assert refreshed(pair)["action"] == "incremental"
    assert pair.rows("dt") == [(1, 2)]
