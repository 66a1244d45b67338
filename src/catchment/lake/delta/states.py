"""Sums and counts that are carried forward instead of being computed again.

For a grouped definition over inner joins whose aggregates are count, sum and avg of exact numbers, the change of each
group is a sum over changed rows. The table then keeps, for each group, the number of rows and for each argument its
sum and the number of values that are not NULL; what is visible is an expression over these. A sum without values is
NULL, and a group goes when it has no rows, whatever its sums are.

Sums are DECIMAL(38, scale): exact, and an overflow raises instead of wrapping. Floats are recomputed, since adding and
subtracting does not restore the earlier value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from sqlglot import exp

from catchment.lake.delta.relation import Block
from catchment.lake.query.functions import Kinds, is_aggregate, name_of
from catchment.lake.query.trees import cast, column, number, text
from catchment.lake.types import Column

ROWS = "__n"
"""The number of rows in a group."""

TypesOf = Callable[[Sequence[exp.Expr]], list[str]]
_KINDS: dict[str, Literal["count", "sum", "avg"]] = {
    "count": "count",
    "count_star": "count",  # the second is what DuckDB writes for count(*)
    "sum": "sum",
    "avg": "avg",
    "mean": "avg",
}
_SMALL_INTEGER = re.compile(r"U?(TINYINT|SMALLINT|INTEGER|BIGINT)")
_DECIMAL = re.compile(r"DECIMAL\(\d+,\s*(\d+)\)")


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """One stored figure of a group: the sum of an argument, or how many of its values are not NULL."""

    name: str
    kind: Literal["sum", "count"]
    argument: exp.Expr
    type: str

    def whole(self) -> exp.Expr:
        """The figure over all rows of a group."""
        if self.kind == "count":
            return exp.Count(this=self.argument.copy(), big_int=True)
        return cast(
            exp.Coalesce(this=exp.Sum(this=cast(self.argument.copy(), self.type)), expressions=[number(0)]), self.type
        )

    def change(self, argument: str, weight: str) -> exp.Expr:
        """What to add to it, over changed rows that have the argument's value and a weight."""
        value = column(argument)
        if self.kind == "sum":
            signed: exp.Expr = exp.Mul(this=cast(value, self.type), expression=column(weight))
        else:
            signed = exp.Case(ifs=[exp.If(this=_is_value(value), true=column(weight))])
        return cast(exp.Coalesce(this=exp.Sum(this=signed), expressions=[number(0)]), self.type)


@dataclass(frozen=True, slots=True, eq=False)
class States:
    """The figures of a definition; ``outputs`` are its columns over k1, k2, … and the names of the figures."""

    figures: tuple[State, ...]
    outputs: tuple[exp.Expr, ...]

    def columns(self) -> tuple[Column, ...]:
        """As stored columns."""
        return (Column(ROWS, "BIGINT"), *(Column(figure.name, figure.type) for figure in self.figures))


def find_states(block: Block, kinds: Kinds, types_of: TypesOf) -> States | None:
    """The states that replace a block's aggregates, or None when one of them cannot be carried forward exactly."""
    if block.kind not in ("group", "global") or block.tree.args.get("having"):
        return None
    if any(source.join not in ("from", "inner", "cross") for source in block.sources):
        return None
    calls = [_read(node) for node in _calls(block, kinds)]
    known = [call for call in calls if call is not None]
    if len(known) < len(calls):
        return None
    summed = {
        text(call.argument): call.argument for call in known if call.argument is not None and call.kind != "count"
    }
    types = dict(zip(summed, types_of(list(summed.values())), strict=True)) if summed else {}
    if not all(_sum_type(type_text) for type_text in types.values()):
        return None
    return _Builder(block, types).build(known, kinds)


@dataclass(frozen=True, slots=True)
class _Call:
    """An aggregate call; ``argument`` is None for count(*), and holds the FILTER as a CASE."""

    node: exp.Expr
    kind: Literal["count", "sum", "avg"]
    argument: exp.Expr | None


