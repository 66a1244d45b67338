"""Names in a definition: the table holds what the query gives in a session that uses the lake, or it is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from catchment.errors import TableRefused
from tests.fixtures.lake import LakeStates
from tests.fixtures.lake_case import LakeCase

SCHEMAS = ("s2", "note", "pg_catalog", "information_schema", "memory", "system", "temp", "lake")
MACROS = (
    "main.upper(x) AS 'main:' || x",
    "s2.upper(x) AS 's2:' || x",
    "s2.shout(x) AS x || '!'",
    "note.length(x) AS 77",
    "main.round(x, n) AS 77",
    "main.ask(x) AS x || '?'",
    "main.nested(x) AS upper(x)",
    "main.exact(x) AS system.main.upper(x)",
    "main.place() AS current_database()",
    "main.total(x) AS sum(x)",
    "main.range(n) AS TABLE SELECT n AS q",
    "main.tables_of(n) AS TABLE SELECT id + n AS id FROM main.orders",
    "main.named(n) AS TABLE WITH w AS (SELECT id + n AS id FROM lake.main.orders) SELECT id FROM w",
)


def _names(case: LakeCase) -> None:
    case.make("orders", "id BIGINT, note VARCHAR", [[1, "a"], [2, "b"]])
    for schema in SCHEMAS:
        case.sql(f"CREATE SCHEMA {schema}")
        case.sql(f"CREATE TABLE lake.{schema}.pg_class (id BIGINT)")
        case.sql(f"INSERT INTO lake.{schema}.pg_class VALUES (7)")
    for macro in MACROS:
        case.sql(f"CREATE MACRO lake.{macro}")


@pytest.fixture
def names(lake_states: LakeStates, tmp_path: Path) -> Iterator[LakeCase]:
    """Macros and tables whose names are DuckDB's, and schemas that are called as its catalogs are."""
    with lake_states.copy(_names, tmp_path / "lake") as case:
        yield case


def create(case: LakeCase, query: str) -> None:
    case.create(f"CREATE DYNAMIC TABLE dt TARGET_LAG = '1 minute' AS {query}")


REFUSED = {
    "SELECT id, upper(note) AS u FROM orders": "lake.main.upper(…) for the macro, system.main.upper(…)",
    "SELECT id, main.upper(note) AS u FROM orders": "lake.main.upper(…) for the macro, system.main.upper(…)",
    "SELECT id, note.upper() AS u FROM orders": "lake.main.upper(…)",
    "SELECT id, s2.upper(note) AS u FROM orders": "lake.s2.upper(…)",
    "SELECT id, s2.shout(note) AS u FROM orders": "lake.s2.shout(…)",
    "SELECT id, note.length() AS u FROM orders": "length(note, …) for a column",
    "SELECT id, lake.ask(note) AS u FROM orders": "lake.main.ask(…)",
    "SELECT id, nested(note) AS u FROM orders": "system.main.upper(…)",
    "SELECT id, lake.main.nested(note) AS u FROM orders": "system.main.upper(…)",
    "SELECT id, round_even(id, 1) AS r FROM orders": "another name",
    "SELECT id, system.main.roundbankers(id, 1) AS r FROM orders": "another name",
    "SELECT id, place() AS p FROM orders": "Write the value",
    "SELECT id, current_database() AS p FROM orders": "Write the value",
    "SELECT id, system.main.current_database() AS p FROM orders": "Write the value",
    "SELECT id, current_catalog AS p FROM orders": "Write the value",
    "SELECT id, current_schemas(true) AS p FROM orders": "Write the value",
    "SELECT * FROM range(2)": "lake.main.range(…)",
    "SELECT id FROM tables_of(1)": "lake.main.orders in the macro",
    "SELECT id FROM pg_catalog.pg_class": "lake.pg_catalog.pg_class",
    "SELECT id FROM information_schema.pg_class": "lake.information_schema.pg_class",
    "SELECT id FROM memory.pg_class": "lake.memory.pg_class",
    "SELECT id FROM system.pg_class": "lake.system.pg_class",
    "SELECT id FROM temp.pg_class": "lake.temp.pg_class",
    "SELECT id FROM lake.orders": "lake.main.orders",
}


@pytest.mark.long
def test_what_may_differ_in_a_refresh_is_refused_with_what_to_write(names: LakeCase) -> None:
    for query, hint in REFUSED.items():
        with pytest.raises(TableRefused) as caught:
            create(names, query)
        assert caught.value.code in ("AMBIGUOUS_NAME", "SESSION_FUNCTION"), query
        assert hint in (caught.value.hint or ""), query


ACCEPTED = (
    """
    SELECT o.id, lake.main.upper(note) AS a, system.main.upper(note) AS b, lake.s2.upper(note) AS c,
           lake.s2.shout(note) AS d, ask(note) AS e, main.ask(note) AS f, exact(note) AS g, lake.note.length(note) AS h,
           length(note) AS i, o.note.lower() AS j
      FROM orders AS o
    """,
    "SELECT note, lake.main.total(id)::BIGINT AS n, total(id)::BIGINT AS m FROM orders GROUP BY note",
    "SELECT q AS id FROM lake.main.range(3)",
    "SELECT id FROM named(1)",
    " UNION ALL ".join(f"SELECT '{schema}' AS s, id FROM lake.{schema}.pg_class" for schema in SCHEMAS),
    "SELECT id FROM main.orders UNION ALL SELECT id FROM s2.pg_class UNION ALL SELECT id FROM lake.main.orders",
)


@pytest.mark.long
def test_what_is_accepted_gives_what_it_gives_by_hand(names: LakeCase) -> None:
    for number, query in enumerate(ACCEPTED):
        names.create(f"CREATE DYNAMIC TABLE dt{number} TARGET_LAG = '1 minute' AS {query}")
        names.refresh(f"dt{number}")
        by_hand = names.duck.cursor().execute(query).fetchall()
        assert sorted(names.rows(f"dt{number}")) == sorted(by_hand), query


def test_a_macro_that_is_named_with_its_catalog_is_followed(names: LakeCase) -> None:
    """No change of data tells that the macro is another one."""
    create(names, "SELECT id, lake.main.upper(note) AS u FROM orders")
    names.refresh("dt")
    names.sql("CREATE OR REPLACE MACRO lake.main.upper(x) AS 'other:' || x")
    names.refresh("dt")
    assert sorted(names.rows("dt")) == [(1, "other:a"), (2, "other:b")]
    assert names.pg("select reason from lake.dt") == [("UNTRACKED_SOURCE",)]
