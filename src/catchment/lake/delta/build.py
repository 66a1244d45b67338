"""A normalised query becomes relations, and every block gets its key.

The key of a block with groups are its group expressions; of DISTINCT, its outputs; of windows, the PARTITION BY
expressions that all of them share. Where every source row gives at most one result row on its own, the row id of the
biggest source that no outer join can make NULL is the key; without such a source, all outputs are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from catchment.lake.delta.relation import (
    Block,
    BlockKind,
    JoinKind,
    Lateral,
    Opaque,
    Relation,
    Source,
    Table,
    UnionAll,
    tables_below,
)
from catchment.lake.names import RID
from catchment.lake.query.functions import ROW_MAKERS, Kinds, aggregates_in, name_of
from catchment.lake.query.resolve import SOURCES, number_of
from catchment.lake.query.trees import (
    column,
    from_item,
    is_counted,
    joins_of,
    named,
    own_nodes,
    owners,
    part,
    parts,
    text,
)
from catchment.lake.reasons import NotIncremental, Reason
from catchment.lake.types import SourceTable

_CONSTANTS = (exp.Literal, exp.Null, exp.Boolean)


@dataclass
class Builder:
    """Makes the relations of one definition.

    ``drivers`` are choices to keep, by the number of the block; ``types_of`` tells the types of a block's outputs.
    """

    tables: Sequence[SourceTable]
    kinds: Kinds
    drivers: Mapping[int, str]
    types_of: Callable[[Block], Sequence[str]]
    chosen: dict[int, str] = field(default_factory=dict[int, str])
    made: int = 0

    def parts(self, query: exp.Query) -> list[Block]:
        """The blocks of the top-level UNION ALL, with keys, their outputs called c1, c2, ….."""
        relation = self._relation(query)
        blocks = relation.branches if isinstance(relation, UnionAll) else (relation,)
        return [self._with_key(_renamed(block)) for block in blocks]

    def _relation(self, query: exp.Query) -> Block | UnionAll:
        branches = [self._block(item) for item in _branches(query)]
        if len(branches) == 1:
            return branches[0]
        return UnionAll(self._number(), tuple(branches), len({tuple(self.types_of(item)) for item in branches}) == 1)

    def _number(self) -> int:
        self.made += 1
        return self.made

    def _block(self, tree: exp.Select) -> Block:
        number = self._number()
        sources = self._sources(tree)
        own = tree.copy()
        own.set("from_", None)
        own.set("joins", None)
        kind, key = self._kind(own)
        block = Block(number, own, tuple(sources), kind, key)
        _check_columns(block)
        return block

    def _sources(self, tree: exp.Select) -> list[Source]:
        start = from_item(tree)
        if start is None:
            return []
        sources = [self._source(start, "from", None)]
        for join in joins_of(tree):
            if parts(join, "using"):
                raise NotIncremental(Reason.UNRESOLVED)
            sources.append(self._source(join.this, _join_kind(join), part(join, "on")))
        aliases = [source.alias for source in sources]
        if len(set(aliases)) < len(aliases) or "" in aliases:
            raise NotIncremental(Reason.UNRESOLVED)
        return sources

    def _source(self, item: exp.Expr, join: JoinKind, on: exp.Expr | None) -> Source:
        return Source(item.alias_or_name, self._item(item), join, on.copy() if on is not None else None)

    def _item(self, item: exp.Expr) -> Relation:
        if isinstance(item, exp.Table) and item.db == SOURCES:
            number = number_of(item)
            return Table(number, self.tables[number - 1])
        if isinstance(item, exp.Subquery) and isinstance(item.this, exp.Query):
            relation = self._relation(item.this)
            if len(set(relation.outputs)) < len(relation.outputs):
                raise NotIncremental(Reason.UNRESOLVED)
            return relation
        if isinstance(item, exp.Values):
            return Opaque(item, tuple(item.alias_column_names))
        if isinstance(item, (exp.Unnest, exp.Lateral)):
            if item.find(exp.Table) is not None:
                raise NotIncremental(Reason.LATERAL)
            return Lateral(item.copy())
        raise NotIncremental(Reason.UNRESOLVED)

    def _kind(self, tree: exp.Select) -> tuple[BlockKind, tuple[exp.Expr, ...]]:
        windows = list(own_nodes(tree, exp.Window))
        has_groups = tree.args.get("group") is not None
        has_aggregates = bool(aggregates_in(tree, self.kinds)) or tree.args.get("having") is not None
        if windows and (has_groups or has_aggregates):
            raise NotIncremental(Reason.UNRESOLVED)
        if has_groups:
            return "group", _group_key(tree)
        if has_aggregates:
            return "global", ()
        if windows:
            return "window", _window_key(windows)
        outputs = tuple(item.unalias().copy() for item in tree.expressions)
        return ("distinct", outputs) if tree.args.get("distinct") else ("rows", ())

    def _with_key(self, block: Block) -> Block:
        """A block without groups gets its key here, because only the outermost needs one."""
        if block.kind != "rows":
            return block
        alias = self._driver(block)
        if alias is None:
            return replace(block, key=tuple(item.unalias().copy() for item in block.tree.expressions))
        self.chosen[block.id] = alias
        source = next(source for source in block.sources if source.alias == alias)
        if isinstance(source.relation, Table):
            return replace(block, key=(column(RID, alias),))
        if not isinstance(source.relation, Block):
            raise TypeError("only tables and blocks have their own key")
        inner, names = _exposed(self._with_key(source.relation))
        sources = tuple(replace(item, relation=inner) if item is source else item for item in block.sources)
        return replace(block, sources=sources, key=tuple(column(name, alias) for name in names))

    def _driver(self, block: Block) -> str | None:
        able = [
            source for source in block.sources if source.alias in block.kept_aliases() and _has_key(source.relation)
        ]
        kept = self.drivers.get(block.id)
        if kept is not None and any(source.alias == kept for source in able):
            return kept
        sizes = {
            source.alias: max((table.table.rows for table in tables_below(source.relation)), default=0)
            for source in able
        }
        return max(sizes, key=lambda alias: sizes[alias], default=None)


def _has_key(relation: Relation) -> bool:
    """Whether a key identifies its rows: row ids, or the key of a block."""
    if isinstance(relation, Table):
        return not relation.is_clock
    if not isinstance(relation, Block) or (relation.kind in ("global", "window") and not relation.key):
        return False
    return any(not table.is_clock for table in tables_below(relation))


def _exposed(block: Block) -> tuple[Block, list[str]]:
    """The block with its key among its outputs, and the names of these outputs."""
    by_text = {text(item.unalias()): item.alias_or_name for item in block.tree.expressions}
    tree, names = block.tree.copy(), list[str]()
    for place, key in enumerate(block.key):
        name = by_text.get(text(key))
        if name is None:
            name = f"__x{place + 1}"
            tree.append("expressions", named(key.copy(), name))
        names.append(name)
    return replace(block, tree=tree), names


def _renamed(block: Block) -> Block:
    tree = block.tree.copy()
    items = [named(item.unalias(), f"c{place + 1}") for place, item in enumerate(tree.expressions)]
    tree.set("expressions", items)
    return replace(block, tree=tree)


def _branches(query: exp.Query) -> list[exp.Select]:
    if isinstance(query, exp.Subquery):
        return _branches(query.this)
    if isinstance(query, exp.Union) and not query.args.get("distinct"):
        return [*_branches(query.left), *_branches(query.right)]
    if not isinstance(query, exp.Select):
        raise NotIncremental(Reason.UNRESOLVED)
    return [query]


def _join_kind(join: exp.Join) -> JoinKind:
    if join.side in ("LEFT", "FULL"):
        return "left" if join.side == "LEFT" else "full"
    if join.kind in ("SEMI", "ANTI"):
        return "semi" if join.kind == "SEMI" else "anti"
    if join.side or join.kind not in ("", "INNER", "CROSS"):
        raise NotIncremental(Reason.UNRESOLVED)
    return "inner" if part(join, "on") is not None else "cross"


def _group_key(tree: exp.Select) -> tuple[exp.Expr, ...]:
    """The group expressions, each once. Constants group nothing; they are dropped from GROUP BY too."""
    keys: dict[str, exp.Expr] = {}
    for item in tree.args["group"].expressions:
        expression = item.unnest()
        if not isinstance(expression, _CONSTANTS):
            keys.setdefault(text(expression), expression.copy())
    if not keys or any(isinstance(key, exp.Tuple) for key in keys.values()):
        raise NotIncremental(Reason.UNRESOLVED)
    tree.set("group", exp.Group(expressions=[key.copy() for key in keys.values()]))
    return tuple(keys.values())


def _window_key(windows: Sequence[exp.Window]) -> tuple[exp.Expr, ...]:
    """What all windows are partitioned by. Nothing, if one spans all rows or two share no expression: then all rows
    are one key, as those of an aggregate without groups."""
    partitions = [{text(item): item for item in parts(window, "partition_by")} for window in windows]
    return tuple(item.copy() for name, item in partitions[0].items() if all(name in other for other in partitions))


def _check_columns(block: Block) -> None:
    """Every column belongs to a source of the same SELECT; a condition refers to sources up to its own."""
    aliases = [source.alias for source in block.sources]
    unseen = {source.alias for source in block.sources if source.join in ("semi", "anti")}
    if any(not is_counted(star) for star in block.tree.find_all(exp.Star)):
        raise NotIncremental(Reason.UNRESOLVED)
    if not owners([block.tree]) <= set(aliases) - unseen:
        raise NotIncremental(Reason.LATERAL)
    clocks = {
        source.alias for source in block.sources if isinstance(source.relation, Table) and source.relation.is_clock
    }
    others = [item for name, item in block.tree.args.items() if name != "where" and isinstance(item, exp.Expr)]
    others += [*block.tree.expressions, *(source.on for source in block.sources if source.on is not None)]
    if clocks & owners(others):
        raise NotIncremental(Reason.TIME_DEPENDENT)
    if any(name_of(call) in ROW_MAKERS for call in block.tree.find_all(exp.Func)):
        raise NotIncremental(Reason.LATERAL)
    for place, source in enumerate(block.sources):
        before = set(aliases[:place]) - unseen
        if isinstance(source.relation, Lateral) and not source.relation.needs <= before:
            raise NotIncremental(Reason.LATERAL)
        if source.on is not None and not owners([source.on]) <= (set(aliases[: place + 1]) - unseen) | {source.alias}:
            raise NotIncremental(Reason.LATERAL)
