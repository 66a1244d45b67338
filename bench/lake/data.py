"""The tables of the scenario: orders of customers of countries, one of which has 40 % of the customers."""

from __future__ import annotations

import time
from dataclasses import dataclass

from bench.lake.lab import Lab, show

COMMITS = 10
TOTALS = (
    "SELECT c.customer_id, max(n.name) AS country, count(*) AS orders, sum(o.amount) AS amount FROM orders o"
    " JOIN customers c USING (customer_id) JOIN country n USING (country_id) GROUP BY c.customer_id"
)


@dataclass(frozen=True)
class Size:
    """How big the scenario is."""

    orders: int
    customers: int

    @property
    def affected(self) -> int:
        return self.customers * 4 // 10


FULL = Size(50_000_000, 25_000_000)
QUICK = Size(1_000_000, 500_000)


def fill(lab: Lab, size: Size) -> None:
    """Make the tables, each in ten commits."""
    began = time.perf_counter()
    lab.lake.query("CREATE TABLE country (country_id INTEGER, name VARCHAR)")
    lab.lake.query("INSERT INTO country SELECT i, 'country ' || i FROM range(1, 9) AS r(i)")
    lab.lake.query("CREATE TABLE customers (customer_id BIGINT, country_id INTEGER)")
    lab.lake.query("CREATE TABLE orders (order_id BIGINT, customer_id BIGINT, amount DECIMAL(12,2), ordered DATE)")
    country = "CASE WHEN i % 10 < 4 THEN 1 ELSE 2 + (i // 10) % 7 END"
    order = f"i, (i * 2654435761) % {size.customers}, (i % 99991) / 100.0, DATE '2024-01-01' + CAST(i % 365 AS INTEGER)"
    for first, last in _cuts(size.customers):
        lab.lake.query(f"INSERT INTO customers SELECT i, {country} FROM range({first}, {last}) AS r(i)")
    for first, last in _cuts(size.orders):
        lab.lake.query(f"INSERT INTO orders SELECT {order} FROM range({first}, {last}) AS r(i)")
    show("data", orders=size.orders, customers=size.customers, seconds=time.perf_counter() - began)


def _cuts(rows: int) -> list[tuple[int, int]]:
    return [(rows * place // COMMITS, rows * (place + 1) // COMMITS) for place in range(COMMITS)]


def create(lab: Lab, size: Size, properties: str = "") -> float:
    """Create the dynamic table, filled by the workers there are; returns the seconds."""
    began = time.perf_counter()
    lab.lake.create(
        f"CREATE DYNAMIC TABLE totals TARGET_LAG = '30 days' SCHEDULER = DISABLE REFRESH_MODE = INCREMENTAL"
        f" PARALLEL_THRESHOLD = {min(10_000_000, size.affected)} {properties} AS {TOTALS}"
    )
    return time.perf_counter() - began


def rename_country(lab: Lab, name: str) -> None:
    """One row changes, and with it 40 % of the totals."""
    with lab.lake.commit_lock():
        lab.lake.query("UPDATE country SET name = ? WHERE country_id = 1", [name])


def check(lab: Lab, *, share: int) -> int:
    """Compare one of ``share`` customers with the query; returns how many. A difference ends the run."""
    part = f"customer_id % {share} = {share // 2}"
    query = TOTALS.replace(" GROUP BY", f" WHERE c.{part} GROUP BY")
    stored = f"SELECT customer_id, country, orders, amount FROM totals WHERE {part}"
    for one, other in ((query, stored), (stored, query)):
        [(wrong,)] = lab.lake.query(f"SELECT count(*) FROM ({one} EXCEPT ALL {other})")
        if wrong:
            raise SystemExit(f"{wrong} rows of the table differ from its query")
    [(compared,)] = lab.lake.query(f"SELECT count(*) FROM ({stored})")
    return compared
