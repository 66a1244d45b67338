"""Delta-apply: the change of every group is added to its stored figures.

    dagg    the change of each touched group, from signed terms; groups whose figures do not change are skipped
    stored  the stored rows of these groups
    merged  both added up: the figures after the refresh, and the row that held the old ones
    gone    the rows that go
    added   the rows that take their place; a group without rows has none

Before anything is written, ``broken`` has to find nothing: a count below zero means that the stored table and the
changes do not belong together, and then the table is computed as a whole.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlglot import exp

from catchment.lake.delta.compile import state_values, stored_layout, stored_rows
from catchment.lake.delta.near import NONE, Reached
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.states import ROWS, States
from catchment.lake.delta.terms import Step, signed_terms
from catchment.lake.names import BUCKET, RID, WEIGHT
from catchment.lake.query.trees import (
    add_where,
    all_of,
    cast,
    column,
    named,
    number,
    query_as,
    same,
    select,
    table_as,
    text,
    union_all,
)


def delta_steps(
    plan: Plan,
    changed: frozenset[int],
    *,
    buckets: int,
    storage: Collection[int] | None = None,
    reached: Mapping[int, Reached] = NONE,
) -> list[Step]:
    """The steps that end in ``gone`` and ``added``, for a plan with the strategy delta. ``reached`` as in ``near``."""
    states = _states(plan)
    shared, change = _change(plan, states, changed, reached)
    return [
        *shared,
        Step("dagg", text(change)),
        Step("akeys_1", text(_touched(plan))),
        Step("stored", stored_rows(plan, storage=storage)),
        Step("merged", text(_merged(plan, states))),
        Step("gone", text(_gone())),
        Step("added", text(_added(plan, states, buckets))),
    ]


def broken(plan: Plan) -> str:
    """How many groups of ``merged`` cannot be: a query with one number."""
    states = _states(plan)
    counts = [ROWS, *(figure.name for figure in states.figures if figure.kind == "count")]
    wrong: list[exp.Expr] = [exp.LT(this=column(name), expression=number(0)) for name in counts]
    some = [exp.NEQ(this=column(figure.name), expression=number(0)) for figure in states.figures]
    if some:
        is_empty = exp.EQ(this=column(ROWS), expression=number(0))
        wrong.append(exp.And(this=is_empty, expression=exp.Paren(this=exp.or_(*some, copy=False))))
    query = select([exp.Count(this=exp.Star(), big_int=True)], table_as("merged", "__m"), exp.or_(*wrong, copy=False))
    return text(query)


def _states(plan: Plan) -> States:
    if plan.states is None:
        raise ValueError("this definition has no figures to carry forward")
    return plan.states


def _change(
    plan: Plan, states: States, changed: frozenset[int], reached: Mapping[int, Reached]
) -> tuple[list[Step], exp.Query]:
    block, types = plan.parts[0].block, plan.layout.key_types(1)
    keys = [
        named(cast(key.copy(), kind), f"k{i + 1}") for i, (key, kind) in enumerate(zip(block.key, types, strict=True))
    ]
    arguments: dict[str, str] = {}
    for figure in states.figures:
        arguments.setdefault(text(figure.argument), f"x{len(arguments) + 1}")
    values = [named(_argument(states, name), alias) for name, alias in arguments.items()]
    shared, terms = signed_terms(block, changed, [*keys, *values], reached)
    names = [f"k{i + 1}" for i in range(len(keys))]
    figures = [cast(exp.Sum(this=column(WEIGHT)), "BIGINT")]
    figures += [figure.change(arguments[text(figure.argument)], WEIGHT) for figure in states.figures]
    labels = [ROWS, *(figure.name for figure in states.figures)]
    items = [
        *(column(name) for name in names),
        *(named(tree, label) for tree, label in zip(figures, labels, strict=True)),
    ]
    query = select(items, query_as(union_all(terms), "__t"))
    if names:
        query.set("group", exp.Group(expressions=[column(name) for name in names]))
    changes = [exp.NEQ(this=tree.copy(), expression=number(0)) for tree in figures]
    query.set("having", exp.Having(this=exp.or_(*changes, copy=False)))
    return shared, query


def _argument(states: States, name: str) -> exp.Expr:
    return next(figure.argument.copy() for figure in states.figures if text(figure.argument) == name)


def _merged(plan: Plan, states: States) -> exp.Query:
    names = [f"k{i + 1}" for i in range(len(plan.layout.keys_of(1)))]
    items: list[exp.Expr] = [column(name, "__d") for name in names]
    items += [_sum(item.name, item.type) for item in states.columns()]
    items += [column(RID, "__s"), named(column(BUCKET, "__s"), BUCKET)]
    stored = [item.name for item in plan.layout.keys_of(1)]
    on = all_of(same(column(name, "__d"), column(other, "__s")) for name, other in zip(names, stored, strict=True))
    query = select(items, table_as("dagg", "__d"))
    query.set("joins", [exp.Join(this=table_as("stored", "__s"), side="LEFT", on=on if on is not None else exp.true())])
    return query


def _sum(name: str, type_text: str) -> exp.Expr:
    before = exp.Coalesce(this=column(name, "__s"), expressions=[number(0)])
    return named(cast(exp.Add(this=before, expression=column(name, "__d")), type_text), name)


def _touched(plan: Plan) -> exp.Query:
    names = [f"k{i + 1}" for i in range(len(plan.layout.keys_of(1)))]
    return select([column(name) for name in names] or [named(exp.true(), "k0")], table_as("dagg", "__d"))


def _gone() -> exp.Query:
    is_stored = exp.Not(this=exp.Is(this=column(RID), expression=exp.Null()))
    return select([column(RID), column(BUCKET)], table_as("merged", "__m"), is_stored)


def _added(plan: Plan, states: States, buckets: int) -> exp.Query:
    """An aggregate over all rows has its one row even when there are none."""
    is_left = exp.GT(this=column(ROWS), expression=number(0)) if plan.parts[0].block.key else None
    figures = add_where(select([exp.Star()], table_as("merged", "__m")), is_left)
    return stored_layout(plan, plan.parts[0], query_as(figures, "__q"), state_values(plan, states), buckets)
