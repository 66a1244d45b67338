"""Two databases whose lakes have the same data path: neither replaces nor removes a file of the other."""

from __future__ import annotations

from contextlib import ExitStack, closing
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from catchment.lake.files.sweep import compare
from tests.fixtures.lake import cloned_lake
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.inline import refresh_in_buckets, spread

SUMS = "CREATE DYNAMIC TABLE sums TARGET_LAG = '1 hour' AS SELECT k, sum(n) AS n FROM numbers GROUP BY k"


def _install_again(dsn: str, path: str) -> None:
    """Each has a folder for content, as the installation makes it; these are clones of one."""
    with psycopg.connect(dsn, autocommit=True) as conn:
        conn.execute("update public.ducklake_schema set path = %s where schema_name = 'dt'", [path])


@pytest.mark.long
def test_lakes_in_one_folder_keep_their_rows(server: str, lake_template: str, tmp_path: Path) -> None:
    with ExitStack() as stack:
        cases: list[LakeCase] = []
        for factor in (1, 10):
            dsn = stack.enter_context(cloned_lake(server, lake_template, tmp_path / "lake"))
            _install_again(dsn, f"dt-{factor}/")
            cases.append(stack.enter_context(closing(LakeCase(dsn, tmp_path / "lake"))))
            cases[-1].make("numbers", "k BIGINT, n BIGINT", [(i % 50, i * factor) for i in range(200)])
            cases[-1].create(SUMS)
        for case in cases:
            refresh_in_buckets(case, "sums")
        for case in cases:
            assert compare(case.duck, case.control, timedelta()) == []
        for case in cases:
            case.check("sums")
        for case in cases:
            with case.commit_lock():
                case.sql("UPDATE numbers SET n = n + 1 WHERE k < 20")
        # What one of them removes after its refresh is not what the other one still needs.
        first, second = (spread(case, "sums") for case in cases)
        for one in (first, second):
            one.compute_all()
            one.publish()
            assert one.sweep() == 0
        for case in cases:
            assert compare(case.duck, case.control, timedelta()) == []
        for case in cases:
            case.check("sums")
