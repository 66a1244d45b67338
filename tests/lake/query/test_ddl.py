"""``CREATE DYNAMIC TABLE`` is read, or refused with the line, the value and what was expected."""

from __future__ import annotations

from datetime import timedelta

import pytest

from catchment.errors import TableRefused
from catchment.lake.query.ddl import PROPERTIES, parse_lag, parse_statements, set_property
from catchment.lake.types import Definition, Executor, Mode, Properties, Strategy, TableRef


def one(text: str) -> Definition:
    [found] = parse_statements(text)
    return found


def test_a_statement_gives_name_properties_and_query() -> None:
    found = one("CREATE DYNAMIC TABLE sales.by_region TARGET_LAG = '5 minutes' AS SELECT region FROM orders")
    assert found == Definition(
        TableRef("sales", "by_region"), "SELECT region FROM orders", Properties(target_lag=timedelta(minutes=5))
    )


def test_a_name_without_schema_is_in_main() -> None:
    assert one("create dynamic table t target_lag = downstream as select 1").ref == TableRef("main", "t")


def test_adaptive_is_another_word_for_auto() -> None:
    found = one("CREATE DYNAMIC TABLE t REFRESH_MODE = ADAPTIVE TARGET_LAG = '1 s' AS SELECT 1")
    assert found.properties.refresh_mode == Mode.AUTO
    changed = set_property(Properties(refresh_mode=Mode.FULL), "refresh_mode", "adaptive")
    assert changed.refresh_mode == Mode.AUTO


def test_every_property_is_read() -> None:
    found = one(
        """
        CREATE OR REPLACE DYNAMIC TABLE t
            TARGET_LAG = '90 s', REFRESH_MODE = INCREMENTAL INITIALIZE ON_SCHEDULE SCHEDULER = DISABLE
            COMMENT = 'it''s; AS SELECT' ALLOW_PARALLEL_REFRESH = FALSE PARALLEL_THRESHOLD = 1_000
            MAX_PARALLELISM = 4 PARALLEL_STRATEGY = modulo CARDINALITY_THRESHOLD = 0.5
        AS SELECT 1
        """
    )
    assert found.or_replace
    assert found.properties == Properties(
        target_lag=timedelta(seconds=90),
        refresh_mode=Mode.INCREMENTAL,
        initialize="on_schedule",
        scheduler=False,
        comment="it's; AS SELECT",
        allow_parallel_refresh=False,
        parallel_threshold=1000,
        max_parallelism=4,
        parallel_strategy=Strategy.MODULO,
        cardinality_threshold=0.5,
    )


def test_properties_of_the_statement_are_those_of_the_type() -> None:
    assert {name.lower() for name in PROPERTIES} == set(Properties.__dataclass_fields__)


def test_if_not_exists_is_read() -> None:
    assert one("CREATE DYNAMIC TABLE IF NOT EXISTS t TARGET_LAG = DOWNSTREAM AS SELECT 1").if_not_exists


def test_several_statements_with_comments_and_quoted_names() -> None:
    found = parse_statements(
        '''
        -- first; not a statement
        CREATE DYNAMIC TABLE "order ""by""" TARGET_LAG = '1 hour' AS /* why */ SELECT ';' AS "a;b" -- end
        ;
        ;
        CREATE DYNAMIC TABLE "x'; drop table t; --" TARGET_LAG = DOWNSTREAM AS
        WITH c AS (SELECT 1 AS a) SELECT * FROM c;
        '''
    )
    assert [item.ref.name for item in found] == ['order "by"', "x'; drop table t; --"]
    assert found[0].query == "SELECT ';' AS \"a;b\""
    assert found[1].query == "WITH c AS (SELECT 1 AS a) SELECT * FROM c"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90 seconds", timedelta(seconds=90)),
        ("1 s", timedelta(seconds=1)),
        ("5 minutes", timedelta(minutes=5)),
        ("5min", timedelta(minutes=5)),
        ("1 hour", timedelta(hours=1)),
        ("2 days", timedelta(days=2)),
        ("1.5 hours", timedelta(minutes=90)),
        ("DownStream", None),
    ],
)
def test_a_lag_is_read(text: str, expected: timedelta | None) -> None:
    assert parse_lag(text) == expected


