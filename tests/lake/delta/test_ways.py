"""Ways from the rows of a big source to the changes of others."""

from __future__ import annotations

import pytest

from catchment.lake.delta.ways import Hop, find_ways
from tests.lake.delta.test_near import STAR, shop
from tests.lake.fuzz.memory import Dynamic, Memory

__all__ = ["shop"]


def ways(memory: Memory, query: str) -> dict[tuple[str, str], tuple[Hop, ...] | None]:
    plan = Dynamic(memory, query).plan
    names = {table.occurrence: table.table.ref.name for table in plan.tables}
    return {(names[item.source], names[item.changed]): item.way for item in find_ways(plan)}


def number(memory: Memory, query: str, name: str) -> int:
    return next(item.occurrence for item in Dynamic(memory, query).plan.tables if item.table.ref.name == name)


def test_ways_lead_along_equal_columns(shop: Memory) -> None:
    found = ways(shop, STAR)
    orders, customers = number(shop, STAR, "orders"), number(shop, STAR, "customers")
    assert found["items", "orders"] == (Hop("order_id", orders, "order_id"),)
    assert found["items", "customers"] == (
        Hop("order_id", orders, "order_id"),
        Hop("customer_id", customers, "customer_id"),
    )


def test_of_two_equal_columns_the_one_with_more_values_leads(shop: Memory) -> None:
    way = ways(shop, STAR)["items", "parts"]
    assert way is not None
    assert len(way) == 1


def test_small_sources_have_no_ways(shop: Memory) -> None:
    assert {source for source, _ in ways(shop, STAR)} == {"items", "orders"}


@pytest.mark.parametrize("again", ["items", "orders"])
def test_a_way_never_comes_to_a_table_twice(shop: Memory, again: str) -> None:
    query = (
        f"SELECT count(*) AS n FROM items i JOIN orders o ON i.order_id = o.order_id"
        f" JOIN {again} a ON a.order_id = o.order_id"
    )
    found = ways(shop, query)
    assert found[again, again] is None or len(found) == 2
    assert all(way is None or len({hop.to for hop in way}) == len(way) for way in found.values())


def test_keys_that_are_computed_again_have_no_ways(shop: Memory) -> None:
    assert find_ways(Dynamic(shop, STAR.replace("sum(", "max(")).plan) == ()
