"""Subqueries in expressions, tied to the query around them or not."""

from __future__ import annotations

from catchment.lake.names import quoted
from tests.lake.fuzz.expressions import Expressions, Field, name_of


class Nested(Expressions):
    """Makes subqueries; what they read comes from ``inner``."""

    def inner(self) -> tuple[str, list[Field]]:
        """A FROM item and its columns."""
        raise NotImplementedError

    def truth(self, fields: list[Field]) -> str:
        """A condition with a subquery, by itself or beside another."""
        made = self.pick([self._exists, self._in, self._compared])(fields)
        roll = self.random.random()
        if roll < 0.15:
            return f"({made} OR {self.condition(fields)})"
        if roll < 0.25:
            return f"NOT ({made})"
        if roll < 0.35:
            other = self.pick([self._exists, self._in])(fields)
            return f"({made} {self.pick(['OR', 'AND'])} {other})"
        return made

    def nested_value(self, fields: list[Field], kind: str) -> str:
        """A subquery that is a value of this type."""
        if kind == "BOOLEAN" and self.chance(0.7):
            return self.pick([self._exists, self._in])(fields)
        roll = self.random.random()
        if roll < 0.15:
            return self._one_of_one(fields, kind)
        item, own = self.inner()
        where = self._where(fields, own, share=0.75)
        made = self.aggregate(own, kind)
        if roll < 0.3 and kind in ("BIGINT", "DOUBLE", "INTEGER"):
            made = f"{made} + {self.expression(fields, 'INTEGER', 0).sql}" if where else f"{made} + 1"
        return f"(SELECT {made} FROM {item}{where})"

    def _one_of_one(self, fields: list[Field], kind: str) -> str:
        """No aggregate by itself, but never more than one row."""
        item, own = self.inner()
        alias = self.pick(["q", "s1"])
        if self.chance(0.5):
            return (
                f"(SELECT {alias}.x FROM (SELECT {self.aggregate(own, kind)} AS x FROM {item}) AS {alias}"
                f" WHERE {alias}.x IS NOT NULL)"
            )
        key = self.pick(own)
        outer = [one for one in fields if one.type == key.type]
        tie = self.pick(outer).sql if outer else f"CAST({self.pick(['1', '2'])} AS {key.type})"
        if not outer and key.type not in ("BIGINT", "INTEGER"):
            tie = "NULL"
        return (
            f"(SELECT {alias}.x FROM (SELECT {key.sql} AS y, {self.aggregate(own, kind)} AS x FROM {item}"
            f" GROUP BY {key.sql}) AS {alias} WHERE {alias}.y = {tie})"
        )

    def _exists(self, fields: list[Field]) -> str:
        item, own = self.inner()
        what = self.pick(["1", "*", self.pick(own).sql])
        return f"{self.pick(['', 'NOT '])}EXISTS (SELECT {what} FROM {item}{self._where(fields, own, share=0.85)})"

    def _in(self, fields: list[Field]) -> str:
        item, own = self.inner()
        kinds = sorted({one.type for one in own})
        kind = self.pick(kinds)
        wanted = self.expression(fields, kind, self.random.choice([0, 0, 1])).sql
        found = self.expression(own, kind, self.random.choice([0, 0, 1])).sql
        distinct = "DISTINCT " if self.chance(0.2) else ""
        group = f" GROUP BY {found}" if self.chance(0.1) else ""
        where = self._where(fields, own, share=0 if group else 0.4)
        return f"{wanted} {self.pick(['', '', 'NOT '])}IN (SELECT {distinct}{found} FROM {item}{where}{group})"

    def _compared(self, fields: list[Field]) -> str:
        kind = self.pick(["BIGINT", "DECIMAL(10,2)", "VARCHAR", "DATE"])
        sign = self.pick(["=", "<>", "<", ">=", "IS DISTINCT FROM"])
        return f"{self.expression(fields, kind, 1).sql} {sign} {self.nested_value(fields, kind)}"

    def _where(self, fields: list[Field], own: list[Field], *, share: float) -> str:
        """Mostly equalities with the outer query; now and then another comparison, or conditions of its own."""
        parts: list[str] = []
        pairs = [(one.sql, two.sql, one.type) for one in own for two in fields if one.type == two.type]
        types = {quoted(name_of(one)): one.type for one in own}
        if pairs and self.chance(share):
            for one, two, kind in self.random.sample(pairs, min(len(pairs), self.random.choice([1, 1, 2]))):
                sign = self.random.choices(["=", "IS NOT DISTINCT FROM", "<>", "<"], [16, 2, 1, 1])[0]
                tie = f"{one} {sign} {two}" if self.chance(0.7) else f"{two} {sign} {one}"
                # A name without its table is that of the inner table, which may have another type.
                if types.get(two, kind) == kind:
                    parts.append(tie)
        if self.chance(0.3):
            parts.append(self.condition(own, 0))
        if len(parts) == 2 and self.chance(0.1):
            parts = [f"(({parts[0]} AND {parts[1]}) OR ({parts[0]} AND {self.condition(own, 0)}))"]
        return f" WHERE {' AND '.join(parts)}" if parts else ""


def table_item(generator: Nested, tables: dict[str, dict[str, str]], alias: str) -> tuple[str, list[Field]]:
    """A table as a FROM item."""
    name = generator.pick(list(tables))
    own = [Field(f"{quoted(alias)}.{quoted(column)}", kind) for column, kind in tables[name].items()]
    return f"{quoted(name)} AS {quoted(alias)}", own
