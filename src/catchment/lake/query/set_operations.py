"""INTERSECT and EXCEPT as joins that filter; two NULLs are equal there. UNION BY NAME as one by place.

Without ALL, a row is kept once if the other side has it (or has it not). With ALL, equal rows are counted from 1 on
each side, and the first of one side meets the first of the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from catchment.lake.query.trees import all_of, cast, column, named, query_as, same, select

_COUNT = "i"


def as_join(
    tree: exp.SetOperation,
    sides_of: Sequence[tuple[exp.Query, Sequence[str]]],
    types: Sequence[str],
    name: Callable[[str], str],
) -> exp.Select:
    """The operation over two normalised queries with the types of their outputs; its own have ``types``, and the names
    of the left side."""
    (left, _), _ = sides_of
    names = _names(left)
    is_distinct = bool(tree.args.get("distinct"))
    sides = [_side(query, own_types, types, is_distinct, name) for query, own_types in sides_of]
    one, other = name("s"), name("s")
    matched = [f"c{place}" for place in range(1, len(types) + 1)] + ([] if is_distinct else [_COUNT])
    on = all_of(same(column(item, one), column(item, other)) for item in matched)
    items = [named(column(f"c{place}", one), label) for place, label in enumerate(names, start=1)]
    made = select(items, query_as(sides[0], one))
    kind = "SEMI" if isinstance(tree, exp.Intersect) else "ANTI"
    made.set("joins", [exp.Join(this=query_as(sides[1], other), kind=kind, on=on)])
    if is_distinct:
        made.set("distinct", exp.Distinct())
    return made


def by_name(tree: exp.SetOperation, types: Sequence[str], name: Callable[[str], str]) -> exp.Union:
    """A UNION BY NAME as one by place: each side gives all columns in one order, NULL for those it does not have."""
    sides = [tree.left, tree.right]
    names = list(dict.fromkeys(label for side in sides for label in _names(side)))
    made: list[exp.Select] = []
    for side in sides:
        alias, own = name("s"), _names(side)
        items = [
            named(column(label, alias) if label in own else cast(exp.Null(), kind), label)
            for label, kind in zip(names, types, strict=True)
        ]
        made.append(select(items, query_as(side.copy(), alias)))
    return exp.Union(this=made[0], expression=made[1], distinct=tree.args.get("distinct"))


def _side(
    query: exp.Query, own_types: Sequence[str], types: Sequence[str], is_distinct: bool, name: Callable[[str], str]
) -> exp.Select:
    alias = name("s")
    outputs: list[exp.Expr] = []
    for label, own, kind in zip(_names(query), own_types, types, strict=True):
        plain = column(label, alias)
        outputs.append(plain if own == kind else cast(plain, kind))
    items: list[exp.Expr] = [named(output, f"c{place}") for place, output in enumerate(outputs, start=1)]
    if not is_distinct:
        equal = [output.copy() for output in outputs]
        items.append(named(exp.Window(this=exp.RowNumber(), partition_by=equal, over="OVER"), _COUNT))
    return select(items, query_as(query, alias))


def _names(query: exp.Query) -> list[str]:
    while isinstance(query, (exp.SetOperation, exp.Subquery)):
        query = query.left if isinstance(query, exp.SetOperation) else query.this
    return [item.alias_or_name for item in query.expressions]
