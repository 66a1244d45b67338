"""Creating, replacing, changing, renaming and dropping dynamic tables by statement."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from catchment.errors import TableNotFound, TableRefused
from catchment.lake.facade import Lake
from tests.fixtures.lake_case import LakeCase

LATER = "TARGET_LAG = '1 minute' INITIALIZE = ON_SCHEDULE"


@pytest.fixture
def lake(lake_case: LakeCase) -> Iterator[Lake]:
    """The lake of the test, with a table of orders."""
    lake_case.make("orders", "id BIGINT, region VARCHAR, amount DECIMAL(10,2)", [(1, "n", 5), (2, "n", 7), (3, "s", 1)])
    with Lake(lake_case.dsn, settings=lake_case.settings) as found:
        yield found


def _totals(more: str = "", name: str = "totals", source: str = "orders") -> str:
    query = f"SELECT region, sum(amount) AS amount FROM {source} GROUP BY region"
    return f"CREATE {more} DYNAMIC TABLE {name} {LATER} AS {query}"


def test_a_created_table_is_there_for_the_schedule_and_for_readers(lake: Lake, lake_case: LakeCase) -> None:
    (made,) = lake.create(_totals())
    assert (made.name, made.is_new, made.strategy, made.reason, made.generation) == (
        "main.totals", True, "delta", None, 1,
    )  # fmt: skip
    assert lake.query("SELECT * FROM totals") == []
    ((state, component),) = lake_case.pg("select state, component from lake.dt")
    assert (state, component) == ("active", made.dt_id)
    assert lake_case.pg("select enabled from worker.schedule where name = 'lake_tick'") == [(True,)]
    lake_case.refresh("totals")
    lake_case.check("totals")
    assert lake.query("SELECT * FROM totals ORDER BY ALL") == [("n", 12), ("s", 1)]


@pytest.mark.long
def test_a_replaced_table_has_its_new_definition_when_it_is_filled(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    lake.create(f"CREATE DYNAMIC TABLE below {LATER} AS SELECT count(*) AS n FROM totals")
    lake_case.refresh("below")
    (made,) = lake.create(_totals("OR REPLACE").replace("sum(", "max("))
    assert (made.generation, made.strategy) == (2, "keys")
    assert lake.query("SELECT * FROM totals ORDER BY ALL") == [("n", 12), ("s", 1)]
    assert lake.describe("totals").generation == 1
    assert lake_case.fill_replacement()["reason"] == "DEFINITION_CHANGED"
    assert lake.describe("totals").generation == 2
    found = lake_case.refresh("below")
    assert found["state"] == "SUCCEEDED"
    for name in ("totals", "below"):
        lake_case.check(name)
    assert lake.query("SELECT * FROM totals ORDER BY ALL") == [("n", 7), ("s", 1)]
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_replacing_cancels_what_was_being_refreshed(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    order = lake_case.begin(lake_case.request("totals"))
    lake.create(_totals("OR REPLACE"))
    assert lake_case.refreshed(order.refresh_id)["state"] == "CANCELLED"
    assert lake_case.refresh("totals")["reason"] == "DEFINITION_CHANGED"
    lake_case.check("totals")


def test_if_not_exists_leaves_the_table_as_it_is(lake: Lake, lake_case: LakeCase) -> None:
    (first,) = lake.create(_totals())
    head = lake_case.head()
    (again,) = lake.create(f"CREATE DYNAMIC TABLE IF NOT EXISTS totals {LATER} AS SELECT 1 AS one")
    assert (again.dt_id, again.is_new, again.strategy) == (first.dt_id, False, "delta")
    assert lake_case.head() == head


REFUSED = [
    (_totals(), r"dynamic table main\.totals exists", "REFUSED"),
    (_totals(name="orders"), r"has a table or view main\.orders that is no dynamic table", "REFUSED"),
    (_totals(name="nowhere.x"), "the lake has no schema nowhere", "UNKNOWN_TABLE"),
    (_totals(name="dt.x"), "schema dt holds the content", "RESERVED_NAME"),
    (_totals(name="x", source="missing"), "missing", "UNKNOWN_TABLE"),
    (_totals(name="x", source="seen"), r"the view main\.seen reads itself", "VIEW_SOURCE"),
    (_totals("OR REPLACE", source="over_totals"), r"main\.totals would read itself", "CYCLE"),
    (f"CREATE DYNAMIC TABLE x {LATER} AS SELECT nope FROM orders", "nope", "UNKNOWN_COLUMN"),
    (f"CREATE DYNAMIC TABLE x {LATER} AS DROP TABLE orders", "SELECT", "NOT_A_SELECT"),
    (
        f"CREATE DYNAMIC TABLE x {LATER} REFRESH_MODE = INCREMENTAL AS SELECT * FROM orders ORDER BY id LIMIT 1",
        "LIMIT",
        "INCREMENTAL_NOT_POSSIBLE",
    ),
    (_totals("OR REPLACE", source="totals"), r"main\.totals would read itself", "CYCLE"),
    (_totals("OR REPLACE", source="below"), r"main\.totals would read itself", "CYCLE"),
]


def test_what_is_not_possible_is_refused_and_changes_nothing(lake: Lake, lake_case: LakeCase) -> None:
    lake.query("CREATE VIEW seen AS SELECT * FROM orders")
    lake.query("CREATE VIEW seen_again AS SELECT * FROM seen")
    lake.query("CREATE OR REPLACE VIEW seen AS SELECT * FROM seen_again")
    lake.create(_totals())
    lake.query("CREATE VIEW over_totals AS SELECT * FROM totals")
    lake.create(f"CREATE DYNAMIC TABLE below {LATER} AS SELECT region, amount FROM totals")
    head = lake_case.head()
    for statement, says, code in REFUSED:
        with pytest.raises(TableRefused, match=says) as raised:
            lake.create(statement)
        assert raised.value.code == code, statement
    assert lake_case.head() == head
    assert [row.name for row in lake.tables()] == ["main.below", "main.totals"]
    assert lake_case.leftovers() == {}


def test_statements_before_a_refused_one_have_happened(lake: Lake) -> None:
    with pytest.raises(TableRefused):
        lake.create(f"{_totals()}; {_totals(name='x', source='missing')}; {_totals(name='never')}")
    assert [row.name for row in lake.tables()] == ["main.totals"]


def test_properties_can_be_changed_and_a_wrong_one_is_refused(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    found = lake.alter("totals", target_lag="2 hours", max_parallelism="4", comment="by region")
    assert (found.target_lag, found.max_parallelism, found.comment) == (timedelta(hours=2), 4, "by region")
    assert lake.describe("totals").comment == "by region"
    for change, says in {
        "target_lag": "TARGET_LAG = 'soon' is not valid",
        "colour": "'colour' is not a property",
        "parallel_strategy": "PARALLEL_STRATEGY of main.totals cannot be changed",
    }.items():
        with pytest.raises(TableRefused, match=says):
            lake.alter("totals", **{change: "soon"})
    assert lake.describe("totals").properties == found


@pytest.mark.long
def test_the_refresh_mode_can_be_changed_and_decides_how_the_next_refresh_works(
    lake: Lake, lake_case: LakeCase
) -> None:
    lake.create(_totals())
    lake_case.refresh("totals")
    lake.alter("totals", refresh_mode="full")
    assert (lake.describe("totals").strategy, lake.describe("totals").refresh_mode_reason) == (
        "full",
        "MODE_FULL",
    )
    lake_case.add("orders", [(4, "w", 1)])
    assert lake_case.refresh("totals")["action"] == "full"
    lake.alter("totals", refresh_mode="incremental")
    lake_case.add("orders", [(5, "w", 1)])
    assert lake_case.refresh("totals")["action"] == "incremental"
    lake_case.check("totals")


def test_a_renamed_table_is_the_same_table(lake: Lake, lake_case: LakeCase) -> None:
    (made,) = lake.create(_totals())
    lake_case.refresh("totals")
    lake.rename("totals", '"by Region"')
    assert lake.query('SELECT * FROM "by Region" ORDER BY ALL') == [("n", 12), ("s", 1)]
    with pytest.raises(TableNotFound):
        lake.describe("totals")
    assert lake.describe('"by Region"').id == made.dt_id
    lake_case.add("orders", [(4, "w", 1)])
    assert lake_case.refresh("by Region")["action"] in ("incremental", "full")
    lake_case.check("by Region")
    # Another case only.
    lake.rename('"by Region"', "BY_REGION")
    lake.rename("BY_REGION", "by_region")
    assert len(lake.query("SELECT * FROM by_region")) == 3


def test_a_name_that_others_know_or_have_is_not_given_away(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    lake.create(f"CREATE DYNAMIC TABLE below {LATER} AS SELECT region, amount FROM totals")
    before = lake_case.head()
    for name, new, says in (
        ("totals", "elsewhere", r"main\.totals is read under its name by main\.below"),
        ("below", "totals", r"dynamic table main\.totals exists"),
        ("below", "orders", r"table or view main\.orders"),
        ("below", "nowhere.x", "no schema nowhere"),
    ):
        with pytest.raises(TableRefused, match=says):
            lake.rename(name, new)
    assert lake_case.head() == before


@pytest.mark.long
def test_dropping_takes_along_only_what_was_requested(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    for name, source in {"b": "totals", "c": "totals", "d": "b, c"}.items():
        columns = "b.region" if name == "d" else "region"
        lake.create(f"CREATE DYNAMIC TABLE {name} {LATER} AS SELECT {columns} FROM {source}")
    lake_case.refresh("d")
    with pytest.raises(TableRefused, match=r"main\.totals is read by main\.b, main\.c"):
        lake.drop("totals")
    assert len(lake.tables()) == 4
    assert lake.drop("totals", cascade=True) == ["main.d", "main.b", "main.c", "main.totals"]
    assert lake.tables() == []
    assert lake_case.leftovers() == {}
    assert lake.query("SELECT count(*) FROM orders") == [(3,)]
    with pytest.raises(TableNotFound):
        lake.drop("totals")
    assert lake.drop("totals", if_exists=True) == []


def test_a_table_is_dropped_though_it_is_being_refreshed(lake: Lake, lake_case: LakeCase) -> None:
    lake.create(_totals())
    order = lake_case.begin(lake_case.request("totals"))
    ((task,),) = lake_case.pg("select task_id from lake.refresh where id = %s", order.refresh_id)
    lake.drop("totals")
    assert lake_case.pg("select state from worker.tasks where id = %s", task) == [("cancelled",)]
    assert lake_case.leftovers() == {}


@pytest.mark.long
def test_hostile_names_are_names_and_nothing_else(lake: Lake, lake_case: LakeCase) -> None:
    for name in ('order "by"', "x'; drop table orders; --", "a.b"):
        quoted = '"' + name.replace('"', '""') + '"'
        made = f"DYNAMIC TABLE {quoted} {LATER} COMMENT = '''; DROP TABLE orders'"
        lake.create(f"CREATE {made} AS SELECT id AS {quoted} FROM orders")
        lake_case.refresh(name)
        lake_case.check(name)
        assert lake.query(f"SELECT {quoted} FROM {quoted} ORDER BY 1") == [(1,), (2,), (3,)]
        assert lake.describe(quoted).name == name
        lake.rename(quoted, "plain")
        lake.rename("plain", quoted)
        assert lake.drop(quoted) == [f"main.{name}"]
        assert lake.query("SELECT count(*) FROM orders") == [(3,)]
