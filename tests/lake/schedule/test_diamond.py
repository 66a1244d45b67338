"""Tables that meet again below agree, though their sources are written all the time."""

from __future__ import annotations

import threading

import pytest

from tests.fixtures.lake_case import LakeCase, foreign_client

LATER = "TARGET_LAG = '1 minute'"
TABLES = {
    "a": "SELECT k, n FROM s",
    "b": "SELECT k, sum(n) AS total FROM a GROUP BY k",
    "c": "SELECT k, count(*) AS rows FROM a GROUP BY k",
    # Every row of s counts 1, so the two are equal at any one moment; only two moments at once could tell them apart.
    "d": "SELECT b.k, b.total, c.rows FROM b FULL JOIN c ON b.k = c.k",
}
ROUNDS = 3


@pytest.mark.long
def test_both_ways_of_a_diamond_show_the_same_moment_in_every_version(lake_case: LakeCase) -> None:
    lake_case.make("s", "k BIGINT, n BIGINT", [(k % 5, 1) for k in range(20)])
    for name, query in TABLES.items():
        lake_case.create(f"CREATE DYNAMIC TABLE {name} {LATER} AS {query}")
    stopping = threading.Event()
    written = 0

    with foreign_client(lake_case) as client:

        def write() -> None:
            nonlocal written
            while not stopping.is_set():
                client.execute("INSERT INTO theirs.s SELECT range % 7, 1 FROM range(3)")
                client.execute(
                    f"DELETE FROM theirs.s WHERE rowid = (SELECT min(rowid) FROM theirs.s WHERE k = {written % 5})"
                )
                written += 1
                # Else the refreshes hardly get a turn.
                stopping.wait(0.05)

        writer = threading.Thread(target=write)
        writer.start()
        try:
            for _ in range(ROUNDS):
                assert lake_case.refresh("d")["state"] == "SUCCEEDED"
        finally:
            stopping.set()
            writer.join()
    assert written > 0
    for name in TABLES:
        lake_case.check(name)
    # Each version that was ever published, also those that a later round has replaced.
    versions = lake_case.pg("select distinct commit_snapshot from lake.version where dt_id = %s", lake_case.find("d"))
    assert len(versions) > 1
    for (snapshot,) in versions:
        torn = lake_case.sql(f"SELECT * FROM d AT (VERSION => {snapshot}) WHERE total IS DISTINCT FROM rows")
        assert torn == [], snapshot
    asked, rounds, snapshots = lake_case.pg(
        "select count(*) filter (where moved_from is null), count(*), count(distinct snapshot) from lake.round"
    )[0]
    assert asked == ROUNDS
    assert snapshots == rounds
