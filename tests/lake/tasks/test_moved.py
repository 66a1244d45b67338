"""A round moves while tasks carry it out, and who waits for it waits for the one that takes its place."""

from __future__ import annotations

from catchment.lake.tables import rounds
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.schedule.test_early_dates import DELETE, ROWS, begin, prepare, whole


def test_waiting_for_a_round_returns_the_outcome_of_its_tables(lake_case: LakeCase) -> None:
    prepare(lake_case)
    with foreign_client(lake_case) as client:
        begin(lake_case, client, DELETE)
        round_id = lake_case.control.request_round([lake_case.find("d")])
        client.execute("COMMIT")
        rounds.wait_round(lake_case.control, round_id, timeout=120)
    found = rounds.read_round(lake_case.control, round_id)
    assert [(item.name, item.state) for item in found] == [(f"main.{name}", "SUCCEEDED") for name in ("b", "c", "d")]
    assert lake_case.rows("d") == whole(ROWS - 10)
    # No task has failed: the one that noticed is completed, that of the table beside it was cancelled.
    tasks = lake_case.pg(
        "select state, count(*) from worker.tasks where command = 'lake_refresh' group by 1 order by 1"
    )
    assert dict(tasks) == {"cancelled": 1, "completed": 4}
    assert lake_case.temporary() == []
