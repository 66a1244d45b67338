"""Which sources a term needs to find keys: the changed one, those that own the key, and what connects them.

Leaving a joined source away, with every condition that mentions it, can only give more keys, and more keys are
harmless. So a change of a small dimension is carried to the keys without reading the facts beside it.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from catchment.lake.delta.relation import Block, Lateral, Relation, Source, Table, tables_below
from catchment.lake.query.trees import column, conjuncts, owners, text, where_of, with_columns

_ROWS_UNKNOWN = 1_000_000
_NUMBER = re.compile("U?(TINY|SMALL|BIG|HUGE)?INT|INTEGER|UINTEGER|DECIMAL|FLOAT|DOUBLE")
_HARMLESS_VALUES = (exp.Column, exp.Literal, exp.Null, exp.Boolean)
_HARMLESS = (
    *_HARMLESS_VALUES,
    exp.Identifier,
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.NullSafeEQ, exp.NullSafeNEQ, exp.Is),
    *(exp.And, exp.Or, exp.Not, exp.Paren, exp.In, exp.Between, exp.Like),
)


@dataclass(frozen=True, slots=True)
class Path:
    """The sources that are kept, and the wanted expressions over their columns."""

    kept: frozenset[str]
    items: tuple[exp.Expr, ...]


def find_path(block: Block, index: int, items: Sequence[exp.Expr]) -> Path:
    """The cheapest way from a changed source to the expressions."""
    everything = Path(frozenset(source.alias for source in block.sources), tuple(items))
    if any(source.join == "full" for source in block.sources):
        return everything
    start = _start(block.sources[index])
    edges = _edges(block)
    paths = [
        Path(kept, tuple(candidate))
        for candidate in (items, _exchanged(items, block, _distances(edges, start)))
        if (kept := _connect(block, edges, start, owners(candidate))) is not None
    ]
    able = [path for path in paths if _is_harmless(block, block.sources[index], path)]
    return min(able, key=lambda path: _cost(block, path.kept), default=everything)


def _is_harmless(block: Block, changed: Source, path: Path) -> bool:
    """Whether what is computed cannot fail. An omitted source may have excluded the rows on which it would.

    So only comparisons and plain columns, and a cast of one to its stored type, are computed on more rows than the
    definition has.
    """
    conditions = [where_of(block.tree), *(source.on for source in block.sources)]
    parts = [part for condition in conditions for part in conjuncts(condition)]
    computed = [part for part in parts if owners([part]) <= path.kept | {changed.alias}]
    return are_plain(path.items) and all(
        (isinstance(node, _HARMLESS) or _is_constant(node)) and _compares_like(block, node)
        for part in computed
        for node in part.walk(prune=_is_constant)
    )


def _is_constant(node: exp.Expr) -> bool:
    """A literal with its type, such as a date. If it failed, it would fail in the definition."""
    return isinstance(node, exp.Cast) and isinstance(node.this, exp.Literal)


def _compares_like(block: Block, node: exp.Expr) -> bool:
    """Columns of different types are cast to be compared, and that can fail."""
    if not isinstance(node, exp.Binary):
        return True
    types = {_type(block, side) for side in (node.left, node.right) if isinstance(side, exp.Column)} - {None}
    return len(types) < 2 or all(kind is not None and _NUMBER.match(kind) for kind in types)


def are_plain(items: Sequence[exp.Expr]) -> bool:
    """Whether the expressions are columns, or columns cast to the types in which keys are stored."""
    plain = [item.unalias() for item in items]
    plain = [item.this if isinstance(item, exp.Cast) else item for item in plain]
    return all(isinstance(item, _HARMLESS_VALUES) for item in plain)


def equal_in(condition: exp.Expr | None, block: Block) -> list[tuple[exp.Column, exp.Column]]:
    """Pairs of plain columns of one type that the condition makes equal."""
    return [
        (part.left, part.right)
        for part in conjuncts(condition)
        if isinstance(part, exp.EQ)
        and isinstance(part.left, exp.Column)
        and isinstance(part.right, exp.Column)
        and _type(block, part.left) is not None
        and _type(block, part.left) == _type(block, part.right)
    ]


def _implied(condition: exp.Expr | None, block: Block) -> list[tuple[exp.Column, exp.Column]]:
    """Pairs of columns that are equal where the condition holds: those of every branch of an OR too."""
    pairs = equal_in(condition, block)
    for part in conjuncts(condition):
        if isinstance(part, exp.Or):
            first, *others = [equal_in(branch.unnest(), block) for branch in part.flatten()]
            alike = [{frozenset(map(text, pair)) for pair in branch} for branch in others]
            pairs += [pair for pair in first if all(frozenset(map(text, pair)) in branch for branch in alike)]
    return pairs


def tied_columns(block: Block, alias: str) -> list[str]:
    """The columns of a source that an inner join makes equal to a column of another source."""
    tied = [
        item.name
        for group in _classes(block)
        if len(owners(group.values())) > 1
        for item in group.values()
        if item.table == alias
    ]
    return list(dict.fromkeys(tied))


def distinct_values(block: Block, aliases: frozenset[str]) -> int:
    """About how many values tell rows of these sources apart where they are tied most loosely. A column has no more
    values than the smallest source with a column that equals it has rows: a customer and a supplier of one nation are
    tied by the number of nations."""
    tied: dict[frozenset[str], int] = {}
    sizes = {source.alias: rows_of(source.relation) for source in block.sources}
    for group in _classes(block):
        members = owners(group.values())
        values = min(sizes[alias] for alias in members)
        for pair in (frozenset({one, other}) for one in members for other in members if one < other):
            if pair <= aliases:
                tied[pair] = max(values, tied.get(pair, 0))
    return min(tied.values(), default=0)


def ties_between(block: Block, alias: str, other: str) -> list[tuple[int, tuple[exp.Column, exp.Column]]]:
    """The pairs of columns of two sources that an inner join makes equal, each with about how many values it has."""
    sizes = {source.alias: rows_of(source.relation) for source in block.sources}
    return [
        (min(sizes[item.table] for item in group.values()), (one, two))
        for group in _classes(block)
        for one in group.values()
        for two in group.values()
        if (one.table, two.table) == (alias, other)
    ]


def rows_of(relation: Relation) -> int:
    """About how many rows the biggest table of a relation has."""
    return max((table.table.rows for table in tables_below(relation)), default=_ROWS_UNKNOWN)


def _start(changed: Source) -> frozenset[str]:
    """Where the search begins. A changed nullable side is met by the rows that its condition speaks of."""
    if changed.join in ("left", "semi", "anti"):
        return owners([changed.on] if changed.on is not None else []) - {changed.alias}
    return frozenset({changed.alias})


def _edges(block: Block) -> Mapping[str, set[str]]:
    """Sources that one condition mentions together."""
    edges: dict[str, set[str]] = {source.alias: set() for source in block.sources}
    conditions = [where_of(block.tree), *(source.on for source in block.sources)]
    for part in (part for condition in conditions for part in conjuncts(condition)):
        together = owners([part])
        for alias in together:
            edges[alias] |= together - {alias}
    for source in block.sources:
        for alias in _needs(source):
            edges[alias].add(source.alias)
            edges[source.alias].add(alias)
    return edges


def _connect(
    block: Block, edges: Mapping[str, set[str]], start: frozenset[str], targets: frozenset[str]
) -> frozenset[str] | None:
    """The smallest connected set found with start and targets in it; None when conditions do not connect them."""
    hidden = {source.alias for source in block.sources if source.join in ("semi", "anti")}
    kept: set[str] = set()
    for target in sorted(start | targets):
        way = _shortest(edges, kept, target, hidden) if kept else [target]
        if way is None:
            return None
        kept |= set(way)
    return frozenset(_completed(block, kept))


def _completed(block: Block, kept: set[str]) -> set[str]:
    """With what lateral sources are made of, all that conditions of kept nullable sides mention, and a side that they
    are nullable to."""
    by_alias = {source.alias: source for source in block.sources}
    pending = deque(sorted(kept))
    while pending:
        source = by_alias[pending.popleft()]
        pending.extend(sorted(_needs(source) - kept))
        kept |= _needs(source)
        if source.join != "left":
            continue
        before = {item.alias for item in block.sources[: block.sources.index(source)]}
        wanted = set(owners([source.on])) if source.on is not None else set[str]()
        if not (kept | wanted) & before:
            wanted.add(block.sources[0].alias)
        pending.extend(sorted(wanted - kept))
        kept |= wanted
    return kept


def _needs(source: Source) -> frozenset[str]:
    return source.relation.needs if isinstance(source.relation, Lateral) else frozenset()


def _shortest(edges: Mapping[str, set[str]], start: Iterable[str], target: str, hidden: set[str]) -> list[str] | None:
    ways: dict[str, list[str]] = {alias: [alias] for alias in sorted(start)}
    queue = deque(ways)
    while queue:
        alias = queue.popleft()
        if alias == target:
            return ways[alias]
        for following in sorted(edges[alias] - set(ways) - hidden):
            ways[following] = [*ways[alias], following]
            queue.append(following)
    return None


def _distances(edges: Mapping[str, set[str]], start: frozenset[str]) -> Mapping[str, int]:
    distances = dict.fromkeys(start, 0)
    queue = deque(sorted(start))
    while queue:
        alias = queue.popleft()
        for following in edges[alias]:
            if following not in distances:
                distances[following] = distances[alias] + 1
                queue.append(following)
    return distances


def _exchanged(items: Sequence[exp.Expr], block: Block, distances: Mapping[str, int]) -> list[exp.Expr]:
    """The expressions with columns replaced by equal ones that are nearer to the change."""
    classes = _classes(block)

    def nearest(mention: exp.Column) -> exp.Expr | None:
        members = next((group for group in classes if text(mention) in group), dict[str, exp.Column]())
        best = min(members.values(), key=lambda item: distances.get(item.table, len(distances)), default=None)
        return column(best.name, best.table) if best is not None else None

    return [with_columns(item, nearest) for item in items]


def _classes(block: Block) -> list[dict[str, exp.Column]]:
    """Columns that are equal in every joined row, by their text."""
    sure = block.kept_aliases()
    conditions = [where_of(block.tree)]
    conditions += [source.on for source in block.sources if source.join in ("inner", "cross")]
    classes: list[dict[str, exp.Column]] = []
    for left, right in (pair for condition in conditions for pair in _implied(condition, block)):
        if {left.table, right.table} <= sure:
            _unite(classes, left, right)
    return classes


def _unite(classes: list[dict[str, exp.Column]], *columns: exp.Column) -> None:
    united = {text(item): item for item in columns}
    for group in [group for group in classes if any(name in group for name in united)]:
        united |= group
        classes.remove(group)
    classes.append(united)


def _type(block: Block, mention: exp.Column) -> str | None:
    relation = next((source.relation for source in block.sources if source.alias == mention.table), None)
    if not isinstance(relation, Table):
        return None
    by_name = {name.lower(): at.type for name, at in relation.table.columns.items()}
    return by_name.get(mention.name.lower())


def _cost(block: Block, kept: frozenset[str]) -> int:
    relations = [source.relation for source in block.sources if source.alias in kept]
    return sum(map(rows_of, relations))
