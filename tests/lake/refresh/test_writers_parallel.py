"""Others write to the sources while a refresh is cut, computed and published in ranges: nothing is lost or doubled."""

from __future__ import annotations

from typing import Any

import pytest

from catchment.errors import CommitConflict
from catchment.lake.files.sweep import sweep
from catchment.lake.refresh.window import ReadingBroken
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.worker import wait_until
from tests.lake.refresh.inline import spread
from tests.lake.refresh.test_writers import is_its_definition, settle, writers

REFRESHES = 2
TRIES = 5


def carried_out(case: LakeCase, name: str) -> dict[str, Any]:
    """A parallel refresh; done again, as workers do it, when a delete was dated into what its ranges have read."""
    for _ in range(TRIES):
        wait_until(lambda: _has_inserted(case), seconds=30)
        refresh_id = case.request(name)
        try:
            one = spread(
                case, refresh_id, parallel_min_buckets=2, parallel_max_buckets=2, parallel_buckets_per_worker=1
            )
            one.compute_all()
            return one.publish()
        except ReadingBroken as error:
            fence = case.control.refresh_state(refresh_id).fence
            case.control.fail_refresh(refresh_id, fence, error.code, str(error))
        finally:
            assert sweep(case.duck, case.control, case.settings, refresh_id) == 0
    raise AssertionError(f"the sources of {name} changed in their past {TRIES} times")


def _has_inserted(case: LakeCase) -> bool:
    """Make sure that there is something to compute, whatever the writers do; False if one of them came first."""
    try:
        case.sql("INSERT INTO a VALUES (3, 7)")
    except CommitConflict:
        return False
    return True


@pytest.mark.long
def test_parallel_refreshes_under_writers(lake_case: LakeCase) -> None:
    """The table is its definition right after each refresh, before the next: once filled, then from changes."""
    compared = 0
    with writers(lake_case):
        for _ in range(REFRESHES):
            row = carried_out(lake_case, "joined")
            assert row["figures"]["subtasks"] > 0
            compared += is_its_definition(lake_case, "joined")
    assert compared > 0
    settle(lake_case)
