"""The DuckDB of a process: attached, one statement at a time, stopped when asked, its errors translated."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import duckdb
import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from catchment.errors import (
    CommitConflict,
    LakeDiskFull,
    LakeInterrupted,
    LakeOutOfMemory,
    LakeUnavailable,
    PublishVetoed,
    SnapshotExpired,
)
from catchment.lake.duck import extensions
from catchment.lake.duck.address import LakeAddress
from catchment.lake.duck.attach import attach_statement
from catchment.lake.duck.duck import Duck, Never
from catchment.lake.duck.duck_errors import translate
from catchment.lake.duck.spill import sweep
from catchment.lake.settings import LakeSettings
from tests.fixtures.lake import install_lake
from tests.fixtures.lake_case import SETTINGS, LakeCase
from tests.fixtures.s3 import Bucket
from tests.fixtures.worker import wait_until
from tests.lake.control.support import commit

# Takes minutes if nobody stops it.
ENDLESS = "SELECT count(*) FROM range(1000000000) a, range(1000000) b WHERE a.range * b.range % 7 = 3"


class Switch:
    """A stop that a test throws."""

    def __init__(self) -> None:
        self.said: str | None = None

    def reason(self) -> str | None:
        return self.said


def test_one_instance_serves_a_database_in_a_process(lake_case: LakeCase) -> None:
    assert Duck.open(lake_case.dsn, lake_case.settings) is lake_case.duck


def test_a_limit_on_idle_transactions_does_not_end_the_catalogs_session(lake_case: LakeCase) -> None:
    """The catalog hears nothing while data are read and written, however long that takes."""
    lake_case.make("t", "a INTEGER", [(1,)])
    ((name,),) = lake_case.pg("select current_database()")
    lake_case.pg(f"alter database {name} set idle_in_transaction_session_timeout = '100ms'")
    lake_case.duck.close()
    duck = Duck.open(lake_case.dsn, lake_case.settings)
    with duck.transaction():
        duck.run("INSERT INTO t VALUES (2)")
        # Idle from later on than the catalog's session, and ended by the server.
        ended = pytest.raises(psycopg.errors.IdleInTransactionSessionTimeout)
        with ended, psycopg.connect(lake_case.dsn) as other:
            pid = other.info.backend_pid
            other.execute("select 1")
            wait_until(lambda: not lake_case.pg("select 1 from pg_stat_activity where pid = %s", pid))
            other.execute("select 1")
    assert duck.value("SELECT count(*) FROM t") == 2


def test_an_instance_is_opened_again_after_it_was_closed(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    lake_case.sql("CREATE TEMP TABLE mine AS SELECT 1")
    lake_case.duck.close()
    again = Duck.open(lake_case.dsn, lake_case.settings)
    assert again is not lake_case.duck
    assert again.value("SELECT a FROM t") == 1
    with pytest.raises(duckdb.CatalogException):
        again.run("SELECT * FROM mine")
    again.close()


def test_settings_of_the_newest_open_hold(lake_case: LakeCase) -> None:
    Duck.open(lake_case.dsn, LakeSettings(lake_memory_limit="300MiB", lake_threads=1))
    found = lake_case.duck.rows("SELECT current_setting('memory_limit'), current_setting('threads')")
    assert found == [("300.0 MiB", 1)]


SPILL = """
import sys, duckdb
from catchment.lake.duck.extensions import take_instance
both = take_instance(sys.argv[1]), take_instance(sys.argv[1])
for con in both:
    con.execute("SET memory_limit = '20MB'; SET threads = 1")
    con.execute("CREATE TEMP TABLE big AS SELECT i, hash(i) AS h FROM range(2000000) t(i)")
