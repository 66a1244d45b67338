"""The SQL of ten definitions, kept as files so that a change of what is generated is seen in review.

``python -m tests.lake.delta.snapshots`` rewrites them.
"""

from __future__ import annotations

from pathlib import Path

import sqlglot

from catchment.lake.delta.apply import delta_steps
from catchment.lake.delta.compile import all_rows, difference, fresh_rows, oracle, stored_rows
from catchment.lake.delta.terms import Step, affected
from tests.lake.fuzz.memory import Dynamic, Memory

FOLDER = Path(__file__).parent / "snapshots"

DEFINITIONS = {
    "rows_filter": "SELECT order_id, amount FROM orders WHERE amount > 5",
    "rows_join": "SELECT o.order_id, c.region FROM orders o JOIN customers c USING (customer_id)",
    "rows_left_join": "SELECT o.order_id, c.region FROM orders o LEFT JOIN customers c USING (customer_id)",
    "rows_full_join": "SELECT o.order_id, c.region FROM orders o FULL JOIN customers c USING (customer_id)",
    "group_max": "SELECT customer_id, max(amount) AS top FROM orders GROUP BY customer_id HAVING count(*) > 1",
    "group_star_schema": """
        SELECT o.customer_id, max(n.name) AS country FROM orders o
        JOIN customers c ON o.customer_id = c.customer_id JOIN country n ON n.country_id = c.country_id
        GROUP BY o.customer_id
    """,
    "group_sum_by_delta": """
        SELECT c.region, sum(o.amount) AS amount, count(*) AS orders FROM orders o
        JOIN customers c ON o.customer_id = c.customer_id GROUP BY c.region
    """,
    "window_top": """
        SELECT customer_id, order_id FROM orders
        QUALIFY row_number() OVER (PARTITION BY customer_id ORDER BY amount DESC, order_id) = 1
    """,
    "union_of_group_and_rows": """
        SELECT note, count(*) AS n FROM orders GROUP BY note UNION ALL SELECT name, 0 FROM country
    """,
    "aggregate_of_aggregate": """
        WITH t AS (SELECT customer_id, sum(amount) AS s FROM orders GROUP BY customer_id)
        SELECT c.region, max(t.s) AS top FROM customers c LEFT JOIN t USING (customer_id) GROUP BY c.region
    """,
}


def render(memory: Memory, query: str) -> str:
    """Everything that is generated for a definition when all its tables have changed."""
    plan = Dynamic(memory, query).plan
    changed = frozenset(table.occurrence for table in plan.tables)
    gone, added = difference(plan)
    steps = [
        Step("definition", oracle(plan)),
        Step("all", all_rows(plan, buckets=16)),
        *affected(plan, changed),
        Step("fresh", fresh_rows(plan, buckets=16)),
        Step("stored", stored_rows(plan)),
        Step("gone", gone),
        Step("added", added),
    ]
    if plan.states is not None:
        steps += [Step(f"delta {step.name}", step.sql) for step in delta_steps(plan, changed, buckets=16)]
    tables = [f"-- o{table.occurrence}: {table.table.ref}, {', '.join(table.used)}" for table in plan.tables]
    return "\n".join([*tables, *(f"\n-- {step.name}\n{_pretty(step.sql)};" for step in steps), ""])


def _pretty(sql: str) -> str:
    return sqlglot.parse_one(sql, read="duckdb").sql(dialect="duckdb", pretty=True)


def make_shop() -> Memory:
    memory = Memory()
    memory.make("orders", {"order_id": "BIGINT", "customer_id": "BIGINT", "amount": "DECIMAL(10,2)", "note": "VARCHAR"})
    memory.make("customers", {"customer_id": "BIGINT", "region": "VARCHAR", "country_id": "INTEGER"})
    memory.make("country", {"country_id": "INTEGER", "name": "VARCHAR"})
    return memory


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    shop = make_shop()
    for name, query in DEFINITIONS.items():
        (FOLDER / f"{name}.sql").write_text(render(shop, query))
