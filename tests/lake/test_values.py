"""Names in SQL text, and values that go through JSON."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from catchment import errors, lake
from catchment.errors import LakeError
from catchment.lake.names import literal, physical_name, quoted
from catchment.lake.types import Mode, Properties, Strategy

SOME_TEXT = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1, max_size=30)


@pytest.fixture(scope="module")
def con() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as con:
        yield con


@given(name=SOME_TEXT)
def test_a_quoted_name_is_that_name_and_nothing_else(con: duckdb.DuckDBPyConnection, name: str) -> None:
    found = con.execute(f"SELECT 1 AS {quoted(name)}")
    assert [column[0] for column in found.description] == [name]


@given(text=SOME_TEXT)
def test_a_literal_is_that_text(con: duckdb.DuckDBPyConnection, text: str) -> None:
    assert con.execute(f"SELECT {literal(text)}").fetchone() == (text,)


def test_every_error_of_the_lake_is_public_documented_and_has_a_code() -> None:
    kinds = {
        name: kind for name, kind in vars(errors).items() if isinstance(kind, type) and issubclass(kind, LakeError)
    }
    assert set(kinds) <= set(lake.__all__)
    assert all(kind.__doc__ for kind in kinds.values())
    # A closer kind of refusal is still a refusal: classes tell those apart, codes what a refresh died of.
    codes = [kind("said").code for kind in kinds.values() if kind.__mro__[1] is not errors.TableRefused]
    assert len(set(codes)) == len(codes)
    assert LakeError("said", code="X", hint="do").code == "X"


def test_parts_are_quoted_each() -> None:
    assert quoted("lake", 'or"der', "x'; drop table t; --") == '"lake"."or""der"."x\'; drop table t; --"'
    assert physical_name(5, 2) == "t5g2"


@pytest.mark.parametrize("parts", [(), ("",), ("a", ""), ("a\0b",)])
def test_what_cannot_be_a_name_is_refused(parts: tuple[str, ...]) -> None:
    with pytest.raises(ValueError):
        quoted(*parts)


def test_a_literal_with_a_nul_is_refused() -> None:
    with pytest.raises(ValueError):
        literal("a\0b")


@pytest.mark.parametrize(
    "properties",
    [
        Properties(),
        Properties(
            target_lag=timedelta(seconds=90.5),
            refresh_mode=Mode.INCREMENTAL,
            initialize="on_schedule",
            scheduler=False,
            comment="it's",
            allow_parallel_refresh=False,
            parallel_threshold=0,
            max_parallelism=3,
            parallel_strategy=Strategy.MODULO,
            cardinality_threshold=0.25,
        ),
    ],
)
def test_properties_survive_json(properties: Properties) -> None:
    assert Properties.from_json(properties.to_json()) == properties


def test_properties_of_older_code_have_defaults_for_what_is_new() -> None:
    assert Properties.from_json({"target_lag": 60}) == Properties(target_lag=timedelta(minutes=1))
