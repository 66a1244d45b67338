"""Blocks back to SQL, for one version of the sources, and restricted to some keys.

A restriction is a NULL-safe semi-join with a table of keys. It is put as deep as it stays true: into the scan of a
table that owns the key columns, below the aggregate of a derived table that is grouped by them, and only otherwise
into the WHERE of the block. The nullable side of an outer join is never restricted, that would make matches vanish.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from sqlglot import exp

from catchment.lake.delta.relation import (
    Block,
    JoinKind,
    Lateral,
    Opaque,
    Relation,
    Source,
    Table,
    UnionAll,
    is_changed,
)
from catchment.lake.query.resolve import number_of, numbered_tables
from catchment.lake.query.trees import (
    add_where,
    all_of,
    attempt,
    column,
    conjuncts,
    equal,
    exists,
    named,
    own,
    query_as,
    same,
    select,
    table_as,
    text,
    union_all,
    where_of,
)

Version = Literal["old", "new"]
_KEYS_ALIAS = "__a"
_SIDES: dict[JoinKind, tuple[str | None, str | None]] = {
    "inner": (None, None),
    "cross": (None, "CROSS"),
    "left": ("LEFT", None),
    "full": ("FULL", None),
    "semi": (None, "SEMI"),
    "anti": (None, "ANTI"),
}


@dataclass(frozen=True, slots=True)
class Joined:
    """A FROM item together with how it is joined to those before it."""

    item: exp.Expr
    join: str
    on: exp.Expr | None = None
    side: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Keys:
    """Only rows for which a table, or a query, has a row with equal values: pairs of its column and an expression.

    ``has_no_null``: no value in the table is NULL. Plain equality then says the same, and DuckDB skips what it reads by
    the range of a plain join's keys: half the time and less.
    """

    table: str | exp.Query
    pairs: tuple[tuple[str, exp.Expr], ...]
    has_no_null: bool = False

    def joined(self) -> Joined:
        """The restriction as a semi-join, to stand last in FROM.

        Not as an EXISTS: DuckDB makes a hash join of that too, but now and then with all distinct keys of the other
        side materialised first.
        """
        match = equal if self.has_no_null else same
        wanted = [match(column(name, _KEYS_ALIAS), attempt(tree.copy())) for name, tree in self.pairs]
        if isinstance(self.table, str):
            return Joined(table_as(self.table, _KEYS_ALIAS), "semi", all_of(wanted))
        return Joined(query_as(self.table.copy(), _KEYS_ALIAS), "semi", all_of(wanted))

    def filtered(self, item: exp.Expr) -> exp.Select:
        """The rows of a FROM item that pass."""
        query = exp.Select(expressions=[exp.Star()])
        put_from(query, [Joined(item, "from"), self.joined()])
        return query

    def only(self, picked: Callable[[exp.Expr], exp.Expr | None]) -> Keys | None:
        """The pairs whose expression can be replaced; None when there is none."""
        kept = [(name, new) for name, tree in self.pairs if (new := picked(tree)) is not None]
        return replace(self, pairs=tuple(kept)) if kept else None


@dataclass(frozen=True, slots=True)
class Renderer:
    """Writes blocks for a set of changed tables: what has not changed is only ever read as it is now."""

    changed: frozenset[int]

    def block(self, block: Block, version: Version, keys: Keys | None = None) -> exp.Select:
        """The whole SELECT at a version."""
        result = block.tree.copy()
        restricted, is_done = self._owners(block, version, keys) if keys is not None else ({}, True)
        joined: list[Joined] = []
        for source in block.sources:
            item = restricted.get(source.alias)
            if item is None:
                item, _ = self.item(source.relation, source.alias, version, _beside(block, source, restricted))
            joined.append(Joined(item, source.join, source.on))
        if keys is None or is_done:
            put_from(result, joined)
        elif joined:
            put_from(result, [*joined, keys.joined()])
        else:
            add_where(result, exists(keys.joined().item, keys.joined().on))
        return result

    def _owners(self, block: Block, version: Version, keys: Keys) -> tuple[dict[str, exp.Expr], bool]:
        """The sources that own key columns, restricted; and whether one of them carries the whole restriction."""
        items: dict[str, exp.Expr] = {}
        is_done = False
        for source in block.sources:
            owned = _owned(block, source, keys)
            if owned is not None:
                items[source.alias], is_exact = self.item(source.relation, source.alias, version, owned)
                is_done = is_done or (is_exact and len(owned.pairs) == len(keys.pairs))
        return items, is_done

    def item(self, relation: Relation, alias: str, version: Version, keys: Keys | None = None) -> tuple[exp.Expr, bool]:
        """A relation as a FROM item, and whether the restriction (over its columns) has been carried out."""
        if isinstance(relation, Table):
            scan = table_as(f"o{relation.occurrence}_{self.of(relation, version)}", alias)
            if keys is None:
                return scan, False
            return query_as(keys.filtered(scan), alias), True
        if isinstance(relation, Opaque):
            return self._opaque(relation, alias, version), False
        if isinstance(relation, Lateral):
            return relation.tree.copy(), False
        if isinstance(relation, Block):
            return self._derived(self._restricted(relation, version, keys), alias, keys, is_pushable(relation, keys))
        inner = [
            _by_position(keys, relation.outputs, branch) if relation.is_uniform else None
            for branch in relation.branches
        ]
        queries = [self._restricted(branch, version, own) for branch, own in zip(relation.branches, inner, strict=True)]
        return self._derived(union_all(queries), alias, keys, is_pushable(relation, keys))

    def of(self, relation: Relation, version: Version) -> Version:
        """The version to read: old and new are one where nothing has changed."""
        return version if is_changed(relation, self.changed) else "new"

    def _restricted(self, block: Block, version: Version, keys: Keys | None) -> exp.Select:
        return self.block(block, version, keys.only(lambda tree: row_expression(block, tree)) if keys else None)

    def _derived(self, query: exp.Query, alias: str, keys: Keys | None, is_pushed: bool) -> tuple[exp.Expr, bool]:
        if keys is None or is_pushed:
            return query_as(query, alias), keys is not None
        return query_as(keys.filtered(query_as(query, alias)), alias), True

    def _opaque(self, relation: Opaque, alias: str, version: Version) -> exp.Expr:
        tree = relation.tree.copy()
        if isinstance(tree, exp.Values):
            tree.set("alias", query_as(tree, alias, relation.columns).args["alias"])
            return tree
        for node in list(numbered_tables(tree)):
            node.set("db", None)
            node.set("this", exp.to_identifier(f"o{number_of(node)}_{version}", quoted=True))
        return query_as(tree, alias, relation.columns)


def put_from(query: exp.Select, items: Sequence[Joined]) -> None:
    """Set FROM and joins of a SELECT."""
    if not items:
        return
    query.set("from_", exp.From(this=own(items[0].item)))
    query.set("joins", [_join(item) for item in items[1:]])


def row_expression(block: Block, tree: exp.Expr) -> exp.Expr | None:
    """What a column of the block's result is, seen from its source rows; None if no source row can tell alone.

    A filter on it may move below the grouping (or window) exactly when it is part of the block's key there.
    """
    expression = block.projection(tree.name)
    if block.kind in ("rows", "distinct"):
        return expression
    is_key = any(text(expression) == text(key) for key in block.key)
    return expression if is_key else None


def is_pushable(relation: Block | UnionAll, keys: Keys | None) -> bool:
    """Whether a restriction on columns of the result can be put on source rows as a whole."""
    if keys is None:
        return True
    if isinstance(relation, UnionAll):
        inner = [(branch, _by_position(keys, relation.outputs, branch)) for branch in relation.branches]
        return relation.is_uniform and all(is_pushable(branch, own_keys) for branch, own_keys in inner)
    return all(row_expression(relation, tree) is not None for _, tree in keys.pairs)


def equal_columns(block: Block, target: Source, beside: str) -> list[tuple[str, exp.Column]]:
    """Columns of another source that every row of the target has to equal in order to be joined with it at all."""
    inner = [source.on for source in block.sources if source.join in ("inner", "cross")]
    conditions = [where_of(block.tree), *inner] if target.alias in block.kept_aliases() else [target.on]
    pairs: list[tuple[str, exp.Column]] = []
    for part in (part for condition in conditions for part in conjuncts(condition)):
        if isinstance(part, exp.EQ) and isinstance(part.left, exp.Column) and isinstance(part.right, exp.Column):
            sides = {part.left.table: part.left, part.right.table: part.right}
            if set(sides) == {target.alias, beside}:
                pairs.append((sides[beside].name, sides[target.alias]))
    return pairs


def narrowed(block: Block, target: Source, beside: str, table: str | exp.Query) -> Keys | None:
    """A restriction of a derived source to what can meet rows of another; None if it would stay above its groups."""
    if not isinstance(target.relation, (Block, UnionAll)) or any(source.join == "full" for source in block.sources):
        return None
    for pair in equal_columns(block, target, beside):
        keys = Keys(table, (pair,))
        if is_pushable(target.relation, keys):
            return keys
    return None


def _beside(block: Block, target: Source, restricted: Mapping[str, exp.Expr]) -> Keys | None:
    for alias, item in restricted.items():
        names = {name for name, _ in equal_columns(block, target, alias)}
        query = select([named(column(name, alias), name) for name in sorted(names)], item.copy())
        keys = narrowed(block, target, alias, query) if names else None
        if keys is not None:
            return keys
    return None


def _owned(block: Block, source: Source, keys: Keys) -> Keys | None:
    """The pairs that are plain columns of this source, if its scan may be restricted."""
    if source.alias not in block.kept_aliases() or isinstance(source.relation, Lateral):
        return None
    return keys.only(lambda tree: tree if isinstance(tree, exp.Column) and tree.table == source.alias else None)


def _by_position(keys: Keys | None, names: tuple[str, ...], branch: Block) -> Keys | None:
    if keys is None:
        return None
    return keys.only(lambda tree: column(branch.outputs[names.index(tree.name)], tree.text("table")))


def _join(item: Joined) -> exp.Join:
    side, kind = (item.side, None) if item.side else _SIDES[item.join]  # type: ignore[index]
    on = item.on.copy() if item.on is not None else None
    return exp.Join(
        this=own(item.item), side=side, kind="CROSS" if on is None and not side and not kind else kind, on=on
    )
