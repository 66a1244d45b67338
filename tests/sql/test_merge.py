"""The merge rules keep their laws, for any payloads. Many examples travel to the server in one call."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from psycopg import Connection
from psycopg.types.json import Jsonb

# Each law as a condition on three payloads; m(x, y) stands for the merge of x and y under the rules at hand.
LAWS = {
    "associative": "m(m(a, b), c) = m(a, m(b, c))",
    "commutative": "m(a, b) = m(b, a)",
    # Before it is merged, a payload may spell its set in many ways; n is merged.
    "idempotent": "m(n, n) = n and m(n, a) = n and m(n, b) = n",
}
SET_LAWS = ["associative", "commutative", "idempotent"]

numbers = st.integers(-(10**12), 10**12) | st.decimals(-1000, 1000, places=3, allow_nan=False).map(float)
scalars = (
    st.none() | st.booleans() | numbers | st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=3)
)
days = st.integers(0, 4000).map(lambda n: str(date(2020, 1, 1) + timedelta(days=n)))
instants = st.tuples(days, st.integers(0, 23), st.sampled_from(["Z", "+00:00", "+02:00", "-05"])).map(
    lambda t: f"{t[0]}T{t[1]:02}:00:00{t[2]}"
)
ranges = st.tuples(st.integers(-50, 50), st.integers(0, 20), st.sampled_from(["[)", "[]", "(]"])).map(
    lambda t: f"{t[2][0]}{t[0]},{t[0] + t[1]}{t[2][1]}"
)
multiranges = ranges | st.lists(ranges, max_size=3).map(lambda rs: "{" + ",".join(rs) + "}") | st.just("empty")
day_ranges = st.tuples(days, days).map(lambda t: f"[{min(t)},{max(t)}]")

# rule, values that fit it, the laws it keeps
CASES: dict[str, tuple[Any, st.SearchStrategy[Any], list[str]]] = {
    "union": ("union", st.lists(scalars | st.lists(numbers, max_size=2), max_size=4), SET_LAWS),
    "range_union": ("range_union", multiranges, SET_LAWS),
    "range_union of numbers": ({"op": "range_union", "type": "nummultirange"}, multiranges, SET_LAWS),
    "range_union of days": ({"op": "range_union", "type": "datemultirange"}, day_ranges, SET_LAWS),
    "min": ("min", numbers, SET_LAWS),
    "max": ("max", numbers, SET_LAWS),
    "min of text": ("min", st.text("abAB _9", max_size=4), SET_LAWS),
    "max of text": ("max", st.text("abAB _9", max_size=4), SET_LAWS),
    "min of days": ({"op": "min", "type": "date"}, days, SET_LAWS),
    "max of instants": ({"op": "max", "type": "timestamptz"}, instants, SET_LAWS),
    "add": ("add", numbers, ["associative", "commutative"]),
    "last": ("last", scalars, ["associative"]),
    "no rule": (None, scalars, ["associative"]),
}


@pytest.fixture(scope="module")
def conn(shared_db: str) -> Iterator[Connection[Any]]:
    with psycopg.connect(shared_db) as made:
        made.execute(
            "create function pg_temp.m(rules jsonb, x jsonb, y jsonb) returns jsonb language sql"
            " as $$ select worker.merge_payload(rules, x, y) $$"
        )
        yield made
        made.rollback()


def _payloads(values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """A payload with the key, without it (nothing), or with null (no limit)."""
    return st.one_of(values.map(lambda v: {"k": v}), values.map(lambda v: {"k": v}), st.just({}), st.just({"k": None}))


def _broken(conn: Connection[Any], rules: dict[str, Any], law: str, triples: list[Any]) -> list[Any]:
    condition = LAWS[law].replace("m(", "pg_temp.m(%(rules)s, ")
    return conn.execute(
        f"""select a, b, c
              from jsonb_to_recordset(%(triples)s) as t (a jsonb, b jsonb, c jsonb)
             cross join lateral (
               select pg_temp.m(%(rules)s, pg_temp.m(%(rules)s, a, a), pg_temp.m(%(rules)s, b, b)) as n
               offset 0) as merged
             where ({condition}) is not true""",  # type: ignore[arg-type]
        {"rules": Jsonb(rules), "triples": Jsonb([{"a": a, "b": b, "c": c} for a, b, c in triples])},
    ).fetchall()


@pytest.mark.parametrize("case", CASES)
def test_rule_keeps_its_laws(conn: Connection[Any], case: str) -> None:
    rule, values, laws = CASES[case]
    payload = _payloads(values)

    # No shrinking: the server names the triples that break a law, so a smaller batch says no more.
    @settings(
        max_examples=3, deadline=None, database=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck)
    )
    @given(st.lists(st.tuples(payload, payload, payload), min_size=20, max_size=60))
    def check(triples: list[Any]) -> None:
        for law in laws:
            assert _broken(conn, {} if rule is None else {"k": rule}, law, triples) == []

    check()


def _merge(conn: Connection[Any], rule: Any, old: Any, new: Any) -> Any:
    row = conn.execute("select worker.merge_value('k', %s, %s, %s)", [Jsonb(rule), Jsonb(old), Jsonb(new)]).fetchone()
    assert row is not None
    return row[0]


@pytest.mark.parametrize(
    ("rule", "old", "new", "merged"),
    [
        ("union", [3, 1], [2, 3], [1, 2, 3]),
        ("union", [], [], []),
        ("range_union", "[1,3]", "{[4,5],[9,9]}", "{[1,6),[9,10)}"),
        ({"op": "range_union", "type": "datemultirange"}, "[2024-01-01,2024-01-31]", "[2024-02-01,2024-02-02]",
         "{[2024-01-01,2024-02-03)}"),
        ("min", 10, 9, 9),
        ("max", 10, 9, 10),
        ("min", "b", "a", "a"),
        ("min", "10", "9", "10"),
        ({"op": "min", "type": "numeric"}, "10", "9", "9"),
        ({"op": "max", "type": "date"}, "2024-02-01", "2024-01-15", "2024-02-01"),
        ("add", 1.25, 2, 3.25),
        ("last", {"a": 1}, [2], [2]),
        (None, 1, "two", "two"),
    ],
)  # fmt: skip
def test_rule_combines(conn: Connection[Any], rule: Any, old: Any, new: Any, merged: Any) -> None:
    assert _merge(conn, rule, old, new) == merged


@pytest.mark.parametrize("rule", ["union", "range_union", "min", "max", "add"])
def test_null_means_no_limit_and_absorbs(conn: Connection[Any], rule: str) -> None:
    fitting = {"union": [1], "range_union": "[1,2]"}.get(rule, 1)
    assert _merge(conn, rule, fitting, None) is None
    assert _merge(conn, rule, None, fitting) is None
    assert _merge(conn, rule, None, None) is None


def test_null_is_a_value_like_others_under_last(conn: Connection[Any]) -> None:
    assert _merge(conn, "last", None, 1) == 1
    assert _merge(conn, "last", 1, None) is None


def test_missing_key_gives_way(conn: Connection[Any]) -> None:
    rules, old, new = Jsonb({"k": "add", "l": "min"}), Jsonb({"k": 1, "only": "old"}), Jsonb({"l": None, "more": 2})
    row = conn.execute("select worker.merge_payload(%s, %s, %s)", [rules, old, new]).fetchone()
    assert row == ({"k": 1, "only": "old", "l": None, "more": 2},)


BAD: list[tuple[Any, Any, Any]] = [
    ("union", 1, [1]),
    ("union", [1], {"a": 1}),
    ("union", {"a": 1}, {"b": 1}),
    ("union", "a", "b"),
    ("range_union", "[3,1]", "[1,2]"),
    ("range_union", 5, "[1,2]"),
    ("range_union", "[1,2]", ["[1,2]"]),
    ({"op": "range_union", "type": "boxes"}, "[1,2]", "[1,2]"),
    ("min", 1, "a"),
    ("min", "a", 1),
    ("max", [1], [2]),
    ("max", True, False),
    ("max", {"a": 1}, {"a": 1}),
    ({"op": "min", "type": "date"}, "2024-13-01", "2024-01-01"),
    ({"op": "min", "type": "colour"}, "red", "blue"),
    ("add", 1, "two"),
    ("add", "1", 2),
    ("add", [1], [2]),
    ("concat", 1, 2),
    ({"type": "date"}, "2024-01-01", "2024-01-01"),
]


@pytest.mark.parametrize(("rule", "old", "new"), BAD, ids=[json.dumps(case) for case in BAD])
def test_value_that_does_not_fit_its_rule_is_refused(conn: Connection[Any], rule: Any, old: Any, new: Any) -> None:
    for pair in ((old, new), (new, old)):
        with pytest.raises(psycopg.Error) as error, conn.transaction():
            _merge(conn, rule, *pair)
        assert error.value.sqlstate == "CM020"
        assert "payload key k cannot be merged" in str(error.value)