sys.stdin.readline()
"""


@pytest.mark.long
def test_each_instance_spills_into_a_separate_folder_and_nothing_is_left_of_it(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SPILL, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        wait_until(lambda: len({file.parent for file in tmp_path.glob("*/*/*")}) == 2)
        assert sweep(str(tmp_path)) == 0, "they are in use"
        process.kill()
    assert len(list(tmp_path.iterdir())) == 2
    assert sweep(str(tmp_path)) == 2
    assert list(tmp_path.iterdir()) == []
    subprocess.run(command, input=b"go\n", check=True)
    assert list(tmp_path.iterdir()) == []


def test_rows_values_counts_and_columns(lake_case: LakeCase) -> None:
    duck = lake_case.duck
    duck.run("CREATE TABLE lake.t (a INTEGER, b DECIMAL(10, 2))")
    assert duck.changed("INSERT INTO t VALUES (?, ?), (?, ?)", [1, 2, 3, 4]) == 2
    assert duck.changed("DELETE FROM t WHERE a = ?", [1]) == 1
    assert duck.changed("CREATE TEMP TABLE u AS SELECT * FROM range(7)") == 7
    assert duck.value("SELECT a FROM t") == 3
    assert duck.value("SELECT a FROM t WHERE false") is None
    assert [(c.name, c.type) for c in duck.describe("SELECT a, sum(b) AS s FROM t GROUP BY a")] == [
        ("a", "INTEGER"),
        ("s", "DECIMAL(38,2)"),
    ]


def test_statements_that_do_not_read_the_lake_do_not_ask_its_catalog(lake_case: LakeCase) -> None:
    asked = "select max(query_start) from pg_stat_activity where application_name = 'catchment lake'"
    lake_case.make("t", "a INTEGER", [(1,)])
    before = lake_case.pg(asked)
    lake_case.duck.run("CREATE TEMP TABLE u AS SELECT i, md5(CAST(i AS TEXT)) AS m FROM range(7) AS r(i)")
    assert lake_case.duck.rows("SELECT count(*), max(length(m)) FROM u") == [(7, 32)]
    lake_case.duck.describe("SELECT sum(i) AS s FROM u")
    assert lake_case.pg(asked) == before
    assert lake_case.duck.rows("SELECT a FROM t") == [(1,)]
    assert lake_case.pg(asked) != before


def test_what_is_made_without_a_schema_is_in_the_lake_only_where_names_are(lake_case: LakeCase) -> None:
    where = "SELECT database_name FROM duckdb_tables() WHERE table_name = ?"
    with lake_case.duck.names_in_lake():
        lake_case.duck.run("CREATE TABLE t (a INTEGER)")
    lake_case.duck.run("CREATE TABLE u (a INTEGER)")
    assert [lake_case.duck.rows(where, [name]) for name in ("t", "u")] == [[("lake",)], [("memory",)]]
    lake_case.duck.run("DROP TABLE u")


def test_times_with_a_zone_can_be_read(lake_case: LakeCase) -> None:
    ((found,),) = lake_case.sql("SELECT TIMESTAMPTZ '2026-01-02 03:04:05+00'")
    assert found.isoformat().startswith("2026-01-0")


def test_the_day_of_a_time_is_the_same_wherever_a_worker_runs() -> None:
    code = """
