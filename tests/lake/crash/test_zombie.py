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
def test_a_worker_that_waits_for_the_commit_lock_need_not_be_the_one_that_takes_over(crash: Crash) -> None:
    """The stopped one keeps the lock; the only other one waits for it, for another table, and has no free slot."""
    crash.fill(is_parallel=False)
    crash.case.create("CREATE DYNAMIC TABLE other TARGET_LAG = '1 day' AS SELECT k FROM source")
    crash.case.refresh("other")
    crash.case.sql("INSERT INTO source VALUES (1, 1)")
    crash.case.pg("select worker.cancel(id, 'done here') from worker.tasks where command = 'lake_refresh'")
    crash.hire("stopped in the commit")
    refresh_id = crash.crew.request("dt")
    crash.victim()
    other = crash.crew.request("other")
    crash.end_well(refresh_id)
    assert crash.crew.wait(other)["state"] == "SUCCEEDED"
    crash.wake()


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
