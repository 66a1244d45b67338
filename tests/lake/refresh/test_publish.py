"""The commit of a refresh: what it writes, under which lock, and what it refuses."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from catchment.errors import CommitConflict, LakeError, LakeUnavailable, PublishVetoed
from catchment.lake.duck.catalog import files_with_deletes
from catchment.lake.duck.duck import RETRIES, Duck, Never
from catchment.lake.duck.locks import commit_lock
from catchment.lake.names import lake_name
from catchment.lake.refresh import publish
from catchment.lake.refresh.compute import Difference, InvariantBroken
from catchment.lake.refresh.session import Work, plan_of
from catchment.lake.settings import LakeSettings
from catchment.lake.types import Action, Order, Publication
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.lake.refresh.test_incremental import TABLE, filled, refreshed


@contextmanager
def statements(caplog: pytest.LogCaptureFixture) -> Iterator[list[str]]:
    """All statements on the lake, in order."""
    found: list[str] = []
    with caplog.at_level(logging.DEBUG, logger="catchment.lake"):
        yield found
    found += [str(record.args[1]) for record in caplog.records if isinstance(record.args, tuple)]


@pytest.mark.long
def test_transaction_only_writes_and_never_updates(regions: LakeCase, caplog: pytest.LogCaptureFixture) -> None:
    with statements(caplog) as done:
        regions.sql("DELETE FROM orders WHERE order_id = 1")
        regions.refresh("dt")
    begin = done.index("BEGIN TRANSACTION")
    end = done.index("COMMIT", begin)
    inside = [text.split()[0] for text in done[begin : end + 1]]
    assert inside == ["BEGIN", "DELETE", "INSERT", "CALL", "COMMIT"]
    assert "AT (VERSION" not in " ".join(done[begin:end])
    assert not [text for text in done if text.startswith(("UPDATE", "MERGE"))]


@pytest.mark.long
def test_lock_is_held_around_the_transaction_by_a_separate_session(
    regions: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[tuple[Any, ...]]] = []
    run = Duck.run

    def looking(duck: Duck, sql: str, parameters: Any = ()) -> None:
        if sql == "BEGIN TRANSACTION":
            seen.append(
                regions.pg(
                    "select a.application_name from pg_locks as l join pg_stat_activity as a using (pid)"
                    " where l.locktype = 'advisory' and l.granted and l.objid::bigint = lake.commit_key() & 4294967295"
                )
            )
        run(duck, sql, parameters)

    monkeypatch.setattr(Duck, "run", looking)
    refreshed(regions, "DELETE FROM orders WHERE order_id = 1")
    assert [[row[0].startswith("catchment commit lock") for row in rows] for rows in seen] == [[True]]


@pytest.mark.long
def test_first_delete_is_clean_and_further_ones_append(shop: LakeCase) -> None:
    shop.make("many", "k BIGINT, v BIGINT")
    shop.sql("INSERT INTO many SELECT i, i FROM range(100) AS r(i)")
    filled(shop, f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k")
    found = [refreshed(shop, f"UPDATE many SET v = v + 1 WHERE k = {k}")["figures"]["publish"] for k in range(3)]
    assert found == ["clean", "append", "append"]
    # An append is tried once; what others write on this instance afterwards is not.
    assert shop.sql("SELECT current_setting('ducklake_max_retry_count')") == [(RETRIES,)]


@pytest.mark.long
def test_many_deletes_in_a_bucket_rewrite_it(shop: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(publish, "CROWDED_ROWS", 10)
    shop.make("many", "k BIGINT, v BIGINT")
    shop.sql("INSERT INTO many SELECT i, i FROM range(100) AS r(i)")
    filled(shop, f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k")
    refreshed(shop, "UPDATE many SET v = v + 1 WHERE k = 5")
    done = refreshed(shop, "UPDATE many SET v = v + 1 WHERE k < 40")
    assert (done["figures"]["publish"], done["inserted"], done["deleted"]) == ("rewrite", 40, 40)
    with shop.control.connection() as conn:
        ((physical,),) = shop.pg("select physical_id from lake.dt where name = 'dt'")
        assert files_with_deletes(conn, physical) == set()


@pytest.mark.long
def test_most_rows_changed_writes_the_table_as_a_whole(shop: LakeCase) -> None:
    shop.make("many", "k BIGINT, v BIGINT")
    shop.sql("INSERT INTO many SELECT i, i FROM range(100) AS r(i)")
    full = "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' REFRESH_MODE = FULL AS"
    filled(shop, f"{full} SELECT k, max(v) AS v FROM many GROUP BY k")
    done = refreshed(shop, "UPDATE many SET v = v + 1 WHERE k < 60")
    assert (done["figures"]["publish"], done["inserted"], done["deleted"]) == ("whole", 100, 100)


@pytest.mark.long
def test_storage_buckets_follow_the_size(shop: LakeCase) -> None:
    shop.make("many", "k BIGINT, v BIGINT")
    shop.sql("INSERT INTO many SELECT i, i FROM range(1000) AS r(i)")
    shop.create(f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k UNION ALL SELECT v, k FROM many")
    shop.refresh("dt", lake_rows_per_bucket=300)
    shop.check("dt")
    assert shop.pg("select buckets from lake.dt where name = 'dt'") == [(8,)]
    ((directories,),) = shop.pg(
        "select count(distinct partition_value) from lake.ducklake_file_partition_value where table_id ="
        " (select physical_id from lake.dt where name = 'dt')"
    )
    assert directories == 8
    done = refreshed(shop, "UPDATE many SET v = v + 1 WHERE k = 5")
    assert (done["action"], done["inserted"], done["deleted"]) == ("incremental", 2, 2)


@pytest.mark.long
def test_rows_lie_sorted_by_key(lake_case: LakeCase) -> None:
    """So that who looks for a key reads little. Each thread sorts its own part, so a file has a few steps back."""
    lake_case.make("many", "k BIGINT, v BIGINT")
    lake_case.sql("INSERT INTO many SELECT hash(i) % 100000, i FROM range(30000) AS r(i)")
    lake_case.create(f"{TABLE} SELECT k, max(v) AS v FROM many GROUP BY k")
    lake_case.refresh("dt", lake_rows_per_bucket=20_000)
    files = sorted(lake_case.content.glob("**/*.parquet"))
    assert len(files) >= 2
    for path in files:
        ((back,),) = lake_case.sql(
            "SELECT count(*) FILTER (k < before) FROM (SELECT k, lag(k) OVER (ORDER BY file_row_number) AS before"
            f" FROM read_parquet('{path}', file_row_number = true))"
        )
        assert back <= 4


@contextmanager
def in_hand(case: LakeCase) -> Iterator[tuple[Work, Publication]]:
    """A refresh of ``dt`` that has nothing to write yet, and what it would publish."""
    order = case.begin(case.request("dt"))
    with case.control.connection() as conn:
        plan = plan_of(case.duck, conn, order)
    with Work.open(case.duck, order, plan, Never()) as work:
        work.make("gone", 'SELECT __rid, __b FROM "dt_old" LIMIT 0')
        work.make("added", 'SELECT * EXCLUDE (__rid) FROM "dt_old" LIMIT 0')
        yield work, Publication(Action.INCREMENTAL, None, 0, 0, order.rows or 0, None, ())


def test_row_that_is_not_there_is_never_deleted(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 42, 1, NULL)")
    before = regions.rows("dt")
    with in_hand(regions) as (work, publication):
        work.make("gone", "SELECT 77 AS __rid, CAST(0 AS SMALLINT) AS __b")
        with pytest.raises(InvariantBroken, match=r"1 rows .* were to be deleted, and 0 of them were there"):
            publish.publish_rows(work, regions.control, publication, Difference(0, 1, frozenset({0})))
    assert regions.rows("dt") == before


def test_rows_left_have_to_be_as_many_as_announced(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 42, 1, NULL)")
    head = regions.head()
    with in_hand(regions) as (work, publication):
        work.make("added", 'SELECT * EXCLUDE (__rid) FROM "dt_old" LIMIT 1')
        with pytest.raises(InvariantBroken, match="3 rows after the refresh instead of 2"):
            publish.publish_rows(work, regions.control, publication, Difference(1, 0, frozenset()))
    assert regions.head() == head


def test_table_written_by_another_client_meanwhile_is_replaced(
    regions: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 42, 100, NULL)")
    order = regions.begin(regions.request("dt"))
    regions.sql(f"DELETE FROM {lake_name(order.physical)}")
    regions.carry_out(order)
    found = regions.refreshed(order.refresh_id)
    assert (found["action"], found["reason"]) == ("repair", "INVARIANT")
    regions.check("dt")
    assert regions.temporary() == []


@pytest.mark.parametrize("key", ["r2", "other"])
def test_rows_that_another_client_adds_meanwhile_do_not_stay(regions: LakeCase, key: str) -> None:
    """Neither with a key whose rows the refresh deletes, nor beside them."""
    regions.sql("INSERT INTO orders VALUES (9, 42, 100, NULL), (9, 43, 100, NULL)")
    order = regions.begin(regions.request("dt"))
    regions.sql(f"INSERT INTO {lake_name(order.physical)} SELECT '{key}', 1, 0")
    regions.carry_out(order)
    found = regions.refreshed(order.refresh_id)
    assert (found["action"], found["reason"]) == ("repair", "INVARIANT")
    regions.check("dt")


def test_second_attempt_is_the_only_one_that_publishes(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 42, 100, NULL)")
    with in_hand(regions) as (work, publication):
        work.make("added", 'SELECT * EXCLUDE (__rid) FROM "dt_old" LIMIT 1')
        regions.control.prepare_publish(work.order.refresh_id, work.order.fence, publication)
        later = regions.begin(work.order.refresh_id)
        regions.control.prepare_publish(later.refresh_id, later.fence, publication)
        change = publish._Change(work.order, 3, inserts=("added",))
        with pytest.raises(PublishVetoed), regions.control.connection() as conn:
            publish._publish(regions.duck, regions.control, conn, change)
    regions.carry_out(regions.begin(later.refresh_id))
    regions.check("dt")
    assert len([note for _, note in regions.notes() if '"refresh"' in note]) == 2


class Refusing:
    """Refuses the first commits of a refresh, as a busy writer elsewhere does."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, times: int) -> None:
        self.modes: list[bool] = []
        plain = publish._commit

        def commit(duck: Duck, control: Any, conn: Any, change: Any) -> int:
            self.modes.append(bool(change.kept))
            if len(self.modes) <= times:
                raise CommitConflict("another commit came first")
            return plain(duck, control, conn, change)

        monkeypatch.setattr(publish, "_commit", commit)


