"""Dynamic tables for the screenshots of the dashboard. One has failed, and two that read it do not get newer."""

from __future__ import annotations

from pathlib import Path

from catchment.lake import Lake

ROUNDS = 6
SOURCES = """
CREATE TABLE orders (id BIGINT, region VARCHAR, day DATE, amount DECIMAL(18,2), note VARCHAR, tags VARCHAR[]);
CREATE TABLE customers AS SELECT i AS id, 'customer ' || i AS name, ['north', 'south'][1 + i % 2] AS region
  FROM range(100) AS r(i);
CREATE TABLE price_list AS SELECT i AS article, (i * 7 % 90)::VARCHAR AS price FROM range(50) AS r(i)
"""
TABLES = """
CREATE DYNAMIC TABLE orders_clean TARGET_LAG = '1 minute' AS SELECT * FROM orders WHERE amount > 1;
CREATE DYNAMIC TABLE daily_sales TARGET_LAG = '5 minutes' AS
  SELECT day, sum(amount) AS amount, count(*) AS orders FROM orders_clean GROUP BY day;
CREATE DYNAMIC TABLE sales_by_region TARGET_LAG = '5 minutes' AS
  SELECT region, sum(amount) AS amount FROM orders_clean GROUP BY region;
CREATE DYNAMIC TABLE customers_and_sales_of_every_region_for_the_board TARGET_LAG = '10 minutes' AS
  SELECT s.region, s.amount, count(c.id) AS customers
    FROM sales_by_region s LEFT JOIN customers c ON c.region = s.region GROUP BY s.region, s.amount;
CREATE DYNAMIC TABLE prices TARGET_LAG = '1 minute' AS SELECT article, price::INTEGER AS price FROM price_list;
CREATE DYNAMIC TABLE price_range TARGET_LAG = '2 minutes' AS
  SELECT min(price) AS lowest, max(price) AS highest FROM prices;
CREATE DYNAMIC TABLE price_bands TARGET_LAG = '2 minutes' AS
  SELECT price // 10 AS band, count(*) AS articles FROM prices GROUP BY 1
"""
ORDERS = """
INSERT INTO orders
SELECT i, ['north', 'south', 'east', NULL][1 + i % 4], DATE '2026-11-01' + (i % 17)::INTEGER, i * 1.25,
       repeat('please ring twice ', (i % 40)::INTEGER), ['gift', 'box ' || i]
  FROM range({first}, {first} + {count}) AS r(i)
"""


def fill(dsn: str, folder: Path) -> None:
    with Lake(dsn, str(folder)) as lake:
        for statement in SOURCES.split(";"):
            lake.query(statement)
        lake.query(ORDERS.format(first=0, count=1000))
        lake.create(TABLES)
        for n in range(ROUNDS):
            lake.query(ORDERS.format(first=1000 + 100 * n, count=100))
            lake.refresh("daily_sales", "customers_and_sales_of_every_region_for_the_board")
        lake.audit("daily_sales")
        lake.query("INSERT INTO price_list VALUES (51, 'on request')")
        lake.refresh("price_range", "price_bands")
