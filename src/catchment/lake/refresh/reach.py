"""Rows of a big source within reach of the changes of others, found by one scan for all tables of a round.

Tables that carry the sums of a join forward read of each big source the rows that are tied to a changed row (``near``).
Where these lie all over the files, each such table would scan the source. So the first table of a round that reads a
source finds the rows that are tied to the changes of any other source, for itself and for the tables that have yet to
begin, with the columns that they want. It leaves their conditions out: only the ways from source to source count
(``ways``). Where deleted rows lie all over the files too, the same scan finds them (``feed``).

The rows lie in a temporary table. A refresh uses them only if each of its ways was followed, between the same versions
of the same tables; then it narrows them by all its conditions, as it would the source itself. The plans of other tables
are those that this process has made before: a table that it does not know scans for itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from psycopg import Connection

from catchment.lake.delta.near import Reached
from catchment.lake.delta.plan import Plan
from catchment.lake.delta.relation import Table
from catchment.lake.delta.ways import Tied, find_ways
from catchment.lake.duck import catalog
from catchment.lake.duck.catalog import Awaited
from catchment.lake.duck.duck import Duck
from catchment.lake.names import lake_name, quoted
from catchment.lake.refresh import feed, shared
from catchment.lake.refresh.session import Bound, Work, of_plan
from catchment.lake.types import ColumnAt, Read, SourceTable

MANY_ROWS = 500_000
"""A source with fewer rows is scanned by each table: that costs no more than a few statements."""

LEAST_KEPT, MOST_KEPT = 500_000, 5_000_000
"""A fiftieth of the rows of a source is kept, within these bounds. More would take memory that the next refresh of this
process may need."""

Versions = Mapping[int, tuple[int, int]]
"""The old and the new version of each table of the lake, by its id."""


@dataclass(frozen=True, slots=True)
class Hop:
    """A column that equals ``other``, a column of a table of the lake between two versions."""

    column: str
    table_id: int
    old: int
    new: int
    other: str


Way = tuple[Hop, ...]


@dataclass(frozen=True, slots=True)
class _Reached:
    key: object
    round: int
    columns: Mapping[str, ColumnAt]
    ways: frozenset[Way]


class Reach:
    """What this refresh, and those of its round that have not begun, want of big sources."""

    def __init__(self, work: Work, conn: Connection[Any], awaited: tuple[Awaited, ...]) -> None:
        self.work = work
        self.conn = conn
        self.awaited = awaited
        self.columns = _columns(awaited)
        self.ways = defaultdict[int, dict[Way, set[int]]](dict)
        """By the source: the ways that are wanted, and by which dynamic tables."""
        self._followed: dict[int, frozenset[Way]] = {}
        self._unchanged = set[tuple[int, int, int]]()
        self._known: dict[int, SourceTable] = {}
        self._tables_now: dict[int, SourceTable | None] = {}
        _forget_others(work)
        mine = work.order.dt_id
        for dt_id in dict.fromkeys([*(item.dt_id for item in awaited), mine]):
            made = of_plan(work.duck, dt_id)
            if made is not None:
                self._want(dt_id, made[0], _ties(made), self._own() if dt_id == mine else self._versions(dt_id))
        self._known |= {source.table.table.table_id: source.table.table for source in work.bound}

    def _want(self, dt_id: int, plan: Plan, ties: tuple[Tied, ...], versions: Versions) -> None:
        tables = {table.occurrence: table for table in plan.tables}
        for tied in ties:
            way = _between(tied, tables, versions)
            if way is not None:
                self.ways[tables[tied.source].table.table_id].setdefault(way, set()).add(dt_id)
        self._known |= {table.table.table_id: table.table for table in plan.tables}

    def _own(self) -> Versions:
        return _versions_of(self.work)

    def _versions(self, dt_id: int) -> Versions:
        """Of another table: its base tables are read at the snapshot of the round, as those of this one are."""
        own, new = self._own(), self.work.order.data_snapshot
        return {
            item.table_id: (item.old, new if item.is_base else own[item.table_id][1])
            for item in self.awaited
            if item.dt_id == dt_id and (item.is_base or item.table_id in own)
        }

    def in_order(self) -> list[Bound]:
        """The sources of this refresh, the biggest last: what reaches it is known by then."""
        return sorted(self.work.bound, key=lambda source: source.table.table.rows)

    def is_tied(self, source: Bound) -> bool:
        """Whether ways of this refresh lead to the changes of a source."""
        table_id, mine = source.table.table.table_id, self.work.order.dt_id
        return any(
            hop.table_id == table_id and mine in by
            for ways in self.ways.values()
            for way, by in ways.items()
            for hop in way
        )

    def note_unchanged(self, source: Bound) -> None:
        """Nothing has happened to a source between its versions."""
        if source.read.old is not None:
            self._unchanged.add((source.table.table.table_id, source.read.old, source.read.new))

    def beside(self, source: Bound) -> Callable[[], str | None]:
        """The same as ``among``, when it is called."""
        return lambda: self.among(source)

    def among(self, source: Bound) -> str | None:
        """The condition that rows of a source within reach meet; None if they are not wanted, found already, or too
        many. The changes of all other sources of this refresh have been read."""
        table_id, rows = source.table.table.table_id, source.table.table.rows
        ways = self.ways.get(table_id, {})
        if rows < MANY_ROWS or not ways or table_id in _all_reached(self.work.duck):
            return None
        queries = defaultdict[str, dict[str, int]](dict)
        followed = set[Way]()
        for way in ways:
            query = self._values(way, rows) if self._is_there(source, way) else None
            if query is not None:
                followed.add(way)
                queries[way[0].column].setdefault(query, self._known[way[0].table_id].rows)
        return self._limited(source, queries, followed)

    def _is_there(self, source: Bound, way: Way) -> bool:
        """Whether a way leads along columns that there are now. The plan of another table may be older."""
        before = self._present(source.table.table.table_id, source.read.new)
        for hop in way:
            table = self._present(hop.table_id, hop.new)
            if before is None or table is None or hop.column not in before.columns or hop.other not in table.columns:
                return False
            if before.columns[hop.column].type != table.columns[hop.other].type:
                return False
            before = table
        return True

    def _present(self, table_id: int, new: int) -> SourceTable | None:
        """A table as it is at the new version, if it is still there."""
        if table_id not in self._tables_now:
            table = catalog.find_table(self.conn, self._known[table_id].ref, new)
            self._tables_now[table_id] = table if table is not None and table.table_id == table_id else None
        return self._tables_now[table_id]

    def _limited(self, source: Bound, queries: Mapping[str, Mapping[str, int]], followed: set[Way]) -> str | None:
        """The columns whose values take few rows. A value is taken to have as many as it has on average."""
        rows, expected, conditions = source.table.table.rows, 0, list[str]()
        for place, (column, sizes) in enumerate(queries.items(), start=1):
            values = f"reach_values_{place}"
            texts = [query for query in sizes if query]
            if not texts:
                continue
            count = self.work.make(
                values, f"SELECT DISTINCT k FROM ({' UNION ALL '.join(texts)}) AS q(k) WHERE k IS NOT NULL"
            )
            expected += count * rows // max(1, *sizes.values())
            if expected > most_kept(rows):
                followed.difference_update([way for way in followed if way[0].column == column])
                expected -= count * rows // max(1, *sizes.values())
                continue
            conditions.append(f"{quoted(column)} IN (SELECT k FROM {quoted(values)})")
        self._followed[source.table.table.table_id] = frozenset(followed)
        return f"({' OR '.join(conditions)})" if conditions else None

    def _values(self, way: Way, rows: int) -> str | None:
        """A query for the values of the first hop that lie on a way. Empty: there are none; None: it would scan more
        than ``rows``, which the source has."""
        first, rest = way[0], way[1:]
        changes = self._changes(first)
        now = self._now(first, rest, rows) if rest else ""
        if changes is None or now is None:
            return None
        return " UNION ALL ".join(query for query in (changes, now) if query)

    def _now(self, hop: Hop, rest: Way, rows: int) -> str | None:
        kept = _all_reached(self.work.duck).get(hop.table_id)
        table = self._known[hop.table_id]
        if kept is not None and rest in kept.ways and kept.key == _key(table, hop.new) and hop.other in kept.columns:
            return f"SELECT {quoted(hop.other)} FROM {quoted(_name(hop.table_id))}"
        inner = self._values(rest, rows) if table.rows < rows else None
        if not inner:
            return inner
        return (
            f"SELECT {quoted(hop.other)} FROM {lake_name(table.ref)} AT (VERSION => {hop.new:d})"
            f" WHERE {quoted(rest[0].column)} IN ({inner})"
        )

    def _changes(self, hop: Hop) -> str | None:
        """The values in the changes of a table, which are read where this refresh has no use for them itself."""
        if (hop.table_id, hop.old, hop.new) in self._unchanged:
            return ""
        if all(source.table.table.table_id != hop.table_id for source in self.work.bound):
            self._read(hop)
        name = shared.name_of(self.work.duck, hop.table_id, hop.old, hop.new, hop.other)
        if (hop.table_id, hop.old, hop.new) in self._unchanged:
            return ""
        return None if name is None else f"SELECT {quoted(hop.other)} FROM {quoted(name)}"

    def _read(self, hop: Hop) -> None:
        """Read the changes of a table that only others of the round read."""
        kinds, _ = catalog.touched(self.conn, hop.table_id, hop.old, hop.new)
        present = self._present(hop.table_id, hop.new)
        if not kinds - {"upkeep"}:
            self._unchanged.add((hop.table_id, hop.old, hop.new))
        elif kinds <= {"data"} and present is not None:
            used = tuple(name for name in self.columns[hop.table_id] if name in present.columns)
            source = Bound(Table(0, present, used), Read(present.table_id, present.ref, None, hop.old, hop.new))
            feed.read_files(self.work, self.conn, source, "reach_raw", hop.old, keeps=True)
            self.work.drop("reach_raw")

    def keep(self, source: Bound, name: str, columns: Mapping[str, ColumnAt]) -> None:
        """The rows of a source that meet the condition are in this temporary table, with these columns."""
        table_id = source.table.table.table_id
        ways = self._followed[table_id]
        if self.work.count(name) > most_kept(source.table.table.rows):
            self.work.drop(name)
            ways = frozenset[Way]()  # so that it is not tried again
        else:
            self.work.hand_over(name, _name(table_id))
        key = _key(source.table.table, source.read.new)
        _all_reached(self.work.duck)[table_id] = _Reached(key, self.work.order.data_snapshot, columns, ways)

    def scan(self) -> None:
        """Scan the sources that this refresh and another one want, and that were not scanned for their changes."""
        for source in reversed(self.in_order()):
            wanted = self.ways.get(source.table.table.table_id, {}).values()
            by = set[int]().union(*wanted)
            if len(by) < 2 or self.work.order.dt_id not in by:
                continue
            condition = self.among(source)
            if condition is not None:
                columns = shared.wanted_columns(self.conn, source, self.columns.get(source.table.table.table_id, ()))
                listed = ", ".join(map(quoted, columns))
                table = f"{lake_name(source.table.table.ref)} AT (VERSION => {source.read.new:d})"
                limit = most_kept(source.table.table.rows) + 1
                self.work.make("reach_found", f"SELECT {listed} FROM {table} WHERE {condition} LIMIT {limit:d}")
                self.keep(source, "reach_found", columns)

    def forget(self) -> None:
        """What nobody awaits any more goes with this refresh."""
        _forget(self.work, self.columns)


def most_kept(rows: int) -> int:
    """How many rows are kept of a source that has as many."""
    return min(max(LEAST_KEPT, rows // 50), MOST_KEPT)


def leave(work: Work, connection: Callable[[], AbstractContextManager[Connection[Any]]]) -> None:
    """What was kept for a refresh that does not read changes after all, and for no other, goes with it."""
    if not _all_reached(work.duck) and not shared.has_any(work.duck):
        return
    with connection() as conn:
        awaited = _columns(catalog.find_awaited(conn, work.order.refresh_id))
    _forget_others(work)
    _forget(work, awaited)
    shared.forget(work, awaited)


def _columns(awaited: tuple[Awaited, ...]) -> dict[int, frozenset[str]]:
    columns = defaultdict[int, frozenset[str]](frozenset)
    for item in awaited:
        columns[item.table_id] |= item.columns
    return dict(columns)


def find_reached(work: Work, changed: frozenset[int]) -> dict[int, Reached]:
    """The sources, by their number, of which all rows that terms of changed tables want were found; each has a view."""
    reached, made = _all_reached(work.duck), of_plan(work.duck, work.order.dt_id)
    tables, versions = {table.occurrence: table for table in work.plan.tables}, _versions_of(work)
    ties = _ties(made) if made is not None else ()
    result: dict[int, Reached] = {}
    for source in work.bound:
        table = source.table
        item = reached.get(table.table.table_id)
        if item is None or item.key != _key(table.table, source.read.new) or table.wants_rid:
            continue
        if any(item.columns.get(name) != table.table.columns[name] for name in table.used):
            continue
        mine = [tied for tied in ties if tied.source == table.occurrence and tied.changed in changed]
        missing = {tied.changed for tied in mine if _between(tied, tables, versions) not in item.ways}
        covered = frozenset(tied.changed for tied in mine) - missing
        if covered:
            result[table.occurrence] = Reached(f"o{table.occurrence}_reached", covered)
            listed = ", ".join(map(quoted, table.used))
            work.view(result[table.occurrence].name, f"SELECT {listed} FROM {quoted(_name(table.table.table_id))}")
    return result


def _ties(made: tuple[Plan, dict[object, Any]]) -> tuple[Tied, ...]:
    plan, memory = made
    if "ties" not in memory:
        memory["ties"] = find_ways(plan, MANY_ROWS)
    return memory["ties"]


def _between(tied: Tied, tables: Mapping[int, Table], versions: Versions) -> Way | None:
    """A way between versions. None if it is none, if one of its tables has no old version, or if columns that are
    compared have different types: values of several ways are compared at once, and so as one type."""
    hops: list[Hop] = []
    before = tables[tied.source].table
    for hop in tied.way or ():
        table = tables[hop.to].table
        if table.table_id not in versions or before.columns[hop.column].type != table.columns[hop.other].type:
            return None
        hops.append(Hop(hop.column, table.table_id, *versions[table.table_id], hop.other))
        before = table
    return tuple(hops) or None


def _versions_of(work: Work) -> Versions:
    return {
        source.table.table.table_id: (source.read.old, source.read.new)
        for source in work.bound
        if source.read.old is not None
    }


def _forget(work: Work, awaited: Collection[int]) -> None:
    reached = _all_reached(work.duck)
    for table_id in reached.keys() - set(awaited):
        del reached[table_id]
        work.adopt(_name(table_id))


def _forget_others(work: Work) -> None:
    """Drop what was found for other rounds."""
    reached = _all_reached(work.duck)
    for table_id, item in list(reached.items()):
        if item.round != work.order.data_snapshot:
            del reached[table_id]
            work.duck.drop_temporary([_name(table_id)])


def _all_reached(duck: Duck) -> dict[int, _Reached]:
    reached: dict[int, _Reached] = duck.remembered.setdefault("reached", {})
    return reached


def _name(table_id: int) -> str:
    return f"reached_{table_id}"


def _key(table: SourceTable, new: int) -> tuple[Any, ...]:
    return table.table_id, table.ref, new