from catchment.lake.duck.extensions import take_instance
print(take_instance().cursor().execute("SELECT CAST(TIMESTAMPTZ '2026-01-02 20:00:00+00' AS DATE)").fetchone()[0])
"""
    found = subprocess.check_output([sys.executable, "-c", code], env={**os.environ, "TZ": "Asia/Tokyo"}, text=True)
    assert found.strip() == "2026-01-02"


def test_temporary_tables_and_views_are_dropped_by_name(lake_case: LakeCase) -> None:
    duck = lake_case.duck
    duck.run("CREATE TEMP TABLE one AS SELECT 1")
    duck.run('CREATE TEMP VIEW "t""wo" AS SELECT 2')
    duck.drop_temporary(["one", "three"])
    duck.drop_temporary(['t"wo', "four"], "VIEW")
    assert duck.rows("SELECT table_name FROM information_schema.tables WHERE table_catalog = 'temp'") == []


def test_progress_is_counted_only_where_it_is_shown(lake_case: LakeCase) -> None:
    """Counting it asks the catalog for the files of a scan once more."""
    ask = "SELECT current_setting('enable_progress_bar')"
    assert lake_case.duck.value(ask) is False
    with lake_case.duck.counting_progress():
        assert lake_case.duck.value(ask) is True
    assert lake_case.duck.value(ask) is False


def test_a_transaction_is_undone_by_an_error(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    before = lake_case.head()
    with pytest.raises(ZeroDivisionError):
        commit(lake_case, "INSERT INTO t VALUES (2)", lambda: 1 // 0)
    with pytest.raises(duckdb.BinderException):
        commit(lake_case, "INSERT INTO t VALUES (2)", "SELECT nothing_of_this_name FROM t")
    assert lake_case.sql("SELECT a FROM t") == [(1,)]
    assert lake_case.head() == before


def test_a_running_statement_stops_when_it_is_asked_to(lake_case: LakeCase) -> None:
    switch = Switch()
    timer = threading.Timer(0.3, lambda: setattr(switch, "said", "cancelled by the user"))
    timer.start()
    began = time.monotonic()
    with lake_case.duck.turn(switch):
        with pytest.raises(LakeInterrupted, match="cancelled by the user"):
            lake_case.sql(ENDLESS)
        with pytest.raises(LakeInterrupted, match="cancelled by the user"):
            lake_case.sql("SELECT 1")
    timer.join()
    assert time.monotonic() - began < 30
    with lake_case.duck.turn(Never()):
        assert lake_case.sql("SELECT 1") == [(1,)]


def test_a_stopped_transaction_is_not_committed(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER")
    switch = Switch()
    before = lake_case.head()
    with lake_case.duck.turn(switch):
        with pytest.raises(LakeInterrupted, match="past its deadline"):
            commit(lake_case, "INSERT INTO t VALUES (1)", lambda: setattr(switch, "said", "past its deadline"), ENDLESS)
        lake_case.duck.drop_temporary(["anything"])
    assert lake_case.head() == before
    with lake_case.duck.transaction():
        lake_case.sql("INSERT INTO t VALUES (2)")
    assert lake_case.sql("SELECT a FROM t") == [(2,)]


def test_who_waits_for_its_turn_can_be_stopped(lake_case: LakeCase) -> None:
    switch = Switch()
    switch.said = "cancelled"
    with (
        lake_case.duck.turn(Never()),
        pytest.raises(LakeInterrupted, match="waiting for the lake: cancelled"),
        lake_case.duck.turn(switch),
    ):
        pass


def test_turns_do_not_overlap(lake_case: LakeCase) -> None:
    inside: list[int] = []
    most: list[int] = []

    def work() -> None:
        for _ in range(20):
            with lake_case.duck.turn(Never()):
                inside.append(1)
                most.append(len(inside))
                lake_case.sql("SELECT 1")
                inside.pop()

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert max(most) == 1
    assert len(most) == 80


def test_a_query_that_does_not_fit_into_memory_says_so(lake_case: LakeCase, tmp_path: Path) -> None:
    Duck.open(lake_case.dsn, LakeSettings(lake_memory_limit="60MB", lake_threads=1))
    lake_case.sql("SET max_temp_directory_size = '0KB'")
    try:
        with pytest.raises((LakeOutOfMemory, LakeDiskFull)):
            lake_case.sql("SELECT list(i ORDER BY hash(i)) FROM range(30000000) t(i)")
    finally:
        lake_case.sql("RESET max_temp_directory_size")
    assert lake_case.sql("SELECT 1") == [(1,)]


def test_a_version_that_does_not_exist_says_so(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    with pytest.raises(SnapshotExpired, match="No snapshot found at version 999"):
        lake_case.sql("SELECT * FROM t AT (VERSION => 999)")
    with pytest.raises(SnapshotExpired):
        lake_case.sql("SELECT * FROM ducklake_table_insertions('lake', 'main', 't', 1, 999)")


def test_an_error_in_the_query_stays_as_it_is(lake_case: LakeCase) -> None:
    with pytest.raises(duckdb.CatalogException, match="nowhere"):
        lake_case.sql("SELECT * FROM nowhere")


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (duckdb.TransactionException("Transaction conflict - attempting to insert into table"), CommitConflict),
        (duckdb.TransactionException("maximum retry count … ERROR: catchment veto: refresh 3 is over"), PublishVetoed),
        (duckdb.TransactionException('Failed to commit: Failed to execute query "ROLLBACK": '), LakeUnavailable),
        (duckdb.IOException("Could not write all bytes to file: No space left on device"), LakeDiskFull),
        (duckdb.IOException("Could not resolve hostname error for HTTP PUT to 'https://x'"), LakeUnavailable),
        (duckdb.Error("server closed the connection unexpectedly"), LakeUnavailable),
        (duckdb.BinderException("column HTTP conflict S3 not found: No space left on device"), duckdb.BinderException),
        (duckdb.ConversionException("could not convert 'catchment veto: conflict'"), duckdb.ConversionException),
    ],
)
def test_errors_are_distinguished_by_kind_and_text(error: duckdb.Error, kind: type[Exception]) -> None:
    assert type(translate(error)) is kind


def test_a_killed_catalog_session_costs_one_statement_at_most(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    kill = "select count(pg_terminate_backend(pid)) from pg_stat_activity where application_name = 'catchment lake'"
    lake_case.duck.run("BEGIN")
    lake_case.sql("INSERT INTO t VALUES (2)")
    assert lake_case.pg(kill)[0][0] >= 1
    with pytest.raises((LakeUnavailable, duckdb.Error)):
        lake_case.sql("COMMIT")
    again = Duck.open(lake_case.dsn, lake_case.settings)
    assert again.rows("SELECT a FROM t") == [(1,)]
    again.close()


def test_a_dsn_with_quotes_and_spaces_reaches_the_catalog(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    odd = 'it\'s "a" \\ secret;x=1'
    dsn = make_conninfo(lake_case.dsn, password=odd, options="-c statement_timeout=0")
    instance = extensions.take_instance()
    instance.execute(attach_statement(dsn, lake_case.address, alias="theirs"))
    assert instance.execute("SELECT a FROM theirs.main.t").fetchall() == [(1,)]
    instance.execute("DETACH theirs")
    extensions.give_back(instance)


def test_a_missing_or_wrong_extension_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(LakeUnavailable, match="extension nothing is not installed") as raised:
        extensions.extension_file("nothing")
    assert raised.value.hint == "Run: pip install 'catchment[lake]'"
    monkeypatch.setattr(extensions, "VERSION", "9.9.9")
    with pytest.raises(LakeUnavailable, match=r"ducklake is there for v1\.5\.5, and v9\.9\.9 is needed"):
        extensions.extension_file("ducklake")
    with pytest.raises(LakeUnavailable, match=r"DuckDB is 1\.5\.5, and 9\.9\.9 is needed"):
        extensions.new_instance()


def test_an_instance_prints_no_progress_in_an_interactive_session() -> None:
    """For ``python -c`` and in a notebook DuckDB draws a bar on stdout."""
    ask = "select current_setting('enable_progress_bar')"
    script = f"""