class _Builder:
    def __init__(self, block: Block, types: dict[str, str]) -> None:
        self.block = block
        self.types = types
        self.figures: dict[tuple[str, str], State] = {}

    def build(self, calls: Sequence[_Call], kinds: Kinds) -> States | None:
        by_text = {text(call.node): call for call in calls}
        keys = {text(key): f"k{i + 1}" for i, key in enumerate(self.block.key)}
        outputs: list[exp.Expr] = []
        for projection in self.block.tree.expressions:
            expression = projection.unalias()
            if any(by_text[text(node)].kind == "avg" for node in _calls_in(expression, kinds)) and not _is_avg(
                expression
            ):
                return None
            outputs.append(self._visible(expression, by_text, keys))
        if any(mention.table for output in outputs for mention in output.find_all(exp.Column)):
            return None
        return States(tuple(self.figures.values()), tuple(outputs))

    def _visible(self, tree: exp.Expr, calls: dict[str, _Call], keys: dict[str, str]) -> exp.Expr:
        sql = text(tree)
        if sql in keys:
            return column(keys[sql])
        if sql in calls:
            return self._figure(calls[sql])
        result = tree.copy()
        for child in list(result.iter_expressions()):
            child.replace(self._visible(child, calls, keys))
        return result

    def _figure(self, call: _Call) -> exp.Expr:
        if call.argument is None:
            return column(ROWS)
        count = column(self._state("count", call.argument))
        if call.kind == "count":
            return count
        total = column(self._state("sum", call.argument))
        if call.kind == "avg":
            return _when_some(
                count, exp.Div(this=cast(total, "DOUBLE"), expression=count.copy(), typed=False, safe=False)
            )
        native = self.types[text(call.argument)]
        value = _when_some(count, total)
        return cast(value, "HUGEINT") if _SMALL_INTEGER.fullmatch(native) else value

    def _state(self, kind: Literal["sum", "count"], argument: exp.Expr) -> str:
        key = (kind, text(argument))
        if key not in self.figures:
            place = 1 + sum(figure.kind == kind for figure in self.figures.values())
            type_text = "BIGINT" if kind == "count" else _sum_type(self.types[key[1]])
            name = f"__{'c' if kind == 'count' else 's'}{place}"
            self.figures[key] = State(name, kind, argument.copy(), type_text or "")
        return self.figures[key].name


def _calls(block: Block, kinds: Kinds) -> list[exp.Expr]:
    return [call for projection in block.tree.expressions for call in _calls_in(projection, kinds)]


def _calls_in(tree: exp.Expr, kinds: Kinds) -> list[exp.Expr]:
    """Aggregate calls, with their FILTER around them if they have one."""
    calls = [node for node in tree.find_all(exp.Func) if is_aggregate(node, kinds)]
    return [node.parent if isinstance(node.parent, exp.Filter) and node.arg_key == "this" else node for node in calls]


def _read(node: exp.Expr) -> _Call | None:
    condition: exp.Expr | None = node.expression.this if isinstance(node, exp.Filter) else None
    call: exp.Expr = node.this if isinstance(node, exp.Filter) else node
    kind = _KINDS.get(name_of(call))
    if kind is None or len(call.expressions) > 1:
        return None
    argument: exp.Expr | None = call.expressions[0] if call.expressions else None
    if isinstance(argument, (exp.Distinct, exp.Order)):
        return None
    if argument is None or isinstance(argument, exp.Star):
        if condition is None:
            return _Call(node, "count", None)
        argument = number(1)
    if condition is not None:
        argument = exp.Case(ifs=[exp.If(this=condition.copy(), true=argument.copy())])
    return _Call(node, kind, argument)


def _sum_type(native: str) -> str | None:
    if _SMALL_INTEGER.fullmatch(native):
        return "DECIMAL(38,0)"
    match = _DECIMAL.fullmatch(native)
    return f"DECIMAL(38,{match.group(1)})" if match else None


def _is_avg(tree: exp.Expr) -> bool:
    """A whole output that is an average. Inside an expression its last bit could decide, and that may differ."""
    return _KINDS.get(name_of(tree.this if isinstance(tree, exp.Filter) else tree)) == "avg"


def _is_value(tree: exp.Expr) -> exp.Expr:
    return exp.Not(this=exp.Is(this=tree, expression=exp.Null()))


def _when_some(count: exp.Expr, value: exp.Expr) -> exp.Expr:
    """NULL without values."""
    return exp.Case(ifs=[exp.If(this=exp.GT(this=count.copy(), expression=number(0)), true=value)])
