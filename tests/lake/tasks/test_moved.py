"""A round moves while tasks carry it out, and who waits for it waits for the one that takes its place."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from catchment.lake.control.control import Control
from catchment.lake.tables import rounds
from tests.fixtures.lake_case import LakeCase, foreign_client
from tests.lake.schedule.test_early_dates import DELETE, DIAMOND, LAG, ROWS, begin, prepare, whole

# Another process replaces the definition of a table.
OVERTAKE = """
import sys
from pathlib import Path

from catchment.lake.query.ddl import parse_statements
from catchment.lake.tables.lifecycle import create
from tests.fixtures.lake_case import LakeCase

dsn, folder, text = sys.argv[1:]
case = LakeCase(dsn, Path(folder), first_fence=1_000_000)
(definition,) = parse_statements(text)
case.control.request_round([create(case.duck, case.control, definition).dt_id])
case.fill_replacement()
case.close()
"""


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


def test_a_refresh_that_finds_nothing_to_read_moves_its_round(lake_case: LakeCase) -> None:
    """What it reads was replaced after its task was enqueued."""
    prepare(lake_case)
    round_id = lake_case.control.request_round([lake_case.find("d")])
    for (refresh_id,) in lake_case.pg("select id from lake.refresh where task_id is not null order by id"):
        lake_case.carry_out(lake_case.begin(refresh_id))
    lake_case.sql("DELETE FROM orders WHERE id = 5")
    lake_case.pg("delete from lake.version")
    rounds.wait_round(lake_case.control, round_id, timeout=120)
    found = rounds.read_round(lake_case.control, round_id)
    assert [(item.name, item.state) for item in found] == [(f"main.{name}", "SUCCEEDED") for name in ("b", "c", "d")]
    states = lake_case.pg(
        "select t.state from lake.refresh as r join worker.tasks as t on t.id = r.task_id where r.dt_id = %s",
        lake_case.find("d"),
    )
    assert states == [("completed",), ("completed",)]
    lake_case.check("d")


def test_a_refresh_that_its_new_definition_overtakes_moves_its_round(
    lake_case: LakeCase, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process replaces the definition just before the refresh publishes."""
    prepare(lake_case)
    lake_case.refresh("d")
    lake_case.sql("DELETE FROM orders WHERE id = 5")
    round_id = lake_case.control.request_round([lake_case.find("b")])
    announce = Control.prepare_publish

    def overtaken(control: Control, *rest: Any) -> None:
        monkeypatch.setattr(Control, "prepare_publish", announce)
        text = f"CREATE OR REPLACE DYNAMIC TABLE b {LAG} AS FROM ({DIAMOND['b']}) WHERE true"
        subprocess.run([sys.executable, "-c", OVERTAKE, lake_case.dsn, str(lake_case.folder), text], check=True)
        announce(control, *rest)

    monkeypatch.setattr(Control, "prepare_publish", overtaken)
    rounds.wait_round(lake_case.control, round_id, timeout=120)
    (found,) = rounds.read_round(lake_case.control, round_id)
    assert (found.name, found.state) == ("main.b", "SUCCEEDED")
    states = lake_case.pg("select state, error_code, error_text from lake.refresh where round_id = %s", round_id)
    assert states == [("SKIPPED", None, "the definition was replaced meanwhile")]
    lake_case.check("b")
