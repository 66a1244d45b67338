"""Who holds the commit lock, and what becomes of those who wait for it."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from catchment.errors import CommitConflict
from catchment.lake.duck import locks
from catchment.lake.duck.locks import commit_lock
from catchment.lake.sql import LAKE
from catchment.store.fetch import fetch_rows
from tests.fixtures.lake_case import LakeCase


@contextmanager
def forgotten(case: LakeCase) -> Iterator[int]:
    """A session of another program that has taken the lock and does nothing; gives its pid."""
    with psycopg.connect(case.dsn, autocommit=True, application_name="a notebook") as conn:
        conn.execute("select pg_advisory_lock(lake.commit_key())")
        yield conn.info.backend_pid


def prepare(case: LakeCase) -> None:
    case.make("s", "k BIGINT", [(1,), (2,)])
    case.create("CREATE DYNAMIC TABLE d TARGET_LAG = '1 hour' AS SELECT k FROM s")
    case.refresh("d")


@pytest.fixture(autouse=True)
def short_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(locks, "PATIENCE_SECONDS", 0.2)
    monkeypatch.setattr(locks, "LOOK_SECONDS", 0.1)


def test_a_forgotten_session_does_not_stop_publishing_and_is_named(
    lake_case: LakeCase, caplog: pytest.LogCaptureFixture
) -> None:
    prepare(lake_case)
    with forgotten(lake_case) as pid, caplog.at_level(logging.WARNING, "catchment.lake"):
        for k in (3, 4):
            lake_case.add("s", [(k,)])
            lake_case.sql(f"DELETE FROM s WHERE k = {k - 2}")
            done = lake_case.refresh("d")
            assert done["state"] == "SUCCEEDED"
            assert f"session {pid} (" in done["figures"]["lock_kept_by"]
            assert "a notebook" in done["figures"]["lock_kept_by"]
            lake_case.check("d")
        assert f"session {pid}" in caplog.text
    lake_case.add("s", [(5,)])
    assert "lock_kept_by" not in lake_case.refresh("d")["figures"]
    assert lake_case.rows("d") == [(3,), (4,), (5,)]


@pytest.mark.long
def test_it_is_waited_for_only_once(lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch) -> None:
    prepare(lake_case)
    with forgotten(lake_case):
        lake_case.add("s", [(3,)])
        lake_case.refresh("d")
        monkeypatch.setattr(locks, "PATIENCE_SECONDS", 1000)
        lake_case.add("s", [(4,)])
        assert lake_case.refresh("d")["state"] == "SUCCEEDED"


def test_doctor_reports_a_session_that_keeps_the_lock(lake_case: LakeCase) -> None:
    prepare(lake_case)
    with lake_case.control.connection() as conn:
        assert not [row for row in fetch_rows(conn, LAKE.query("doctor")) if "commit lock" in row["finding"]]
        with forgotten(lake_case) as pid:
            lake_case.add("s", [(3,)])
            lake_case.refresh("d")
            text = LAKE.query("doctor").replace("interval '1 minute'", "interval '0'")
            with psycopg.connect(lake_case.dsn) as other:
                (found,) = [row for row in fetch_rows(other, text) if "commit lock" in row["finding"]]  # type: ignore[arg-type]
    assert f"session {pid} (" in found["finding"]
    assert "a notebook" in found["finding"]
    assert f"pg_terminate_backend({pid})" in found["remedy"]


def test_an_error_about_the_lock_names_its_holder(lake_case: LakeCase) -> None:
    with (
        forgotten(lake_case) as pid,
        pytest.raises(CommitConflict, match=rf"session {pid} \(.*a notebook") as refused,
        commit_lock(lake_case.dsn, seconds=0.3),
    ):
        raise AssertionError("it is held by another session")
    assert refused.value.hint is not None
    assert f"pg_terminate_backend({pid})" in refused.value.hint
