"""``catchment table sql`` and ``explain --file``, and the fields of ``--json``."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import duckdb
import pytest

from tests.cli.test_table import TOTALS
from tests.fixtures.lake_case import LakeCase
from tests.fixtures.table_cli import Cli, flat
from tests.fixtures.terminal import Terminal

STATEMENTS = """
CREATE DYNAMIC TABLE totals TARGET_LAG = '5 minutes'
AS SELECT region, sum(amount) AS amount FROM orders GROUP BY region;

CREATE DYNAMIC TABLE top TARGET_LAG = DOWNSTREAM
AS SELECT region FROM totals ORDER BY amount DESC LIMIT 1;
CREATE TABLE nothing (a INTEGER);
CREATE DYNAMIC TABLE bad TARGET_LAG = '1 hour' AS
SELECT nope FROM totals;
CREATE DYNAMIC TABLE worse TARGET_LAG = '1 hour' AS
SELECT *
FROM totals WHERE (;
"""


def test_a_query_is_printed_in_the_form_that_is_asked_for(table_cli: Cli, lake_case: LakeCase, tmp_path: Path) -> None:
    lake_case.sql(
        "CREATE TABLE odd AS SELECT 'a,\"b' AS t, '' AS e, NULL AS n, true AS b, [1, 2] AS l, 1.50::DECIMAL(9,2) AS d,"
        " TIMESTAMPTZ '2026-11-18 09:30:00+00' AS at_, 'x'::BLOB AS o, 1 AS t"
    )
    (row,) = json.loads(table_cli("sql", "FROM odd", "--json"))
    assert row == {
        "t": 'a,"b', "e": "", "n": None, "b": True, "l": [1, 2], "d": 1.5, "at_": "2026-11-18T09:30:00+00:00",
        "o": "\\x78", "t_1": 1,
    }  # fmt: skip
    text = table_cli("sql", "FROM odd", "--csv")
    assert list(csv.reader(io.StringIO(text))) == [
        ["t", "e", "n", "b", "l", "d", "at_", "o", "t_1"],
        ['a,"b', "", "", "true", "[1, 2]", "1.50", "2026-11-18T09:30:00+00:00", "\\x78", "1"],
    ]
    assert '"",,true' in text
    assert table_cli("sql", "-", "--csv", stdin="SELECT count(*) AS c FROM orders") == "c\n3\n"
    assert json.loads(table_cli("sql", "SELECT 1 AS a WHERE false", "--json")) == []
    assert "No rows. Columns: a" in table_cli("sql", "SELECT 1 AS a WHERE false")
    assert table_cli("sql", "SELECT region FROM orders ORDER BY ALL").split() == ["region", "n", "n", "s"]
    assert len(json.loads(table_cli("sql", "FROM range(1000)", "--json", "--limit", "7"))) == 7
    file = tmp_path / "out.parquet"
    table_cli("sql", "FROM orders", "--parquet", str(file))
    assert duckdb.read_parquet(str(file)).count("*").fetchall() == [(3,)]
    query = tmp_path / "query.sql"
    query.write_text("SELECT count(*) FROM orders;\n")
    assert table_cli("sql", "--file", str(query), "--csv").split() == ["count_star()", "3"]


@pytest.mark.long
def test_a_query_sees_the_lake_as_it_was(table_cli: Cli, lake_case: LakeCase) -> None:
    before = lake_case.head()
    ((then,),) = lake_case.pg("select to_char(clock_timestamp(), 'YYYY-MM-DD\"T\"HH24:MI:SS.USOF')")
    lake_case.add("orders", [(4, "s", 1)])
    count = "SELECT count(*) AS c FROM orders"
    assert table_cli("sql", count, "--csv") == "c\n4\n"
    assert table_cli("sql", count, "--csv", "--at", str(before)) == "c\n3\n"
    assert table_cli("sql", count, "--csv", "--at", then) == "c\n3\n"
    assert "neither a snapshot nor a time" in flat(table_cli("sql", count, "--at", "soon", code=1))
    assert "No snapshot" in flat(table_cli("sql", count, "--at", "9999", code=1))


REFUSED = [
    (["DELETE FROM orders"], "DELETE does more than read"),
    (["CREATE DYNAMIC TABLE x AS SELECT 1"], "catchment table create"),
    (["SELECT nope FROM orders"], "the query is not valid: Binder Error"),
    (["FROM read_csv('/etc/passwd')"], "only tables of the lake"),
    (["SELECT 1", "--json", "--csv"], "do not go together"),
    (["SELECT 1", "--file", "x"], "do not go together"),
    (["--file", "/no/such/file"], "cannot be read"),
    ([""], "there is no query"),
    (["FROM orders", "--parquet", "/no/such/folder/x.parquet"], "/no/such/folder"),
]


def test_refusals_of_queries_say_what_to_do(table_cli: Cli) -> None:
    for arguments, says in REFUSED:
        assert says in flat(table_cli("sql", *arguments, code=1)), arguments


def test_several_statements_are_explained_each_with_its_place(table_cli: Cli) -> None:
    said = table_cli("explain", "--file", "-", "--json", stdin=STATEMENTS, code=1)
    first, second, *wrong = json.loads(said)
    assert len({tuple(row) for row in (first, second, *wrong)}) == 1
    assert (first["statement"], first["line"], first["name"], first["strategy"]) == (1, 2, "main.totals", "delta")
    assert (second["line"], second["strategy"], second["reason"]) == (5, "full", "LIMIT")
    assert [(item["name"], item["is_dynamic"]) for item in second["sources"]] == [("main.totals", True)]
    assert [(row["statement"], row["line"], row["strategy"]) for row in wrong] == [
        (3, 7, None),
        (4, 8, None),
        (5, 10, None),
    ]
    assert [row["error"].split(":")[0] for row in wrong] == [
        "statement 3, line 7", "statement 4, line 8", "statement 5, line 12",
    ]  # fmt: skip
    assert [row["error_code"] for row in wrong] == ["PARSE_ERROR", "UNKNOWN_COLUMN", "PARSE_ERROR"]
    said = flat(table_cli("explain", "--file", "-", stdin=STATEMENTS, code=1))
    assert "Statement 2, line 5" in said
    assert "error: statement 4, line 8" in said
    assert json.loads(table_cli("list", "--json")) == []


@pytest.mark.long
def test_json_has_the_same_fields_for_every_table(table_cli: Cli, lake_case: LakeCase) -> None:
    table_cli("create", "-", stdin=TOTALS)
    table_cli(
        "create", "-", "--no-wait", stdin="CREATE DYNAMIC TABLE idle SCHEDULER = DISABLE AS SELECT id FROM orders"
    )
    lake_case.add("orders", [(4, "s", 1)])
    table_cli("refresh", "totals")
    names = ("totals", "top", "idle")
    answers: dict[str, list[Any]] = {verb: json.loads(table_cli(verb, "--json")) for verb in ("list", "lag", "graph")}
    answers["history"] = json.loads(table_cli("history", "--with-idle", "--json"))
    for verb in ("describe", "explain", "why"):
        answers[verb] = [json.loads(table_cli(verb, name, "--json")) for name in names]
    for verb, rows in answers.items():
        assert len(rows) >= len(names), verb
        assert len({_shape(row) for row in rows}) == 1, verb
    for row in answers["list"]:
        assert row["target_lag_seconds"] is None or isinstance(row["target_lag_seconds"], int | float)
        assert row["last_finished_at"] is None or row["last_finished_at"].endswith("+00:00")
    assert {row["state"] for row in answers["graph"]} == {"ACTIVE"}
    assert json.loads(table_cli("cancel", "idle", "--json"))[0]["name"] == "main.idle"
    altered = json.loads(table_cli("alter", "idle", "--set", "TARGET_LAG=1 hour", "--json"))
    assert altered["target_lag_seconds"] == 3600


def _shape(value: Any) -> Any:
    """The names of the fields, also of objects inside."""
    if not isinstance(value, dict):
        return None
    return tuple(
        (name, _shape(item) if name in ("properties", "parallel", "lag_last_day") else None)
        for name, item in value.items()
    )


@pytest.mark.long
def test_a_terminal_shows_the_first_rows_and_says_so(lake_case: LakeCase) -> None:
    shown = Terminal("table", "sql", "FROM range(1000)", dsn=lake_case.dsn, lines=200)
    try:
        assert shown.wait() == 0
        assert "Only the first 100 rows are shown." in shown.text
        assert " 99" in shown.text
        assert "100\r\n" not in shown.text.partition("Only")[0]
    finally:
        shown.close()
