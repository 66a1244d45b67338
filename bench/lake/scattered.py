"""What finding scattered rows of a big table costs at least, without Catchment: ``python -m bench.lake.scattered``.

``lineitem`` of TPC-H in one Parquet file. Processor time of DuckDB with one thread, the better of two runs: scans of
columns, the rows at 4,000 random places, the rows that have one of a few thousand keys, both at once, and some queries
of the benchmark. A full refresh takes more than its query, and one by changes more than such a scan.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import duckdb

from catchment.lake.duck.extensions import extension_file
from catchment.lake.names import literal, quoted

QUERIES = (1, 3, 6, 9, 12, 19)
KEYS = {"orders": ("o_orderkey", 4000), "part": ("p_partkey", 1000), "supplier": ("s_suppkey", 10)}
COLUMNS = (
    "l_orderkey, l_partkey, l_suppkey, l_quantity, l_extendedprice, l_discount, l_tax, l_returnflag, l_linestatus,"
    " l_shipdate, l_commitdate, l_receiptdate, l_shipinstruct, l_shipmode"
)
SIX = "l_orderkey, l_partkey, l_suppkey, l_quantity, l_extendedprice, l_discount"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.lake.scattered", description=__doc__)
    parser.add_argument("--scale", type=float, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, duckdb.connect(config={"threads": 1}) as con:
        con.execute(f"LOAD {literal(str(extension_file('tpch')))}")
        con.execute(f"CALL dbgen(sf = {options.scale})")
        for (name,) in con.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            file = literal(str(Path(folder) / f"{name}.parquet"))
            con.execute(f"COPY {quoted(name)} TO {file}")
            con.execute(f"DROP TABLE {quoted(name)}")
            con.execute(f"CREATE VIEW {quoted(name)} AS FROM {file}")
        file = literal(str(Path(folder) / "lineitem.parquet"))
        lines = f"read_parquet({file}, file_row_number = true)"
        con.execute(f"CREATE TEMP TABLE places AS SELECT file_row_number AS k FROM {lines} USING SAMPLE 4000 ROWS")
        for table, (key, count) in KEYS.items():
            share = round(count * options.scale)
            con.execute(f"CREATE TEMP TABLE some_{table} AS SELECT {key} AS k FROM {table} USING SAMPLE {share} ROWS")
        at_places = "file_row_number IN (SELECT k FROM places)"
        tied = (
            "l_orderkey IN (SELECT k FROM some_orders) OR l_partkey IN (SELECT k FROM some_part)"
            " OR l_suppkey IN (SELECT k FROM some_supplier)"
        )
        statements = {
            "scan of one column": "SELECT sum(l_orderkey) FROM lineitem",
            "rows at places, six columns": f"SELECT {SIX} FROM {lines} WHERE {at_places}",
            "rows at places, fourteen columns": f"SELECT {COLUMNS} FROM {lines} WHERE {at_places}",
            "rows with keys, six columns": f"SELECT {SIX} FROM {lines} WHERE {tied}",
            "rows with keys, fourteen columns": f"SELECT {COLUMNS} FROM {lines} WHERE {tied}",
            "both in one scan": f"SELECT {COLUMNS}, file_row_number FROM {lines} WHERE {at_places} OR {tied}",
        }
        texts = dict(con.execute("SELECT query_nr, query FROM tpch_queries()").fetchall())
        statements |= {f"query {number}": texts[number].strip().rstrip(";") for number in QUERIES}
        for name, statement in statements.items():
            print(f"{name:34} {min(_spent(con, statement) for _ in range(2)):5.0f} ms", flush=True)


def _spent(con: duckdb.DuckDBPyConnection, query: str) -> float:
    began = time.process_time()
    con.execute(f"CREATE OR REPLACE TEMP TABLE result AS {query}")
    return (time.process_time() - began) * 1000


if __name__ == "__main__":
    main()
