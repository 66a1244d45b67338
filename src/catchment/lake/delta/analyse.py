"""A definition becomes a ``Plan``: what it reads, what is stored, and how changes are carried to it.

Whatever cannot be kept up to date by changes is refreshed fully, with the reason; only what has no definite result, or
what the lake cannot store, is refused. A full plan computes the query as it was written, so it depends on nothing that
is said here about columns, keys or joins.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

import sqlglot
from sqlglot import exp
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from catchment.errors import TableRefused
from catchment.lake.delta.buckets import Method, is_integer
from catchment.lake.delta.build import Builder
from catchment.lake.delta.compile import all_rows
from catchment.lake.delta.layout import Layout, check_visible, has_nameless_fields, is_same_value, stored_type
from catchment.lake.delta.plan import Part, Plan
from catchment.lake.delta.relation import Block, Opaque, Source, Table, blocks_below, wants_rid
from catchment.lake.delta.render import Joined, Renderer, put_from
from catchment.lake.delta.states import States, find_states
from catchment.lake.names import RID
from catchment.lake.query import clock, functions, shape
from catchment.lake.query.calls import check_calls
from catchment.lake.query.dialect import Written
from catchment.lake.query.limits import without_needless
from catchment.lake.query.normalise import normalise
from catchment.lake.query.parse import Parsed, numbered_names, over_nothing, parse, with_typed_tables
from catchment.lake.query.resolve import SOURCES, SchemaView
from catchment.lake.query.subqueries import INTRODUCED
from catchment.lake.query.ties import decided
from catchment.lake.query.trees import DIALECT, cast, column, last_text, named, text, without_notes
from catchment.lake.query.used import Used, explicit, has_whole_row, named_columns, used_columns
from catchment.lake.query.views import with_views
from catchment.lake.reasons import NotIncremental, Reason, refused
from catchment.lake.types import Column, Definition, Mode, Properties, Strategy

_ALWAYS_DUE = (Reason.VOLATILE_FUNCTION, Reason.TIME_DEPENDENT, Reason.UNTRACKED_SOURCE)


def analyse(definition: Definition, schema: SchemaView, *, stored: Layout | None = None) -> Plan:
    """The plan of a definition; TableRefused when there is none.

    ``stored`` is the layout of a table that exists already: choices that depend on the size of tables are then made as
    they were made for it. The plan's layout may differ all the same (a source has another type), which a caller that
    wants to continue with the stored rows has to check.
    """
    try:
        return _Analysis(definition, schema, stored).plan()
    except RecursionError as error:
        raise refused(
            Reason.PARSE_ERROR,
            "the query is nested too deep to be read",
            hint="Move a part of it into a separate dynamic table.",
        ) from error


@dataclass(frozen=True, slots=True, eq=False)
class _Outcome:
    """What looking into the query gave: blocks with keys, or a reason why there are none."""

    blocks: tuple[Block, ...]
    drivers: tuple[tuple[int, str], ...]
    reason: Reason | None


class _Analysis:
    def __init__(self, definition: Definition, schema: SchemaView, stored: Layout | None) -> None:
        self.properties: Properties = definition.properties
        self.schema = schema
        self.stored = stored
        self.query = definition.query
        if stored is None:  # a view or a macro that is made later does not change what a table means
            self.query = with_views(definition.query, schema)
            check_calls(schema.syntax(self.query), schema.macros(), schema.syntax)
        parsed = parse(self.query, schema)
        check_visible(parsed.columns)
        self.kinds = schema.stability(functions.names_in(parsed.tree) | INTRODUCED)
        self.parsed: Parsed = replace(parsed, tree=decided(without_needless(parsed.tree, self.kinds)))
        self.found = self._reasons()
        self.written = self.parsed.tree
        self.clock = self._read_clock() if Reason.TIME_DEPENDENT in self.found else None
        if (
            self.clock is not None
            and self.found == [Reason.TIME_DEPENDENT]
            and clock.only_filters_by_time(self.written)
        ):
            self.found.clear()

    def _read_clock(self) -> int | None:
        """Let the definition read the clock as a table, if it can; the number of that table."""
        if not clock.asks_the_clock(self.written):
            return None
        number = len(self.parsed.tables) + 1
        tables = (*self.parsed.tables, clock.TABLE)
        tree = clock.with_values(self.written, number)
        try:
            described = self.schema.describe(last_text(with_typed_tables(tree, tables)))
        except TableRefused:  # no value may stand there, as in GROUP BY
            return None
        if [item.type for item in described] != [item.type for item in self.parsed.columns]:
            return None
        self.parsed = replace(self.parsed, tree=tree, tables=tables)
        return number

    def plan(self) -> Plan:
        resolved = self._resolved()
        used = self._used(resolved)
        outcome = self._look(resolved)
        try:
            plan = self._plan(outcome, used)
        except TableRefused as error:
            if not outcome.blocks or error.code != Reason.UNSUPPORTED_TYPE:
                raise
            return self._plan(_Outcome((), (), Reason.KEY_TYPE), used)  # raises for an output
        if outcome.blocks and not self._is_sound(plan):
            plan = self._plan(_Outcome((), (), Reason.UNRESOLVED), used)
        return plan

    def _plan(self, outcome: _Outcome, used: Used) -> Plan:
        whole = explicit(self.parsed.tree, used)
        blocks = outcome.blocks or (_whole(whole, len(self.parsed.columns)),)
        states = self._states(blocks, outcome)
        reason = self._reason(outcome)
        layout, parts = self._layout(blocks, states, outcome)
        tables = tuple(
            Table(number, table, used[number], wants_rid(number, blocks))
            for number, table in enumerate(self.parsed.tables, start=1)
            if number != self.clock
        )
        return Plan(
            definition_hash=_hash(text(whole), layout),
            tables=tables,
            parts=parts,
            strategy="full" if reason else "delta" if states else "keys",
            reason=reason,
            is_always_due=self._is_always_due(),
            layout=layout,
            states=states,
            definition=whole,
            query=self.query,
            clock=self.clock,
        )

    def _is_sound(self, plan: Plan) -> bool:
        """DuckDB has the last word: the rows that we ask for are the rows that are stored."""
        try:
            described = self._describe(all_rows(plan, buckets=1))
        except TableRefused:
            return False
        return tuple(described) == plan.layout.columns

    def _reasons(self) -> list[Reason]:
        reasons = list(functions.reasons(self.parsed.tree, self.kinds))
        if self.parsed.is_untracked:
            reasons.append(Reason.UNTRACKED_SOURCE)
        if isinstance(self.parsed.tree, Written):
            reasons.append(Reason.SYNTAX)
        reasons += shape.reasons(self.parsed.tree)
        if not self.parsed.tables:
            reasons.append(Reason.NO_SOURCE)
        if any(table.hides_rowid for table in self.parsed.tables):
            reasons.append(Reason.ROWID_HIDDEN)
        return reasons

    def _is_always_due(self) -> bool:
        """Whether the result may change while no source does."""
        return self.clock is not None or (bool(set(self.found) & set(_ALWAYS_DUE)) and not self._is_settled())

    def _is_settled(self) -> bool:
        """Untracked by name only: the one thing that is not a table is a function of constants."""
        others = [reason for reason in self.found if reason in _ALWAYS_DUE and reason != Reason.UNTRACKED_SOURCE]
        has_macro = any(kind == "MACRO" for kind in self.kinds.values())
        return not others and self.parsed.is_constant and not has_macro

    def _resolved(self) -> exp.Query | None:
        """The query with every column named with its source, or None if that changes its outputs."""
        if isinstance(self.parsed.tree, Written):
            return None
        names = {
            f"o{n}": {name.lower(): "TEXT" for name in table.columns} for n, table in enumerate(self.parsed.tables, 1)
        }
        try:
            tree = qualify(
                self.written.copy(),
                dialect=DIALECT,
                schema=MappingSchema({SOURCES: names}, dialect=DIALECT, normalize=False),
            )
            sql = text(without_notes(tree))
            if has_whole_row(tree) or text(sqlglot.parse_one(sql, read=DIALECT)) != sql:
                return None
            tree = tree if self.clock is None else clock.with_source(tree, self.clock)
            types = [item.type for item in self._describe_whole(tree)]
        except Exception:  # a query that trips the resolver is still one that DuckDB can run
            return None
        return tree if types == [item.type for item in self.parsed.columns] else None

    def _look(self, resolved: exp.Query | None) -> _Outcome:
        if self.found:
            return _Outcome((), (), self.found[0])
        if resolved is None:
            return _Outcome((), (), Reason.UNRESOLVED)
        drivers = dict(self.stored.drivers) if self.stored else {}
        builder = Builder(self.parsed.tables, self.kinds, drivers, self._block_types)
        try:
            blocks = tuple(builder.parts(normalise(resolved, self.kinds, self._types)))
            self._check_types(blocks)
        except NotIncremental as cause:
            return _Outcome((), (), cause.reason)
        except TableRefused:
            return _Outcome((), (), Reason.UNRESOLVED)
        return _Outcome(blocks, tuple(sorted(builder.chosen.items())), None)

    def _types(self, tree: exp.Query) -> list[str]:
        return [item.type for item in self._describe_whole(tree)]

    def _check_types(self, blocks: Sequence[Block]) -> None:
        """Rewriting must not have changed what DuckDB makes of the outputs."""
        if any(len(block.outputs) != len(self.parsed.columns) for block in blocks):
            raise NotIncremental(Reason.UNRESOLVED)
        types = [self._block_types(block) for block in blocks]
        if len(blocks) == 1 and types[0] != [item.type for item in self.parsed.columns]:
            raise NotIncremental(Reason.UNRESOLVED)
        if _makes_structs(self.parsed.tree):
            native = [kind for block in blocks for below in blocks_below(block) for kind in self._block_types(below)]
            if any(map(has_nameless_fields, native)):
                raise NotIncremental(Reason.KEY_TYPE)

    def _block_types(self, block: Block) -> list[str]:
        return [item.type for item in self._describe(last_text(Renderer(frozenset()).block(block, "new")))]

    def _states(self, blocks: Sequence[Block], outcome: _Outcome) -> States | None:
        """Whatever the refresh mode: that may be changed later, and what is stored may not depend on it."""
        if outcome.reason or len(blocks) > 1:
            return None
        if not all(isinstance(source.relation, Table) for source in blocks[0].sources):
            return None
        return find_states(blocks[0], self.kinds, lambda trees: self._types_of(blocks[0], trees))

    def _reason(self, outcome: _Outcome) -> Reason | None:
        reason = outcome.reason
        if self.properties.refresh_mode == Mode.FULL:
            return reason or Reason.MODE_FULL
        if self.properties.refresh_mode == Mode.INCREMENTAL and reason is not None:
            raise refused(
                Reason.INCREMENTAL_NOT_POSSIBLE,
                f"REFRESH_MODE = INCREMENTAL is not possible: {reason.value}. {reason.sentence}",
                hint=reason.hint,
            )
        return reason

    def _layout(
        self, blocks: Sequence[Block], states: States | None, outcome: _Outcome
    ) -> tuple[Layout, tuple[Part, ...]]:
        visible = self._spelled([Column(item.name, stored_type(item)) for item in self.parsed.columns])
        keys: list[tuple[Column, ...]] = []
        parts: list[Part] = []
        for number, block in enumerate(blocks, start=1):
            native = self._types_of(block, block.key) if block.key else []
            stored = self._key_columns(number, block, native, visible)
            keys.append(stored)
            is_exact = all(is_same_value(kind, item.type) for kind, item in zip(native, stored, strict=True))
            parts.append(Part(number, block, block.kind in ("group", "distinct", "global") and is_exact, tuple(native)))
        method = self._method(keys)
        layout = Layout(visible, tuple(keys), states.columns() if states else (), method, outcome.drivers)
        return layout, tuple(parts)

    def _key_columns(
        self, number: int, block: Block, native: Sequence[str], visible: Sequence[Column]
    ) -> tuple[Column, ...]:
        """A part of the key that is an output is stored once, unless a UNION ALL gave the output another type."""
        outputs = {text(item.unalias()): place for place, item in reversed(list(enumerate(block.tree.expressions)))}
        columns: list[Column] = []
        for place, (key, kind) in enumerate(zip(block.key, native, strict=True), start=1):
            at = outputs.get(text(key))
            if at is not None and is_same_value(kind, visible[at].type):
                columns.append(visible[at])
            else:
                name = f"__k{number}_{place}"
                columns += self._spelled([Column(name, stored_type(Column(text(key), kind)))])
        return tuple(columns)

    def _method(self, keys: Sequence[Sequence[Column]]) -> Method:
        if self.properties.parallel_strategy != Strategy.MODULO:
            return "hash"
        if len(keys) == 1 and len(keys[0]) == 1 and is_integer(keys[0][0].type):
            return "modulo"
        shown = ", ".join(f"{item.name} {item.type}" for part in keys for item in part) or "none"
        raise refused(
            Reason.STRATEGY_NOT_POSSIBLE,
            f"parallel_strategy = modulo needs a key of one integer column; the key here is: {shown}",
        )

    def _used(self, resolved: exp.Query | None) -> Used:
        """The columns that are read, checked: over these alone the query has to mean the same."""
        everything = {n: tuple(table.columns) for n, table in enumerate(self.parsed.tables, start=1)}
        if isinstance(self.parsed.tree, Written):
            return everything
        exact = used_columns(resolved, self.parsed.tables) if resolved is not None else None
        for used in (exact, named_columns(self.parsed.tree, self.parsed.tables)):
            if used is None:
                continue
            try:
                described = self._describe_whole(explicit(self.parsed.tree, used))
            except TableRefused:
                continue
            if tuple(described) == tuple(Column(item.name.lower(), item.type) for item in self.parsed.columns):
                return used
        return everything

    def _describe_whole(self, tree: exp.Query) -> list[Column]:
        described = self.schema.describe(last_text(with_typed_tables(tree, self.parsed.tables)))
        return [Column(item.name.lower(), item.type) for item in numbered_names(described)]

    def _describe(self, sql: str) -> list[Column]:
        """The outputs of a query over ``o<i>_new``, which here are empty and typed."""
        return self.schema.describe(over_nothing(sql, self.parsed.tables, {RID: "BIGINT"}))

    def _types_of(self, block: Block, trees: Sequence[exp.Expr]) -> list[str]:
        renderer = Renderer(frozenset())
        query = exp.Select(expressions=[named(tree.copy(), f"t{place}") for place, tree in enumerate(trees)])
        put_from(
            query,
            [
                Joined(renderer.item(source.relation, source.alias, "new")[0], source.join, source.on)
                for source in block.sources
            ],
        )
        return [item.type for item in self._describe(last_text(query))]

    def _spelled(self, columns: Sequence[Column]) -> tuple[Column, ...]:
        """The columns with their types as DuckDB writes them, so that a later look finds them equal."""
        items = [named(cast(exp.Null(), item.type), f"t{place}") for place, item in enumerate(columns)]
        described = self.schema.describe(text(exp.Select(expressions=items)))
        return tuple(Column(item.name, kind.type) for item, kind in zip(columns, described, strict=True))


def _whole(tree: exp.Query, width: int) -> Block:
    """The query as it was written, as the one source of a block that adds nothing."""
    names = tuple(f"c{place + 1}" for place in range(width))
    source = Source("__w", Opaque(tree, names), "from")
    items = [named(column(name, "__w"), name) for name in names]
    return Block(0, exp.Select(expressions=items), (source,), "rows", tuple(column(name, "__w") for name in names))


def _makes_structs(tree: exp.Expr) -> bool:
    """Whether a query may make structs without names for their fields."""
    return tree.find(exp.Tuple) is not None or "row(" in text(tree).lower()


def _hash(sql: str, layout: Layout) -> str:
    whole = json.dumps([sql, layout.to_json()], sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()[:32]
