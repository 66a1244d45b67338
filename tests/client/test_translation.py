"""Which errors of PostgreSQL say that the schema is missing, and which say something about the request."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import psycopg
import pytest

from catchment.errors import LakeUnavailable, RequestRefused, SchemaMismatch
from catchment.store.fetch import fetch_value
from tests.client.support import Shop


@pytest.mark.parametrize("missing", ["worker.nothing()", "(select id from worker.nothing)"])
def test_what_a_statement_does_not_find_in_the_schema_is_a_schema_that_does_not_fit(shop: Shop, missing: str) -> None:
    with pytest.raises(
        SchemaMismatch, match="Catchment is not installed in this database, or an older version"
    ) as caught:
        fetch_value(shop.engine.conn, f"select {missing}")  # type: ignore[arg-type]
    assert caught.value.hint == "Run: catchment migrate"


def test_what_a_statement_does_not_find_in_the_lake_is_no_lake(shop: Shop) -> None:
    with pytest.raises(LakeUnavailable, match="the database has no lake, or an older one"):
        fetch_value(shop.engine.conn, "select lake.nothing()")


@pytest.mark.parametrize("missing", ["worker.nothing()", "(select id from worker.nothing)", "lake.nothing()"])
def test_what_a_function_of_others_does_not_find_says_nothing_about_the_schema(shop: Shop, missing: str) -> None:
    shop.engine.conn.execute(
        f"create function public.lost() returns integer language plpgsql as 'begin return {missing}; end'"  # type: ignore[arg-type]
    )
    with pytest.raises(
        (psycopg.errors.UndefinedFunction, psycopg.errors.UndefinedTable, psycopg.errors.InvalidSchemaName)
    ):
        fetch_value(shop.engine.conn, "select public.lost()")


@pytest.mark.parametrize(
    ("sql", "value", "says"),
    [
        ("select %s::integer", 2**40, "integer out of range"),
        ("select %s::bigint", 2**70, "bigint out of range"),
        ("select worker.now() + %s::interval", timedelta.max, "out of range"),
        ("select %s::text", "a\0b", "a text contains a NUL character"),
        ("select %s::text", "a\ud800b", r"'a\\ud800b' cannot be stored: it is not valid Unicode text"),
    ],
)
def test_a_value_that_its_type_cannot_hold_is_a_refused_request(shop: Shop, sql: Any, value: object, says: str) -> None:
    with pytest.raises(RequestRefused, match=says):
        fetch_value(shop.engine.conn, sql, value)
