"""Names that look like SQL are names."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.names import literal, quoted
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.often import often

NAMES = ["x'; drop table orders; --", 'Größe ✓ "by"', "n" * 200, "o1_new"]
MORE_NAMES = ['order "by"', "select", "a.b", "akeys_1", "dt_old"]


@pytest.mark.parametrize("name", often(*NAMES, now_and_then=MORE_NAMES))
def test_tables_and_columns_of_any_name(name: str, lake_case: LakeCase) -> None:
    case = lake_case
    case.make("orders", "id BIGINT", [[1]])
    source, column = quoted(name), quoted(name)
    case.sql(f"CREATE TABLE {source} ({column} VARCHAR, v BIGINT)")
    case.sql(f"INSERT INTO {source} VALUES (?, 1), ('b', 2), (NULL, 3)", [name])
    target = quoted(f"dt {name}")
    case.create(
        f"CREATE DYNAMIC TABLE {target} TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL COMMENT = {literal(name)} AS"
        f" SELECT {column}, max(v) AS {quoted(name + ' ')} FROM {source} AS {quoted(name + '2')} GROUP BY {column}"
    )
    case.refresh(f"dt {name}")
    case.sql(f"UPDATE {source} SET v = 9 WHERE {column} = ?", [name])
    case.sql(f"DELETE FROM {source} WHERE {column} IS NULL")
    found = case.refresh(f"dt {name}")
    assert found["action"] == "incremental"
    case.check(f"dt {name}")
    assert case.sql(f"SELECT * FROM {target} WHERE {column} = ?", [name]) == [(name, 9)]
    assert case.sql("SELECT * FROM orders") == [(1,)]


def test_schema_of_any_name(lake_case: LakeCase) -> None:
    case = lake_case
    schema = quoted("s'; drop")
    case.sql(f"CREATE SCHEMA {schema}")
    case.sql(f"CREATE TABLE {schema}.t (k BIGINT)")
    case.sql(f"INSERT INTO lake.{schema}.t VALUES (1), (1)")
    case.create(
        f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT k, count(*) AS n FROM {schema}.t GROUP BY k"
    )
    case.refresh("dt")
    case.check("dt")
    assert case.rows("dt") == [(1, 2)]


def test_texts_that_name_what_a_refresh_reads_stay_texts(lake_case: LakeCase) -> None:
    case, column = lake_case, quoted("a FROM o1_new")
    case.sql(f"CREATE TABLE orders (id BIGINT, {column} VARCHAR)")
    case.sql("INSERT INTO orders VALUES (1, 'it''s FROM \"o1_new\" AS x'), (2, 'x')")
    query = f"SELECT id, {column}, {column} || ' JOIN o1_new' AS b FROM orders WHERE {column} LIKE 'it''s FROM \"o1%'"
    case.create(f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' REFRESH_MODE = INCREMENTAL AS {query}")
    case.refresh("dt")
    case.sql("UPDATE orders SET id = 3 WHERE id = 1")
    assert case.refresh("dt")["action"] == "incremental"
    assert case.rows("dt") == case.sql(query)
    case.check("dt")


def test_values_in_a_definition_stay_values(lake_case: LakeCase) -> None:
    case = lake_case
    case.make("orders", "id BIGINT, note VARCHAR", [[1, "'; DROP TABLE orders; --"], [2, "x"]])
    case.create(
        "CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' COMMENT = '''; DROP TABLE orders; --' AS"
        " SELECT id, note || '''; DROP TABLE orders; --' AS note FROM orders WHERE note = '''; DROP TABLE orders; --'"
    )
    case.refresh("dt")
    case.check("dt")
    assert len(case.rows("dt")) == 1
    assert len(case.sql("SELECT * FROM orders")) == 2


@pytest.mark.parametrize("name", ["__b", "__rid"])
def test_our_own_names_are_refused(name: str, lake_case: LakeCase) -> None:
    lake_case.make("orders", "id BIGINT", [[1]])
    with pytest.raises(TableRefused, match="two underscores"):
        lake_case.create(f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS SELECT id AS {name} FROM orders")
