"""What is stored: types that the lake can hold exactly, hidden columns, and the order of all of them."""

from __future__ import annotations

import pytest

from catchment.errors import TableRefused
from catchment.lake.delta.analyse import analyse
from catchment.lake.delta.compile import all_rows, view_query
from catchment.lake.delta.layout import Layout, stored_type
from catchment.lake.names import quoted
from catchment.lake.query.trees import text
from catchment.lake.types import Column, Definition, Properties, Strategy, TableRef
from tests.fixtures.often import some_rows
from tests.lake.fuzz.memory import BUCKETS, Dynamic, Memory


def columns(table: Dynamic) -> list[tuple[str, str]]:
    return [(column.name, column.type) for column in table.plan.layout.columns]


def test_a_group_is_found_by_its_visible_columns(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT note, max(amount) AS m FROM orders GROUP BY note")
    assert columns(table) == [("note", "VARCHAR"), ("m", "DECIMAL(10,2)"), ("__b", "SMALLINT")]
    assert table.plan.layout.keys == ((Column("note", "VARCHAR"),),)


def test_a_key_that_is_not_selected_is_stored_beside(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT max(amount) AS m FROM orders GROUP BY upper(note), customer_id")
    assert columns(table) == [
        ("m", "DECIMAL(10,2)"),
        ("__k1_1", "VARCHAR"),
        ("__k1_2", "BIGINT"),
        ("__b", "SMALLINT"),
    ]


def test_rows_without_groups_are_found_by_the_row_id_of_the_biggest_source(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT c.region, o.amount FROM customers c JOIN orders o USING (customer_id)")
    assert columns(table)[2:] == [("__k1_1", "BIGINT"), ("__b", "SMALLINT")]
    assert table.plan.layout.drivers == ((1, "o"),)
    assert [source.wants_rid for source in table.plan.tables] == [False, True]


def test_the_choice_of_the_biggest_source_is_kept(shop: Memory) -> None:
    """Analysed again when another table is bigger, stored keys must still be row ids of the same source."""
    query = "SELECT c.region, o.amount FROM customers c JOIN orders o USING (customer_id)"
    table = Dynamic(shop, query)
    shop.insert("customers", [[100 + i, "r", 1] for i in range(20)])
    shop.keep()
    definition = Definition(TableRef("main", "t"), query, Properties())
    assert analyse(definition, shop).layout.drivers == ((1, "c"),)
    again = analyse(definition, shop, stored=table.plan.layout)
    assert again.layout == table.plan.layout
    assert again.definition_hash == table.plan.definition_hash


def test_branches_of_union_all_are_distinguished(shop: Memory) -> None:
    table = Dynamic(shop, "SELECT note, count(*) AS n FROM orders GROUP BY note UNION ALL SELECT name, 1 FROM country")
    assert columns(table) == [
        ("note", "VARCHAR"),
        ("n", "BIGINT"),
        ("__br", "INTEGER"),
        ("__k2_1", "BIGINT"),
        ("__b", "SMALLINT"),
    ]
    assert sorted(shop.rows("SELECT __br, count(*) FROM dt GROUP BY ALL")) == [(1, 3), (2, 2)]


def test_a_key_that_a_union_casts_is_stored_in_its_own_type(shop: Memory) -> None:
    """As text the numbers 1 and 1.0 of different groups could meet."""
    table = Dynamic(shop, "SELECT customer_id AS a FROM orders GROUP BY customer_id UNION ALL SELECT name FROM country")
    assert ("a", "VARCHAR") in columns(table)
    assert ("__k1_1", "BIGINT") in columns(table)


TYPES = [
    ("CAST(1 AS HUGEINT)", "DECIMAL(38,0)"),
    ("NULL", "INTEGER"),
    ("CAST('a' AS ENUM ('a', 'b'))", "VARCHAR"),
    ("[CAST(1 AS HUGEINT)]", "DECIMAL(38,0)[]"),
    ("{'a': CAST('x' AS ENUM ('x')), 'b c': 1}", 'STRUCT(a VARCHAR, "b c" INTEGER)'),
    ("map {'a': CAST(1 AS HUGEINT)}", "MAP(VARCHAR, DECIMAL(38,0))"),
    ("array_value(1, 2)", "INTEGER[]"),
    ("CAST(1 AS UTINYINT)", "UTINYINT"),
    ("TIMESTAMPTZ '2024-01-01 00:00:00+00'", "TIMESTAMP WITH TIME ZONE"),
    ("CAST('12:00:00' AS TIME)", "TIME"),
    ("INTERVAL 3 DAY", "INTERVAL"),
    ("CAST('{}' AS JSON)", "JSON"),
    ("CAST('ab' AS BLOB)", "BLOB"),
    ("1.5", "DECIMAL(2,1)"),
]


@pytest.mark.parametrize(("expression", "stored"), some_rows(TYPES, one_in=2), ids=[stored for _, stored in TYPES])
def test_a_column_is_stored_in_a_type_that_the_lake_has(shop: Memory, expression: str, stored: str) -> None:
    table = Dynamic(shop, f"SELECT order_id, {expression} AS v FROM orders")
    assert columns(table)[1] == ("v", stored)
    shop.change("orders", "DELETE FROM {} WHERE order_id = 1")
    table.refresh()
    table.check()


def test_an_integer_sum_is_a_decimal(shop: Memory) -> None:
    assert columns(Dynamic(shop, "SELECT sum(order_id) AS s FROM orders"))[0] == ("s", "DECIMAL(38,0)")


@pytest.mark.parametrize("found", ["BIT", "UHUGEINT", "UNION(a INTEGER)", "BIGNUM", "UHUGEINT[]"])
def test_a_type_that_the_lake_has_not_is_refused(found: str) -> None:
    with pytest.raises(TableRefused) as caught:
        stored_type(Column("x", found))
    assert caught.value.code == "UNSUPPORTED_TYPE"


def test_every_column_of_the_rows_has_its_stored_type(shop: Memory) -> None:
    queries = [
        "SELECT note, sum(order_id) AS s, avg(amount) AS a FROM orders GROUP BY note",
        "SELECT order_id, NULL AS x, CAST(1 AS HUGEINT) AS h FROM orders",
        "SELECT customer_id AS a FROM orders UNION ALL SELECT name FROM country",
        "SELECT order_id FROM orders ORDER BY 1 LIMIT 1",
    ]
    for query in queries:
        table = Dynamic(shop, query)
        found = shop.describe(all_rows(table.plan, buckets=BUCKETS))
        assert [(column.name, column.type) for column in found] == columns(table)


def test_a_layout_survives_json(shop: Memory) -> None:
    for query in (
        "SELECT note, count(*) AS n FROM orders GROUP BY note",
        "SELECT note FROM orders UNION ALL SELECT 'x'",
    ):
        layout = Dynamic(shop, query).plan.layout
        assert Layout.from_json(layout.to_json()) == layout


def test_output_names_are_kept_as_they_are_written(memory: Memory) -> None:
    memory.make(
        'order "by"', {"Größe": "INTEGER", "select": "VARCHAR", "x'; drop table t; --": "INTEGER"}, [[1, "a", 2]]
    )
    memory.keep()
    next_one, source = quoted('Next "One"'), quoted('order "by"')
    table = Dynamic(memory, f'SELECT *, "größe" + 1 AS {next_one}, 1 AS "a.b" FROM {source}')
    names = [column.name for column in table.plan.layout.visible]
    assert names == ["Größe", "select", "x'; drop table t; --", 'Next "One"', "a.b"]
    memory.change('order "by"', 'UPDATE {} SET "select" = NULL')
    table.refresh()
    table.check()


def test_the_view_shows_the_visible_columns_under_any_catalog(shop: Memory) -> None:
    table = Dynamic(shop, 'SELECT note AS "a ""b", count(*) AS n FROM orders GROUP BY note')
    assert text(view_query(table.plan, TableRef("dt", "t5g1"))) == 'SELECT "a ""b", "n" FROM "dt"."t5g1"'


def test_modulo_is_kept_in_the_layout(shop: Memory) -> None:
    properties = Properties(parallel_strategy=Strategy.MODULO)
    table = Dynamic(shop, "SELECT customer_id, count(*) AS n FROM orders GROUP BY 1", properties=properties)
    assert table.plan.layout.method == "modulo"
    assert dict(shop.rows("SELECT customer_id, __b FROM dt")) == {42: 42 % 4, 43: 43 % 4, None: -1}
