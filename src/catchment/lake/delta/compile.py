"""The SQL of a refresh, over temporary relations that others make.

    o<i>_new, o<i>_old   a source at two versions         akeys_<part>   the keys that changes touch (``terms``)
    o<i>_delta           its changed rows, with __w       dt_old         the stored table, its row id as __rid

``fresh`` is what the definition gives for the touched keys now, ``stored`` what the table holds for them; the rows of
one that are not in the other are all that is written. Restricted or not, a row always passes the same expressions.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from catchment.lake.delta.buckets import belongs, hash_expression, storage_bucket
from catchment.lake.delta.plan import Part, Plan
from catchment.lake.delta.relation import Opaque
from catchment.lake.delta.render import Keys, Renderer
from catchment.lake.delta.states import ROWS, States
from catchment.lake.names import BRANCH, BUCKET, RID
from catchment.lake.query.trees import (
    add_where,
    all_of,
    attempt,
    cast,
    column,
    last_text,
    named,
    number,
    query_as,
    same,
    select,
    table_as,
    union_all,
)
from catchment.lake.types import BucketRange, TableRef

_NOW = Renderer(frozenset())


def all_rows(plan: Plan, *, buckets: int, only: BucketRange | None = None) -> str:
    """Every row of the definition now, as it is stored."""
    return last_text(union_all([_part_rows(plan, part, buckets, only, None) for part in plan.parts]))


def fresh_rows(
    plan: Plan,
    *,
    buckets: int,
    only: BucketRange | None = None,
    without_null: Collection[int] = (),
    touched: Collection[int] = (),
) -> str:
    """The rows of the definition now whose keys are in ``akeys_<part>``, as they are stored. ``without_null``: parts
    among whose touched keys none has a NULL; ``touched``: the parts that have touched keys, all if none is named."""
    parts = _touched(plan, touched)
    wanted = [_wanted(plan, part, part.number in without_null) for part in parts]
    return last_text(
        union_all([_part_rows(plan, part, buckets, only, keys) for part, keys in zip(parts, wanted, strict=True)]),
    )


def stored_rows(
    plan: Plan,
    *,
    storage: Collection[int] | None = None,
    only: BucketRange | None = None,
    by_keys: bool = True,
    without_null: Collection[int] = (),
    touched: Collection[int] = (),
) -> str:
    """The stored rows with their ``__rid``: all of them, those in some storage buckets, those with touched keys."""
    queries: list[exp.Query] = []
    for part in _touched(plan, touched):
        keys = [(column(item.name, "__s"), item.type) for item in plan.layout.keys_of(part.number)]
        pairs = tuple((f"k{i + 1}", tree) for i, (tree, _) in enumerate(keys))
        scan = table_as("dt_old", "__s")
        is_restricted = by_keys and bool(keys)
        wanted = Keys(f"akeys_{part.number}", pairs, part.number in without_null)
        query = wanted.filtered(scan) if is_restricted else select([exp.Star()], scan)
        if len(plan.parts) > 1:
            add_where(query, exp.EQ(this=column(BRANCH, "__s"), expression=number(part.number)))
        if storage is not None:
            add_where(
                query, exp.In(this=column(BUCKET, "__s"), expressions=[_signed(item) for item in sorted(storage)])
            )
        if only is not None:
            add_where(query, belongs(keys, plan.layout.method, only))
        queries.append(query)
    return last_text(union_all(queries))


def difference(plan: Plan, *, with_bucket: bool = False) -> tuple[str, str]:
    """Two queries over ``stored`` and ``fresh``: the rows that go (``__rid``, ``__b``), and the rows to add. The bucket
    follows from the key, so it is compared only where another session may have written it."""
    compared = [item.name for item in plan.layout.columns if with_bucket or item.name != BUCKET]
    columns = [item.name for item in plan.layout.columns]
    is_unique = all(part.is_unique for part in plan.parts)
    stored, fresh = _numbered("stored", compared, is_unique), _numbered("fresh", compared, is_unique)
    matched = compared if is_unique else [*compared, "__i"]
    gone = _without([RID, BUCKET], stored, fresh, matched)
    added = _without(columns, fresh, stored, matched)
    return last_text(gone), last_text(added)


def view_query(plan: Plan, physical: TableRef) -> exp.Query:
    """The visible columns of the stored table, named without a catalog: it holds under any alias of the lake."""
    table = exp.Table(
        this=exp.to_identifier(physical.name, quoted=True), db=exp.to_identifier(physical.schema, quoted=True)
    )
    return select([column(item.name) for item in plan.layout.visible], table)


def oracle(plan: Plan) -> str:
    """The definition itself over ``o<i>_new``, its columns cast to the stored types: what the table has to equal."""
    names = [f"c{i + 1}" for i in range(len(plan.layout.visible))]
    source, _ = _NOW.item(Opaque(plan.definition, tuple(names)), "__q", "new")
    items = [
        named(cast(column(name, "__q"), item.type), item.name)
        for name, item in zip(names, plan.layout.visible, strict=True)
    ]
    return last_text(select(items, source))


def bucket_of_keys(plan: Plan, part: Part) -> str:
    """``h`` as an expression over the columns k1, k2, … of ``akeys_<part>``."""
    types = plan.layout.key_types(part.number)
    keys = [(column(f"k{i + 1}"), type_text) for i, type_text in enumerate(types)]
    return last_text(hash_expression(keys, plan.layout.method))


def stored_layout(plan: Plan, part: Part, source: exp.Expr, values: dict[str, exp.Expr], buckets: int) -> exp.Select:
    """Rows of a part in the stored layout: ``values`` by column name, NULL for a column without, ``__b`` computed."""
    columns = plan.layout.columns[:-1]
    inner = select([named(cast(values.get(item.name, exp.Null()), item.type), item.name) for item in columns], source)
    keys = [(column(item.name, "__r"), item.type) for item in plan.layout.bucketed_by(part.number)]
    bucket = storage_bucket(hash_expression(keys, plan.layout.method), buckets)
    return select([exp.Star(), named(bucket, BUCKET)], query_as(inner, "__r"))


def _part_rows(plan: Plan, part: Part, buckets: int, only: BucketRange | None, keys: Keys | None) -> exp.Select:
    inner = _NOW.block(part.block, "new", keys)
    if plan.states is not None:
        _compute_states(inner, part, plan.states)
    else:
        inner.set("expressions", [*inner.expressions, *_key_items(plan, part)])
    if only is None:
        return stored_layout(plan, part, query_as(inner, "__q"), _values(plan, part), buckets)
    keys_now = (attempt(key.copy()) for key in part.block.key)
    typed = list(zip(keys_now, plan.layout.key_types(part.number), strict=True))
    condition = belongs(typed, plan.layout.method, only)
    if typed:
        add_where(inner, condition)
    rows = stored_layout(plan, part, query_as(inner, "__q"), _values(plan, part), buckets)
    return rows if typed else add_where(rows, condition)


def _compute_states(query: exp.Select, part: Part, states: States) -> None:
    """The query returns keys and figures instead of the outputs it had."""
    items = [named(key.copy(), f"k{i + 1}") for i, key in enumerate(part.block.key)]
    items.append(named(exp.Count(this=exp.Star(), big_int=True), ROWS))
    items += [named(figure.whole(), figure.name) for figure in states.figures]
    query.set("expressions", items)


def _key_items(plan: Plan, part: Part) -> list[exp.Expr]:
    """Projections for the parts of the key that are no visible column."""
    return [
        named(key.copy(), item.name)
        for key, item in zip(part.block.key, plan.layout.keys_of(part.number), strict=True)
        if item in plan.layout.hidden_keys
    ]


def _values(plan: Plan, part: Part) -> dict[str, exp.Expr]:
    """Where the stored columns of a part's rows come from, over the query that ``_part_rows`` wraps."""
    hidden = [item for item in plan.layout.keys_of(part.number) if item in plan.layout.hidden_keys]
    if plan.states is not None:
        return state_values(plan, plan.states)
    outputs = zip(plan.layout.visible, part.block.outputs, strict=True)
    values: dict[str, exp.Expr] = {item.name: column(name, "__q") for item, name in outputs}
    values |= {item.name: column(item.name, "__q") for item in hidden}
    if len(plan.parts) > 1:
        values[BRANCH] = number(part.number)
    return values