@pytest.mark.parametrize("text", ["", "5", "five minutes", "0.5 s", "-1 minute", "1 fortnight", "99999999999999 days"])
def test_an_invalid_lag_is_refused(text: str) -> None:
    with pytest.raises(TableRefused) as caught:
        parse_lag(text)
    assert caught.value.code == "PARSE_ERROR"
    assert "TARGET_LAG" in str(caught.value)
    assert caught.value.hint


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no statement"),
        ("-- nothing", "no statement"),
        ("SELECT 1", "expected CREATE"),
        ("CREATE TABLE t AS SELECT 1", "expected DYNAMIC"),
        ("CREATE DYNAMIC TABLE t AS SELECT 1", "no TARGET_LAG"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s'", "no AS SELECT"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s' AS", "nothing follows AS"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG AS SELECT 1", "has no value"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s' COLOUR = red AS SELECT 1", "'COLOUR' is not a property"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s' TARGET_LAG = '2 s' AS SELECT 1", "given twice"),
        ("CREATE DYNAMIC TABLE t MAX_PARALLELISM = 0 TARGET_LAG = '1 s' AS SELECT 1", "MAX_PARALLELISM = '0'"),
        ("CREATE DYNAMIC TABLE t PARALLEL_THRESHOLD = -1 TARGET_LAG = '1 s' AS SELECT 1", "'-1' is not valid"),
        ("CREATE DYNAMIC TABLE t REFRESH_MODE = FAST TARGET_LAG = '1 s' AS SELECT 1", "REFRESH_MODE = 'FAST'"),
        ("CREATE DYNAMIC TABLE t SCHEDULER = MAYBE TARGET_LAG = '1 s' AS SELECT 1", "SCHEDULER = 'MAYBE'"),
        ("CREATE DYNAMIC TABLE t ALLOW_PARALLEL_REFRESH = 3 TARGET_LAG = '1 s' AS SELECT 1", "'3' is not valid"),
        ("CREATE DYNAMIC TABLE t CARDINALITY_THRESHOLD = 1.5 TARGET_LAG = '1 s' AS SELECT 1", "'1.5' is not valid"),
        ("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s' AS SELECT 'open", "ends inside a string"),
        ("CREATE DYNAMIC TABLE a.b.c TARGET_LAG = '1 s' AS SELECT 1", "3 parts"),
        ("CREATE DYNAMIC TABLE 7 TARGET_LAG = '1 s' AS SELECT 1", "'7' is not a table name"),
        ("CREATE OR REPLACE DYNAMIC TABLE IF NOT EXISTS t TARGET_LAG = '1 s' AS SELECT 1", "do not go together"),
    ],
)
def test_what_is_not_understood_is_refused_with_words(text: str, words: str) -> None:
    with pytest.raises(TableRefused) as caught:
        parse_statements(text)
    assert words in str(caught.value)
    assert caught.value.hint


def test_an_unknown_property_names_the_known_ones() -> None:
    with pytest.raises(TableRefused) as caught:
        set_property(Properties(), "speed", "3")
    assert caught.value.hint
    assert all(name in caught.value.hint for name in PROPERTIES)


def test_a_name_with_two_underscores_is_ours() -> None:
    with pytest.raises(TableRefused) as caught:
        one("CREATE DYNAMIC TABLE __t TARGET_LAG = '1 s' AS SELECT 1")
    assert caught.value.code == "RESERVED_NAME"


def test_one_property_can_be_changed() -> None:
    assert set_property(Properties(), "TARGET_LAG", "1 hour").target_lag == timedelta(hours=1)
    assert set_property(Properties(scheduler=False), "scheduler", "enable").scheduler


def test_default_resets_a_property() -> None:
    changed = Properties(refresh_mode=Mode.FULL, max_parallelism=3, executor=Executor.RAY, allow_parallel_refresh=False)
    for name in ("refresh_mode", "MAX_PARALLELISM", "executor", "allow_parallel_refresh"):
        changed = set_property(changed, name, "Default")
    assert changed == Properties()
    assert one("CREATE DYNAMIC TABLE t TARGET_LAG = '1 s' EXECUTOR = DEFAULT AS SELECT 1").properties.executor is None
    assert set_property(Properties(), "comment", "default").comment == "default"
    with pytest.raises(TableRefused):
        set_property(Properties(), "target_lag", "default")
