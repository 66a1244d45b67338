"""Reads what the pipeline has published, in the form that the reference computes with."""

from __future__ import annotations

import json
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from typing import Any, LiteralString, cast

from psycopg import Connection, sql
from psycopg.rows import dict_row
from psycopg.types.json import set_json_loads

from catchment_register.dates import read_open_ends
from catchment_register.reference.algebra import Moment, Summary, Variable
from catchment_register.reference.model import Row, UnitRow

# Columns that serve the pipeline, or are read in another form.
_APART = {
    "unit_type",
    "unit_id",
    "valid_from",
    "valid_until",
    "next_from",
    "is_only",
    "hash_slot",
    "moments",
    "value_counts",
}

_UNITS: LiteralString = """
select r.*, to_jsonb(r.moments) as moments,
       (select c.path from register.activity_category as c where c.id = r.primary_activity_category_id)
         as primary_activity_category_path,
       (select c.path from register.activity_category as c where c.id = r.secondary_activity_category_id)
         as secondary_activity_category_path,
       (select s.path from register.sector as s where s.id = r.sector_id) as sector_path,
       (select g.path from register.region as g where g.id = r.physical_region_id) as physical_region_path
  from register.statistical_unit_row as r
"""


def read_rows(conn: Connection[Any], query: LiteralString | sql.Composed) -> list[Row]:
    """Rows by the names of their columns; numbers within json as ``Decimal``, open ends as ``OPEN_END``."""
    read_open_ends(conn)
    with conn.cursor(row_factory=dict_row) as cursor:
        set_json_loads(lambda text: json.loads(text, parse_float=Decimal), cursor)
        return cursor.execute(sql.SQL(query) if isinstance(query, str) else query).fetchall()


def read_view(conn: Connection[Any], view: str) -> list[Row]:
    """All rows of a published view of the register, such as ``statistical_history``."""
    return read_rows(conn, sql.SQL("select * from register.{}").format(sql.Identifier(view)))


def variables(conn: Connection[Any]) -> dict[int, Variable]:
    """Statistical variables by their id."""
    rows = read_rows(conn, "select d.id, d.code, d.type from register.stat_definition as d")
    return {row["id"]: Variable(row["code"], row["type"]) for row in rows}


def published_units(conn: Connection[Any]) -> list[UnitRow]:
    """The rows of ``statistical_unit`` as they are published now."""
    known = variables(conn)
    return [
        UnitRow(
            row["unit_type"],
            row["unit_id"],
            row["valid_from"],
            row["valid_until"],
            {name: value for name, value in row.items() if name not in _APART},
            _summary(row, known),
        )
        for row in read_rows(conn, _UNITS)
    ]


def _summary(row: Row, known: dict[int, Variable]) -> Summary:
    """The statistics of a row: numbers are composites, what has no order is counted by value."""
    numbers = {
        known[m["stat_definition_id"]]: Moment(
            m["n"], Fraction(m["total"]), Fraction(m["squares"]), Fraction(m["min"]), Fraction(m["max"])
        )
        for m in cast(list[Row], row["moments"] or [])
    }
    counts = cast(dict[str, dict[str, int]], row["value_counts"] or {})
    return numbers | {known[int(definition)]: Counter(by_value) for definition, by_value in counts.items()}
