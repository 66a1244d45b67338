"""The scenario that parallel refreshes are for, scaled down: a row of a small table changes 40 % of a big one."""

from __future__ import annotations

import time
from pathlib import Path

from tests.lake.tasks.crew import LakeCrew

ORDERS = 20_000
CUSTOMERS = 10_000
MOST_MIB = 2048
"""What a process may take at most, by far: DuckDB has 400 MB of it."""


def fill(crew: LakeCrew) -> None:
    """Orders of customers of countries; country 1 has four of ten customers."""
    case = crew.case
    case.sql("CREATE TABLE country (country_id INTEGER, name VARCHAR)")
    case.sql("INSERT INTO country SELECT i, 'c' || i FROM range(1, 8) AS r(i)")
    case.sql("CREATE TABLE customers (customer_id BIGINT, country_id INTEGER)")
    case.sql(
        f"INSERT INTO customers SELECT i, CASE WHEN i % 10 < 4 THEN 1 ELSE 2 + i % 6 END FROM range({CUSTOMERS}) r(i)"
    )
    case.sql("CREATE TABLE orders (order_id BIGINT, customer_id BIGINT, amount DECIMAL(12,2))")
    case.sql(f"INSERT INTO orders SELECT i, i % {CUSTOMERS}, i % 977 / 100.0 FROM range({ORDERS}) r(i)")
    case.create(
        "CREATE DYNAMIC TABLE totals TARGET_LAG = '1 day' REFRESH_MODE = INCREMENTAL PARALLEL_THRESHOLD = 1000 AS "
        "SELECT c.customer_id, max(n.name) AS country, count(*) AS orders, sum(o.amount) AS amount FROM orders o "
        "JOIN customers c USING (customer_id) JOIN country n USING (country_id) GROUP BY c.customer_id"
    )


def peak_mib(pid: int) -> int:
    """The most memory that a process had so far."""
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0]) // 1024


def test_a_changed_dimension_is_carried_by_several_workers(lake_crew: LakeCrew) -> None:
    fill(lake_crew)
    lake_crew.hire(2)
    first = lake_crew.refresh("totals")
    assert first["rows_after"] == CUSTOMERS
    for name in ("renamed", "renamed again", "renamed once more"):
        lake_crew.wait_free()
        lake_crew.case.sql(f"UPDATE country SET name = '{name}' WHERE country_id = 1")
        began = time.monotonic()
        done = lake_crew.refresh("totals")
        took = time.monotonic() - began
        assert done["keys"] == done["inserted"] == done["deleted"] == 0.4 * CUSTOMERS
        # A worker that sweeps at that moment is not free, and the refresh stays in one process.
        if "subtasks" in done["figures"]:
            break
    assert done["figures"]["subtasks"] == 8
    subtasks = lake_crew.subtasks(done["id"])
    assert [task["status"] for task in subtasks] == ["completed"] * 8
    assert lake_crew.publications(done["id"]) == 1
    lake_crew.case.check("totals")
    lake_crew.wait_clean()
    peaks = [peak_mib(worker.pid) for worker in lake_crew.workers]
    assert len(peaks) == 2
    assert max(peaks) < MOST_MIB
    overhead = took - done["figures"]["subtask_seconds"] / 2
    print(f"{took:.2f} s, of which {overhead:.2f} s are not the work of subtasks; {peaks} MiB; {done['figures']}")