def state_values(plan: Plan, states: States) -> dict[str, exp.Expr]:
    """Stored columns over a query that gives k1, k2, … and the figures."""
    values = {item.name: tree.copy() for item, tree in zip(plan.layout.visible, states.outputs, strict=True)}
    for place, item in enumerate(plan.layout.keys_of(1)):
        if item in plan.layout.hidden_keys:
            values[item.name] = column(f"k{place + 1}")
    values |= {item.name: column(item.name) for item in states.columns()}
    return values


def _touched(plan: Plan, numbers: Collection[int]) -> list[Part]:
    """A part without a key is computed as a whole, so one that no change touches is skipped."""
    return [part for part in plan.parts if not numbers or part.number in numbers]


def _wanted(plan: Plan, part: Part, has_no_null: bool) -> Keys | None:
    """A definition without a key is one group: if it is touched, all of it is fresh."""
    table = f"akeys_{part.number}"
    if not part.block.key:
        return None
    types = plan.layout.key_types(part.number)
    pairs = [
        (f"k{i + 1}", key if kind == native else cast(key.copy(), kind))
        for i, (key, kind, native) in enumerate(zip(part.block.key, types, part.key_types, strict=True))
    ]
    return Keys(table, tuple(pairs), has_no_null)


def _numbered(table: str, compared: Sequence[str], is_unique: bool) -> exp.Expr:
    """The table; with equal rows counted from 1 on if there may be any."""
    if is_unique:
        return table_as(table, table)
    window = exp.Window(this=exp.RowNumber(), partition_by=[column(name) for name in compared], over="OVER")
    return query_as(select([exp.Star(), named(window, "__i")], table_as(table, "__n")), table)


def _without(names: Sequence[str], left: exp.Expr, right: exp.Expr, matched: Sequence[str]) -> exp.Select:
    """Rows of one side that have no equal on the other, as a NULL-safe anti-join."""
    one, other = left.alias_or_name, right.alias_or_name
    on = all_of(same(column(name, one), column(name, other)) for name in matched)
    query = select([column(name, one) for name in names], left.copy())
    query.set("joins", [exp.Join(this=right.copy(), kind="ANTI", on=on)])
    return query


def _signed(value: int) -> exp.Expr:
    return exp.Neg(this=number(-value)) if value < 0 else number(value)
