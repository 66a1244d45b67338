"""Suspending and resuming: by people, and after failures."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.types import Created
from tests.fixtures.lake_case import LakeCase
from tests.lake.schedule.support import add, snapshots, states, tick, work


@pytest.fixture
def tables(lake_case: LakeCase) -> dict[str, Created]:
    """b and c read a, d reads b and c; e is by itself."""
    lake_case.make("s", "k BIGINT, n BIGINT", [(1, 1)])
    made: dict[str, Created] = {}
    for name, sources in {"a": ["s"], "b": ["a"], "c": ["a"], "d": ["b", "c"], "e": ["s"]}.items():
        made[name] = add(lake_case, name, *sources)
    return made


def _suspended(case: LakeCase) -> dict[str, str]:
    return dict(case.pg("select name, suspended_by from lake.dt where state = 'suspended' order by id"))


def test_suspending_takes_along_what_is_below(lake_case: LakeCase, tables: dict[str, Created]) -> None:
    lake_case.control.suspend(tables["b"].dt_id)
    assert _suspended(lake_case) == {"b": "user", "d": "upstream"}
    tick(lake_case)
    assert sorted(work(lake_case)) == ["a", "c", "e"]


def test_resuming_brings_back_what_was_suspended_because_of_it(lake_case: LakeCase, tables: dict[str, Created]) -> None:
    control = lake_case.control
    control.suspend(tables["c"].dt_id)
    control.suspend(tables["a"].dt_id)
    assert _suspended(lake_case) == {"a": "user", "b": "upstream", "c": "user", "d": "upstream"}
    with pytest.raises(TableRefused, match=r"main\.b cannot be resumed while main\.a is suspended"):
        control.resume(tables["b"].dt_id)
    assert sorted(control.resume(tables["a"].dt_id)) == [tables["a"].dt_id, tables["b"].dt_id]
    # c was suspended by somebody, and d reads it.
    assert _suspended(lake_case) == {"c": "user", "d": "upstream"}
    control.resume(tables["c"].dt_id)
    assert _suspended(lake_case) == {}
    tick(lake_case)
    assert len(work(lake_case)) == 5


@pytest.mark.long
def test_a_suspended_table_can_be_refreshed_by_hand(lake_case: LakeCase, tables: dict[str, Created]) -> None:
    lake_case.control.suspend(tables["a"].dt_id)
    lake_case.control.request_round([tables["d"].dt_id])
    assert work(lake_case) == ["a", "b", "c", "d"]
    assert snapshots(lake_case)["d"] is not None
    assert "a" in _suspended(lake_case)


@pytest.mark.long
def test_a_table_suspended_in_its_round_is_skipped_with_those_below(
    lake_case: LakeCase, tables: dict[str, Created]
) -> None:
    tick(lake_case)
    lake_case.control.suspend(tables["b"].dt_id)
    assert sorted(work(lake_case)) == ["a", "c", "e"]
    assert (states(lake_case)["b"], states(lake_case)["d"]) == ("SKIPPED", "SKIPPED")


def test_five_scheduled_failures_in_a_row_suspend_a_table(lake_case: LakeCase, tables: dict[str, Created]) -> None:
    for turn in range(4):
        tick(lake_case, 16 * turn)
        work(lake_case, fail=["b"])
    # Failures of people's refreshes do not count.
    lake_case.add("s", [(9, 9)])
    lake_case.control.request_round([tables["b"].dt_id])
    work(lake_case, fail=["b"])
    assert _suspended(lake_case) == {}
    tick(lake_case, 64)
    work(lake_case, fail=["b"])
    assert _suspended(lake_case) == {"b": "failures", "d": "upstream"}
    lake_case.control.resume(tables["b"].dt_id)
    assert lake_case.pg("select error_streak from lake.dt where name = 'b'") == [(0,)]


@pytest.mark.long
def test_a_success_resets_the_count(lake_case: LakeCase, tables: dict[str, Created]) -> None:
    for turn in range(9):
        lake_case.add("s", [(turn, turn)])
        tick(lake_case, 16 * turn)
        work(lake_case, fail=[] if turn == 4 else ["b"])
    assert _suspended(lake_case) == {}
