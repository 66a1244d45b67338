"""Other programs expire snapshots that tables stand on. Each table is refreshed again, and what reads it too."""

from __future__ import annotations

from typing import Any

import pytest

from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often

LAG = "TARGET_LAG = '1 hour'"
JOINED = "SELECT d2.name, sum(v) AS v FROM facts JOIN d2 USING (k) GROUP BY 1"


def prepare(case: LakeCase) -> None:
    case.make("dim", "k BIGINT, name VARCHAR", [(1, "one"), (2, "two")])
    case.make("facts", "k BIGINT, v BIGINT", [(1, 10), (2, 20)])
    case.create(f"CREATE DYNAMIC TABLE d2 {LAG} AS SELECT k, upper(name) AS name FROM dim")
    case.create(f"CREATE DYNAMIC TABLE j {LAG} REFRESH_MODE = INCREMENTAL AS {JOINED}")
    case.refresh("j")


def expire(case: LakeCase, *, is_seen: bool = True) -> None:
    """All but the newest. Of those that no tick had seen nobody knows what they did."""
    if is_seen:
        case.pg("select lake.scan_changes()")
    case.sql("CALL ducklake_expire_snapshots('lake', older_than => now()::TIMESTAMP + INTERVAL 1 DAY)")
    assert case.pg("select count(*) from lake.ducklake_snapshot") == [(1,)]


def outcome(found: dict[str, Any]) -> tuple[str, str | None]:
    return found["action"], found["reason"]


@pytest.mark.parametrize("is_seen", often(True, now_and_then=[False]), ids=["seen", "unseen"])
@pytest.mark.long
def test_a_chain_goes_on_when_one_of_its_sources_has_not_changed(lake_case: LakeCase, is_seen: bool) -> None:
    prepare(lake_case)
    lake_case.add("facts", [(1, 5)])
    expire(lake_case, is_seen=is_seen)
    assert outcome(lake_case.refresh("j")) == ("reinitialize", "SNAPSHOT_EXPIRED")
    assert lake_case.rows("j") == [("ONE", 15), ("TWO", 20)]
    lake_case.check("j")
    # d2 has not changed: nothing is computed for it, or nothing comes of it. Its content is where it can be read.
    ((action, inserted),) = lake_case.pg(
        "select action, inserted from lake.refresh where dt_id = %s order by id desc limit 1", lake_case.find("d2")
    )
    assert (action, inserted) == ("no_data" if is_seen else "reinitialize", 0)
    lake_case.add("facts", [(2, 5)])
    assert lake_case.refresh("j")["action"] == "incremental"
    assert lake_case.rows("j") == [("ONE", 15), ("TWO", 25)]


@pytest.mark.long
def test_a_table_without_a_difference_is_read_where_it_was_compared(lake_case: LakeCase) -> None:
    """Its source has changed, and the result has not: there is no commit of the refresh."""
    prepare(lake_case)
    lake_case.sql("UPDATE dim SET name = 'ONE' WHERE k = 1")
    lake_case.add("facts", [(1, 5)])
    expire(lake_case)
    assert lake_case.refresh("j")["state"] == "SUCCEEDED"
    assert lake_case.rows("j") == [("ONE", 15), ("TWO", 20)]
    for name in ("d2", "j"):
        lake_case.check(name)


@pytest.mark.long
def test_a_new_table_reads_one_whose_snapshot_has_expired(lake_case: LakeCase) -> None:
    prepare(lake_case)
    lake_case.make("other", "i BIGINT", [(1,)])
    expire(lake_case)
    lake_case.create(f"CREATE DYNAMIC TABLE late {LAG} AS SELECT count(*) AS n FROM d2")
    lake_case.make("another", "i BIGINT", [(1,)])
    expire(lake_case)
    assert lake_case.refresh("late")["state"] == "SUCCEEDED"
    assert lake_case.rows("late") == [(2,)]


@pytest.mark.long
def test_changes_of_unchanged_sources_are_not_lost_with_their_snapshots(lake_case: LakeCase) -> None:
    """What was read has expired and has not changed: the next change is used as ever."""
    prepare(lake_case)
    lake_case.make("other", "i BIGINT", [(1,)])
    expire(lake_case)
    assert lake_case.refresh("j")["action"] == "no_data"
    lake_case.add("dim", [(3, "three")])
    lake_case.add("facts", [(3, 30)])
    assert outcome(lake_case.refresh("j")) == ("incremental", None)
    assert lake_case.rows("j") == [("ONE", 10), ("THREE", 30), ("TWO", 20)]


@pytest.mark.parametrize("is_seen", often(False, now_and_then=[True]), ids=["unseen", "seen"])
def test_a_change_in_a_snapshot_that_has_expired_is_not_lost(lake_case: LakeCase, is_seen: bool) -> None:
    """As many rows as before, and commits elsewhere after it that are left."""
    prepare(lake_case)
    first = lake_case.head()
    lake_case.sql("UPDATE facts SET v = v + 1")
    if is_seen:
        lake_case.pg("select lake.scan_changes()")
    gone = list(range(1, lake_case.head() + 1))
    for _ in range(2):
        lake_case.make(f"other{lake_case.head()}", "i BIGINT", [(1,)])
    lake_case.sql(f"CALL ducklake_expire_snapshots('lake', versions => {gone})")
    assert lake_case.pg("select count(*) from lake.ducklake_snapshot where snapshot_id between 1 and %s", first) == [
        (0,)
    ]
    lake_case.refresh("j")
    assert lake_case.rows("j") == [("ONE", 11), ("TWO", 21)]


@pytest.mark.long
@pytest.mark.parametrize("when", often("after d2", now_and_then=["before d2"]))
def test_a_round_whose_snapshot_expires_moves(lake_case: LakeCase, when: str) -> None:
    prepare(lake_case)
    lake_case.add("dim", [(3, "three")])
    lake_case.add("facts", [(3, 30)])
    refresh_id = lake_case.request("j")
    lake_case.add("facts", [(1, 1)])

    def expire_after_d2(name: str) -> None:
        if name == "d2" and lake_case.pg("select count(*) > 1 from lake.ducklake_snapshot") == [(True,)]:
            expire(lake_case)

    if when == "before d2":
        expire(lake_case)
    done = lake_case.finish_round(refresh_id, between=expire_after_d2)
    assert done["state"] == "SUCCEEDED"
    assert lake_case.rows("j") == [("ONE", 11), ("THREE", 30), ("TWO", 20)]
    lake_case.check("j")