import duckdb
from catchment.lake.duck.extensions import new_instance
instance, folder = new_instance()
print(duckdb.sql({ask!r}).fetchone(), instance.sql({ask!r}).fetchone())
instance.close()
folder.remove()
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "(True,) (False,)\n"


def test_a_read_only_transaction_makes_temporary_tables_and_writes_nothing(lake_case: LakeCase) -> None:
    lake_case.make("t", "a INTEGER", [(1,)])
    with lake_case.duck.transaction(is_read_only=True):
        lake_case.duck.run("CREATE TEMP TABLE copied AS SELECT a FROM lake.main.t")
    assert lake_case.duck.rows("SELECT a FROM copied") == [(1,)]
    with pytest.raises(duckdb.Error, match="read-only"), lake_case.duck.transaction(is_read_only=True):
        lake_case.duck.run("DELETE FROM lake.main.t")
    lake_case.duck.drop_temporary(["copied"])


def test_a_database_without_a_lake_says_so(db: str) -> None:
    with pytest.raises(LakeUnavailable) as raised:
        Duck.open(db, LakeSettings(**SETTINGS))
    assert raised.value.code == "NO_LAKE"


def test_a_lake_in_a_bucket_needs_a_key_and_works_with_one(db: str, bucket: Bucket) -> None:
    address = LakeAddress(bucket.url)
    with pytest.raises(LakeUnavailable, match="there is no key for it") as raised:
        install_lake(db, address, LakeSettings(**SETTINGS))
    assert raised.value.code == "NO_SECRET"
    settings = LakeSettings(**SETTINGS, **bucket.settings)
    install_lake(db, address, settings)
    duck = Duck.open(db, settings)
    duck.run("CREATE TABLE lake.t AS SELECT 1 AS a")
    assert [key.split("/")[:3] for key in bucket.objects()] == [["lake", "main", "t"]]
    assert duck.rows("SELECT a FROM t") == [(1,)]
    duck.close()


def test_a_bucket_that_does_not_answer_says_so(db: str, bucket: Bucket) -> None:
    settings = LakeSettings(**SETTINGS, **bucket.settings | {"s3_endpoint": "127.0.0.1:9"})
    install_lake(db, LakeAddress(bucket.url), settings)
    duck = Duck.open(db, settings)
    try:
        with pytest.raises(LakeUnavailable, match="does not answer as it should") as raised:
            duck.run("CREATE TABLE lake.t AS SELECT 1 AS a")
        assert "CATCHMENT_S3_KEY_ID" in (raised.value.hint or "")
    finally:
        duck.close()