def test_refused_commit_is_repeated_and_at_last_rewrites_buckets(
    regions: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    refusing = Refusing(monkeypatch, publish.TRIES)
    regions.make("more", "k BIGINT")
    done = refreshed(regions, "UPDATE orders SET amount = 99 WHERE order_id = 3")
    assert refusing.modes[-1] is True
    assert (done["figures"]["publish"], done["figures"]["publish_tries"]) == ("rewrite", publish.TRIES + 1)
    assert regions.rows("dt") == [("r1", 10), ("r2", 99)]


def test_commit_that_is_always_refused_fails(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    Refusing(monkeypatch, 100)
    regions.sql("UPDATE orders SET amount = 99 WHERE order_id = 3")
    with pytest.raises(CommitConflict):
        regions.refresh("dt")
    assert regions.temporary() == []
    monkeypatch.undo()
    refreshed(regions)


def test_connection_lost_after_the_commit_counts_as_done(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    execute, begun, lost = Duck._execute, list[str](), list[str]()

    def losing(duck: Duck, sql: str, parameters: Any) -> Any:
        found = execute(duck, sql, parameters)
        begun.extend([sql] if sql.startswith("BEGIN") else [])
        if sql == "COMMIT" and begun[-1] == "BEGIN TRANSACTION" and not lost:
            lost.append(sql)
            raise LakeUnavailable("server closed the connection", code="CATALOG")
        return found

    regions.sql("UPDATE orders SET amount = 99 WHERE order_id = 3")
    monkeypatch.setattr(Duck, "_execute", losing)
    done = regions.refresh("dt")
    monkeypatch.undo()
    assert (lost, done["state"], done["figures"]["publish_tries"]) == (["COMMIT"], "SUCCEEDED", 1)
    regions.check("dt")


def test_connection_lost_before_the_commit_is_tried_again(regions: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every connection to the catalog is cut within the transaction."""
    changed, cut = Duck.changed, list[int]()

    def cutting(duck: Duck, sql: str, parameters: Any = ()) -> int:
        found = changed(duck, sql, parameters)
        if sql.startswith("DELETE FROM") and not cut:
            cut.append(1)
            regions.pg(
                "select pg_terminate_backend(pid) from pg_stat_activity"
                " where application_name = 'catchment lake' and datname = current_database() and state <> 'idle'"
            )
        return found

    regions.sql("UPDATE orders SET amount = 99 WHERE order_id = 3")
    monkeypatch.setattr(Duck, "changed", cutting)
    done = regions.refresh("dt")
    monkeypatch.undo()
    assert (cut, done["state"]) == ([1], "SUCCEEDED")
    assert done["figures"]["publish_tries"] > 1
    regions.check("dt")
    assert len([note for _, note in regions.notes() if '"refresh"' in note]) == 2


def test_busy_lock_is_an_error_that_says_who_to_ask(shop: LakeCase) -> None:
    with (
        shop.commit_lock(),
        pytest.raises(CommitConflict, match=r"not free within 0\.1 s"),
        commit_lock(shop.dsn, seconds=0.1),
    ):
        pass


def write_file(case: LakeCase, order: Order, name: str, sql: str) -> str:
    path = case.folder / "dt" / order.physical.name / "__b=0" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    case.sql(f"COPY ({sql}) TO '{path}' (FORMAT parquet)")
    return str(path)


def test_files_are_registered_once(regions: LakeCase) -> None:
    regions.sql("INSERT INTO orders VALUES (9, 42, 100, NULL)")
    order = regions.begin(regions.request("dt"))
    path = write_file(regions, order, "r1.parquet", "SELECT 'r5' AS region, CAST(1 AS DECIMAL(10,2)) AS most")
    publication = Publication(Action.INCREMENTAL, None, 1, 0, 3, 1, ())
    with regions.control.connection() as conn:
        with pytest.raises(LakeError, match="a second time"):
            publish.publish_files(regions.duck, regions.control, conn, order, publication, [path, path], [], [])
        snapshot = publish.publish_files(regions.duck, regions.control, conn, order, publication, [path], [], [])
        assert snapshot == regions.head()
        with pytest.raises(LakeError, match="a second time"):
            publish.publish_files(regions.duck, regions.control, conn, order, publication, [path], [], [])
    assert ("r5", 1) in regions.rows("dt")
    assert len(regions.rows("dt")) == 3


def _delete_own_table(dsn: str, place: int, rounds: int, barrier: Any) -> None:
    """In a process of its own: delete and insert in its table again and again, as a writer of sources does."""
    duck = Duck.open(dsn, LakeSettings(**{**SETTINGS, "lake_threads": 1}))
    table = f'"w{place}"'
    barrier.wait()
    for turn in range(rounds):
        while True:
            try:
                with commit_lock(dsn):
                    duck.set_retries(0)
                    with duck.transaction():
                        duck.run(f"DELETE FROM {table} WHERE k % 10 = {turn}")
                        duck.run(f"INSERT INTO {table} SELECT i * 10 + {turn} FROM range(5) AS r(i)")
                break
            except CommitConflict:
                continue


@pytest.mark.long
def test_deletes_under_the_lock_are_dated_right(lake_case: LakeCase) -> None:
    """Two processes delete from files that have deleted rows, back to back; each feed has its rows."""
    case, rounds, writers = lake_case, 6, 2
    for place in range(writers):
        case.make(f"w{place}", "k BIGINT")
        case.sql(f"INSERT INTO w{place} SELECT i FROM range(100) AS r(i)")
        case.sql(f"DELETE FROM w{place} WHERE k % 10 = 9")
    start = case.head()
    context = multiprocessing.get_context("spawn")
    barrier = context.Barrier(writers)
    processes = [
        context.Process(target=_delete_own_table, args=(case.dsn, place, rounds, barrier)) for place in range(writers)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join(120)
        assert process.exitcode == 0
    for place in range(writers):
        feed = (
            f"SELECT snapshot_id, count(*) FROM ducklake_table_deletions('lake', 'main', 'w{place}', ?, ?) GROUP BY 1"
        )
        found = dict(case.sql(feed, [start + 1, case.head()]))
        assert len(found) == rounds
        assert set(found.values()) == {10}, f"w{place}: {found}"
