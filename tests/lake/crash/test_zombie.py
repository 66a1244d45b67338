"""A process that is taken for dead and wakes up later changes nothing."""

from __future__ import annotations

import pytest

from tests.fixtures.worker import wait_until
from tests.lake.crash.conftest import Crash


@pytest.mark.long
def test_a_publisher_that_was_stopped_cannot_publish_when_it_wakes(crash: Crash) -> None:
    """It holds the commit lock all the while: that is taken away from it."""
    crash.fill(is_parallel=False)
    crash.hire("stopped in the commit")
    refresh_id = crash.crew.request("dt")
    crash.victim()
    crash.end_well(refresh_id)
    published = crash.case.notes()
    crash.wake()
    # It is at work again as soon as it takes part in another refresh; by then its commit has been refused.
    wait_until(lambda: _live(crash) == 2)
    crash.case.sql("INSERT INTO source VALUES (1, 1)")
    crash.crew.refresh("dt")
    crash.case.check("dt")
    assert crash.case.notes()[: len(published)] == published
    assert crash.crew.publications(refresh_id) == 1
    crash.crew.wait_clean()


@pytest.mark.long
def test_files_of_a_subtask_that_wakes_up_late_are_swept(crash: Crash) -> None:
    crash.fill(is_parallel=True)
    crash.hire("stopped in a bucket")
    refresh_id = crash.crew.request("dt")
    crash.victim()
    row = crash.crew.wait(refresh_id)
    assert row["state"] == "SUCCEEDED", row
    crash.wake()
    crash.case.check("dt")
    wait_until(lambda: _live(crash) == 2)
    crash.crew.wait_clean()
    assert crash.crew.publications(refresh_id) == 1


def _live(crash: Crash) -> int:
    return crash.case.pg("select count(*) from worker.worker where lease_until > worker.now()")[0][0]
