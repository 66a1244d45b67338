"""Random expressions over the columns that are in reach, of a wanted type."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

T = TypeVar("T")
TYPES = ("BIGINT", "VARCHAR", "DECIMAL(10,2)", "DATE", "BOOLEAN", "DOUBLE", "INTEGER")
VALUES: dict[str, list[str]] = {
    "BIGINT": ["-2", "-1", "0", "1", "2", "3"],
    "INTEGER": ["-1", "0", "1", "2"],
    "VARCHAR": ["'a'", "'b'", "''", "'A'", "'a''b'"],
    "DECIMAL(10,2)": ["-1.50", "0.00", "0.25", "2.00", "7.75"],
    "DATE": ["DATE '2024-01-31'", "DATE '2024-02-29'", "DATE '2025-12-31'"],
    "BOOLEAN": ["true", "false"],
    "DOUBLE": ["-1.5", "0.0", "0.5", "2.25"],
}


@dataclass(frozen=True)
class Field:
    """A column that an expression may mention: its SQL and its type."""

    sql: str
    type: str


@dataclass
class Expressions:
    """Makes expressions. ``is_additive``: only aggregates that can be carried forward."""

    random: Random
    is_additive: bool = field(default=False, kw_only=True)

    def pick(self, options: Sequence[T]) -> T:
        return options[self.random.randrange(len(options))]

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def value(self, kind: str) -> str:
        return "NULL" if self.chance(0.2) else self.pick(VALUES[kind])

    def expression(self, fields: list[Field], kind: str, depth: int = 2) -> Field:
        able = [item for item in fields if item.type == kind]
        if able and (not depth or self.chance(0.6)):
            return self.pick(able)
        if not depth:
            return Field(f"CAST({self.pick(VALUES[kind])} AS {kind})", kind) if not able else self.pick(able)
        return Field(self.pick(_MAKERS[kind])(self, fields, depth - 1), kind)

    def condition(self, fields: list[Field], depth: int = 1) -> str:
        return self.expression(fields, "BOOLEAN", depth + 1).sql

    def aggregate(self, fields: list[Field], kind: str) -> str:
        def some(of: str) -> str:
            return self.expression(fields, of, 1).sql

        if self.is_additive:
            return self.additive(fields, kind)
        options = [f"min({some(kind)})", f"max({some(kind)})"]
        if self.chance(0.06):
            return self.chosen(fields, kind)
        if kind == "BIGINT":
            distinct = f"count(DISTINCT {some(self.pick(TYPES))})"
            options = ["count(*)", f"count({some(self.pick(TYPES))})", distinct, *options[:1]]
            options += [f"count(*) {self.filter(fields)}", f"sum({some('INTEGER')})"] + ["count(*)"] * 2
        if kind in ("DECIMAL(10,2)", "DOUBLE"):
            options += [f"sum({some(kind)})"] * 4 + [f"sum({some(kind)}) {self.filter(fields)}"]
        if kind == "DOUBLE":
            options += [f"avg({some(of)})" for of in ("BIGINT", "DECIMAL(10,2)", "DOUBLE", "INTEGER")]
        if kind == "INTEGER":
            options += [
                f"CAST(sum({some('INTEGER')}) AS INTEGER)",
                f"CAST(sum({some('BIGINT')}) + count(*) AS INTEGER)",
            ]
        if kind == "VARCHAR":
            value = some("VARCHAR")
            options += [f"string_agg({value}, ',' ORDER BY {value})", f"CAST(sum({some('BIGINT')}) AS VARCHAR)"]
        if kind == "BOOLEAN":
            options += [f"bool_or({some(kind)})", f"bool_and({some(kind)})", f"count(*) > {self.random.randint(1, 2)}"]
            options += [f"count(*) > 1 {how} min({some('INTEGER')}) > 0" for how in ("AND", "OR")]
        return self.pick(options)

    def additive(self, fields: list[Field], kind: str) -> str:
        """What can be carried forward: counts and sums of exact numbers."""
        exact = self.expression(fields, self.pick(["BIGINT", "INTEGER", "DECIMAL(10,2)"]), 1).sql
        filtered = self.filter(fields) if self.chance(0.3) else ""
        plain = [
            "count(*)",
            f"count({exact}) {filtered}",
            f"count(*) {self.filter(fields)}",
            f"sum({exact}) {filtered}",
        ]
        plain += [
            f"sum({exact}) * 2 - count(*)",
            f"coalesce(sum({exact}), -1)",
            f"CASE WHEN count(*) > 1 THEN sum({exact}) END",
            f"CASE WHEN count(*) > 2 OR sum({exact}) > 1 THEN count(*) END",
        ]
        return self.pick([f"avg({exact}) {filtered}", *plain[:2]] if kind == "DOUBLE" else plain)

    def chosen(self, fields: list[Field], kind: str) -> str:
        """A value that follows from what rows are compared by, so that ties do not matter."""
        by = self.pick(fields)
        call = self.pick(["arg_max", "arg_min", "max_by", "min_by", "arg_max_null"])
        return f"{call}({self.expression([by], kind, 1).sql}, {by.sql})"

    def filter(self, fields: list[Field]) -> str:
        return f"FILTER (WHERE {self.condition(fields, 0)})"

    def aggregate_condition(self, fields: list[Field]) -> str:
        if self.chance(0.3):
            how = self.pick(["AND", "OR"])
            return f"{self.aggregate_condition(fields)} {how} {self.aggregate_condition(fields)}"
        return self.pick(
            [
                f"count(*) > {self.random.randint(1, 3)}",
                f"sum({self.expression(fields, 'BIGINT', 1).sql}) IS NOT NULL",
                f"max({self.expression(fields, 'DECIMAL(10,2)', 0).sql}) > 0",
            ]
        )


def name_of(item: Field) -> str:
    """The column behind a plain mention."""
    return item.sql.split('"."')[-1].strip('"')


Maker = Callable[[Expressions, list[Field], int], str]


def _from(template: str, *kinds: str) -> Maker:
    """An expression of other expressions, for the holes of a template."""

    def make(generator: Expressions, fields: list[Field], depth: int) -> str:
        return template.format(*(generator.expression(fields, kind, depth).sql for kind in kinds))

    return make


def _case(kind: str) -> list[Maker]:
    """What can be done with any type."""
    return [
        _from("CASE WHEN {} THEN {} ELSE {} END", "BOOLEAN", kind, kind),
        _from("CASE WHEN {} THEN {} END", "BOOLEAN", kind),
        _from("coalesce({}, {})", kind, kind),
        _from("nullif({}, {})", kind, kind),
    ]


def _literal(kind: str) -> Maker:
    return lambda generator, _fields, _depth: f"CAST({generator.value(kind)} AS {kind})"


def _compare(kind: str) -> list[Maker]:
    signs = ("=", "<>", "<", ">=", "IS DISTINCT FROM")
    return [_from("({} " + sign + " {})", kind, kind) for sign in signs] + [_from("({} IS NULL)", kind)]


_MAKERS: dict[str, list[Maker]] = {
    "BIGINT": [
        *_case("BIGINT"),
        _literal("BIGINT"),
        _from("({} + {})", "BIGINT", "INTEGER"),
        _from("(-{})", "BIGINT"),
        _from("({} % 3)", "BIGINT"),
        _from("length({})", "VARCHAR"),
        _from("year({})", "DATE"),
    ],
    "INTEGER": [*_case("INTEGER"), _literal("INTEGER"), _from("CAST({} AS INTEGER)", "BIGINT")],
    "VARCHAR": [
        *_case("VARCHAR"),
        _literal("VARCHAR"),
        _from("upper({})", "VARCHAR"),
        _from("({} || 'x')", "VARCHAR"),
        _from("CAST({} AS VARCHAR)", "BIGINT"),
        _from("concat({}, {})", "VARCHAR", "DATE"),
    ],
    "DECIMAL(10,2)": [
        *_case("DECIMAL(10,2)"),
        _literal("DECIMAL(10,2)"),
        _from("CAST({} AS DECIMAL(10,2))", "BIGINT"),
        _from("CAST({} + 1 AS DECIMAL(10,2))", "DECIMAL(10,2)"),
    ],
    "DATE": [
        *_case("DATE"),
        _literal("DATE"),
        _from("CAST(date_trunc('month', {}) AS DATE)", "DATE"),
        _from("({} + {})", "DATE", "INTEGER"),
    ],
    "BOOLEAN": [
        *_case("BOOLEAN"),
        *(maker for kind in TYPES for maker in _compare(kind)),
        _from("({} AND {})", "BOOLEAN", "BOOLEAN"),
        _from("({} OR {})", "BOOLEAN", "BOOLEAN"),
        _from("(NOT {})", "BOOLEAN"),
        _from("({} IN (0, 1, NULL))", "BIGINT"),
        _from("({} BETWEEN 0 AND {})", "BIGINT", "INTEGER"),
        _from("({} LIKE 'a%')", "VARCHAR"),
    ],
    "DOUBLE": [
        *_case("DOUBLE"),
        _literal("DOUBLE"),
        _from("CAST({} AS DOUBLE)", "DECIMAL(10,2)"),
        _from("({} * 2)", "DOUBLE"),
    ],
}
