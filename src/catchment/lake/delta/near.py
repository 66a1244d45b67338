"""One scan of a big source for all terms of a join, instead of one for each.

The exact change of an inner join is a sum of terms, one for each changed source (``terms``). Each term joins a few
changed rows with the other sources, and DuckDB scans these: rows that are wanted lie everywhere, so no part of a file
is skipped. With ``n`` changed sources the biggest would be scanned ``n`` times.

The order of the terms is free, so the biggest source comes first. The rows of it that can meet a changed row of any
other source are found in one scan, and the terms read these. Then the same for the second biggest, along the rows that
were found of the biggest, and so on. Only current rows are scanned: terms that want a source as it was take these and
undo its changes (``joins``).

Too many rows are harmless, because each term still has all its conditions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sqlglot import exp

from catchment.lake.delta.joins import DeltaName, inner_term, is_clock
from catchment.lake.delta.paths import Path, distinct_values, find_path, rows_of, tied_columns
from catchment.lake.delta.relation import Block, Source, Table, is_changed
from catchment.lake.delta.render import Renderer
from catchment.lake.query.trees import (
    add_where,
    all_of,
    column,
    conjuncts,
    equal,
    exists,
    named,
    owners,
    query_as,
    select,
    table_as,
    text,
    union_all,
    where_of,
)

MANY_ROWS = 20_000
"""A source with fewer rows is scanned faster than a statement is planned."""

MANY_READERS = 3
"""Terms that read a source with fewer rows, from which on a copy pays."""

FEW_VALUES = 100
"""Sources that are tied by fewer values are not narrowed along them: one changed row meets a large part."""


@dataclass(frozen=True, slots=True)
class Reached:
    """Rows of a table as it is now, in the table or view ``name``: all that terms of these changed tables can meet."""

    name: str
    changed: frozenset[int]


NONE: Mapping[int, Reached] = MappingProxyType({})


@dataclass(frozen=True)
class Near:
    """``tables``: what to make, by name and in order. ``of``: for each term, by the place of its source, the tables
    that take the place of sources. ``ranks``: the place of each source in the order of the terms."""

    ranks: Sequence[int]
    tables: dict[str, exp.Query] = field(default_factory=dict[str, exp.Query])
    of: dict[int, dict[str, str]] = field(default_factory=dict[int, dict[str, str]])

    def at(self, index: int) -> Mapping[str, str]:
        """What the term of this source reads in the place of others."""
        return self.of.get(index, {})


def find_near(block: Block, renderer: Renderer, delta: DeltaName, reached: Mapping[int, Reached] = NONE) -> Near:
    """The order of the terms of an inner join of tables, and what they share. ``reached``: what was found of tables, by
    their number, before."""
    places = range(len(block.sources))
    if any(map(is_clock, block.sources)):  # its term is another one, and it comes in the order of the text
        return Near(list(places))
    order = sorted(places, key=lambda place: -rows_of(block.sources[place].relation))
    near = Near([order.index(place) for place in places])
    moving = [place for place in order if is_changed(block.sources[place].relation, renderer.changed)]
    for place in order:
        source = block.sources[place]
        held = _reached(source, reached)
        for term in moving:
            if held is not None and term != place and _covers(held, block.sources[term]):
                near.of.setdefault(term, {})[source.alias] = held.name
    for place in order:
        source = block.sources[place]
        readers = [term for term in moving if term != place]
        if rows_of(source.relation) < MANY_ROWS:
            if len(readers) >= MANY_READERS:
                _copy(block, place, readers, renderer, near)
            continue
        wanted = {term: query for term in readers if (query := _wanted(block, source, term, renderer, delta, near))}
        held = _reached(source, reached)
        is_found = all(_covers(held, block.sources[term]) for term in wanted)
        if len(wanted) < (1 if is_found else 2):
            continue
        name = f"near_{place + 1}"
        queries = defaultdict[tuple[str, ...], dict[str, exp.Select]](dict)
        for names, query in wanted.values():
            queries[names].setdefault(text(query), query)
        conditions = [_among(names, source.alias, union_all(list(alike.values()))) for names, alike in queries.items()]
        item, _ = renderer.item(source.relation, source.alias, "new")
        if held is not None and is_found:
            item = table_as(held.name, source.alias)
        near.tables[name] = add_where(
            select([exp.Star()], item, exp.or_(*conditions, copy=False)), *_own_conditions(block, source)
        )
        for term in wanted:
            near.of.setdefault(term, {})[source.alias] = name
    return near


def _reached(source: Source, reached: Mapping[int, Reached]) -> Reached | None:
    return reached.get(source.relation.occurrence) if isinstance(source.relation, Table) else None


def _covers(held: Reached | None, changed: Source) -> bool:
    return held is not None and isinstance(changed.relation, Table) and changed.relation.occurrence in held.changed


def _copy(block: Block, place: int, readers: Sequence[int], renderer: Renderer, near: Near) -> None:
    """A small source that many terms read is copied: each mention of a table of the lake takes some milliseconds."""
    source = block.sources[place]
    name = f"near_{place + 1}"
    item = renderer.item(source.relation, source.alias, "new")[0]
    near.tables[name] = add_where(select([exp.Star()], item), *_own_conditions(block, source))
    for term in readers:
        near.of.setdefault(term, {})[source.alias] = name


def _wanted(
    block: Block, source: Source, term: int, renderer: Renderer, delta: DeltaName, near: Near
) -> tuple[tuple[str, ...], exp.Select] | None:
    """Columns of a source, and a query for the values that all its rows have that can be in the result of a term."""
    wanted = wanted_path(block, source, term)
    if wanted is None:
        return None
    names, path = wanted
    return names, inner_term(block, term, renderer, delta, path, near.ranks, near.at(term))


def wanted_path(block: Block, source: Source, term: int) -> tuple[tuple[str, ...], Path] | None:
    """Columns of a source, and the way from the changed rows of a term to their values; None if these rows are not tied
    to it by plain columns, or too loosely."""
    paths = {name: find_path(block, term, [column(name, source.alias)]) for name in tied_columns(block, source.alias)}
    able = {name: path for name, path in paths.items() if source.alias not in path.kept}
    values = {path.kept: distinct_values(block, path.kept | {source.alias}) for path in able.values()}
    kept = max(values, key=lambda aliases: (values[aliases], -len(aliases)), default=None)
    if kept is None or values[kept] < FEW_VALUES:
        return None
    names = sorted(name for name, path in able.items() if path.kept == kept)
    items = [named(able[name].items[0].copy(), f"k{place}") for place, name in enumerate(names, start=1)]
    return tuple(names), Path(kept, tuple(items))


def _own_conditions(block: Block, source: Source) -> list[exp.Expr]:
    """The conditions of the join that mention this source alone: every term has them."""
    conditions = [where_of(block.tree), *(item.on for item in block.sources)]
    parts = [part for condition in conditions for part in conjuncts(condition)]
    return [part.copy() for part in parts if owners([part]) == frozenset({source.alias})]


def _among(names: Sequence[str], alias: str, query: exp.Query) -> exp.Expr:
    """Whether the values of these columns are among those of a query."""
    if len(names) == 1:
        return exp.In(this=column(names[0], alias), query=exp.Subquery(this=query))
    pairs = [equal(column(f"k{place}", "__k"), column(name, alias)) for place, name in enumerate(names, start=1)]
    return exists(query_as(query, "__k"), all_of(pairs))
