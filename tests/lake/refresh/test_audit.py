"""The audit finds what is wrong, and agrees with the definition's own text over the lake as it was."""

from __future__ import annotations

import pytest

from catchment.lake.duck import extensions
from catchment.lake.names import literal
from catchment.lake.refresh.audit import audit
from tests.fixtures.lake_case import LakeCase
from tests.lake.refresh.test_incremental import REGIONS, TABLE, filled

QUERY = REGIONS.split(" AS ", 1)[1]


def physical(case: LakeCase) -> str:
    ((name,),) = case.pg("select format('lake.dt.t%sg%s', id, generation) from lake.dt where name = 'dt'")
    return name


def test_rows_that_are_missing_or_too_many(regions: LakeCase) -> None:
    regions.sql(f"DELETE FROM {physical(regions)} WHERE region = 'r1'")
    regions.sql(f"INSERT INTO {physical(regions)} VALUES ('r9', 9, 0), ('r2', 7, 0)")
    found = audit(regions.duck, regions.control, regions.find("dt"))
    assert (found.is_equal, found.missing, found.extra, found.rows) == (False, 1, 2, 3)
    assert ("missing", ("r1", 10)) in found.examples
    assert ("extra", ("r9", 9)) in found.examples
    assert regions.temporary() == []
    assert regions.pg("select missing, extra from lake.audit_run order by at desc limit 1") == [(1, 2)]


@pytest.mark.long
def test_last_digits_of_floats_do_not_count(shop: LakeCase) -> None:
    filled(shop, f"{TABLE} SELECT region, sum(CAST(customer_id AS DOUBLE)) / 3 AS x FROM customers GROUP BY 1")
    columns = shop.sql(f"DESCRIBE {physical(shop)}")
    shop.sql(f"UPDATE {physical(shop)} SET x = x + 1e-13")
    assert audit(shop.duck, shop.control, shop.find("dt")).is_equal, columns
    shop.sql(f"UPDATE {physical(shop)} SET x = x + 1e-3 WHERE region = 'r1'")
    found = audit(shop.duck, shop.control, shop.find("dt"))
    assert (found.missing, found.extra) == (1, 1)


@pytest.mark.long
def test_audit_is_of_the_data_snapshot(regions: LakeCase) -> None:
    """Changes that no refresh has seen are no error; the truth is what a reader of that snapshot computes."""
    regions.sql("INSERT INTO orders VALUES (9, 42, 99, NULL)")
    found = audit(regions.duck, regions.control, regions.find("dt"))
    assert found.is_equal
    instance = extensions.take_instance()
    instance.execute(
        f"ATTACH {literal(f'ducklake:postgres:{regions.dsn}')} AS before (SNAPSHOT_VERSION {found.snapshot:d})"
    )
    instance.execute("USE before.main")
    truth = instance.execute(f"{QUERY} ORDER BY ALL").fetchall()
    instance.execute("USE memory")
    instance.execute("DETACH before")
    extensions.give_back(instance)
    assert truth == regions.rows("dt") == [("r1", 10), ("r2", 7)]


def test_audits_that_are_due_repair_what_they_find(regions: LakeCase) -> None:
    regions.pg("delete from lake.audit_run")
    regions.sql(f"UPDATE {physical(regions)} SET most = 1 WHERE region = 'r1'")
    # As if the write had been one of ours: nothing but an audit can find it.
    regions.pg("update lake.frontier set checked_snapshot = %s", regions.head())
    regions.sql("INSERT INTO orders VALUES (9, 43, 99, NULL)")
    assert regions.refresh("dt", lake_audit_every=3)["action"] == "incremental"
    assert regions.rows("dt") == [("r1", 1), ("r2", 99)]
    regions.sql("INSERT INTO orders VALUES (10, 43, 100, NULL)")
    found = regions.refresh("dt", lake_audit_every=2)
    assert (found["action"], found["reason"], found["inserted"]) == ("repair", "AUDIT", 2)
    regions.check("dt")
    regions.sql("INSERT INTO orders VALUES (11, 43, 101, NULL)")
    assert regions.refresh("dt", lake_audit_every=1)["action"] == "incremental"
