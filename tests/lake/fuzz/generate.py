"""Random schemas and definitions. The same seed gives the same text.

Domains are tiny, so that joins meet, groups collide and NULLs are everywhere; floats are sums of powers of two, so that
adding them in another order gives the same number.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from catchment.lake.names import quoted
from tests.lake.fuzz.expressions import TYPES, Field, name_of
from tests.lake.fuzz.nested import Nested, table_item

_WIDER = {
    "INTEGER": ["BIGINT", "DOUBLE", "VARCHAR"],
    "BIGINT": ["DOUBLE", "VARCHAR"],
    "DECIMAL(10,2)": ["DOUBLE"],
    "DATE": ["VARCHAR"],
}
"""What a column becomes when a UNION meets it with another type."""

HOSTILE = ['order "by"', "x'; drop table t0; --", "select", "Größe", "a.b", "GROUP", "o1_new", "akeys_1", "new line\n"]


@dataclass(frozen=True)
class Made:
    """A relation that can stand in FROM, with the names and types of its columns."""

    sql: str
    columns: tuple[tuple[str, str], ...]


@dataclass
class Generator(Nested):
    """Makes the tables and definitions of one case."""

    tables: dict[str, dict[str, str]] = field(default_factory=dict)
    ctes: list[tuple[str, Made, str]] = field(default_factory=list)
    names: int = 0

    def schema(self) -> dict[str, dict[str, str]]:
        """Two to four tables. They share column names, so that USING works and names have to be told apart."""
        shared = [
            ("k", "BIGINT"),
            ("g", "VARCHAR"),
            ("v", "DECIMAL(10,2)"),
            ("d", "DATE"),
            ("f", "BOOLEAN"),
            ("x", "DOUBLE"),
        ]
        shared.append(("i", "INTEGER"))
        if self.chance(0.1):
            shared[1] = (self.pick(HOSTILE), "VARCHAR")
        for place in range(self.random.randint(2, 4)):
            name = self.pick(HOSTILE[:6]) if self.chance(0.1) else f"t{place}"
            if name in self.tables:
                name = f"t{place}"
            chosen = [shared[0], *self.random.sample(shared[1:], self.random.randint(1, 4))]
            self.tables[name] = dict(chosen)
        return self.tables

    def row(self, columns: dict[str, str]) -> str:
        """Values for one row."""
        return ", ".join(self.value(kind) for kind in columns.values())

    def definition(self) -> str:
        """One definition, with the CTEs that it uses."""
        self.ctes.clear()
        self.is_additive = self.chance(0.2)
        made = self.select(depth=0) if self.is_additive else self.query(depth=2)
        if self.chance(0.03) and not self.is_additive:
            other = self.select(depth=0)
            # A name that has a number here and a date there is an error in DuckDB, once there are rows.
            if all(dict(made.columns).get(name, kind) == kind for name, kind in other.columns):
                made = Made(f"{made.sql} UNION {self.pick(['ALL ', ''])}BY NAME {other.sql}", made.columns)
        if not self.ctes:
            return made.sql
        return "WITH " + ", ".join(f"{quoted(name)} AS ({sql})" for name, _, sql in self.ctes) + " " + made.sql

    def query(self, depth: int) -> Made:
        """Any query."""
        roll = self.random.random()
        if roll < 0.12:
            return self.union("UNION ALL", depth)
        if roll < 0.2:
            return self.union("UNION", depth)
        if roll < 0.26:
            kind = self.pick(["INTERSECT", "EXCEPT", "INTERSECT ALL", "EXCEPT ALL"])
            return self.union(kind, depth, narrow=True)
        return self.select(depth)

    def union(self, kind: str, depth: int, *, narrow: bool = False) -> Made:
        """``narrow``: few columns, so that rows of both sides are equal now and then."""
        first = self.select(depth, [self.pick(TYPES) for _ in range(self.random.randint(1, 2))] if narrow else None)
        types = [found for _, found in first.columns]
        parts = [first.sql]
        for _ in range(self.random.randint(1, 2)):
            other = [self.pick(_WIDER.get(found, [found])) if self.chance(0.1) else found for found in types]
            types = [
                wider if wider in _WIDER.get(found, []) else found for found, wider in zip(types, other, strict=True)
            ]
            parts.append(self.constants(other) if self.chance(0.1) else self.select(depth, other).sql)
        names = [name for name, _ in first.columns]
        return Made(f" {kind} ".join(parts), tuple(zip(names, types, strict=True)))

    def constants(self, types: Sequence[str]) -> str:
        """A SELECT without FROM."""
        return "SELECT " + ", ".join(f"CAST({self.value(kind)} AS {kind})" for kind in types)

    def select(self, depth: int, types: Sequence[str] | None = None) -> Made:
        """One SELECT with these output types, or any."""
        clause, fields = self.sources(depth)
        where = f" WHERE {self.filter_rows(fields)}" if self.chance(0.45) else ""
        wanted = list(types) if types is not None else [self.pick(TYPES) for _ in range(self.random.randint(1, 4))]
        roll = 0.1 if self.is_additive else self.random.random()
        if self.is_additive and self.chance(0.15):
            return self.aggregated(clause + where, fields, wanted)
        if roll < 0.33:
            return self.grouped(clause + where, fields, wanted)
        if roll < 0.42 and types is None:
            make = self.ranked_groups if self.chance(0.5) else self.grouping_sets
            return make(clause + where, fields, wanted)
        if roll < 0.52:
            return self.windowed(clause + where, fields, wanted)
        if roll < 0.57:
            return self.aggregated(clause + where, fields, wanted)
        distinct = "DISTINCT " if self.chance(0.3) else ""
        if types is None and self.chance(0.1) and self.is_plain(fields):
            return self.star(clause + where, fields, distinct)
        items = [
            self.nested_value(fields, kind) if self.chance(0.07) else self.expression(fields, kind) for kind in wanted
        ]
        return self.listed(f"SELECT {distinct}", items, wanted, clause + where)

    def filter_rows(self, fields: list[Field]) -> str:
        """A condition of WHERE."""
        if self.is_additive or self.chance(0.6):
            return self.condition(fields)
        if self.chance(0.4):
            return f"{self.condition(fields)} AND {self.truth(fields)}"
        return self.truth(fields)

    def inner(self) -> tuple[str, list[Field]]:
        return table_item(self, self.tables, self.name("n") if self.chance(0.8) else "s1")

    def sources(self, depth: int) -> tuple[str, list[Field]]:
        """A FROM clause and what can be mentioned after it."""
        count = self.random.choices([1, 2, 3, 4], [5, 6, 2, 1])[0]
        text, fields, aliases = "", list[Field](), list[str]()
        for place in range(count):
            made = self.relation(depth)
            alias = self.name("s")
            own = [Field(f"{quoted(alias)}.{quoted(name)}", kind) for name, kind in made.columns]
            item = f"{made.sql} AS {quoted(alias)}"
            if not place:
                text, fields = f" FROM {item}", own
            else:
                text, fields = self.join(text, fields, item, own, is_wide=place > 1)
            aliases.append(alias)
        return text, self.bare(fields)

    def join(
        self, text: str, left: list[Field], item: str, right: list[Field], *, is_wide: bool
    ) -> tuple[str, list[Field]]:
        if self.is_additive:
            return f"{text} JOIN {item} ON {self.join_condition(left, right)}", [*left, *right]
        kinds = ["JOIN"] * 5 + ["LEFT JOIN"] * 4 + ["RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN"] * 2
        kind = self.pick(kinds if is_wide else [*kinds, ",", "CROSS JOIN"])
        if kind == ",":
            return f"{text}, {item}", [*left, *right]
        if kind == "CROSS JOIN":
            return f"{text} CROSS JOIN {item}", [*left, *right]
        visible = left if kind in ("SEMI JOIN", "ANTI JOIN") else [*left, *right]
        if not is_wide and self.chance(0.2) and any(name_of(one) == "k" for one in left) and name_of(right[0]) == "k":
            return f"{text} {kind} {item} USING ({quoted('k')})", [*visible, Field(quoted("k"), "BIGINT")]
        return f"{text} {kind} {item} ON {self.join_condition(left, right)}", visible

    def join_condition(self, left: list[Field], right: list[Field]) -> str:
        pairs = [(one.sql, two.sql) for one in left for two in right if one.type == two.type]
        parts = [
            f"{one} = {two}"
            for one, two in self.random.sample(pairs, min(len(pairs), self.random.choice([1, 1, 1, 2])))
        ]
        if not parts or self.chance(0.15):
            parts.append(self.condition([*left, *right]))
        if self.chance(0.05):
            parts = [f"({' OR '.join(parts)})"]
        if self.chance(0.05) and pairs:
            one, two = self.pick(pairs)
            parts = [f"{one} IS NOT DISTINCT FROM {two}"]
        return " AND ".join(parts)

    def relation(self, depth: int) -> Made:
        """A table, a derived table, or a CTE that may have been used before."""
        if depth and self.chance(0.2):
            made = self.query(depth - 1)
            return Made(f"({made.sql})", made.columns)
        if self.ctes and self.chance(0.3):
            name, made, _ = self.pick(self.ctes)
            return Made(quoted(name), made.columns)
        if depth == 2 and self.chance(0.15):
            made, name = self.select(0), self.name("c")
            self.ctes.append((name, made, made.sql))
            return Made(quoted(name), made.columns)
        if self.chance(0.04):
            kinds = [self.pick(TYPES) for _ in range(2)]
            rows = ", ".join(
                f"({', '.join(f'CAST({self.value(kind)} AS {kind})' for kind in kinds)})" for _ in range(3)
            )
            return Made(f"(SELECT * FROM (VALUES {rows}) AS v(c0, c1))", tuple(zip(("c0", "c1"), kinds, strict=True)))
        table = self.pick(list(self.tables))
        return Made(quoted(table), tuple(self.tables[table].items()))

    def grouped(self, clause: str, fields: list[Field], wanted: list[str]) -> Made:
        keys = [
            self.expression(fields, kind, depth=self.random.choice([0, 0, 0, 1])) for kind in self.some_types(fields)
        ]
        items = [self.group_item(fields, kind, keys) for kind in wanted]
        roll = self.random.random()
        group = "ALL" if roll < 0.1 and self._covers(items, keys) else ", ".join(key.sql for key in keys)
        if all(key.sql in items for key in keys) and self.chance(0.2):
            group = ", ".join(str(items.index(key.sql) + 1) for key in keys)
        having = f" HAVING {self.having(fields, keys)}" if self.chance(0.25) and not self.is_additive else ""
        distinct = "DISTINCT " if self.chance(0.08) and not self.is_additive else ""
        return self.listed(f"SELECT {distinct}", items, wanted, f"{clause} GROUP BY {group}{having}")

    def having(self, fields: list[Field], keys: list[Field]) -> str:
        if self.chance(0.8):
            return self.aggregate_condition(fields)
        plain = [key for key in keys if name_of(key) != key.sql]
        return f"count(*) >= {self.nested_value(plain, 'BIGINT')}"

    def ranked_groups(self, clause: str, fields: list[Field], wanted: list[str]) -> Made:
        """Windows over aggregates."""
        keys = [self.expression(fields, kind, depth=0) for kind in self.some_types(fields)]
        partition = self.pick(keys).sql
        over = self.pick([f"(PARTITION BY {partition})", f"(PARTITION BY {partition} ORDER BY count(*))", "()"])
        items = [self.group_item(fields, kind, keys) for kind in wanted]
        items.append(
            self.pick([f"sum(count(*)) OVER {over}", f"rank() OVER (PARTITION BY {partition} ORDER BY count(*))"])
        )
        types = [*wanted, "BIGINT"]
        having = f" HAVING {self.having(fields, keys)}" if self.chance(0.2) else ""
        group = ", ".join(key.sql for key in keys)
        return self.listed(
            "SELECT ",
            [f"CAST({_sql(item)} AS {kind})" for item, kind in zip(items, types, strict=True)],
            types,
            f"{clause} GROUP BY {group}{having}",
        )

    def grouping_sets(self, clause: str, fields: list[Field], wanted: list[str]) -> Made:
        """ROLLUP, CUBE and sets by name; with GROUPING, and now and then with a key beside them."""
        keys = list(dict.fromkeys(self.expression(fields, kind, depth=0).sql for kind in self.some_types(fields)))
        fields_of = [Field(key, next((one.type for one in fields if one.sql == key), "")) for key in keys]
        able = [key for key in fields_of if key.type]
        if not able:
            return self.aggregated(clause, fields, wanted)
        listed = ", ".join(key.sql for key in able)
        sets = self.pick([f"ROLLUP ({listed})", f"CUBE ({listed})", f"GROUPING SETS (({listed}), ({able[0].sql}), ())"])
        beside = f"{self.pick(able).sql}, " if self.chance(0.2) else ""
        items: list[str] = [self.group_item(fields, kind, able) for kind in wanted]
        types = list(wanted)
        if self.chance(0.5):
            items.append(f"grouping({listed})")
            types.append("BIGINT")
        having = self.pick([" HAVING count(*) > 1", f" HAVING grouping({able[0].sql}) = 1 OR count(*) > 1", *[""] * 6])
        if self.chance(0.2):
            items.append(f"rank() OVER (PARTITION BY grouping({able[0].sql}) ORDER BY count(*), {able[0].sql})")
            types.append("BIGINT")
        return self.listed("SELECT ", items, types, f"{clause} GROUP BY {beside}{sets}{having}")

    def _covers(self, items: Sequence[str], keys: Sequence[Field]) -> bool:
        return all(key.sql in items for key in keys)

    def group_item(self, fields: list[Field], kind: str, keys: Sequence[Field]) -> str:
        able = [key.sql for key in keys if key.type == kind]
        if able and self.chance(0.6):
            return self.pick(able)
        return self.aggregate(fields, kind)

    def aggregated(self, clause: str, fields: list[Field], wanted: list[str]) -> Made:
        """Aggregates over all rows."""
        return self.listed("SELECT ", [self.aggregate(fields, kind) for kind in wanted], wanted, clause)

    def windowed(self, clause: str, fields: list[Field], wanted: list[str]) -> Made:
        partition = ", ".join(self.expression(fields, kind, depth=0).sql for kind in self.some_types(fields)[:2])
        order = ", ".join(f"{item.sql}{self.pick(['', ' DESC', ' NULLS FIRST'])}" for item in fields)
        window = f"OVER (PARTITION BY {partition} ORDER BY {order})"
        if self.chance(0.15):
            window = f"OVER (ORDER BY {order})"
        items = [self.window_item(fields, kind, partition, window) for kind in wanted]
        qualify = f" QUALIFY row_number() {window} <= {self.random.randint(1, 2)}" if self.chance(0.5) else ""
        if not qualify and not any("OVER" in item for item in items):
            qualify = f" QUALIFY count(*) OVER (PARTITION BY {partition}) > 1"
        distinct = "DISTINCT " if self.chance(0.1) else ""
        return self.listed(f"SELECT {distinct}", items, wanted, clause + qualify)

    def window_item(self, fields: list[Field], kind: str, partition: str, window: str) -> str:
        plain = self.expression(fields, kind, depth=1).sql
        if self.chance(0.4):
            return plain
        if kind == "BIGINT":
            return self.pick(
                [f"row_number() {window}", f"rank() {window}", f"count(*) OVER (PARTITION BY {partition})"]
            )
        call = self.pick(["lag", "lead", "first_value", "last_value", "max", "min"])
        return f"{call}({plain}) {window}"

    def star(self, clause: str, fields: list[Field], distinct: str) -> Made:
        columns = tuple((item.sql.split('"."')[-1].rstrip('"').replace('""', '"'), item.type) for item in fields)
        return Made(f"SELECT {distinct}*{clause}", columns)

    def is_plain(self, fields: Sequence[Field]) -> bool:
        names = [item.sql.split('"."')[-1].lower() for item in fields]
        return len(set(names)) == len(names) and all(item.sql.startswith('"') for item in fields)

    def listed(self, head: str, items: Sequence[str | Field], types: Sequence[str], tail: str) -> Made:
        """Outputs under names of their own, now and then under one that a source column has too."""
        names: list[str] = []
        for place in range(len(items)):
            name = self.pick(["k", "g", "v", "x"]) if self.chance(0.1) else f"c{place}"
            names.append(name if name not in names else f"c{place}_")
        parts = [f"{_sql(item)} AS {quoted(name)}" for item, name in zip(items, names, strict=True)]
        return Made(head + ", ".join(parts) + tail, tuple(zip(names, types, strict=True)))

    def some_types(self, fields: Sequence[Field]) -> list[str]:
        present = sorted({item.type for item in fields})
        return self.random.sample(present, min(len(present), self.random.choice([1, 1, 2])))

    def bare(self, fields: list[Field]) -> list[Field]:
        """Some columns without their table, where only one table has such a column."""
        names = [name_of(item) for item in fields]
        return [
            Field(quoted(name), item.type)
            if names.count(name) == 1 and '"."' in item.sql and self.chance(0.2)
            else item
            for item, name in zip(fields, names, strict=True)
        ]

    def name(self, prefix: str) -> str:
        self.names += 1
        return f"{prefix}{self.names}"


def _sql(item: str | Field) -> str:
    return item if isinstance(item, str) else item.sql
