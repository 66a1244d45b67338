"""How much an incremental refresh has to read and to join, before any of its SQL is written.

A changed source of a join is one more query over all its other sources, so a wide join in which everything has changed
costs the square of its width, while a full refresh reads each source once. Sums that are carried forward share a scan
of each big source (``near``). What is counted here follows ``terms``:
every mention of a table in a statement, and the rows behind it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from catchment.lake.delta.near import find_near
from catchment.lake.delta.paths import find_path
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.relation import Block, Relation, Table, UnionAll, is_changed, tables_below
from catchment.lake.delta.render import Renderer, narrowed
from catchment.lake.delta.terms import table_delta
from catchment.lake.query.trees import text


@dataclass(frozen=True, slots=True)
class Effort:
    """``joins``: mentions of tables in all statements. ``scanned``: rows that are read, of which most are soon left
    out; ``computed``: rows that are read and computed whatever has changed, because they have no key."""

    joins: int = 0
    scanned: int = 0
    computed: int = 0


def effort(plan: Plan, changed: frozenset[int]) -> Effort:
    """The effort of a refresh in which these tables have changed."""
    rows = {table.occurrence: table.table.rows for table in plan.tables}
    counter = _Counter(rows, changed)
    for part in plan.parts:
        counter.part(part.block, has_states=plan.states is not None)
    return Effort(counter.joins, counter.scanned, counter.computed)


@dataclass
class _Counter:
    rows: Mapping[int, int]
    changed: frozenset[int]
    joins: int = 0
    scanned: int = 0
    computed: int = 0
    known: set[str] = field(default_factory=set[str])

    def part(self, block: Block, *, has_states: bool) -> None:
        if has_states:
            self._signed_terms(block)
            return
        self._terms(block, block.key)
        self._again(block)

    def _signed_terms(self, block: Block) -> None:
        """What the terms share is scanned once; a term that reads it mentions one more table, and scans nothing."""
        near = find_near(block, Renderer(self.changed), table_delta)
        shared = {alias for tables in near.of.values() for alias in tables}
        for source in block.sources:
            if source.alias in shared:
                self._scan(source.relation, is_whole=False)
        for place, changed in enumerate(block.sources):
            if not is_changed(changed.relation, self.changed):
                continue
            for source in block.sources:
                if source.alias in near.at(place):
                    self.joins += 1
                elif source is not changed:
                    self._scan(source.relation, is_whole=False)

    def _terms(self, block: Block, items: Sequence[exp.Expr]) -> None:
        for index, source in enumerate(block.sources):
            if not is_changed(source.relation, self.changed):
                continue
            self._delta(source.relation)
            kept = find_path(block, index, items).kept
            is_linear = source.join in ("from", "inner", "cross")
            self._scan_kept(block, kept - {source.alias}, [source.alias] if is_linear else [])
            if source.join in ("left", "full") and source.alias in kept:
                for _ in ("old", "new"):
                    self._scan(source.relation, is_whole=False)

    def _delta(self, relation: Relation) -> None:
        """A derived table that is mentioned twice is differenced once."""
        if not isinstance(relation, (Block, UnionAll)) or (name := _signature(relation)) in self.known:
            return
        self.known.add(name)
        if isinstance(relation, UnionAll):
            for branch in relation.branches:
                if is_changed(branch, self.changed):
                    self._delta(branch)
        elif relation.kind in ("rows", "distinct"):
            self._terms(relation, relation.tree.expressions)
        else:
            if relation.key:
                self._terms(relation, relation.key)
            for _ in ("old", "new"):
                self._again(relation)

    def _again(self, block: Block) -> None:
        """The rows of the touched keys, or all if there is no key."""
        if not block.key:
            self._scan(block, is_whole=True)
            return
        owners = {key.table for key in block.key if isinstance(key, exp.Column)}
        restricted = sorted(owners & block.kept_aliases())
        aliases = frozenset(source.alias for source in block.sources)
        self._scan_kept(block, aliases, restricted)

    def _scan_kept(self, block: Block, kept: frozenset[str], restricted: Sequence[str]) -> None:
        """Read sources beside some of which few rows are wanted. A group that none of these narrows is computed."""
        for source in block.sources:
            if source.alias in kept:
                is_narrow = source.alias in restricted or any(
                    narrowed(block, source, alias, "keys") is not None for alias in restricted
                )
                self._scan(source.relation, is_whole=_is_grouped(source.relation) and not is_narrow)

    def _scan(self, relation: Relation, *, is_whole: bool) -> None:
        tables = list(tables_below(relation))
        rows = sum(self.rows.get(table.occurrence, 0) for table in tables)
        self.joins += len(tables)
        if is_whole:
            self.computed += rows
        else:
            self.scanned += rows


def _is_grouped(relation: Relation) -> bool:
    """Whether a derived table is computed before it is joined."""
    if isinstance(relation, UnionAll):
        return any(map(_is_grouped, relation.branches))
    return isinstance(relation, Block) and (
        relation.kind != "rows" or any(_is_grouped(source.relation) for source in relation.sources)
    )


def _signature(relation: Relation) -> str:
    if isinstance(relation, Table):
        return f"o{relation.occurrence}"
    if isinstance(relation, UnionAll):
        return f"({' + '.join(map(_signature, relation.branches))})"
    if not isinstance(relation, Block):
        return str(id(relation))
    sources = (
        f"{source.join} {_signature(source.relation)} {source.alias} {text(source.on) if source.on is not None else ''}"
        for source in relation.sources
    )
    return f"{text(relation.tree)} FROM {', '.join(sources)}"
