"""A definition followed through windows in which every table loses, gains and changes rows, NULLs among them."""

from __future__ import annotations

from catchment.lake.reasons import Reason
from tests.lake.fuzz.memory import Dynamic, Memory

WINDOWS: tuple[tuple[tuple[str, str], ...], ...] = (
    (
        ("orders", "UPDATE {} SET amount = amount + 2, note = 'a' WHERE order_id IN (2, 3)"),
        ("customers", "DELETE FROM {} WHERE customer_id = 42"),
    ),
    (
        ("orders", "INSERT INTO {} VALUES (50, 5, 44, 3, 'A'), (51, 6, 43, NULL, NULL)"),
        ("customers", "INSERT INTO {} VALUES (50, NULL, 'r1', 1), (51, 45, NULL, 2)"),
    ),
    (("customers", "UPDATE {} SET customer_id = 42, region = 'c' WHERE customer_id IS NULL"),),
    (("customers", "DELETE FROM {}"), ("country", "DELETE FROM {} WHERE country_id = 1")),
    (("customers", "INSERT INTO {} VALUES (60, 44, 'A', 2)"), ("orders", "DELETE FROM {} WHERE order_id > 1")),
    (("orders", "DELETE FROM {}"), ("country", "INSERT INTO {} VALUES (61, NULL, NULL)")),
)


def follow(memory: Memory, query: str, *, reason: Reason | None = None) -> Dynamic:
    """The table stays equal to its definition, window by window; refreshed by keys, or fully for this reason."""
    table = Dynamic(memory, query)
    assert table.plan.reason == reason, query
    table.check()
    for window in WINDOWS:
        for name, sql in window:
            memory.change(name, sql)
        table.refresh()
        table.check()
        memory.keep()
    return table
