"""A table that depends on the time, in a lake that nobody else writes."""

from __future__ import annotations

from tests.fixtures.lake_case import LakeCase


def test_it_is_computed_again_at_the_same_snapshot_and_what_reads_it_follows(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1), (2, 2)])
    lake_case.create("CREATE DYNAMIC TABLE clock TARGET_LAG = '1 minute' AS SELECT k, now()::VARCHAR AS seen FROM s")
    lake_case.create(
        "CREATE DYNAMIC TABLE below TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL"
        " AS SELECT s.k, s.n, c.seen FROM s JOIN clock AS c ON c.k = s.k"
    )
    seen: set[str] = set()
    for _ in range(3):
        assert lake_case.refresh("below")["state"] == "SUCCEEDED"
        lake_case.check("below")
        ((found,),) = lake_case.sql("SELECT DISTINCT seen FROM below")
        assert lake_case.sql("SELECT DISTINCT seen FROM clock") == [(found,)]
        seen.add(found)
    assert len(seen) == 3
    assert lake_case.pg("select count(*) from lake.refresh where state <> 'SUCCEEDED'") == [(0,)]
